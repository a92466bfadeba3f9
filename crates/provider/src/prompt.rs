//! What a request tells the model, piece by piece and in the order in which providers cache it.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cost::cache::{Block, Identity, Kind, Layer, Mark, Prompt, Ttl};
use cost::tokens::Counter;

/// Who speaks in a piece of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A tool's definition, a parameter, or the system text before the conversation.
    Head,
    /// The system, within the conversation.
    System,
    /// The user, and what tools gave.
    User,
    /// The model.
    Assistant,
}

/// The smallest thing that a provider caches: a tool's definition, a block of content, or a parameter that is part of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which part of the prompt it belongs to.
    pub layer: Layer,
    /// What it is to a cache.
    pub kind: Kind,
    /// Whose it is.
    pub role: Role,
    /// Where it stood, as a path into the request: `messages[4].content[0]`.
    pub path: String,
    /// Its JSON as it was sent, without the marks for the cache; for a parameter `name=value`.
    pub json: Arc<str>,
    /// The text that the model reads of it, which is what its tokens are counted from.
    pub text: Arc<str>,
    /// The breakpoint on it.
    pub mark: Option<Ttl>,
}

impl Piece {
    /// What a cache knows it by: its bytes and whose it is. Where it stood is not part of it.
    #[must_use]
    pub fn identity(&self) -> Identity {
        Identity::of(&[self.role as u8]).followed_by(Identity::of(self.json.as_bytes()))
    }

    /// Whether both are the same to a cache.
    #[must_use]
    pub fn is_like(&self, other: &Piece) -> bool {
        self.kind == other.kind && self.role == other.role && self.json == other.json
    }
}

/// All that a request tells the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// In the order of caching: tools, system, conversation. Parameters stand at the start of the layer that they belong to.
    pub pieces: Vec<Piece>,
    /// A breakpoint that the provider places itself.
    pub automatic: Option<Ttl>,
}

impl Told {
    /// As the cache models take it: its blocks, and where the breakpoints are.
    pub(crate) fn prompt(&self, tokens: &Tokens) -> (Prompt, Vec<Mark>) {
        let block = |piece: &Piece| match piece.kind {
            Kind::Parameter => Block::parameter(&piece.json),
            Kind::Content | Kind::ToolUse | Kind::ToolResult | Kind::Thinking => {
                Block::counted(piece.kind, piece.identity(), tokens.of(&piece.text))
            }
        };
        let head = self.pieces.iter().take_while(|piece| piece.layer < Layer::Messages);
        let mut prompt = Prompt::new(head.map(block));
        for piece in self.pieces.iter().skip_while(|piece| piece.layer < Layer::Messages) {
            prompt.push(block(piece));
        }
        let marks = self.pieces.iter().enumerate();
        let marks = marks.filter_map(|(block, piece)| piece.mark.map(|ttl| Mark { block, ttl }));
        (prompt, marks.collect())
    }

    /// The bytes of all that is told.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.json.len()).sum()
    }
}

/// How a request goes on from another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// All of the earlier one, then these many pieces more.
    Extends {
        /// The pieces that came.
        new_pieces: usize,
    },
    /// It is different from this piece on.
    Breaks {
        /// Pieces that both have in common.
        common_pieces: usize,
        /// What stood there before. None never: the earlier one went on.
        before: Piece,
        /// What stands there now. None: the later one ends.
        after: Option<Piece>,
    },
}

impl Prefix {
    /// How `later` goes on from `earlier`; marks for the cache do not matter.
    #[must_use]
    pub fn between(earlier: &Told, later: &Told) -> Prefix {
        let mut pairs = earlier.pieces.iter().zip(&later.pieces);
        let common_pieces = pairs.by_ref().take_while(|(one, two)| one.is_like(two)).count();
        match earlier.pieces.get(common_pieces) {
            None => Prefix::Extends { new_pieces: later.pieces.len() - common_pieces },
            Some(before) => Prefix::Breaks {
                common_pieces,
                before: before.clone(),
                after: later.pieces.get(common_pieces).cloned(),
            },
        }
    }
}

/// Counts tokens and remembers what it counted: the same blocks come with every request.
pub(crate) struct Tokens {
    counter: Arc<dyn Counter + Send + Sync>,
    counted: Mutex<HashMap<Identity, u64>>,
}

impl Tokens {
    pub(crate) fn new(counter: Arc<dyn Counter + Send + Sync>) -> Tokens {
        Tokens { counter, counted: Mutex::default() }
    }

    pub(crate) fn of(&self, text: &str) -> u64 {
        let identity = Identity::of(text.as_bytes());
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.entry(identity).or_insert_with(|| self.counter.count(text))
    }
}
