//! What one native session was given, and what follows from it for its next turn.

use std::collections::{BTreeMap, BTreeSet};

use delivery::Timestamp;
use delivery::model::{Epoch, Key, MessageId, NativeId, RunId};

/// The channel itself, or a thread of it.
pub(crate) type Place = Option<MessageId>;

/// Ids that are remembered of a place (5.1).
pub(crate) const IDS_MAX: usize = 200;

/// A native session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) key: Key,
    pub(crate) native: NativeId,
    pub(crate) epoch: Epoch,
    /// Its system prompt, if it took one.
    pub(crate) system: Option<String>,
    pub(crate) state: State,
    /// Whether it must not be reloaded.
    pub(crate) barred: bool,
    /// When it was last given a prompt, or answered one.
    pub(crate) turn_at: Option<Timestamp>,
    pub(crate) told: Told,
    /// What it was given of each place, in committed turns.
    pub(crate) places: BTreeMap<Place, Memory>,
    /// Every message that committed turns gave it, as a line, a payload or a page that it fetched.
    pub(crate) known: BTreeSet<MessageId>,
    /// Each showing, in order.
    pub(crate) shown: Vec<Shown>,
}

/// Whether it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// A process has it.
    Live,
    /// The next process reloads it.
    Saved,
    /// It is never spoken with again.
    Over,
}

/// A message that was shown to a session by a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) message: MessageId,
    pub(crate) revision: u32,
    pub(crate) run: RunId,
    pub(crate) how: How,
    pub(crate) committed: bool,
}

/// How a message was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// As the addressed message.
    Payload,
    /// As a new line.
    Line,
    /// As an edit or deletion of something that was shown.
    Change,
    /// As a turn of a replayed conversation.
    Replay,
    /// On a page that the session asked for.
    Fetched,
}

/// What a session was given of a place (section 5), as sets of all that happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Shown or as good as shown, oldest telling first.
    pub(crate) told: Vec<MessageId>,
    /// Stood there at a committed delivery and did not wait: over and done with.
    pub(crate) settled: BTreeSet<MessageId>,
    /// Numbers of edits and deletions that had happened there.
    pub(crate) heard: BTreeSet<u64>,
    /// Left out, since they come as payloads.
    pub(crate) waiting: Vec<MessageId>,
    /// The newest number and time that stood there; a page alone sees nothing stand.
    pub(crate) last_seq: u64,
    pub(crate) last_at: Option<Timestamp>,
    /// Whether a mention was delivered there; else pages alone told of it.
    pub(crate) delivered: bool,
}

impl Memory {
    /// Puts ids behind those that are there; told again, they move.
    pub(crate) fn tell(&mut self, ids: &[MessageId]) {
        self.told.retain(|id| !ids.contains(id));
        self.told.extend(ids.iter().cloned());
        self.trim();
    }

    /// Puts the ids of a page behind those that are there; what is there stays where it is (7.7).
    pub(crate) fn fetch(&mut self, ids: &[MessageId]) {
        for id in ids {
            if !self.told.contains(id) {
                self.told.push(id.clone());
            }
        }
        self.trim();
    }

    fn trim(&mut self) {
        let over = self.told.len().saturating_sub(IDS_MAX);
        self.told.drain(..over);
    }
}

/// What decides whether a turn is told whole (3.6).
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// The fields of the last committed payload, unless something came between.
    base: Option<Fields>,
    compactions: u32,
    /// The highest use that was reported since the last compaction.
    used: Option<u64>,
    /// Bytes of turns and answers since the last whole turn.
    bytes: usize,
    /// The framing that its history holds for certain.
    framing: Option<String>,
    /// Turns in a row in which its process went away by itself.
    crashes: u32,
    /// Turns that its provider refused as invalid, since one was answered.
    refused: u32,
}

/// Fields of a payload, in order, each with its value as JSON.
pub(crate) type Fields = Vec<(&'static str, String)>;

/// What a turn tells.
#[derive(Clone, Debug)]
pub(crate) struct Telling {
    pub(crate) fields: Fields,
    pub(crate) whole: bool,
    pub(crate) bytes: usize,
    pub(crate) compactions: u32,
}

/// Bytes after which an agent that reports no use is told in full again.
const UNREPORTED_BYTES_MAX: usize = 64 * 1024;

impl Told {
    /// The fields that a payload may leave out.
    pub(crate) fn base(&self) -> Option<&Fields> {
        let may_have_compacted = self.used.is_none() && self.bytes >= UNREPORTED_BYTES_MAX;
        self.base.as_ref().filter(|_| !may_have_compacted)
    }

    pub(crate) fn compactions(&self) -> u32 {
        self.compactions
    }

    pub(crate) fn used(&mut self, used: u64) {
        let high = self.used.map_or(used, |high| high.max(used));
        self.used = Some(high);
        if used < high && used * 10 <= high * 9 {
            self.compacted();
            self.used = Some(used);
        }
    }

    /// How full it was, if it told.
    pub(crate) fn use_told(&self) -> Option<u64> {
        self.used
    }

    /// Whether its history holds this framing for certain (3.4).
    pub(crate) fn holds(&self, framing: &str) -> bool {
        self.framing.as_deref() == Some(framing)
    }

    /// A committed turn began with this framing.
    pub(crate) fn framed(&mut self, framing: &str, compactions: u32) {
        self.framing = (compactions == self.compactions).then(|| framing.to_owned());
    }

    /// Its process went away in a turn; how often in a row.
    pub(crate) fn crashed(&mut self) -> u32 {
        self.crashes += 1;
        self.crashes
    }

    pub(crate) fn answered(&mut self) {
        self.crashes = 0;
        self.refused = 0;
    }

    pub(crate) fn refused(&mut self) {
        self.refused += 1;
    }

    pub(crate) fn refusals(&self) -> u32 {
        self.refused
    }

    /// A new process has it: the next turn is whole.
    pub(crate) fn reloaded(&mut self) {
        self.base = None;
    }

    pub(crate) fn compacted(&mut self) {
        self.base = None;
        self.framing = None;
        self.compactions += 1;
    }

    pub(crate) fn failed(&mut self) {
        self.base = None;
    }

    pub(crate) fn committed(&mut self, telling: &Telling, answer_bytes: usize) {
        let same = telling.compactions == self.compactions;
        self.base = same.then(|| telling.fields.clone());
        self.bytes = if telling.whole { 0 } else { self.bytes + telling.bytes + answer_bytes };
    }
}
