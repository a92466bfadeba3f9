//! A message a line: `{"author": "aiko", "text": "hi"}`, with `id`, `thread`, `at` and `kind` if they are known.

use std::collections::BTreeMap;
use std::io::BufRead;

use delivery::{Author, AuthorKind, Timestamp, mention};
use serde::Deserialize;

use super::lines::{Line, Lines, Why, why};
use super::{ErrorAt, Reading};
use crate::channel::{Channel, Index, Mention, Reply};
use crate::play::MAX_RECIPIENTS;

/// Between two messages without a time.
const PAUSE_MS: i64 = 60_000;

#[derive(Deserialize)]
struct Message {
    author: String,
    text: String,
    kind: Option<AuthorKind>,
    at: Option<Timestamp>,
    id: Option<String>,
    thread: Option<String>,
}

/// Reads the channel whose first line is this.
pub(super) fn read(
    first: &str,
    lines: &mut Lines<impl BufRead>,
    reading: &Reading,
) -> Result<Channel, ErrorAt> {
    let mut writing = Writing {
        channel: Channel::new("transcript", reading.agents.clone()),
        ids: BTreeMap::new(),
        open: BTreeMap::new(),
    };
    let mut line = Some(Line::Good(first.to_owned()));
    while let Some(read) = line {
        if let Line::Good(text) = read {
            let taken = match serde_json::from_str::<Message>(&text) {
                Ok(message) => writing.take(message),
                Err(error) => Err(why(&error)),
            };
            if let Err(why) = taken {
                lines.skip(why);
            }
        }
        line = lines.next_line()?;
    }
    Ok(writing.channel)
}

struct Writing {
    channel: Channel,
    /// Messages by the ids that they have in the file.
    ids: BTreeMap<String, Index>,
    /// Numbers of mentions that have no answer yet, by agent and thread, the oldest first.
    open: BTreeMap<(usize, Option<Index>), Vec<usize>>,
}

impl Writing {
    fn take(&mut self, message: Message) -> Result<(), Why> {
        let author = author(message.author, message.kind);
        if author.kind == AuthorKind::System {
            return Err(Why::Notice);
        }
        let thread = match message.thread {
            Some(root) => Some(*self.ids.get(&root).ok_or(Why::NoRoot)?),
            None => None,
        };
        // What answers in a thread may name any message of it.
        let root = thread.map(|root| self.channel.thread(root).unwrap_or(root));
        let at = message.at.unwrap_or_else(|| self.next_time());
        let index = self.channel.push(&author, at, &message.text, root).ok_or(Why::Full)?;
        if let Some(id) = message.id {
            self.ids.insert(id, index);
        }
        if let Some(agent) =
            (0..self.channel.agents().len()).find(|agent| self.channel.is_agent(&author, *agent))
        {
            self.answer(agent, root, index);
        }
        self.address(&author, &message.text, index, root);
        Ok(())
    }

    fn next_time(&self) -> Timestamp {
        let last =
            u32::try_from(self.channel.len()).ok().and_then(|len| self.channel.at(len.checked_sub(1)?));
        Timestamp { ms: last.map_or(0, |last| last.ms.saturating_add(PAUSE_MS)) }
    }

    /// An agent's message answers the oldest mention in its place that has no answer.
    fn answer(&mut self, agent: usize, root: Option<Index>, index: Index) {
        if let Some(open) = self.open.get_mut(&(agent, root))
            && !open.is_empty()
        {
            self.channel.answer(open.remove(0), Reply::Posted(index));
        }
    }

    /// Notes whom a message addresses: people anybody in their prose, agents whom their message begins with (2.2, 2.7).
    fn address(&mut self, author: &Author, text: &str, index: Index, root: Option<Index>) {
        if !text.contains('@') {
            return;
        }
        let agents = self.channel.agents().to_vec();
        let handles: Vec<&str> = agents.iter().map(String::as_str).collect();
        let mut addressed = match author.kind {
            AuthorKind::User => mention::mentions(text, &handles),
            AuthorKind::Agent => mention::leading(text, &handles),
            AuthorKind::System => Vec::new(),
        };
        addressed.retain(|handle| author.kind != AuthorKind::Agent || author.name != format!("@{handle}"));
        for handle in addressed.into_iter().take(MAX_RECIPIENTS as usize) {
            let Some(agent) = handles.iter().position(|known| *known == handle) else { continue };
            self.open.entry((agent, root)).or_default().push(self.channel.mentions().len());
            self.channel.push_mention(Mention { message: index, agent, reply: Reply::None });
        }
    }
}

/// Who wrote a message: an agent if it is said to be one, or has a handle for a name.
fn author(name: String, kind: Option<AuthorKind>) -> Author {
    let kind = kind.unwrap_or(if name.starts_with('@') { AuthorKind::Agent } else { AuthorKind::User });
    match kind {
        AuthorKind::Agent if !name.starts_with('@') => Author { kind, name: format!("@{name}") },
        AuthorKind::Agent | AuthorKind::User | AuthorKind::System => Author { kind, name },
    }
}
