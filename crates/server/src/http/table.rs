//! The table of routes, out of which both the router and its description are made.

use axum::Router;
use utoipa::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::App;
use crate::wire;

/// Routes with their descriptions. There is no way to add one without: `routes!` takes only handlers with
/// `#[utoipa::path(…)]`, and this takes only what `routes!` makes.
pub(super) struct Table(OpenApiRouter<App>);

#[derive(OpenApi)]
#[openapi(components(schemas(wire::ErrorBody)))]
struct Described;

impl Table {
    pub(super) fn new() -> Self {
        Self(OpenApiRouter::with_openapi(Described::openapi()))
    }

    /// With the handlers of one address, at most one for each method.
    pub(super) fn with(self, routes: UtoipaMethodRouter<App>) -> Self {
        Self(self.0.routes(routes))
    }

    /// With all of another table, below a prefix.
    pub(super) fn below(self, prefix: &str, table: Self) -> Self {
        Self(self.0.nest(prefix, table.0))
    }

    pub(super) fn split(self) -> (Router<App>, utoipa::openapi::OpenApi) {
        self.0.split_for_parts()
    }
}
