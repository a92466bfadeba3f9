//! The case that `delivery` renders for a mention: of all that stands in the place, the rows that can matter.

use delivery::Limits;
use delivery::channel_delivery::Case;
use delivery::model::{Policy, Row, SessionPolicy};
use delivery::watermark::watermark_for;

use super::resident::Resident;
use super::session::Session;
use crate::channel::{Channel, Index};

impl Resident {
    /// The case of this addressed message; takes the place's watermark, which is set anew with what is rendered. Looks at what
    /// came since the last turn in the place, and a few rows before.
    pub(super) fn case(
        &mut self,
        channel: &Channel,
        addressed: Index,
        session: &Session,
        limits: Limits,
    ) -> Option<Case> {
        let thread = channel.thread(addressed);
        let standing = channel.place(thread);
        let at = standing.binary_search(&addressed).ok()?;
        let place = self.places.entry(thread).or_default();
        let (watermark, stood) = (place.watermark.take(), place.stood);
        let keeps_session = match self.strategy.session() {
            SessionPolicy::Resident | SessionPolicy::Saved => true,
            SessionPolicy::Fresh => false,
        };
        let counts = keeps_session && watermark_for(watermark.as_ref(), &session.native).is_some();
        let (rows, earlier) = match self.strategy.policy() {
            // The newest rows; of a window, no more than can be lines, and of a delta, none that its mark covers.
            Policy::Window => {
                let from = (at + 1).saturating_sub(limits.rows.min(limits.lines.saturating_add(1)));
                (self.rows(channel, standing.get(from..=at)?), 0)
            }
            Policy::Base => {
                let last_at = watermark.as_ref().filter(|_| counts).map(|mark| mark.last_at);
                let from = (at + 1).saturating_sub(limits.rows);
                let newest = standing.get(from..=at)?.iter().copied();
                let new = newest.filter(|index| last_at.is_none_or(|last| channel.at(*index) > Some(last)));
                (self.rows(channel, &new.collect::<Vec<_>>()), 0)
            }
            Policy::Lean => {
                let new = if counts { stood } else { 0 };
                let is_line = |index: &Index| self.is_line(session, thread, addressed, *index);
                let from = newest(standing.get(new..=at)?, limits.lines, is_line) + new;
                let told = |index: &Index| self.is_told_as_root(session, thread, addressed, *index);
                let kept = standing.get(from..=at)?.iter().copied().filter(|index| !told(index));
                let mut rows = self.rows(channel, &kept.collect::<Vec<_>>());
                let earlier = match counts {
                    true => standing.get(new..from)?.iter().filter(|index| is_line(index)).count() as u64,
                    false => 0,
                };
                if let Some(root) = thread.filter(|_| from > 0) {
                    // However far back it is: a first mention brings it (4.10).
                    rows.splice(0..0, self.rows(channel, &[root]));
                }
                (rows, earlier)
            }
        };
        Some(Case {
            policy: self.strategy.policy(),
            rows,
            earlier,
            addressed: Channel::message_id(addressed),
            native: session.native.clone(),
            watermark,
            keeps_session,
            pending: Vec::new(),
            in_thread: thread.is_some(),
            root_given: thread.is_some_and(|root| {
                session.roots.contains(&root) || self.posted.get(&root) == Some(&session.native)
            }),
            limits,
        })
    }

    fn rows(&self, channel: &Channel, indices: &[Index]) -> Vec<Row> {
        let native = |index: &Index| self.posted.get(index).cloned();
        indices.iter().filter_map(|index| channel.row(*index, native(index))).collect()
    }

    /// Lean: whether a new message becomes a line, if there is room.
    fn is_line(&self, session: &Session, thread: Option<Index>, addressed: Index, index: Index) -> bool {
        index != addressed
            && self.posted.get(&index) != Some(&session.native)
            && !self.is_told_as_root(session, thread, addressed, index)
    }

    /// Lean: whether a message of the top level was given to this session as the root of a thread, so that it is no row.
    fn is_told_as_root(
        &self,
        session: &Session,
        thread: Option<Index>,
        addressed: Index,
        index: Index,
    ) -> bool {
        thread.is_none() && index != addressed && session.roots.contains(&index)
    }
}

/// Where the newest so many of those that count begin.
fn newest(indices: &[Index], wanted: usize, counts: impl Fn(&Index) -> bool) -> usize {
    let mut counting = indices.iter().enumerate().rev().filter(|(_, index)| counts(index));
    match wanted.checked_sub(1) {
        Some(before) => counting.nth(before).map_or(0, |(at, _)| at),
        None => indices.len().saturating_sub(1),
    }
}
