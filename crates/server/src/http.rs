//! The HTTP API: the router is its table of contents.

mod admin;
mod checkup;
mod events;
mod gate;
mod identify;
mod member;
mod message;
mod observe;
mod openapi;
mod pause;
mod people;
mod permission;
mod project;
mod run;
mod sign_in;
mod spending;
mod table;
mod thread;
mod token;
mod transfer;
mod usage;
mod watermark;
mod worktree;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::FromRequest;
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa_axum::routes;

use crate::doctor::Doctor;
use crate::error::{ApiError, Code};
use crate::events::Hub;
use crate::health::Health;
use crate::metrics::Metrics;
use crate::network::Site;
use crate::shell::{Clock, Readers, Service};
use crate::start::StartAgents;
use crate::{web, wire};

use self::table::Table;
pub(crate) use gate::Gate;
pub(crate) use identify::Identify;
pub use openapi::text as openapi;
pub(crate) use people::link;
pub(crate) use sign_in::SignIns;

/// Bytes of a request's body at most: a message of 64 KiB, every byte escaped, with room.
const BODY_BYTES_MAX: usize = 1 << 20;

/// What handlers share.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) service: Service,
    pub(crate) readers: Readers,
    pub(crate) hub: Hub,
    pub(crate) start: Arc<StartAgents>,
    pub(crate) doctor: Arc<Doctor>,
    pub(crate) clock: Clock,
    pub(crate) sign_ins: SignIns,
    pub(crate) site: Site,
    pub(crate) metrics: Metrics,
    pub(crate) health: Health,
}

/// All routes. Each handler's `#[utoipa::path(…)]` says its method and address, and what it takes and gives.
fn table() -> Table {
    let api = Table::new()
        .with(routes!(openapi::openapi))
        .with(routes!(admin::health))
        .with(routes!(sign_in::sign_in))
        .with(routes!(sign_in::sign_out))
        .with(routes!(sign_in::me))
        .with(routes!(admin::channels, admin::add_channel))
        .with(routes!(admin::channel, member::change))
        .with(routes!(member::list))
        .with(routes!(member::add, member::remove))
        .with(routes!(project::show, project::set, project::remove))
        .with(routes!(project::trust, project::distrust))
        .with(routes!(worktree::list))
        .with(routes!(worktree::remove))
        .with(routes!(message::history, message::post))
        .with(routes!(thread::list))
        .with(routes!(admin::add_agent))
        .with(routes!(admin::remove_agent, admin::change_agent))
        .with(routes!(admin::change_limits))
        .with(routes!(admin::fresh))
        .with(routes!(message::edit, message::delete))
        .with(routes!(message::runs))
        .with(routes!(message::search))
        .with(routes!(people::list, people::add))
        .with(routes!(people::change))
        .with(routes!(people::set_password))
        .with(routes!(people::invite))
        .with(routes!(token::list, token::add))
        .with(routes!(token::revoke))
        .with(routes!(admin::agents))
        .with(routes!(admin::presets))
        .with(routes!(checkup::examine))
        .with(routes!(checkup::checkup))
        .with(routes!(events::sse))
        .with(routes!(events::ws))
        .with(routes!(run::list))
        .with(routes!(run::show))
        .with(routes!(run::cancel))
        .with(routes!(run::retry))
        .with(routes!(usage::show))
        .with(routes!(spending::list, spending::set))
        .with(routes!(permission::list))
        .with(routes!(permission::show))
        .with(routes!(permission::answer))
        .with(routes!(permission::change_rules))
        .with(routes!(run::resume))
        .with(routes!(run::steer))
        .with(routes!(pause::show, pause::pause, pause::resume))
        .with(routes!(pause::pause_channel, pause::resume_channel))
        .with(routes!(watermark::export, watermark::import))
        .with(routes!(transfer::backup))
        .with(routes!(transfer::export))
        .with(routes!(transfer::import));
    Table::new().below(wire::API, api).with(routes!(observe::healthz)).with(routes!(observe::metrics))
}

/// Puts around all routes what every request passes, whatever its address and whether there is anything at it: it is
/// counted, its answer says what a browser may do with it, a panic becomes an answer, and the gate lets it in.
pub(crate) fn guarded(routes: Router, gate: Gate, metrics: Metrics) -> Router {
    routes
        .layer(axum::middleware::from_fn_with_state(gate, gate::check))
        .layer(tower_http::catch_panic::CatchPanicLayer::custom(panicked))
        .layer(axum::middleware::map_response(web::guard))
        .layer(axum::middleware::from_fn_with_state(metrics, observe::observe))
}

/// The routes of the API and of whoever watches the server; all but the open ones for somebody known.
pub(crate) fn router(app: App, identify: Identify) -> Router {
    let (routes, _) = table().split();
    routes
        .with_state(app)
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(axum::middleware::from_fn_with_state(identify, identify::check))
        .merge(web::router())
}

async fn no_route() -> ApiError {
    ApiError::new(Code::NotFound, "there is nothing at this address")
}

async fn no_method() -> ApiError {
    ApiError::invalid("this address does not take that method")
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    ApiError::new(Code::Internal, "a fault of the server; its log says more").into_response()
}

/// A JSON body, in or out.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    /// Takes `application/json` alone: a form of a foreign page cannot send that without asking first.
    async fn from_request(request: Request<axum::body::Body>, state: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
        if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
            return Err(ApiError::invalid("send the body as JSON, with `content-type: application/json`"));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            match rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                true => {
                    ApiError::new(Code::TooLarge, format!("a request has {BODY_BYTES_MAX} bytes at most"))
                }
                false => ApiError::invalid("the request's body broke off"),
            }
        })?;
        match serde_json::from_slice(&bytes) {
            Ok(value) => Ok(Self(value)),
            Err(error) if std::str::from_utf8(&bytes).is_err() => {
                Err(ApiError::invalid(format!("the body is not UTF-8: {error}")))
            }
            Err(error) => Err(ApiError::invalid(format!("the body does not fit: {error}"))),
        }
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = wire::ErrorBody {
            code: self.code.as_str().to_owned(),
            message: self.message,
            retry_after_ms: self.retry_after_ms,
        };
        let mut answer = (status(self.code), axum::Json(body)).into_response();
        if let Some(ms) = self.retry_after_ms {
            answer.headers_mut().insert(header::RETRY_AFTER, ms.div_ceil(1_000).max(1).into());
        }
        answer
    }
}

/// Parts of the address, with our own error.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> axum::extract::FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, state: &S) -> Result<Self, ApiError> {
        let axum::extract::Path(value) = axum::extract::Path::from_request_parts(parts, state)
            .await
            .map_err(|rejection| ApiError::invalid(rejection.body_text()))?;
        Ok(Self(value))
    }
}

/// The one status of a code.
fn status(code: Code) -> StatusCode {
    match code {
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::Exists | Code::Conflict | Code::AlreadyDecided => StatusCode::CONFLICT,
        Code::Invalid => StatusCode::BAD_REQUEST,
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::Forbidden => StatusCode::FORBIDDEN,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
        Code::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Query parameters, with our own error.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> axum::extract::FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, _: &S) -> Result<Self, ApiError> {
        let axum::extract::Query(value) = axum::extract::Query::try_from_uri(&parts.uri)
            .map_err(|rejection| ApiError::invalid(rejection.body_text()))?;
        Ok(Self(value))
    }
}
