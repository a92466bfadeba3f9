//! The web client: its built files, kept in the program, and the headers that bound what a page may do.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use include_dir::{Dir, File, include_dir};

use crate::error::{ApiError, Code};
use crate::secret;

/// What `cargo xtask web` built; it is committed, so that no build needs Node.
static DIST: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../web/dist");

/// What the page may do: run, show and ask for what comes from this very server, and nothing else. No frame holds it,
/// no form leaves it, no script or style stands in its text.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
/// What everything else may do, if a browser shows it at all.
const CLOSED_POLICY: &str = "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
/// Files under `/assets` have their content's hash in their name.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Everything else is asked for each time, and answered from the browser's copy while it is the same.
const ASK_FIRST: &str = "no-cache";

/// The page and what it is made of: there for everybody, since nothing of anybody is in it.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/", get(async |headers: HeaderMap| page(&headers)))
        .route("/favicon.svg", get(async |headers: HeaderMap| file("favicon.svg", &headers)))
        .route("/assets/{name}", get(asset))
        .method_not_allowed_fallback(async || ApiError::invalid("this address does not take that method"))
}

/// Headers of every answer, also of those that are no page: no guessing of types, no framing, no use by another
/// origin, no word about where a reader came from.
pub(crate) async fn guard(mut answer: Response) -> Response {
    let set = |headers: &mut HeaderMap, name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    let headers = answer.headers_mut();
    set(headers, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(headers, header::REFERRER_POLICY, "no-referrer");
    set(headers, header::X_FRAME_OPTIONS, "DENY");
    set(headers, header::CONTENT_SECURITY_POLICY, CLOSED_POLICY);
    set(headers, HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(headers, HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    answer
}

fn page(asked: &HeaderMap) -> Response {
    let mut answer = file("index.html", asked);
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    answer
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    file(&format!("assets/{name}"), &headers)
}

/// A file of the client. The paths were fixed when the program was built: no other can be named.
fn file(path: &str, asked: &HeaderMap) -> Response {
    let Some((file, kind)) = DIST.get_file(path).and_then(|file| Some((file, kind(file)?))) else {
        return ApiError::new(Code::NotFound, "there is nothing at this address").into_response();
    };
    let tag = format!("\"{}\"", &secret::hash_bytes(file.contents())[..32]);
    let cache = if path.starts_with("assets/") { FOR_EVER } else { ASK_FIRST };
    let has = asked.get(header::IF_NONE_MATCH).and_then(|tag| tag.to_str().ok());
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CACHE_CONTROL, cache.to_owned()),
        (header::ETAG, tag.clone()),
    ];
    if has.is_some_and(|has| has.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, file.contents()).into_response()
}

/// The type of a file; only these are served.
fn kind(file: &File<'_>) -> Option<&'static str> {
    match file.path().extension()?.to_str()? {
        "html" => Some("text/html; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        "woff2" => Some("font/woff2"),
        "png" => Some("image/png"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
