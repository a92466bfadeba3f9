//! Exact user turns, and when a session is told in full again.

use proptest::prelude::*;

use super::{Mention, Telling, Told, UNREPORTED_BYTES_MAX, UserTurn, user_turn};
use crate::model::Policy;
use crate::payload::tests::{any_payload, payload};
use crate::payload::{self, Payload};
use crate::prose::{self, REMINDER, channel_task_brief};
use crate::turn::{Conversation, Lease, plan};

const DELTA: &str =
    r#"{"message_id":"m7","run_id":"r3","author":{"kind":"user","name":"aiko"},"text":"@claude hi"}"#;

#[test]
fn exact_text() {
    let payload = payload();
    let check_text = |policy, told: &Told, brief_in_system, block, expect: &str| {
        let turn = user_turn(&Mention { policy, payload: &payload, told, brief_in_system, block });
        let opening = "You were mentioned in a team chat channel. The details are below.";
        assert_eq!(turn.text, format!("{opening}\n\n{expect}"), "{policy:?} {told:?}");
        assert_eq!(turn.telling.bytes, turn.text.len() as u64);
    };
    let brief = channel_task_brief();
    let base = payload::render(&payload, Policy::Base, None);
    let lean = payload::render(&payload, Policy::Lean, None);
    let (new, told) = (Told::default(), told());
    for told in [&new, &told] {
        for policy in [Policy::Base, Policy::Window] {
            check_text(policy, told, false, None, &format!("{base}\n\n---\n{brief}"));
            check_text(policy, told, true, Some("B:\n- x"), &format!("{base}\n\n---\n{brief}\n\nB:\n- x"));
        }
    }
    check_text(Policy::Lean, &new, false, None, &format!("{lean}\n\n---\n{brief}"));
    check_text(Policy::Lean, &new, false, Some("B:\n- x"), &format!("{lean}\n\n---\n{brief}\n\nB:\n- x"));
    check_text(Policy::Lean, &new, true, Some("B:\n- x"), &format!("{lean}\n\n---\n{REMINDER}\n\nB:\n- x"));
    check_text(Policy::Lean, &told, false, None, &format!("{DELTA}\n\n---\n{REMINDER}"));
    check_text(Policy::Lean, &told, true, Some("B:\n- x"), &format!("{DELTA}\n\n---\n{REMINDER}\n\nB:\n- x"));
}

/// What happens to a session between two turns.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A turn succeeded, answered in so many bytes.
    Committed(u64),
    /// A turn succeeded, but the session compacted in it.
    CompactedInTurn,
    Compacted,
    Failed,
    Used(u64),
    Brief(Option<&'static str>),
    Reloaded,
}

/// After a committed turn and `events`, whether the next turn is a full one.
fn check(events: &[Event], full: bool) {
    let mut told = told();
    events.iter().for_each(|event| apply(*event, &mut told));
    let stored = serde_json::to_string(&told).unwrap();
    assert_eq!(serde_json::from_str::<Told>(&stored).unwrap(), told, "{events:?}");
    for brief_in_system in [false, true] {
        let turn = next(&told, brief_in_system);
        assert_eq!(turn.telling.full, full, "{events:?}");
        assert_eq!(turn.text.contains(DELTA), !full, "{events:?}");
        assert_eq!(turn.text.contains(channel_task_brief()), full && !brief_in_system, "{events:?}");
    }
}

fn apply(event: Event, told: &mut Told) {
    match event {
        Event::Committed(answer_bytes) => commit(told, answer_bytes),
        Event::CompactedInTurn => {
            let telling = next(told, false).telling;
            told.compacted();
            told.committed(telling, 1);
        }
        Event::Compacted => told.compacted(),
        Event::Failed => told.failed(),
        Event::Used(used) => told.used(used),
        Event::Brief(brief) => told.brief = brief.map(str::to_owned),
        Event::Reloaded => told.reloaded(),
    }
}

#[test]
fn told_in_full_again() {
    check(&[], false);
    check(&[Event::Committed(1)], false);
    check(&[Event::Failed], true);
    check(&[Event::Failed, Event::Committed(1)], false);
    check(&[Event::Compacted], true);
    check(&[Event::Compacted, Event::Committed(1)], false);
    check(&[Event::Reloaded], true);
    check(&[Event::Reloaded, Event::Committed(1)], false);
    check(&[Event::Brief(Some("0"))], true);
    check(&[Event::Brief(None)], true);
    check(&[Event::Brief(None), Event::Committed(1)], false);
    // What was told before a compaction may be gone, though its turn succeeds later.
    check(&[Event::CompactedInTurn], true);
    check(&[Event::CompactedInTurn, Event::Committed(1)], false);
}

/// 3.4: only what a committed turn brought, and no compaction may have taken, is certain to be in the history.
#[test]
fn the_history_holds_the_framing_that_was_committed() {
    let check_framing = |change: &dyn Fn(&mut Told), holds: bool| {
        let mut told = told();
        assert!(!told.holds("FRAMING"));
        told.framed("FRAMING", told.compactions);
        change(&mut told);
        let stored = serde_json::to_string(&told).unwrap();
        assert_eq!(serde_json::from_str::<Told>(&stored).unwrap().holds("FRAMING"), holds);
        assert!(!told.holds("FRAMING of another version"));
    };
    check_framing(&|_| {}, true);
    check_framing(&Told::reloaded, true);
    check_framing(&Told::failed, true);
    check_framing(&|told| commit(told, 1), true);
    check_framing(&Told::compacted, false);
    check_framing(&|told| told.used = Some(100), true);
    check_framing(
        &|told| {
            told.used(100);
            told.used(90);
        },
        false,
    );
    // Compacted while the turn went on that brought it.
    let mut told = told();
    let before = told.compactions;
    told.compacted();
    told.framed("FRAMING", before);
    assert!(!told.holds("FRAMING"));
}

#[test]
fn crashes_in_a_row_are_counted() {
    let mut told = told();
    assert_eq!([told.crashed(), told.crashed()], [1, 2]);
    told.answered();
    assert_eq!(told.crashed(), 1);
}

#[test]
fn use_that_falls_by_a_tenth() {
    let check_used =
        |used: &[u64], full| check(&used.iter().map(|used| Event::Used(*used)).collect::<Vec<_>>(), full);
    check_used(&[0, 0], false);
    check_used(&[100, 200, 200, 1000], false);
    check_used(&[1000, 901], false);
    check_used(&[1000, 900], true);
    check_used(&[1000, 950, 900], true);
    check_used(&[1000, 10, 2000], true);
    check_used(&[u64::MAX, u64::MAX - 1], false);
    check_used(&[u64::MAX, 0], true);
    let fell = [Event::Used(1000), Event::Used(500), Event::Committed(1)];
    check(&fell, false);
    check(&[fell.as_slice(), &[Event::Used(460)]].concat(), false);
    check(&[fell.as_slice(), &[Event::Used(450)]].concat(), true);
}

#[test]
fn agents_that_report_no_use() {
    let turn_bytes = next(&told(), false).telling.bytes;
    let left = UNREPORTED_BYTES_MAX - turn_bytes;
    check(&[Event::Committed(left - 1)], false);
    check(&[Event::Committed(left)], true);
    check(&[Event::Committed(0), Event::Committed(left - turn_bytes)], true);
    check(&[Event::Used(9), Event::Committed(left)], false);
    // A full turn: counted anew.
    check(&[Event::Committed(left), Event::Committed(left)], false);
}

#[test]
fn base_and_window_build_on_nothing() {
    for policy in [Policy::Base, Policy::Window] {
        let mut told = told();
        let telling = turn(policy, &payload(), &told, false).telling;
        assert!(telling.full);
        told.committed(telling, 1);
        assert!(next(&told, false).telling.full, "{policy:?}");
    }
}

#[test]
fn a_session_is_poisoned_by_the_second_refusal_without_a_success_between() {
    type Act = fn(&mut Told);
    let (refused, failed, answered): (Act, Act, Act) = (Told::refused, Told::failed, Told::answered);
    let table: [(&[Act], bool); 5] = [
        (&[], false),
        (&[refused], false),
        (&[refused, refused], true),
        (&[refused, failed, refused], true),
        (&[refused, answered, refused], false),
    ];
    for (row, (acts, poisoned)) in table.into_iter().enumerate() {
        let mut told = told();
        acts.iter().for_each(|act| act(&mut told));
        assert_eq!(told.is_poisoned(), poisoned, "row {row}");
        let kept: Told = serde_json::from_str(&serde_json::to_string(&told).unwrap()).unwrap();
        assert_eq!(kept, told);
    }
    let mut told = told();
    told.refused();
    assert!(next(&told, false).telling.full, "the next turn is full");
}

/// The text of a message must not live on in what is kept of a session.
#[test]
fn the_text_is_not_kept() {
    let telling = next(&Told::default(), false).telling;
    let kept = serde_json::to_string(&telling).unwrap();
    assert!(!kept.contains("@claude hi"), "{kept}");
    assert_eq!(serde_json::from_str::<Telling>(&kept).unwrap(), telling);
}

proptest! {
    /// The turns of a warm session only append: what was sent first is not changed by what comes later, no warm
    /// turn has the framing, and the brief comes once.
    /// Cache breaks B3.31, B3.52 and B4.55.
    #[test]
    fn warm_turns_only_append(payloads in prop::collection::vec(any_payload(), 1..8), blocks in any::<bool>()) {
        let whole = transcript(&payloads, blocks);
        for count in 1..payloads.len() {
            prop_assert!(whole.starts_with(&transcript(&payloads[..count], blocks)));
        }
        for words in [prose::FRAMING, channel_task_brief()] {
            prop_assert_eq!(whole.matches(words).count(), 1);
        }
        prop_assert_eq!(whole.matches(REMINDER).count(), payloads.len() - 1);
    }

    /// No text can end the payload's line.
    #[test]
    fn a_turn_has_its_lines(payload in any_payload()) {
        let turn = turn(Policy::Lean, &payload, &Told::default(), true);
        prop_assert_eq!(turn.text.split('\n').count(), 6);
    }
}

/// All that a session is sent for these mentions, the first cold and the others warm.
fn transcript(payloads: &[Payload], blocks: bool) -> String {
    let framing = prose::framing(None);
    let mut told = Told::default();
    let mut sent = String::new();
    for (index, payload) in payloads.iter().enumerate() {
        let block = blocks.then(|| format!("Lines:\n- [user] aiko: {index}"));
        let mention = Mention {
            policy: Policy::Lean,
            payload,
            told: &told,
            brief_in_system: false,
            block: block.as_deref(),
        };
        let turn = user_turn(&mention);
        let lease = if index == 0 { Lease::Cold } else { Lease::Warm };
        sent += &plan(lease, Some(&framing), &Conversation::Mention(turn.text), Policy::Lean);
        told.committed(turn.telling, 10);
    }
    sent
}

/// A session that was told [`payload`] in one full turn.
fn told() -> Told {
    let mut told = Told::default();
    commit(&mut told, 1 << 20);
    told
}

/// One more turn that succeeds.
fn commit(told: &mut Told, answer_bytes: u64) {
    let telling = next(told, false).telling;
    told.committed(telling, answer_bytes);
}

fn next(told: &Told, brief_in_system: bool) -> UserTurn {
    turn(Policy::Lean, &payload(), told, brief_in_system)
}

fn turn(policy: Policy, payload: &Payload, told: &Told, brief_in_system: bool) -> UserTurn {
    user_turn(&Mention { policy, payload, told, brief_in_system, block: None })
}
