//! Rows for a delivery: few, and enough to render what all rows would.

use std::cell::RefCell;
use std::collections::BTreeMap;

use delivery::channel_delivery::{Case, render};
use delivery::watermark::watermark_for;
use delivery::{Limits, Row};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

stories![few_rows_of_many, a_thread_begins_with_its_root, blocks_are_those_of_the_whole_history];

fn query<'a>(world: &'a World<'_>, native: &'a NativeId, addressed: &'a MessageId) -> DeliveryQuery<'a> {
    DeliveryQuery {
        policy: Policy::Lean,
        channel: &world.channel,
        thread: None,
        native,
        watermark: None,
        addressed,
        pending: &[],
        newest: 3,
    }
}

/// Ids of the rows, `/revision` where it is not the first, and how many more there are.
fn rows(world: &World<'_>, query: &DeliveryQuery<'_>) -> String {
    let DeliveryRows { rows, earlier, revisions } = world.store.delivery_rows(query).unwrap();
    check("as many revisions as rows", rows.len(), revisions.len());
    let rows = rows.iter().zip(revisions).map(|(row, revision)| match revision {
        1 => row.id.to_string(),
        _ => format!("{}/{revision}", row.id),
    });
    format!("{} +{earlier}", rows.collect::<Vec<_>>().join(" "))
}

fn few_rows_of_many(store: &mut dyn Store) {
    let mut world = World::new(store);
    for n in 1..=100 {
        world.post("aiko", &format!("message {n}"));
    }
    world.post_as("s1", "its own");
    world.post("host", "a notice");
    world.edit(&"m5".into(), "told, then edited");
    world.edit(&"m30".into(), "new, then edited");
    world.delete(&"m6".into());
    world.delete(&"m40".into());
    let (native, addressed) = (NativeId::from("s1"), MessageId::from("m90"));
    let mark = Watermark {
        native: native.clone(),
        last_at: at(20),
        last_seq: Some(20),
        ids: ["m4", "m5", "m6", "m99"].map(MessageId::from).to_vec(),
        waiting: vec!["m10".into()],
    };
    let by_time = Watermark { last_seq: None, ..mark.clone() };
    let pending = ["m97".into(), "m98".into()];
    let bare = query(&world, &native, &addressed);
    check("snapshot", rows(&world, &bare), "m30/2 m40 m90 m97 m98 m99 m100 m101 m102 +0".to_owned());
    let delta = DeliveryQuery { watermark: Some(&mark), pending: &pending, ..bare.clone() };
    // New are 21 to 100 but for 40 (deleted), 90 (addressed), 97, 98 (pending) and 99 (told): 75. Loaded of these
    // are the newest 6, and 30 for its edit: 68 are left.
    let expected = "m5/2 m6 m10 m30/2 m40 m90 m92 m93 m94 m95 m96 m97 m98 m99 m100 m101 m102";
    check("delta", rows(&world, &delta), format!("{expected} +68"));
    let delta = DeliveryQuery { watermark: Some(&by_time), ..delta };
    let expected = expected.replace("m10 ", "m10 m20 ");
    check("delta by time", rows(&world, &delta), format!("{expected} +68"));
    let nothing_new = Watermark { last_seq: Some(500), ..mark };
    let delta = DeliveryQuery { watermark: Some(&nothing_new), ..bare };
    check("nothing new", rows(&world, &delta), "m10 m30/2 m40 m90 m102 +0".to_owned());
}

fn a_thread_begins_with_its_root(store: &mut dyn Store) {
    let mut world = World::new(store);
    let root = world.post("aiko", "root");
    for n in 2..=20 {
        world.reply(&root, "ben", &format!("reply {n}"));
        world.post("ben", "elsewhere");
    }
    world.edit(&root, "edited root");
    let (native, addressed) = (NativeId::from("s1"), MessageId::from("m38"));
    let thread = DeliveryQuery { thread: Some(&root), ..query(&world, &native, &addressed) };
    check("snapshot", rows(&world, &thread), "m1/2 m30 m32 m34 m36 m38 +0".to_owned());
    let mark = Watermark { last_seq: Some(10), ids: Vec::new(), waiting: Vec::new(), ..watermark("s1", 10) };
    let delta = DeliveryQuery { watermark: Some(&mark), ..thread.clone() };
    check("delta", rows(&world, &delta), "m1/2 m30 m32 m34 m36 m38 +9".to_owned());
    let foreign = Watermark { last_seq: Some(0), ..mark.clone() };
    let delta = DeliveryQuery { watermark: Some(&foreign), ..thread.clone() };
    check("delta from before the root", rows(&world, &delta), "m1/2 m30 m32 m34 m36 m38 +14".to_owned());
    let elsewhere = DeliveryQuery { thread: Some(&addressed), ..thread };
    check_refused(
        "of a reply",
        world.store.delivery_rows(&elsewhere),
        "message m38 is a reply in the thread of m1",
    );
}

/// What happens in a channel; numbers choose among what there is.
#[derive(Clone, Debug)]
enum Op {
    Post { writer: usize, thread: Option<usize> },
    Edit(usize),
    Delete(usize),
    Turn { addressed: usize, native: usize, pending: Vec<usize>, policy: Policy, mark: MarkFate },
}

/// What becomes of the watermark of a turn.
#[derive(Clone, Copy, Debug)]
enum MarkFate {
    Discarded,
    Committed,
    /// Committed, exported and imported by way of something that knows only times.
    WithoutNumber,
}

fn op() -> impl Strategy<Value = Op> {
    let thread = proptest::option::weighted(0.3, 0..4_usize);
    let policy = prop_oneof![4 => Just(Policy::Lean), 1 => Just(Policy::Base), 1 => Just(Policy::Window)];
    let mark = prop_oneof![
        2 => Just(MarkFate::Discarded),
        6 => Just(MarkFate::Committed),
        1 => Just(MarkFate::WithoutNumber),
    ];
    let pending = proptest::collection::vec(any::<usize>(), 0..3);
    prop_oneof![
        12 => (0..6_usize, thread).prop_map(|(writer, thread)| Op::Post { writer, thread }),
        2 => any::<usize>().prop_map(Op::Edit),
        2 => any::<usize>().prop_map(Op::Delete),
        3 => (any::<usize>(), 0..2_usize, pending, policy, mark).prop_map(
            |(addressed, native, pending, policy, mark)| Op::Turn { addressed, native, pending, policy, mark }
        ),
    ]
}

fn blocks_are_those_of_the_whole_history(store: &mut dyn Store) {
    let config = Config { cases: 100, failure_persistence: None, ..Config::default() };
    let (store, count) = (RefCell::new(store), RefCell::new(0));
    let played = TestRunner::new(config).run(&proptest::collection::vec(op(), 1..90), |ops| {
        *count.borrow_mut() += 1;
        let name = format!("channel {}", count.borrow());
        let done = store.borrow_mut().atomic(&mut |store| {
            let channel = store.add_channel(&name, ChannelKind::Public, at(0))?.id;
            let mut play = Play { store, channel, messages: Vec::new(), marks: BTreeMap::new() };
            ops.iter().for_each(|op| play.step(op));
            Ok(())
        });
        done.map_err(|error| TestCaseError::fail(error.to_string()))
    });
    if let Err(error) = played {
        panic!("{error}");
    }
}

/// A channel with all that was ever in it, and a watermark per place.
struct Play<'a> {
    store: &'a mut dyn Store,
    channel: ChannelId,
    messages: Vec<(MessageId, Option<MessageId>)>,
    marks: BTreeMap<Option<MessageId>, Watermark>,
}

impl Play<'_> {
    fn step(&mut self, op: &Op) {
        match op {
            Op::Post { writer, thread } => self.post(*writer, *thread),
            Op::Edit(n) => {
                // An edit of a deleted message is refused, and changes nothing.
                let _ = self.pick(*n).map(|(id, _)| self.store.edit(&id, "edited", at(1)));
            }
            Op::Delete(n) => {
                let _ = self.pick(*n).map(|(id, _)| self.store.delete(&id, at(1)).unwrap());
            }
            Op::Turn { addressed, native, pending, policy, mark } => {
                let Some((addressed, place)) = self.pick(*addressed) else { return };
                let native = NativeId(format!("s{native}"));
                let pending = pending.iter().filter_map(|n| self.pick(*n)).map(|(id, _)| id);
                let pending = pending.filter(|id| *id != addressed).collect();
                self.turn(addressed, place, native, pending, *policy, *mark);
            }
        }
    }

    fn pick(&self, n: usize) -> Option<(MessageId, Option<MessageId>)> {
        let index = n.checked_rem(self.messages.len())?;
        self.messages.get(index).cloned()
    }

    fn post(&mut self, writer: usize, thread: Option<usize>) {
        let (name, native) = [
            ("aiko", None),
            ("ben", None),
            ("cleo", None),
            ("host", None),
            ("@claude", Some("s0")),
            ("@claude", Some("s1")),
        ][writer];
        let thread = thread.and_then(|n| self.pick(n)).map(|(id, root)| root.unwrap_or(id));
        let new = NewMessage {
            thread: thread.clone(),
            native: native.map(NativeId::from),
            ..new_message(&self.channel, name, "text")
        };
        // A reply to a deleted root is refused.
        if let Ok(appended) = self.store.append(&new, at(1)) {
            self.messages.push((message_of(appended).row.id, thread));
        }
    }

    fn all_rows(&self, place: Option<&MessageId>) -> Vec<Row> {
        let in_place =
            |(id, root): &&(MessageId, Option<MessageId>)| root.as_ref() == place || Some(id) == place;
        let ids = self.messages.iter().filter(in_place);
        ids.map(|(id, _)| self.store.message(id).unwrap().row).collect()
    }

    fn turn(
        &mut self,
        addressed: MessageId,
        place: Option<MessageId>,
        native: NativeId,
        pending: Vec<MessageId>,
        policy: Policy,
        fate: MarkFate,
    ) {
        let limits = Limits { rows: 4, lines: 3, body_chars: 600 };
        let stored = self.marks.get(&place).cloned();
        let few = self.store.delivery_rows(&DeliveryQuery {
            policy,
            channel: &self.channel,
            thread: place.as_ref(),
            native: &native,
            watermark: match policy {
                Policy::Lean | Policy::Base => watermark_for(stored.as_ref(), &native),
                Policy::Window => None,
            },
            addressed: &addressed,
            pending: &pending,
            newest: limits.rows.max(limits.lines),
        });
        let few = few.unwrap();
        let whole = Case {
            policy,
            rows: self.all_rows(place.as_ref()),
            earlier: 0,
            addressed,
            native,
            watermark: stored,
            keeps_session: true,
            pending,
            in_thread: place.is_some(),
            root_given: false,
            limits,
        };
        let expected = render(&whole);
        let case = Case { rows: few.rows, earlier: few.earlier, ..whole };
        check(&case, render(&case), expected.clone());
        let after = match fate {
            MarkFate::Discarded => None,
            MarkFate::Committed => expected.watermark,
            MarkFate::WithoutNumber => expected.watermark.map(|mark| Watermark { last_seq: None, ..mark }),
        };
        if let Some(after) = after {
            self.marks.insert(place, after);
        }
    }
}
