//! What every request passes first, whatever its address: a known `Host`, no foreign page behind it.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::{ApiError, Code};
use crate::network::Site;
use crate::{mcp, wire};

/// Who may come in.
#[derive(Clone)]
pub(crate) struct Gate {
    site: Site,
}

impl Gate {
    pub(crate) fn new(site: Site) -> Self {
        Self { site }
    }

    fn check<B>(&self, request: &Request<B>) -> Result<(), ApiError> {
        let headers = request.headers();
        // All of them: of two, who knows which one another program on the way went by.
        let hosts = headers.get_all(header::HOST).iter().map(|value| value.to_str().unwrap_or_default());
        let hosts: Vec<&str> = hosts.chain(request.uri().authority().map(|one| one.as_str())).collect();
        match hosts.iter().find(|host| !self.site.knows_host(host)) {
            Some(host) => {
                return forbidden(&format!("the host {host:?}; its names are public_url and allowed_hosts"));
            }
            None if hosts.is_empty() => return forbidden("a request without a host"),
            None => {}
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            if !self.site.knows_origin(origin) {
                return forbidden(&format!("the origin {origin:?}"));
            }
        }
        for site in headers.get_all("sec-fetch-site") {
            let own = site == "same-origin" || site == "none";
            if !own && !is_visit(request) {
                return forbidden("pages of other sites");
            }
        }
        if is_web_socket(headers) && !headers.contains_key(header::ORIGIN) && !has_bearer(headers) {
            return Err(ApiError::new(
                Code::Unauthorized,
                "a WebSocket is opened by a page of this server, or with a token: send `Authorization: Bearer …`",
            ));
        }
        Ok(())
    }
}

fn forbidden(what: &str) -> Result<(), ApiError> {
    Err(ApiError::new(Code::Forbidden, format!("this server does not answer to {what}")))
}

/// Whether a person follows a link to a page from elsewhere: the one thing that another site may lead to.
fn is_visit<B>(request: &Request<B>) -> bool {
    let says = |name: &str, value: &str| request.headers().get(name).is_some_and(|given| given == value);
    let path = request.uri().path();
    let page = !path.starts_with(wire::API) && !path.starts_with(mcp::PATH);
    let method = *request.method() == Method::GET || *request.method() == Method::HEAD;
    method && page && says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document")
}

fn is_web_socket(headers: &HeaderMap) -> bool {
    let upgrades = headers.get_all(header::UPGRADE).iter().filter_map(|value| value.to_str().ok());
    upgrades.flat_map(|line| line.split(',')).any(|one| one.trim().eq_ignore_ascii_case("websocket"))
}

fn has_bearer(headers: &HeaderMap) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    given.is_some_and(|given| given.starts_with("Bearer "))
}

pub(crate) async fn check(State(gate): State<Gate>, request: Request<Body>, next: Next) -> Response {
    match gate.check(&request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

#[cfg(test)]
mod tests;
