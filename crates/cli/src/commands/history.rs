//! `highwater history`: reads a channel or a thread.

use clap::Args;
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Read a channel or a thread, oldest first
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater history general --limit 20")]
pub(crate) struct History {
    /// Channel
    #[arg(value_parser = input::name)]
    channel: String,
    /// Read the thread that hangs on this message
    #[arg(long, value_name = "ID", value_parser = input::name)]
    thread: Option<String>,
    /// Only messages before this one
    #[arg(long, value_name = "ID", value_parser = input::name)]
    before: Option<String>,
    /// Messages at most, the newest of them [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    #[command(flatten)]
    format: Format,
}

impl History {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let call = Call::get(&["channels", &self.channel, "messages"])
            .with("before", self.before)
            .with("thread", self.thread)
            .with("limit", self.limit.map(|limit| limit.to_string()));
        let messages: Vec<wire::Message> = context.client()?.call(&call)?;
        let width = display::columns(std::io::stdout());
        self.format.print(&messages, |messages| {
            if messages.is_empty() {
                "no messages\n".to_owned()
            } else {
                messages.iter().map(|written| message(written, width)).collect()
            }
        })
    }
}

/// A message for people, for a terminal of this width: `2026-11-30 10:00:01Z m17 aiko: text`. Further lines of the
/// text are indented, so that none can pose as another message.
pub(super) fn message(message: &wire::Message, width: Option<usize>) -> String {
    let thread =
        message.thread_root_id.as_ref().map_or_else(String::new, |root| format!(" in thread {root}"));
    let edited = if message.revision > 1 && !message.deleted { " (edited)" } else { "" };
    let head = format!(
        "{} {}{thread} {}{edited}: ",
        display::time(message.created_at),
        message.id,
        message.author.name
    );
    let text = if message.deleted { "(deleted)" } else { &message.text };
    display::prose(&display::line(&head), text, "    ", width) + "\n"
}

#[cfg(test)]
mod tests;
