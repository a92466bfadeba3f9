//! `highwater run steer`: puts a message into a running turn.

use std::ffi::OsString;

use clap::Args;
use server::wire;

use crate::client::{Call, Client, persist};
use crate::commands::Format;
use crate::commands::post::{POST_PAUSES, client_id};
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// What steering is.
pub(super) const ABOUT: &str = "\
The message is posted where the mention stands, makes no run of its own, and
goes to the agent at once, while it works. Agents that offer steering take it
in at their next step; `run show` says when. What comes too late is told with
the next turn, as any message is.

Example: highwater run steer r5 'leave the tests alone, please'";

/// Arguments of `run steer`.
#[derive(Debug, Args)]
pub(crate) struct Steer {
    /// Id of the run
    #[arg(value_parser = input::name)]
    id: String,
    /// Text; - reads standard input, without its final line break
    #[arg(allow_hyphen_values = true)]
    text: OsString,
    #[command(flatten)]
    format: Format,
}

impl Steer {
    pub(super) fn run(self, context: &Context, mut client: Client) -> Result<(), Failure> {
        let body = wire::Steer { text: input::message(&self.text)?, client_id: Some(client_id()) };
        let call = Call::post(&["runs", &self.id, "steer"]);
        let find = || context.client();
        let message: wire::Message =
            persist(&mut client, find, &POST_PAUSES, |client| client.send(&call, &body))?;
        self.format.print(&message, |message| {
            format!("{}\n", display::line(&format!("{} goes to the agent of {}", message.id, self.id)))
        })
    }
}
