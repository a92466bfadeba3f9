//! What is told of the server to whoever runs it: a line and a count for each request, `/healthz`, `/metrics`.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{ConnectInfo, MatchedPath, State};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::identify::Who;
use super::{App, Json};
use crate::error::{ApiError, Code};
use crate::metrics::{self, Metrics};
use crate::{reach, rights, wire};

/// What stands for the route of a request that has none.
const NO_ROUTE: &str = "none";

/// Counts a request and logs it. Of what the request says nothing is kept but its method and the template of its
/// route: a secret may stand anywhere else by mistake.
pub(crate) async fn observe(State(metrics): State<Metrics>, request: Request<Body>, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let client = forwarded_for(request.headers()).or(peer);
    let name = metrics::method_name(&method);
    tracing::trace!(method = name, route, "a request came");
    let answer = next.run(request).await;
    let (status, took) = (answer.status(), began.elapsed());
    metrics.answered(&method, &route, status, took);
    let client = client.map(tracing::field::display);
    let (status, took_ms) = (status.as_u16(), took.as_millis());
    // Also a failed one: why it failed was logged where it did.
    tracing::info!(method = name, route, status, took_ms, client, "a request was answered");
    answer
}

/// The address that the nearest proxy saw. Anybody can write it: it is good for the log alone, and only as an address.
fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let mut lines = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    lines.next_back()?.rsplit(',').next()?.trim().parse().ok()
}

/// Tells whether the server works
///
/// Whether its engine answers and its database can be read and written; looked at every two seconds at most.
#[utoipa::path(get, path = "/healthz", tag = "server", operation_id = "healthz", security(()), responses(
    (status = 200, description = "All of it works", body = wire::Healthz),
    (status = 503, description = "Something does not", body = wire::Healthz),
))]
pub(super) async fn healthz(State(app): State<App>) -> Response {
    let seen = app.health.look().await;
    let status = match seen.status {
        wire::Works::Ok => StatusCode::OK,
        wire::Works::Failing => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, [(header::CACHE_CONTROL, "no-store")], Json(seen)).into_response()
}

/// Tells figures of the server
///
/// In the text format of Prometheus; for owners, with a token that has the scope `metrics`.
#[utoipa::path(get, path = "/metrics", tag = "server", operation_id = "metrics",
    responses((status = 200, description = "The figures", body = String, content_type = "text/plain")))]
pub(super) async fn metrics(State(app): State<App>, who: Who) -> Result<Response, ApiError> {
    reach::allowed(rights::may_see_metrics(&who.principal), "page", "metrics")?;
    let board = app.service.board().await?;
    let failed = |_| ApiError::new(Code::Internal, "the metrics could not be written");
    let text = app
        .metrics
        .text(&board, app.hub.followers(), storage::database_bytes(&app.start.data))
        .map_err(failed)?;
    Ok(([(header::CONTENT_TYPE, metrics::CONTENT_TYPE), (header::CACHE_CONTROL, "no-store")], text)
        .into_response())
}

#[cfg(test)]
mod tests;
