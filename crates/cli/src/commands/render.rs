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
#[command(after_help = EXAMPLE)]
pub(crate) struct Render {}

/// A small case that the shell can be given as it stands.
const EXAMPLE: &str = r#"Example:
  highwater render <<'END'
  {"policy": "lean", "native": "s1", "keeps_session": true, "watermark": null,
   "in_thread": false, "pending": [], "addressed": "m2", "rows": [
    {"id": "m1", "seq": 1, "created_at": "2026-11-30T10:00:01.000Z", "native": null,
     "author": {"kind": "user", "name": "aiko"}, "text": "the deploy is red"},
    {"id": "m2", "seq": 2, "created_at": "2026-11-30T10:00:02.000Z", "native": null,
     "author": {"kind": "user", "name": "ben"}, "text": "@guide why?"}]}
  END

More cases, each with what must come of it: crates/delivery/tests/cases/delivery.json in the source"#;

impl Render {
    /// Carries it out.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let case: Case = input::json(Path::new("-"))?;
        display::print(&display::json(&render(&case))?)
    }
}

#[cfg(test)]
mod tests;
