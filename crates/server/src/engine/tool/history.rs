//! `channel_history` (7.1), and what it showed, which counts when the run does (7.7).

use std::collections::BTreeMap;

use delivery::faults::{Rule, broken};
use delivery::model::{Key, MessageId, Policy};
use delivery::tool_result::{self, Page, fitting};
use delivery::watermark::{IDS_MAX, read_back, watermark_for};
use delivery::{Row, Watermark};
use storage::{Message, PlacedWatermark, Store};

use super::Caller;
use crate::engine::turn::keeps_session;
use crate::engine::{Engine, LiveTurn};
use crate::error::ApiError;

/// Messages of a page when nothing is asked (7.1).
const PAGE: usize = 30;
/// Messages of a page at most (7.1).
const PAGE_MAX: usize = 100;

/// The channel itself, or a thread of it.
type Place = Option<MessageId>;

/// What a session fetched during a turn.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Fetched {
    /// Where the turn's mention stands.
    own: Place,
    /// The watermark of that place as the turn itself leaves it.
    turn_leaves: Option<Watermark>,
    /// The newest [`IDS_MAX`] fetched messages of each place, by their numbers: more a watermark does not keep.
    places: BTreeMap<Place, BTreeMap<u64, MessageId>>,
}

impl Fetched {
    /// Nothing yet, in a turn whose mention stands in `own` and that leaves this watermark.
    pub(in crate::engine) fn of_turn(own: Place, turn_leaves: Option<Watermark>) -> Self {
        Self { own, turn_leaves, places: BTreeMap::new() }
    }

    /// Takes a page of a place in. A thread's root stands in the channel as well.
    fn take(&mut self, asked: Option<&MessageId>, page: &[Message]) {
        for message in page {
            let is_root = asked == Some(&message.row.id);
            let also = is_root.then(|| Some(message.row.id.clone()));
            for place in [message.thread.clone()].into_iter().chain(also) {
                let ids = self.places.entry(place).or_default();
                ids.insert(message.row.seq, message.row.id.clone());
                if ids.len() > IDS_MAX {
                    ids.pop_first();
                }
            }
        }
    }
}

impl Engine {
    pub(super) fn history(
        &mut self,
        store: &mut dyn Store,
        caller: &Caller,
        before: Option<&MessageId>,
        thread: Option<&MessageId>,
        limit: Option<usize>,
    ) -> Result<String, ApiError> {
        let limit = limit.unwrap_or(PAGE);
        if !(1..=PAGE_MAX).contains(&limit) {
            return Err(ApiError::invalid(format!("`limit` is 1 to {PAGE_MAX}; {limit} is not")));
        }
        // One more than asked tells whether there are earlier ones.
        let found = store.rows(&caller.key.channel, thread, before, limit + 1)?;
        let rows: Vec<Row> = found.iter().map(|message| message.row.clone()).collect();
        let asked = &rows[rows.len().saturating_sub(limit)..];
        let rest = found.len() - fitting(asked);
        let page = Page { rows: &rows[rest..], in_thread: thread.is_some(), has_earlier: rest > 0 };
        self.count_as_shown(store, caller, thread, &found[rest..])?;
        Ok(tool_result::history(&page))
    }

    /// Stages a message that was put into the turn as shown, in the revision in which it was posted.
    pub(in crate::engine) fn show_steer(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        message: Message,
    ) -> Result<(), ApiError> {
        let binding = store.binding(&key.binding)?;
        let Some(session) = store.session(key)? else { return Ok(()) };
        let caller = Caller { key: key.clone(), binding, session };
        let message = Message { revision: 1, ..message };
        self.count_as_shown(store, &caller, message.thread.clone().as_ref(), &[message])
    }

    /// Stages what was fetched under the run of the turn; outside a turn it counts for nothing.
    fn count_as_shown(
        &mut self,
        store: &mut dyn Store,
        caller: &Caller,
        thread: Option<&MessageId>,
        page: &[Message],
    ) -> Result<(), ApiError> {
        let turn = self.live.get_mut(&caller.key).and_then(|live| live.turn.as_mut());
        let counts = !page.is_empty() && !broken(Rule::FetchedIsShown);
        let Some(turn) = turn.filter(|_| counts) else { return Ok(()) };
        let mut fetched = turn.fetched.clone();
        fetched.take(thread, page);
        let staged = match (&fetched.turn_leaves, fetched.places.get(&fetched.own)) {
            (Some(mark), Some(ids)) if keeps_marks(caller) => {
                Some(read_back(Some(mark), &caller.session.native, ids.values()))
            }
            (mark, _) => mark.clone(),
        };
        let shown: Vec<_> = page.iter().map(|message| (message.row.id.clone(), message.revision)).collect();
        store.show_fetched(&turn.run, &shown, staged.as_ref())?;
        turn.fetched = fetched;
        self.touched = true;
        Ok(())
    }
}

/// Whether 7.7 holds for the caller's watermarks: it goes beyond base.
fn keeps_marks(caller: &Caller) -> bool {
    match caller.binding.spec.delivery {
        Policy::Lean => keeps_session(&caller.binding),
        Policy::Base | Policy::Window => false,
    }
}

/// Puts what was fetched of other places than the turn's own into their watermarks, once the turn counts.
pub(in crate::engine) fn keep_fetched(
    store: &mut dyn Store,
    key: &Key,
    turn: &LiveTurn,
) -> Result<(), ApiError> {
    let binding = store.binding(&key.binding)?;
    let Some(session) = store.session(key)? else { return Ok(()) };
    let caller = Caller { key: key.clone(), binding, session };
    // A direct conversation leaves no watermark, and needs none.
    if !keeps_marks(&caller) || turn.fetched.turn_leaves.is_none() {
        return Ok(());
    }
    let native = &caller.session.native;
    for (place, ids) in turn.fetched.places.iter().filter(|(place, _)| **place != turn.fetched.own) {
        let stored = store.watermark(&key.binding, &key.channel, place.as_ref())?;
        let watermark = read_back(watermark_for(stored.as_ref(), native), native, ids.values());
        let (binding, channel) = (key.binding.clone(), key.channel.clone());
        store.import_watermarks(&[PlacedWatermark { binding, channel, thread: place.clone(), watermark }])?;
    }
    Ok(())
}
