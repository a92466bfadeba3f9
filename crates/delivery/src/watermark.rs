//! What one native session has been given of one channel or thread (section 5).

use serde::{Deserialize, Serialize};

use crate::faults::{Rule, broken};
use crate::model::{MessageId, NativeId, Row};
use crate::time::Timestamp;

/// Ids that a watermark keeps at most, the newest of them (5.1).
pub const IDS_MAX: usize = 200;

/// The record of 5.1, per (binding, channel, thread).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watermark {
    /// The native session that it was made for; it counts for no other (5.2).
    pub native: NativeId,
    /// Lean: the newest time that stood there at delivery. Base: the time of the newest line shown.
    pub last_at: Timestamp,
    /// The highest event number that stood there at delivery; `None` after an import, then time decides.
    #[serde(default)]
    pub last_seq: Option<u64>,
    /// Ids shown or as good as shown, oldest telling first, at most [`IDS_MAX`].
    pub ids: Vec<MessageId>,
    /// Messages of queued runs that were left out of the block (4.5), in channel order.
    #[serde(default)]
    pub waiting: Vec<MessageId>,
}

impl Watermark {
    /// Whether no mention was delivered there: pages that the session fetched alone made it (7.7).
    pub(crate) fn covers_nothing(&self) -> bool {
        self.last_seq == Some(0)
    }

    /// Whether the mark stands before a row: by number, or by time after an import (5.1).
    pub(crate) fn is_before(&self, row: &Row) -> bool {
        match self.last_seq {
            Some(last_seq) => row.seq > last_seq,
            None => row.created_at > self.last_at,
        }
    }
}

/// The record of a session after it read messages of the place back with a tool (7.7); `read` is in channel order. What
/// the record covers stays, only the ids grow: those past the mark last, since they alone would come as new lines.
/// Without a record one begins that covers nothing, so that all that was not read counts as new.
pub fn read_back<'a>(
    mark: Option<&Watermark>,
    native: &NativeId,
    read: impl IntoIterator<Item = &'a MessageId>,
) -> Watermark {
    let mut after = mark.cloned().unwrap_or_else(|| Watermark {
        native: native.clone(),
        last_at: Timestamp { ms: 0 },
        last_seq: Some(0),
        ids: Vec::new(),
        waiting: Vec::new(),
    });
    for id in read {
        if !after.ids.contains(id) {
            after.ids.push(id.clone());
        }
    }
    let over = after.ids.len().saturating_sub(IDS_MAX);
    after.ids.drain(..over);
    after
}

/// The watermark, if it was made for the session that will answer now (5.2); else there is none.
pub fn watermark_for<'a>(watermark: Option<&'a Watermark>, native: &NativeId) -> Option<&'a Watermark> {
    watermark.filter(|mark| mark.native == *native || broken(Rule::MarkOfItsSession))
}

/// The newest time and the highest event number among what was seen; `None` before anything was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stood {
    last_at: Option<Timestamp>,
    last_seq: Option<u64>,
}

impl Stood {
    /// Takes in something of this time and number.
    pub(crate) fn see(&mut self, at: Timestamp, seq: u64) {
        self.last_at = self.last_at.max(Some(at));
        self.last_seq = self.last_seq.max(Some(seq));
    }
}

/// What a delivery adds to the record of the session that it goes to.
#[derive(Clone, Debug)]
pub(crate) struct Delivered<'a> {
    /// What the record covers from now on.
    pub(crate) stood: Stood,
    /// What the session has now been given or wrote, in the order of 5.1, each once.
    pub(crate) ids: Vec<&'a MessageId>,
    /// As [`Watermark::waiting`].
    pub(crate) waiting: Vec<&'a MessageId>,
}

/// The record after a delivery to `native`, whose record before was `mark`. Time and number never fall; an id
/// that was told again moves to the end. `None` if there was no record and nothing stood there.
pub(crate) fn advance(
    mark: Option<&Watermark>,
    native: &NativeId,
    delivered: &Delivered<'_>,
) -> Option<Watermark> {
    let again = IdSet::new(delivered.ids.iter().copied());
    let old = mark.map_or(&[][..], |mark| &mark.ids);
    let ids: Vec<_> =
        old.iter().filter(|id| !again.contains(id)).chain(delivered.ids.iter().copied()).collect();
    let stood = if broken(Rule::MarkAdvances) { Stood::default() } else { delivered.stood };
    let newest = &ids[ids.len().saturating_sub(IDS_MAX)..];
    Some(Watermark {
        native: native.clone(),
        last_at: mark.map(|mark| mark.last_at).max(stood.last_at).or(delivered.stood.last_at)?,
        last_seq: mark.and_then(|mark| mark.last_seq).max(stood.last_seq),
        ids: newest.iter().copied().cloned().collect(),
        waiting: delivered.waiting.iter().copied().cloned().collect(),
    })
}

/// Ids to look up, borrowed and sorted.
#[derive(Clone, Debug)]
pub(crate) struct IdSet<'a>(Vec<&'a MessageId>);

impl<'a> IdSet<'a> {
    pub(crate) fn new(ids: impl IntoIterator<Item = &'a MessageId>) -> Self {
        let mut sorted: Vec<_> = ids.into_iter().collect();
        // Ids come nearly in order, which a stable sort makes use of.
        sorted.sort();
        Self(sorted)
    }

    pub(crate) fn contains(&self, id: &MessageId) -> bool {
        // Most that are looked up are older than all of these.
        self.0.first().is_some_and(|first| *first <= id) && self.0.binary_search(&id).is_ok()
    }
}

#[cfg(test)]
mod tests;
