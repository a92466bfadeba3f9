//! A channel with one thread, an agent with a queue, and a session that is fed through `render`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use delivery::channel_delivery::{Case, Rendered, render};
use delivery::model::{MessageId, NativeId};
use delivery::watermark::watermark_for;
use delivery::{Author, AuthorKind, Limits, Policy, Row, Timestamp, Watermark};
use proptest::sample::Index;

use super::model::{Contact, Model, Standing};
use crate::block::{Block, Line, read};

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Top level.
    Channel,
    /// The thread under the first message.
    Thread,
}

/// Something that happens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// One of two people or another agent posts.
    Post(Place, usize),
    /// The host posts.
    Notice(Place),
    /// A message is edited, whoever wrote it.
    Edit(Index),
    /// A message is deleted.
    Delete(Index),
    /// Someone mentions the agent.
    Mention(Place),
    /// The next queued run is delivered.
    Begin,
    /// The running turn ends well, with a reply or without.
    Succeed(bool),
    /// The running turn fails.
    Fail,
    /// A queued run is cancelled.
    Cancel(Index),
    /// A run that failed or was cancelled is queued again.
    Retry(Index),
    /// The session ends, and with it a running turn; the next one is new.
    Fresh,
}

/// A turn between its delivery and its end.
struct Turn {
    message: MessageId,
    place: Place,
    rendered: Rendered,
    contact: Contact,
}

/// All that there is.
pub(super) struct World {
    limits: Limits,
    last_seq: u64,
    rows: Vec<(Place, Row)>,
    queue: VecDeque<MessageId>,
    ended_badly: Vec<MessageId>,
    turn: Option<Turn>,
    sessions: u32,
    records: BTreeMap<Place, Watermark>,
    /// Messages in committed showings of the present session.
    given: BTreeSet<MessageId>,
    model: Model,
}

const AUTHORS: [(AuthorKind, &str); 3] =
    [(AuthorKind::User, "aiko"), (AuthorKind::User, "ben"), (AuthorKind::Agent, "@codex")];

impl World {
    /// A channel with the root of its thread.
    pub(super) fn new(lines: usize) -> Self {
        let mut world = Self {
            limits: Limits { lines, ..Limits::default() },
            last_seq: 0,
            rows: Vec::new(),
            queue: VecDeque::new(),
            ended_badly: Vec::new(),
            turn: None,
            sessions: 0,
            records: BTreeMap::new(),
            given: BTreeSet::new(),
            model: Model::default(),
        };
        world.post(Place::Channel, AUTHORS[0], None);
        world
    }

    /// The first message mentions the agent.
    pub(super) fn mention_in_root(&mut self) {
        self.queue.push_back(self.root());
    }

    /// Lets something happen; what makes no sense now changes nothing.
    pub(super) fn play(&mut self, act: Act) {
        match act {
            Act::Post(place, author) => drop(self.post(place, AUTHORS[author], None)),
            Act::Notice(place) => drop(self.post(place, (AuthorKind::System, "Highwater"), None)),
            Act::Edit(index) => self.edit(index.index(self.rows.len())),
            Act::Delete(index) => self.delete(index.index(self.rows.len())),
            Act::Mention(place) => {
                let message = self.post(place, AUTHORS[1], None);
                self.queue.push_back(message);
            }
            Act::Begin if self.turn.is_none() => self.begin(),
            Act::Succeed(replies) => self.succeed(replies),
            Act::Fail => self.fail(),
            Act::Cancel(index) if !self.queue.is_empty() => {
                self.ended_badly.extend(self.queue.remove(index.index(self.queue.len())));
            }
            Act::Retry(index) if !self.ended_badly.is_empty() => {
                let message = self.ended_badly.remove(index.index(self.ended_badly.len()));
                self.model.retried(&message);
                self.queue.push_back(message);
            }
            Act::Begin | Act::Cancel(_) | Act::Retry(_) => {}
            Act::Fresh => {
                self.fail();
                self.sessions += 1;
                self.given.clear();
                self.model = Model::default();
            }
        }
    }

    fn native(&self) -> NativeId {
        format!("s-{}", self.sessions).as_str().into()
    }

    fn root(&self) -> MessageId {
        self.rows[0].1.id.clone()
    }

    fn next_seq(&mut self) -> u64 {
        self.last_seq += 1;
        self.last_seq
    }

    fn post(
        &mut self,
        place: Place,
        (kind, name): (AuthorKind, &str),
        native: Option<NativeId>,
    ) -> MessageId {
        let seq = self.next_seq();
        let id: MessageId = format!("m{seq:03}").as_str().into();
        self.rows.push((
            place,
            Row {
                id: id.clone(),
                seq,
                created_at: Timestamp { ms: i64::try_from(seq).unwrap() },
                author: Author { kind, name: name.to_owned() },
                native,
                text: format!("text {seq}"),
                edited_seq: None,
                deleted_seq: None,
            },
        ));
        id
    }

    fn edit(&mut self, index: usize) {
        if self.rows[index].1.deleted_seq.is_none() {
            let seq = self.next_seq();
            let row = &mut self.rows[index].1;
            row.edited_seq = Some(seq);
            row.text = format!("text {} as of {seq}", row.seq);
        }
    }

    fn delete(&mut self, index: usize) {
        if self.rows[index].1.deleted_seq.is_none() {
            self.rows[index].1.deleted_seq = Some(self.next_seq());
        }
    }

    fn begin(&mut self) {
        let Some(message) = self.queue.pop_front() else { return };
        let place = self.rows.iter().find(|(_, row)| row.id == message).unwrap().0;
        let rows = self.rows_of(place);
        let pending: Vec<_> = self.queue.iter().cloned().collect();
        let native = self.native();
        let contact = self.model.contact(&Standing {
            place,
            native: &native,
            rows: &rows,
            addressed: &message,
            pending: &pending,
            lines_max: self.limits.lines,
        });
        let case = Case {
            policy: Policy::Lean,
            rows: self.rows_for(place, &rows, &message),
            earlier: 0,
            addressed: message.clone(),
            native,
            watermark: self.records.get(&place).cloned(),
            keeps_session: true,
            pending,
            in_thread: place == Place::Thread,
            root_given: self.given.contains(&self.root()),
            limits: self.limits,
        };
        let rendered = render(&case);
        self.assert_as_expected(place, &rows, &message, &rendered, &contact);
        assert_same_without_what_cannot_matter(&case, &rendered);
        self.turn = Some(Turn { message, place, rendered, contact });
    }

    /// What stands in a place; a thread's root first.
    fn rows_of(&self, place: Place) -> Vec<Row> {
        let root = (place == Place::Thread).then(|| self.rows[0].1.clone());
        let there = self.rows.iter().filter(|(at, _)| *at == place).map(|(_, row)| row.clone());
        root.into_iter().chain(there).collect()
    }

    /// The rows that a caller passes: a top-level message that the session was given as a thread's root is none.
    fn rows_for(&self, place: Place, rows: &[Row], addressed: &MessageId) -> Vec<Row> {
        let told = self.told(place);
        let is_given_elsewhere = |row: &Row| {
            let is_known_here = told.contains(&row.id) || row.id == *addressed;
            place == Place::Channel && self.given.contains(&row.id) && !is_known_here
        };
        rows.iter().filter(|row| !is_given_elsewhere(row)).cloned().collect()
    }

    fn assert_as_expected(
        &self,
        place: Place,
        rows: &[Row],
        addressed: &MessageId,
        rendered: &Rendered,
        contact: &Contact,
    ) {
        let lines: Vec<_> = contact
            .shown
            .iter()
            .map(|(tag, id)| {
                let row = &self.rows.iter().find(|(_, row)| row.id == *id).unwrap().1;
                let body = if *tag == "deleted" { String::new() } else { row.text.clone() };
                Line { tag: (*tag).to_owned(), name: row.author.name.clone(), body }
            })
            .collect();
        let expect = Block {
            place: if place == Place::Thread { "thread" } else { "channel" }.to_owned(),
            is_delta: !contact.is_first,
            omitted: contact.omitted,
            lines,
        };
        let is_empty = expect.lines.is_empty() && expect.omitted == 0;
        assert_eq!(rendered.block.as_deref().map(read), (!is_empty).then_some(expect));
        let shown: Vec<_> = contact.shown.iter().map(|(_, id)| id.clone()).collect();
        assert_eq!((&rendered.shown, rendered.omitted), (&shown, contact.omitted));
        let new: Vec<_> = shown.into_iter().chain(contact.own.clone()).chain([addressed.clone()]).collect();
        let ids =
            self.told(place).iter().filter(|id| !new.contains(id)).cloned().chain(new.clone()).collect();
        let passed = self.rows_for(place, rows, addressed);
        let events = passed.iter().flat_map(|row| [Some(row.seq), row.edited_seq, row.deleted_seq]);
        let expect = Watermark {
            native: self.native(),
            last_at: passed.iter().map(|row| row.created_at).max().unwrap(),
            last_seq: events.chain([self.mark(place).and_then(|mark| mark.last_seq)]).max().unwrap(),
            ids,
            waiting: contact.waiting.clone(),
        };
        assert_eq!(rendered.watermark, Some(expect));
    }

    /// The watermark that counts.
    fn mark(&self, place: Place) -> Option<&Watermark> {
        watermark_for(self.records.get(&place), &self.native())
    }

    /// Its ids.
    fn told(&self, place: Place) -> &[MessageId] {
        self.mark(place).map_or(&[], |mark| &mark.ids)
    }

    fn succeed(&mut self, replies: bool) {
        let Some(Turn { message, place, rendered, contact }) = self.turn.take() else { return };
        self.model.commit(place, &message, contact);
        self.given.extend(rendered.shown);
        self.given.insert(message);
        self.records.extend(rendered.watermark.map(|mark| (place, mark)));
        if replies {
            let native = self.native();
            self.post(place, (AuthorKind::Agent, "@claude"), Some(native));
        }
    }

    fn fail(&mut self) {
        self.ended_badly.extend(self.turn.take().map(|turn| turn.message));
    }
}

/// A caller may leave out what cannot matter and say how many new rows it left out.
fn assert_same_without_what_cannot_matter(case: &Case, rendered: &Rendered) {
    let Some(mark) = case.watermark.as_ref().filter(|mark| mark.native == case.native) else { return };
    let last_seq = mark.last_seq.unwrap();
    let matters = |row: &Row| {
        let event = row.deleted_seq.max(row.edited_seq);
        let is_root = case.in_thread && row.id == case.rows[0].id;
        is_root || mark.waiting.contains(&row.id) || (mark.ids.contains(&row.id) && event > Some(last_seq))
    };
    let is_line = |row: &Row| {
        row.author.kind != AuthorKind::System
            && row.native.as_ref() != Some(&case.native)
            && row.deleted_seq.is_none()
            && row.id != case.addressed
            && !case.pending.contains(&row.id)
            && !mark.ids.contains(&row.id)
    };
    let (past, before): (Vec<_>, Vec<_>) = case.rows.iter().cloned().partition(|row| row.seq > last_seq);
    let spare = past.iter().filter(|row| is_line(row)).count().saturating_sub(case.limits.lines);
    let left_out = past.iter().take_while(|row| is_line(row)).take(spare).count();
    let rows = before.into_iter().filter(matters).chain(past.into_iter().skip(left_out)).collect();
    let less = render(&Case { rows, earlier: left_out as u64, ..case.clone() });
    let given = |rendered: &Rendered| {
        let mark = rendered.watermark.clone().unwrap();
        (rendered.block.clone(), rendered.shown.clone(), rendered.omitted, mark.ids, mark.waiting)
    };
    assert_eq!(given(&less), given(rendered));
}
