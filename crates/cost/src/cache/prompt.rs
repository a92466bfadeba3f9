//! Prompts as caches see them: an ordered list of blocks, with what is needed to compare two of them cheaply.

#[cfg(test)]
mod tests;

use std::sync::Arc;

/// A name for some bytes. Equal bytes have equal identities; different ones do not, for all practical purposes (128 bits of two
/// independent mixes). It keeps nobody from making a collision on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(u64, u64);

impl Identity {
    /// The identity of no bytes at all: where every prompt starts.
    pub const EMPTY: Identity = Identity(0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15);

    /// The identity of `bytes`, the same on every machine and in every run.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Identity {
        let mut identity = Identity::EMPTY.then(bytes.len() as u64);
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            identity = identity.then(u64::from_le_bytes(word.try_into().unwrap_or_default()));
        }
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        identity.then(u64::from_le_bytes(last))
    }

    /// The identity of what this one names, followed by `next`.
    #[must_use]
    pub fn followed_by(self, next: Identity) -> Identity {
        self.then(next.0).then(next.1)
    }

    fn then(self, word: u64) -> Identity {
        Identity(
            mix(self.0 ^ word, 0xbf58_476d_1ce4_e5b9),
            mix(self.1.wrapping_add(word), 0x94d0_49bb_1331_11eb),
        )
    }
}

/// Spreads each bit of `word` over all of the result; a bijection for an odd `factor`.
fn mix(word: u64, factor: u64) -> u64 {
    let mut mixed = word;
    mixed ^= mixed >> 32;
    mixed = mixed.wrapping_mul(factor);
    mixed ^= mixed >> 29;
    mixed = mixed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    mixed ^ (mixed >> 32)
}

/// What a block is, as far as caching asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text, an image, a tool's definition: whatever is none of the others.
    Content,
    /// An agent's call of a tool.
    ToolUse,
    /// What a call gave.
    ToolResult,
    /// Thinking: cached along with what stands around it, but never marked.
    Thinking,
    /// A parameter that is part of the key without being text: no tokens, no position, no mark. It stands at the start of the
    /// layer that a change of it invalidates (see [`Change`]).
    Parameter,
}

/// The smallest thing a provider caches: one block of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub(crate) kind: Kind,
    pub(crate) identity: Identity,
    pub(crate) tokens: u64,
    /// Empty when the block was only counted: then it is equal to another one or not, but never in part.
    pub(crate) ids: Arc<[u32]>,
}

impl Block {
    /// A block of `tokens` tokens that are not known one by one.
    #[must_use]
    pub fn counted(kind: Kind, identity: Identity, tokens: u64) -> Block {
        Block { kind, identity, tokens, ids: Arc::default() }
    }

    /// A block of exactly these tokens; two such blocks can have a beginning in common.
    #[must_use]
    pub fn encoded(kind: Kind, ids: impl Into<Arc<[u32]>>) -> Block {
        let ids: Arc<[u32]> = ids.into();
        let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        Block { kind, identity: Identity::of(&bytes), tokens: ids.len() as u64, ids }
    }

    /// A parameter of the request, named and with its value.
    #[must_use]
    pub fn parameter(value: &str) -> Block {
        Block::counted(Kind::Parameter, Identity::of(value.as_bytes()), 0)
    }

    /// How many tokens it has.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// How many tokens this block and `other` have in common from their beginnings.
    fn common_tokens(&self, other: &Block) -> u64 {
        if self.kind != other.kind {
            return 0;
        }
        if self.identity == other.identity {
            return self.tokens;
        }
        self.ids.iter().zip(other.ids.iter()).take_while(|(one, two)| one == two).count() as u64
    }
}

/// What may change from one request to the next without a change of the text before it.
///
/// Source: the table of invalidations in Anthropic's guide to prompt caching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A tool's name, description, parameters or place.
    ToolDefinition,
    /// Web search switched on or off.
    WebSearch,
    /// Citations switched on or off.
    Citations,
    /// Standard or fast.
    Speed,
    /// The system text.
    SystemText,
    /// Which tools may or must be called.
    ToolChoice,
    /// Whether the prompt has images.
    Images,
    /// Whether and how long the model thinks.
    Thinking,
    /// How much effort the model makes.
    Effort,
}

/// The parts of a prompt, in the order in which they are cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The tools' definitions.
    Tools,
    /// The system text.
    System,
    /// The conversation.
    Messages,
}

impl Change {
    /// The first layer that is not found again after this change; all later ones are not either.
    #[must_use]
    pub fn invalidates_from(self) -> Layer {
        match self {
            Change::ToolDefinition => Layer::Tools,
            Change::WebSearch | Change::Citations | Change::Speed | Change::SystemText => Layer::System,
            Change::ToolChoice | Change::Images | Change::Thinking | Change::Effort => Layer::Messages,
        }
    }
}

/// A list of blocks, each with the sums of all up to it. Blocks are added and cut off at its end only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    links: Vec<Link>,
}

#[derive(Clone, Debug)]
struct Link {
    block: Block,
    /// Of all blocks up to this one.
    identity: Identity,
    /// In all blocks up to this one.
    tokens: u64,
}

impl Chain {
    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }

    /// In the first `length` blocks.
    pub(crate) fn tokens(&self, length: usize) -> u64 {
        length.checked_sub(1).map_or(0, |last| self.links[last].tokens)
    }

    /// Of the first `length` blocks.
    pub(crate) fn identity(&self, length: usize) -> Identity {
        length.checked_sub(1).map_or(Identity::EMPTY, |last| self.links[last].identity)
    }

    pub(crate) fn block(&self, index: usize) -> &Block {
        &self.links[index].block
    }

    pub(crate) fn push(&mut self, block: Block) {
        let kind = Identity::EMPTY.then(block.kind as u64);
        let identity = self.identity(self.len()).followed_by(kind.followed_by(block.identity));
        let tokens = self.tokens(self.len()) + block.tokens;
        self.links.push(Link { block, identity, tokens });
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.links.truncate(length);
    }

    /// How many blocks both have in common from their beginnings; few comparisons, however long they are.
    pub(crate) fn common_blocks(&self, other: &Chain) -> usize {
        let both = self.len().min(other.len());
        // A conversation that went on begins with the one before; looking elsewhere in a long one costs a cache miss each time.
        if self.identity(both) == other.identity(both) {
            return both;
        }
        let (mut equal, mut different) = (0, both);
        while different - equal > 1 {
            let middle = equal + (different - equal) / 2;
            if self.identity(middle) == other.identity(middle) {
                equal = middle;
            } else {
                different = middle;
            }
        }
        equal
    }

    /// How many tokens both have in common from their beginnings.
    pub(crate) fn common_tokens(&self, other: &Chain) -> u64 {
        let blocks = self.common_blocks(other);
        let within = match (self.links.get(blocks), other.links.get(blocks)) {
            (Some(one), Some(two)) => one.block.common_tokens(&two.block),
            (None, _) | (_, None) => 0,
        };
        self.tokens(blocks) + within
    }

    /// Becomes equal to `other`, by touching only what is different.
    pub(crate) fn become_like(&mut self, other: &Chain) {
        let common = self.common_blocks(other);
        self.truncate(common);
        self.links.extend_from_slice(&other.links[common..]);
    }
}

/// All that a request sends to the model, in two parts: the head (tools, then system text), and the conversation, which mostly
/// grows at its end. A change of the head costs what the head is long; added blocks cost what they are, however long the
/// conversation is.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    pub(crate) head: Chain,
    pub(crate) messages: Chain,
}

impl Prompt {
    /// A prompt of this head and no conversation yet.
    pub fn new(head: impl IntoIterator<Item = Block>) -> Prompt {
        let mut prompt = Prompt::default();
        prompt.set_head(head);
        prompt
    }

    /// Another head before the same conversation.
    pub fn set_head(&mut self, head: impl IntoIterator<Item = Block>) {
        self.head.truncate(0);
        head.into_iter().for_each(|block| self.head.push(block));
    }

    /// One more block of the conversation.
    pub fn push(&mut self, block: Block) {
        self.messages.push(block);
    }

    /// Leaves the first `blocks` blocks of the conversation.
    pub fn truncate_messages(&mut self, blocks: usize) {
        self.messages.truncate(blocks);
    }

    /// How many blocks it has, head and conversation. Blocks are numbered from zero through both.
    #[must_use]
    pub fn len(&self) -> usize {
        self.head.len() + self.messages.len()
    }

    /// Whether it has no block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many tokens it has.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens_of(self.len())
    }

    /// How many tokens its first `blocks` blocks have.
    #[must_use]
    pub fn tokens_of(&self, blocks: usize) -> u64 {
        let head = blocks.min(self.head.len());
        self.head.tokens(head) + self.messages.tokens(blocks - head)
    }

    /// How many tokens this prompt and `other` have in common from their beginnings.
    #[must_use]
    pub fn common_tokens(&self, other: &Prompt) -> u64 {
        let head = self.head.common_tokens(&other.head);
        let whole = self.head.len() == other.head.len()
            && self.head.identity(self.head.len()) == other.head.identity(other.head.len());
        if whole { head + self.messages.common_tokens(&other.messages) } else { head }
    }

    /// Becomes equal to `other`, by touching only what is different.
    pub(crate) fn become_like(&mut self, other: &Prompt) {
        self.head.become_like(&other.head);
        self.messages.become_like(&other.messages);
    }

    /// What a provider knows the first `blocks` blocks by.
    pub(crate) fn identity_of(&self, blocks: usize) -> Identity {
        let head = blocks.min(self.head.len());
        self.head.identity(head).followed_by(self.messages.identity(blocks - head))
    }

    pub(crate) fn block(&self, index: usize) -> &Block {
        match index.checked_sub(self.head.len()) {
            Some(message) => self.messages.block(message),
            None => self.head.block(index),
        }
    }
}
