//! What a session must be told, from sets of all that happened: no mark, no numbers to compare, no limit on memory.

use std::collections::{BTreeMap, BTreeSet};

use delivery::model::{MessageId, NativeId};
use delivery::{AuthorKind, Row};

use super::world::Place;

/// What stands somewhere when a turn is delivered.
pub(super) struct Standing<'a> {
    pub(super) place: Place,
    pub(super) native: &'a NativeId,
    pub(super) rows: &'a [Row],
    pub(super) addressed: &'a MessageId,
    pub(super) pending: &'a [MessageId],
    pub(super) lines_max: usize,
}

/// What a delivery must say.
pub(super) struct Contact {
    /// Nothing was committed here before.
    pub(super) is_first: bool,
    /// Tags and messages of the lines.
    pub(super) shown: Vec<(&'static str, MessageId)>,
    /// How many more there would be.
    pub(super) omitted: u64,
    /// What the session wrote here since the last contact.
    pub(super) own: Vec<MessageId>,
    /// What comes as a payload later.
    pub(super) waiting: Vec<MessageId>,
    /// All that stood there and does not wait.
    stood: BTreeSet<MessageId>,
    /// All edits and deletions that had happened there.
    happened: BTreeSet<u64>,
}

/// What a session was told, in committed turns.
#[derive(Default)]
pub(super) struct Model {
    /// As a line or as a payload, anywhere.
    known: BTreeSet<MessageId>,
    retried: BTreeSet<MessageId>,
    places: BTreeMap<Place, Memory>,
}

#[derive(Default)]
struct Memory {
    /// Told here, as a line or as a payload.
    told: BTreeSet<MessageId>,
    /// Told here, or counted, or older than the first contact: over and done with.
    settled: BTreeSet<MessageId>,
    /// Edits and deletions that need no telling any more.
    heard: BTreeSet<u64>,
}

impl Model {
    /// A message's run was queued again by hand: it may come as a payload after it came as a line.
    pub(super) fn retried(&mut self, message: &MessageId) {
        self.retried.insert(message.clone());
    }

    /// What a delivery must say now.
    pub(super) fn contact(&self, standing: &Standing<'_>) -> Contact {
        let nothing = Memory::default();
        let memory = self.places.get(&standing.place);
        let is_first = memory.is_none();
        let memory = memory.unwrap_or(&nothing);
        let mut events = Vec::new();
        let (mut own, mut waiting) = (Vec::new(), Vec::new());
        for row in standing.rows {
            if row.author.kind == AuthorKind::System || row.id == *standing.addressed {
                continue;
            }
            if row.native.as_ref() == Some(standing.native) {
                own.extend((!memory.settled.contains(&row.id)).then(|| row.id.clone()));
            } else if memory.told.contains(&row.id) {
                events.extend(change(row).filter(|(event, ..)| !memory.heard.contains(event)));
            } else if !self.known.contains(&row.id) && !memory.settled.contains(&row.id) {
                if standing.pending.contains(&row.id) {
                    waiting.push(row.id.clone());
                } else if row.deleted_seq.is_none() {
                    events.push((row.seq, row.author.kind.as_str(), row.id.clone()));
                }
            }
        }
        events.sort();
        let mut omitted = 0;
        while events.len() > standing.lines_max {
            let is_root = standing.place == Place::Thread && events[0].2 == standing.rows[0].id;
            let keeps_root = is_first && is_root && standing.lines_max > 0;
            events.remove(usize::from(keeps_root));
            omitted += u64::from(!is_first);
        }
        let stood = standing.rows.iter().map(|row| row.id.clone()).filter(|id| !waiting.contains(id));
        let happened = standing.rows.iter().flat_map(|row| [row.edited_seq, row.deleted_seq]).flatten();
        Contact {
            is_first,
            shown: events.into_iter().map(|(_, tag, id)| (tag, id)).collect(),
            omitted,
            stood: stood.collect(),
            happened: happened.collect(),
            own,
            waiting,
        }
    }

    /// The turn of a delivery ended well.
    pub(super) fn commit(&mut self, place: Place, addressed: &MessageId, contact: Contact) {
        for (tag, id) in &contact.shown {
            let is_news = self.known.insert(id.clone());
            assert_eq!(is_news, ["user", "agent"].contains(tag), "[{tag}] {id}");
        }
        let is_news = self.known.insert(addressed.clone());
        assert!(is_news || self.retried.contains(addressed), "{addressed} came as a line before its payload");
        let memory = self.places.entry(place).or_default();
        memory.told.extend(contact.shown.into_iter().map(|(_, id)| id));
        memory.told.insert(addressed.clone());
        memory.settled.extend(contact.stood);
        memory.heard.extend(contact.happened);
    }
}

/// The last thing that happened to a message that was told.
fn change(row: &Row) -> Option<(u64, &'static str, MessageId)> {
    let told = |tag| move |event| (event, tag, row.id.clone());
    row.deleted_seq.map(told("deleted")).or_else(|| row.edited_seq.map(told("edited")))
}
