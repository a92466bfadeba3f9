//! `highwater search`: finds messages by their words.

use clap::Args;
use server::wire;

use super::Format;
use super::{channel, history};
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;

/// Find messages by their words
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater search 'watermark lost' --channel general")]
pub(crate) struct Search {
    /// Words to look for
    #[arg(value_parser = input::name)]
    query: String,
    /// Only in this channel
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: Option<String>,
    /// Messages at most [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    #[command(flatten)]
    format: Format,
}

impl Search {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let call = Call::get(&["search"])
            .with("q", Some(self.query))
            .with("channel", self.channel)
            .with("limit", self.limit.map(|limit| limit.to_string()));
        let messages: Vec<wire::Message> = context
            .client()?
            .call(&call)
            .map_err(|failure| failure.hint_if(Kind::NotFound, channel::NOT_FOUND))?;
        self.format.print(&messages, |messages| {
            let found = |message: &wire::Message| {
                format!("{} {}", display::line(&message.channel), history::message(message))
            };
            if messages.is_empty() {
                "nothing was found\n".to_owned()
            } else {
                messages.iter().map(found).collect()
            }
        })
    }
}
