//! `highwater delete`: deletes a message.

use clap::Args;
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Delete a message: its text is removed from the channel, the search and the stored runs
///
/// Agents that were told it still have it in their sessions; highwater agent fresh begins a new one.
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
        let width = display::columns(std::io::stdout());
        self.format.print(&message, |message| {
            let what = "agents that were told it still have it; stored runs show [deleted]";
            display::prose("", &format!("{} was deleted; {what}\n", display::line(&message.id)), "", width)
        })
    }
}
