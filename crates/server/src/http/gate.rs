//! What every request passes first: a known `Host`, no foreign `Origin`.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::{ApiError, Code};

/// Who may come in.
#[derive(Clone, Copy)]
pub(crate) struct Gate {
    port: u16,
}

impl Gate {
    pub(crate) fn new(port: u16) -> Self {
        Self { port }
    }

    /// Hosts under which this server is itself. A page of another site that resolves its own name to loopback
    /// (DNS rebinding) comes with its name as `Host`, and is none of these.
    fn knows_host(self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let name = name.to_ascii_lowercase();
        matches!(name.as_str(), "127.0.0.1" | "localhost" | "[::1]") && port == Some(self.port)
    }

    fn check(self, headers: &HeaderMap, authority: Option<&str>) -> Result<(), ApiError> {
        let forbidden = |what: &str| {
            Err(ApiError::new(Code::Forbidden, format!("this server does not answer to {what}")))
        };
        // All of them: of two, who knows which one another program on the way went by.
        let hosts = headers.get_all(header::HOST).iter().map(|value| value.to_str().unwrap_or_default());
        let hosts: Vec<&str> = hosts.chain(authority).collect();
        match hosts.iter().find(|host| !self.knows_host(host)) {
            Some(host) => return forbidden(&format!("the host {host:?}")),
            None if hosts.is_empty() => return forbidden("a request without a host"),
            None => {}
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            if !origin.strip_prefix("http://").is_some_and(|host| self.knows_host(host)) {
                return forbidden(&format!("the origin {origin:?}"));
            }
        }
        Ok(())
    }
}

pub(crate) async fn check(State(gate): State<Gate>, request: Request<Body>, next: Next) -> Response {
    match gate.check(request.headers(), request.uri().authority().map(|authority| authority.as_str())) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

#[cfg(test)]
mod tests;
