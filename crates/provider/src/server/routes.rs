//! What the provider answers to, by path.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::{Shared, answering};
use crate::ledger::{Api, Stray};

/// A conversation of a million tokens with images fits.
const BODY_BYTES_MAX: usize = 64 << 20;

type Of = State<Arc<Shared>>;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(ready))
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/models", get(models))
        .route("/v1/responses", post(responses))
        .route("/responses", post(responses))
        .route("/v1beta/models/{call}", post(gemini))
        .fallback(stray)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(shared)
}

/// Agents ask whether somebody is there.
async fn ready() -> StatusCode {
    StatusCode::OK
}

async fn models() -> axum::Json<Value> {
    axum::Json(json!({"object": "list", "data": [], "has_more": false, "first_id": null, "last_id": null}))
}

async fn messages(State(shared): Of, headers: HeaderMap, body: Bytes) -> Response {
    answering::answer(&shared, Api::Anthropic, "", &headers, &body).await
}

async fn count_tokens(State(shared): Of, headers: HeaderMap, body: Bytes) -> Response {
    answering::count(&shared, Api::Anthropic, "", &headers, &body)
}

async fn responses(State(shared): Of, headers: HeaderMap, body: Bytes) -> Response {
    answering::answer(&shared, Api::OpenAi, "", &headers, &body).await
}

async fn gemini(
    State(shared): Of,
    Path(call): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match call.rsplit_once(':') {
        Some((_, "generateContent" | "streamGenerateContent")) => {
            answering::answer(&shared, Api::Gemini, &call, &headers, &body).await
        }
        Some((_, "countTokens")) => answering::count(&shared, Api::Gemini, &call, &headers, &body),
        Some(_) | None => unknown(&shared, "POST", &uri),
    }
}

async fn stray(State(shared): Of, request: Request) -> Response {
    unknown(&shared, request.method().as_str(), request.uri())
}

fn unknown(shared: &Shared, method: &str, uri: &Uri) -> Response {
    shared.ledger.stray(Stray { method: method.to_owned(), path: uri.path().to_owned() });
    let error = json!({"type": "error", "error": {"type": "not_found_error", "message": "Not found"}});
    (StatusCode::NOT_FOUND, axum::Json(error)).into_response()
}
