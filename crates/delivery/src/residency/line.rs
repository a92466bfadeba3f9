//! The turns that are wanted, in the order of the wishes.

use std::collections::BTreeMap;

use crate::model::Key;

/// The place of a wish in the order; a later wish has a higher one.
pub(super) type Ticket = u64;

/// A wanted turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    /// Whose.
    pub(super) key: Key,
    /// How many turns had been granted when it was made.
    pub(super) grants_before: u64,
}

/// All wishes, at most one per key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    wishes: BTreeMap<Ticket, Wish>,
    /// Where the wish of each key stands in `wishes`.
    tickets: BTreeMap<Key, Ticket>,
    next_ticket: Ticket,
}

impl Line {
    /// Puts a key at the end, unless it stands in the line already.
    pub(super) fn join(&mut self, key: Key, grants_before: u64) {
        if self.tickets.contains_key(&key) {
            return;
        }
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.tickets.insert(key.clone(), ticket);
        self.wishes.insert(ticket, Wish { key, grants_before });
    }

    /// Takes a key out, if it is in.
    pub(super) fn leave(&mut self, key: &Key) {
        if let Some(ticket) = self.tickets.remove(key) {
            self.wishes.remove(&ticket);
        }
    }

    /// Where a key stands.
    pub(super) fn ticket(&self, key: &Key) -> Option<Ticket> {
        self.tickets.get(key).copied()
    }

    /// The wishes, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Ticket, &Wish)> {
        self.wishes.iter().map(|(ticket, wish)| (*ticket, wish))
    }

    /// How many keys stand in it.
    pub(super) fn len(&self) -> usize {
        self.wishes.len()
    }
}
