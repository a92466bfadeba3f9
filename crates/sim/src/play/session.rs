//! What is known of an agent's sessions: the one that lives, and what all of them were given.

use std::collections::BTreeSet;

use cost::cache::{self, Prompt};
use delivery::model::NativeId;
use delivery::turn::Told;
use delivery::watermark::Watermark;

use crate::channel::Index;

/// A native session.
pub(super) struct Session {
    pub(super) native: NativeId,
    pub(super) told: Told,
    /// All that the next request of the session repeats, as caches see it.
    pub(super) prompt: Prompt,
    /// What the caches know it by.
    pub(super) id: cache::Session,
    /// What it got as the addressed message.
    pub(super) addressed: BTreeSet<Index>,
    /// Threads' roots that it was given, as a line or addressed.
    pub(super) roots: BTreeSet<Index>,
}

impl Session {
    /// An agent's session of this number, which was told nothing yet.
    pub(super) fn new(agent: usize, number: u32) -> Self {
        Self {
            native: NativeId(format!("s-{number}")),
            told: Told::default(),
            prompt: Prompt::default(),
            id: cache::Session((agent as u64) << 32 | u64::from(number)),
            addressed: BTreeSet::new(),
            roots: BTreeSet::new(),
        }
    }
}

/// A thread or the channel's top level, as an agent was told of it.
#[derive(Default)]
pub(super) struct Place {
    pub(super) watermark: Option<Watermark>,
    /// How many messages stood there at the last delivery, the addressed one included.
    pub(super) stood: usize,
}

/// One bit for each message.
pub(super) struct Seen(Vec<u64>);

impl Seen {
    /// Nothing is noted of so many messages.
    pub(super) fn of(messages: usize) -> Self {
        Self(vec![0; messages.div_ceil(64)])
    }

    /// Notes a message; whether it was noted before.
    pub(super) fn note(&mut self, index: Index) -> bool {
        let bit = 1 << (index % 64);
        let Some(word) = self.0.get_mut(index as usize / 64) else { return false };
        let noted = *word & bit != 0;
        *word |= bit;
        noted
    }
}
