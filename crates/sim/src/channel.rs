//! A channel as the simulator plays it: messages, who wrote them, which of them address an agent, and what it answered.
//!
//! Kept compact, since a channel may have a million messages: all text lies in one string, a message is a few numbers.

use std::collections::BTreeMap;

use delivery::model::{ChannelId, MessageId, NativeId};
use delivery::{Author, AuthorKind, Row, Timestamp};

/// A message's place in its channel, counted from 0. Its id is `m1` for 0, and its event number 1.
pub type Index = u32;

/// Messages of a channel at most: their places are counted with 32 bits.
pub const MESSAGES_MAX: usize = u32::MAX as usize;

/// A channel with all that happened in it, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Channel {
    name: String,
    agents: Vec<String>,
    authors: Vec<Author>,
    /// Numbers of authors by kind and name.
    known: BTreeMap<AuthorKind, BTreeMap<String, u32>>,
    messages: Vec<Message>,
    /// Messages at the top level.
    top: Vec<Index>,
    /// Threads by their root, which each begins with.
    threads: BTreeMap<Index, Vec<Index>>,
    texts: Texts,
    mentions: Vec<Mention>,
    replies: Texts,
}

/// A message, but for its text.
#[derive(Clone, Copy, Debug)]
struct Message {
    at: Timestamp,
    author: u32,
    /// The root's place plus one; 0 at the top level.
    thread: u32,
}

/// A message that addresses an agent. One that addresses several is there once for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The addressed message.
    pub message: Index,
    /// Which of [`Channel::agents`] it addresses.
    pub agent: usize,
    /// What the agent answered.
    pub reply: Reply,
}

/// An agent's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It lives in the session alone; the number of a text of [`Channel::push_reply`].
    Made(u32),
    /// It is this message of the channel.
    Posted(Index),
    /// Nothing.
    None,
}

impl Channel {
    /// A channel in which nothing happened yet; `agents` are the handles, without `@`, that can be addressed in it.
    pub fn new(name: &str, agents: Vec<String>) -> Self {
        Self { name: name.to_owned(), agents, ..Self::default() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Handles, without `@`, of the agents that can be addressed.
    pub fn agents(&self) -> &[String] {
        &self.agents
    }

    /// All whose messages stand in it, in the order of their first one.
    pub fn authors(&self) -> &[Author] {
        &self.authors
    }

    /// How many messages stand in it.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether it has no message.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// What addresses an agent, oldest first.
    pub fn mentions(&self) -> &[Mention] {
        &self.mentions
    }

    /// A message's text as written; empty of one that does not exist.
    pub fn text(&self, index: Index) -> &str {
        self.texts.get(index)
    }

    /// When a message was written.
    pub fn at(&self, index: Index) -> Option<Timestamp> {
        self.messages.get(index as usize).map(|message| message.at)
    }

    /// When a message was written, in milliseconds since the first one.
    pub fn elapsed_ms(&self, index: Index) -> u64 {
        let first = self.messages.first().map_or(0, |first| first.at.ms);
        self.at(index).and_then(|at| u64::try_from(at.ms.checked_sub(first)?).ok()).unwrap_or(0)
    }

    /// The root of the thread that a message hangs in.
    pub fn thread(&self, index: Index) -> Option<Index> {
        self.messages.get(index as usize)?.thread.checked_sub(1)
    }

    /// What stands in a thread, its root first, or at the top level of the channel.
    pub fn place(&self, thread: Option<Index>) -> &[Index] {
        match thread {
            Some(root) => self.threads.get(&root).map_or(&[], Vec::as_slice),
            None => &self.top,
        }
    }

    /// Whether a thread hangs on a message.
    pub fn is_root(&self, index: Index) -> bool {
        self.threads.contains_key(&index)
    }

    /// Who wrote a message.
    pub fn author(&self, index: Index) -> Option<&Author> {
        self.authors.get(self.messages.get(index as usize)?.author as usize)
    }

    /// The text of an answer.
    pub fn reply(&self, reply: Reply) -> &str {
        match reply {
            Reply::Made(number) => self.replies.get(number),
            Reply::Posted(index) => self.text(index),
            Reply::None => "",
        }
    }

    /// The id that a message has.
    pub fn message_id(index: Index) -> MessageId {
        MessageId(format!("m{}", u64::from(index) + 1))
    }

    /// The place of the message with this id, if it is one of [`Channel::message_id`].
    pub fn index(id: &MessageId) -> Option<Index> {
        id.as_str().strip_prefix('m')?.parse::<u32>().ok()?.checked_sub(1)
    }

    /// The channel's id in payloads.
    pub fn id(&self) -> ChannelId {
        ChannelId("c1".to_owned())
    }

    /// A message as `delivery` takes it; `native` is the session that wrote it, if one did.
    pub fn row(&self, index: Index, native: Option<NativeId>) -> Option<Row> {
        let message = self.messages.get(index as usize)?;
        Some(Row {
            id: Self::message_id(index),
            seq: u64::from(index) + 1,
            created_at: message.at,
            author: self.authors.get(message.author as usize)?.clone(),
            native,
            text: self.text(index).to_owned(),
            edited_seq: None,
            deleted_seq: None,
        })
    }

    /// Appends a message; `None` if the channel is full, or the root does not stand at its top level.
    pub fn push(
        &mut self,
        author: &Author,
        at: Timestamp,
        text: &str,
        thread: Option<Index>,
    ) -> Option<Index> {
        let index = u32::try_from(self.messages.len()).ok().filter(|index| *index < u32::MAX)?;
        let thread = match thread {
            Some(root) if self.messages.get(root as usize).is_some_and(|root| root.thread == 0) => root + 1,
            Some(_) => return None,
            None => 0,
        };
        let author = self.author_number(author)?;
        // Times grow strictly within a channel (5.5), whatever a transcript says.
        let after = self.messages.last().map_or(i64::MIN, |last| last.at.ms.saturating_add(1));
        let at = Timestamp { ms: at.ms.max(after) };
        self.messages.push(Message { at, author, thread });
        match thread.checked_sub(1) {
            Some(root) => self.threads.entry(root).or_insert_with(|| vec![root]).push(index),
            None => self.top.push(index),
        }
        self.texts.push(text);
        Some(index)
    }

    /// The number of an author, who gets one with the first message.
    fn author_number(&mut self, author: &Author) -> Option<u32> {
        let known = self.known.entry(author.kind).or_default();
        if let Some(number) = known.get(author.name.as_str()) {
            return Some(*number);
        }
        let number = u32::try_from(self.authors.len()).ok()?;
        known.insert(author.name.clone(), number);
        self.authors.push(author.clone());
        Some(number)
    }

    /// Notes that a message addresses an agent.
    pub fn push_mention(&mut self, mention: Mention) {
        self.mentions.push(mention);
    }

    /// Sets what the agent answered to the mention of this number.
    pub fn answer(&mut self, mention: usize, reply: Reply) {
        if let Some(mention) = self.mentions.get_mut(mention) {
            mention.reply = reply;
        }
    }

    /// Keeps the text of an answer that stands in no channel.
    pub fn push_reply(&mut self, text: &str) -> Reply {
        Reply::Made(self.replies.push(text))
    }

    /// Whether an author is this agent of the channel.
    pub fn is_agent(&self, author: &Author, agent: usize) -> bool {
        let handle = author.name.strip_prefix('@').unwrap_or(&author.name);
        author.kind == AuthorKind::Agent && self.agents.get(agent).is_some_and(|known| known == handle)
    }
}

/// Many texts in one string.
#[derive(Clone, Debug, Default)]
struct Texts {
    all: String,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) -> u32 {
        self.all.push_str(text);
        self.ends.push(self.all.len());
        u32::try_from(self.ends.len() - 1).unwrap_or(u32::MAX)
    }

    fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(number).and_then(|end| self.all.get(start..*end)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
