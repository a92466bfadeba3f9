//! `highwater edit`: puts a new text in place of a message's.

use std::ffi::OsString;

use clap::Args;
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Give a message a new text
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater edit m17 'the right words'")]
pub(crate) struct Edit {
    /// Id of the message
    #[arg(value_parser = input::name)]
    message: String,
    /// New text; - reads standard input
    #[arg(allow_hyphen_values = true)]
    text: OsString,
    #[command(flatten)]
    format: Format,
}

impl Edit {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let body = wire::EditMessage { text: input::message(&self.text)? };
        let message: wire::Message =
            context.client()?.send(&Call::patch(&["messages", &self.message]), &body)?;
        self.format.print(&message, |message| format!("{} was edited\n", display::line(&message.id)))
    }
}
