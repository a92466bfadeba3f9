//! `highwater delete`: deletes a message.

use clap::Args;
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Delete a message; its text is removed everywhere
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater delete m17")]
pub(crate) struct Delete {
    /// Id of the message
    #[arg(value_parser = input::name)]
    message: String,
    #[command(flatten)]
    format: Format,
}

impl Delete {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let message: wire::Message = context.client()?.call(&Call::delete(&["messages", &self.message]))?;
        self.format.print(&message, |message| format!("{} was deleted\n", display::line(&message.id)))
    }
}
