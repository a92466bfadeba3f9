//! A user turn of `delivery`, taken apart into blocks.

use cost::cache::{self, Identity};
use cost::tokens::Counter;
use delivery::channel_delivery::Rendered;
use delivery::prose::{REMINDER, channel_task_brief};
use serde::Serialize;

use super::Player;
use crate::channel::{Channel, Index};
use crate::texts::Counted;

/// What a block of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The line of channel status in front of everything.
    Status,
    /// The agent program's own system text and tools.
    System,
    /// What tells an agent what it is.
    Framing,
    /// The first sentence and the payload.
    Payload,
    /// How to act on a mention.
    Brief,
    /// What stands for the brief.
    Reminder,
    /// The header of the context block.
    Header,
    /// How many new messages the limit left out.
    Notice,
    /// A message of the channel.
    Line,
    /// An answer of the agent.
    Reply,
}

/// A part of a request. The texts of all its blocks, one after the other, are the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// Its exact text, with the separators before or behind it.
    pub text: String,
    /// What it counts by itself.
    pub tokens: u64,
    /// What caches know it by.
    #[serde(skip)]
    identity: Identity,
}

impl Block {
    pub(super) fn new(kind: Kind, text: &str, tokens: u64) -> Self {
        Self { kind, text: text.to_owned(), tokens, identity: Identity::of(text.as_bytes()) }
    }

    pub(super) fn constant(kind: Kind, counted: &Counted) -> Self {
        Self { kind, text: counted.text.clone(), tokens: counted.tokens, identity: counted.identity }
    }

    /// The block as caches see it. One that changes in part is known token by token.
    pub(super) fn cached(&self, counter: &dyn Counter) -> cache::Block {
        let ids = match self.kind {
            Kind::Status => counter.ids(&self.text),
            Kind::System
            | Kind::Framing
            | Kind::Payload
            | Kind::Brief
            | Kind::Reminder
            | Kind::Header
            | Kind::Notice
            | Kind::Line
            | Kind::Reply => None,
        };
        match ids {
            Some(ids) => cache::Block::encoded(cache::Kind::Content, ids),
            None => Self::cached_as_one(std::slice::from_ref(self)),
        }
    }

    /// Blocks that are one message to the provider, as caches see it.
    pub(super) fn cached_as_one(blocks: &[Self]) -> cache::Block {
        let identities = blocks.iter().map(|block| block.identity);
        let identity = identities.fold(Identity::EMPTY, Identity::followed_by);
        cache::Block::counted(cache::Kind::Content, identity, blocks.iter().map(|block| block.tokens).sum())
    }
}

impl Player<'_> {
    /// The user turn of a mention as blocks. `shown` are the messages of its lines.
    ///
    /// Column zero of a context block belongs to the host (4.7): a line begins where a dash does, and nowhere else.
    pub(super) fn blocks_of(
        &mut self,
        channel: &Channel,
        number: usize,
        turn: &str,
        rendered: &Rendered,
        shown: &[Index],
    ) -> Vec<Block> {
        let block = rendered.block.as_deref().unwrap_or_default();
        let told = turn.strip_suffix(block).unwrap_or(turn);
        let (told, gap) = told.strip_suffix("\n\n").map_or((told, ""), |told| (told, "\n\n"));
        let mut blocks = Vec::with_capacity(shown.len() + 4);
        if let Some(head) = told.strip_suffix(channel_task_brief()) {
            blocks.push(self.payload(channel, number, head));
            blocks.push(Block::constant(Kind::Brief, &self.texts.brief));
        } else {
            let head = told.strip_suffix(REMINDER).unwrap_or(told);
            blocks.push(Block::new(Kind::Payload, head, self.counter.count(head)));
            blocks.push(self.constant(Kind::Reminder, &told[head.len()..]));
        }
        let mut items = items(block);
        if let Some(header) = items.next() {
            blocks.push(self.constant(Kind::Header, &format!("{gap}{header}")));
        }
        if rendered.omitted > 0
            && let Some(notice) = items.next()
        {
            blocks.push(self.constant(Kind::Notice, notice));
        }
        for (line, index) in items.zip(shown) {
            let tokens = self.line_tokens(channel, *index, line);
            blocks.push(Block::new(Kind::Line, line, tokens));
        }
        blocks
    }

    /// The answer to a mention.
    pub(super) fn reply(&mut self, channel: &Channel, number: usize) -> Block {
        let mention = channel.mentions().get(number);
        let text = mention.map_or("", |mention| channel.reply(mention.reply));
        let counter = self.counter;
        let tokens = remembered(&mut self.replies, number, channel.mentions().len(), || counter.count(text));
        Block::new(Kind::Reply, text, tokens)
    }

    fn line_tokens(&mut self, channel: &Channel, index: Index, line: &str) -> u64 {
        let counter = self.counter;
        remembered(&mut self.lines, index as usize, channel.len(), || counter.count(line))
    }

    /// The first sentence and the payload. Where each mention has one form of it for all strategies, it is counted once.
    fn payload(&mut self, channel: &Channel, number: usize, text: &str) -> Block {
        let (known, counter) = (&mut self.payloads, self.counter);
        let tokens = remembered(known, number, channel.mentions().len(), || counter.count(text));
        Block::new(Kind::Payload, text, tokens)
    }

    /// A block that comes in few versions, so that each is counted once.
    fn constant(&mut self, kind: Kind, text: &str) -> Block {
        if let Some(counted) = self.constant.get(text) {
            return Block::constant(kind, counted);
        }
        let counted = Counted::new(text.to_owned(), self.counter);
        let block = Block::constant(kind, &counted);
        self.constant.insert(text.to_owned(), counted);
        block
    }
}

/// A number that is counted when it is first asked for.
fn remembered(known: &mut Vec<u32>, at: usize, all: usize, count: impl FnOnce() -> u64) -> u64 {
    if known.len() < all {
        known.resize(all, 0);
    }
    match known.get_mut(at) {
        Some(0) | None => {
            let tokens = count();
            if let (Some(slot), Ok(tokens)) = (known.get_mut(at), u32::try_from(tokens + 1)) {
                *slot = tokens;
            }
            tokens
        }
        Some(known) => u64::from(*known) - 1,
    }
}

/// A context block's header and lines, each line with the break before it.
fn items(block: &str) -> impl Iterator<Item = &str> {
    let mut rest = block;
    std::iter::from_fn(move || {
        let next = rest.get(1..)?.find("\n- ").map_or(rest.len(), |at| at + 1);
        let (item, after) = rest.split_at(next);
        rest = after;
        Some(item)
    })
}
