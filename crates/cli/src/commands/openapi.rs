//! `highwater openapi`: prints the description of the API.

use clap::Args;

use crate::display;
use crate::failure::Failure;

/// Print the description of the API (OpenAPI 3.1)
///
/// The same that a server gives at /api/v1/openapi.json; no server is needed. Types for clients are generated from it.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater openapi > openapi.json")]
pub(crate) struct Openapi {}

impl Openapi {
    /// Prints it.
    pub(crate) fn run(self) -> Result<(), Failure> {
        display::print(server::openapi())
    }
}
