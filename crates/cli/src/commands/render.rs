//! `highwater render`: renders one context block, without a server.

use std::path::Path;

use clap::Args;
use delivery::channel_delivery::{Case, render};

use crate::display;
use crate::failure::Failure;
use crate::input;

/// Render a context block: a case as JSON on standard input, the result as JSON on standard output
///
/// The case says which messages stand in the channel, which one is addressed, and what the session has been given;
/// the result is the block, the ids that it shows, how many messages it leaves out, and the watermark after it.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater render < case.json")]
pub(crate) struct Render {}

impl Render {
    /// Carries it out.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let case: Case = input::json(Path::new("-"))?;
        display::print(&display::json(&render(&case))?)
    }
}
