//! The commands, one file each.

pub(crate) mod agent;
pub(crate) mod backup;
pub(crate) mod channel;
pub(crate) mod completions;
pub(crate) mod delete;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod export;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod invite;
pub(crate) mod man;
pub(crate) mod measure;
pub(crate) mod openapi;
pub(crate) mod pause;
pub(crate) mod permission;
pub(crate) mod person;
pub(crate) mod post;
pub(crate) mod project;
pub(crate) mod render;
pub(crate) mod restore;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod sim;
pub(crate) mod spending;
pub(crate) mod tail;
pub(crate) mod token;
pub(crate) mod usage;
pub(crate) mod watermarks;
pub(crate) mod worktree;

use clap::Args;

use crate::display;
use crate::failure::Failure;

/// `--json`, which many commands have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub(crate) struct Format {
    /// Print JSON: one line, exact
    #[arg(long)]
    json: bool,
}

impl Format {
    /// Whether it is JSON.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Prints a value: as JSON, or as the text that `text` makes of it.
    pub(crate) fn print<T: serde::Serialize>(
        self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        if self.json { display::print(&display::json(value)?) } else { display::print(&text(value)) }
    }
}
