//! `highwater search`: finds messages by their words.

use clap::Args;
use delivery::Timestamp;
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Characters of a snippet.
const SNIPPET: usize = 72;

/// Characters of it before the match.
const BEFORE: usize = 16;

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
            .with("q", Some(&self.query))
            .with("channel", self.channel)
            .with("limit", self.limit.map(|limit| limit.to_string()));
        let messages: Vec<wire::Message> = context.client()?.call(&call)?;
        self.format.print(&messages, |messages| list(messages, &self.query, display::now()))
    }
}

fn list(messages: &[wire::Message], query: &str, now: Timestamp) -> String {
    let row = |message: &wire::Message| {
        [
            message.id.clone(),
            message.channel.clone(),
            message.author.name.clone(),
            display::ago(message.created_at, now),
            snippet(&message.text, query),
        ]
    };
    let rows: Vec<_> = messages.iter().map(row).collect();
    display::table(["MESSAGE", "CHANNEL", "AUTHOR", "WRITTEN", "TEXT"], &rows, "nothing was found")
}

/// The part of a text around the first word of the query that stands in it, on one line.
fn snippet(text: &str, query: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let at = words.filter_map(|word| find(&text, word)).min().unwrap_or(0);
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let hit = chars.partition_point(|(byte, _)| *byte < at);
    let end = (hit.saturating_sub(BEFORE) + SNIPPET).min(chars.len());
    let start = hit.saturating_sub(BEFORE).min(end.saturating_sub(SNIPPET));
    let part: String = chars[start..end].iter().map(|(_, c)| c).collect();
    let (left, right) = (if start > 0 { "…" } else { "" }, if end < chars.len() { "…" } else { "" });
    format!("{left}{part}{right}")
}

/// Where a word stands in a text, letters of either case being the same.
fn find(text: &str, word: &str) -> Option<usize> {
    let word = word.to_lowercase();
    text.char_indices().map(|(at, _)| at).find(|at| {
        let mut rest = text[*at..].chars().flat_map(char::to_lowercase);
        word.chars().all(|c| rest.next() == Some(c))
    })
}

#[cfg(test)]
mod tests;
