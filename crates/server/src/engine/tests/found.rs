//! What seeded worlds found, in small.

use agents::EventKind;
use delivery::model::{MessageId, SessionPolicy};
use storage::{NewBinding, Read, RunStatus, Store};

use super::world::World;
use crate::engine::{Command, Post, Reply, Request, Tool};

fn reply(world: &mut World, root: &str, text: &str) {
    let post = Post {
        channel: "general".to_owned(),
        author: "aiko".to_owned(),
        text: text.to_owned(),
        thread: Some(root.into()),
        client_id: None,
    };
    world.ask(Request::Post(Box::new(post))).unwrap();
}

/// A session of its own for every run, also after one that failed (6.5).
#[test]
fn a_failed_turn_ends_a_session_that_is_to_be_fresh() {
    let mut world = World::new();
    let spec = world.store.bindings(None).unwrap().remove(0).spec;
    let spec = NewBinding { handle: "new".to_owned(), session: SessionPolicy::Fresh, ..spec };
    world.store.add_binding(&spec, delivery::Timestamp { ms: 5 }).unwrap();
    world.post("@new first");
    world.post("@new second");
    let epoch = world.started("new", "s-1");
    let (run, _) = world.prompt("new");
    world.failed("new", epoch, &run);
    let sent = |world: &World| {
        let is_one = |command: &&Command| matches!(command, Command::Prompt { .. } | Command::End { .. });
        world
            .given
            .iter()
            .filter(is_one)
            .map(|command| matches!(command, Command::End { .. }))
            .collect::<Vec<_>>()
    };
    assert_eq!(sent(&world), [true], "the process ends, and gets no second turn");
    world.event("new", epoch, EventKind::Exited { reason: None });
    world.started("new", "s-2");
    let (_, text) = world.prompt("new");
    assert!(text.starts_with("You are an agent in a team chat"), "a new session is told what it is: {text}");
}

/// Deleted before it was shown, never shown (4.9): not by trying again either.
#[test]
fn a_deleted_message_is_not_tried_again() {
    // I3
    let mut world = World::new();
    let (message, runs) = world.post("@claude my password is hunter2");
    let epoch = world.started("claude", "s-1");
    world.ask(Request::Delete { message: message.row.id }).unwrap();
    world.event("claude", epoch, EventKind::Exited { reason: Some("it had died".to_owned()) });
    assert_eq!(world.status(&runs[0].id), RunStatus::Cancelled);
    assert_eq!(
        world.tail(1),
        [format!("Highwater: run {} of @claude was cancelled: its message was deleted", runs[0].id)]
    );
    assert!(world.engine.is_empty() && world.engine.footprint() == Default::default());
}

/// A part of a thread that a session fetched does not come again, and the root comes with the first mention there, however
/// much is new (7.7, 4.10).
#[test]
fn a_page_of_a_thread_and_then_its_first_mention() {
    // I4
    let mut world = World::new();
    world.post("the root");
    (1..=20).for_each(|n| reply(&mut world, "m1", &format!("reply {n}")));
    // Behind so much chatter the root is no line of the channel's block.
    (1..=20).for_each(|n| drop(world.post(&format!("chatter {n}"))));
    let (_, runs) = world.post("@claude look there");
    let epoch = world.started("claude", "s-1");
    world.prompt("claude");
    let page = Tool::History { before: None, thread: Some(MessageId::from("m1")), limit: Some(3) };
    world.call("claude", epoch, page).unwrap();
    world.answered("claude", epoch, &runs[0].id, "I see");
    reply(&mut world, "m1", "@claude and here?");
    let (_, text) = world.prompt("claude");
    assert!(text.contains("\n- [user] aiko: the root\n- [user] aiko: reply 7\n"), "{text}");
    assert!(text.contains("\n- (6 earlier new messages not shown;") && !text.contains("reply 18"), "{text}");
}

/// A thread's root whose own mention waits was not given: it comes in the channel if that mention is cancelled (4.5).
#[test]
fn a_root_that_waits_and_is_cancelled_is_not_lost() {
    // I4
    let mut world = World::new();
    world.post("@claude busy");
    let epoch = world.started("claude", "s-1");
    let (busy, _) = world.prompt("claude");
    let (root, runs) = world.post("@claude the root");
    reply(&mut world, root.row.id.as_str(), "@claude below it");
    // Tried again, the root's own mention waits behind that of its thread.
    world.ask(Request::Cancel { run: runs[0].id.clone() }).unwrap();
    let Reply::Run(again) = world.ask(Request::Retry { run: runs[0].id.clone() }).unwrap() else {
        unreachable!("a retry is answered by its run")
    };
    world.answered("claude", epoch, &busy, "ok");
    let (below, text) = world.prompt("claude");
    assert!(!text.contains("@claude the root"), "{text}");
    world.ask(Request::Cancel { run: again.id }).unwrap();
    world.answered("claude", epoch, &below, "ok");
    world.post("@claude and now?");
    let (_, text) = world.prompt("claude");
    assert!(text.contains("\n- [user] aiko: @claude the root"), "{text}");
}

/// The watermark of a channel stands after all that stood there (5.1), but for what is told in a thread: also where that is
/// the newest thing.
#[test]
fn a_root_given_in_its_thread_leaves_no_hole_in_the_channels_watermark() {
    let mut world = World::new();
    let (_, runs) = world.post("@claude asked twice");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    // Its notice is an event of the channel.
    world.failed("claude", epoch, &run);
    let (root, _) = world.post("the root");
    reply(&mut world, root.row.id.as_str(), "@claude below it");
    let (below, _) = world.prompt("claude");
    world.answered("claude", epoch, &below, "ok");
    world.ask(Request::Retry { run: runs[0].id.clone() }).unwrap();
    let (again, _) = world.prompt("claude");
    world.answered("claude", epoch, &again, "ok");
    let mark = world.mark("claude").unwrap();
    assert_eq!(mark.last_seq, Some(root.row.seq - 1), "the notice counts, and the root does not: {mark:?}");
}

#[test]
fn a_line_like_a_payload_in_the_instructions_changes_nothing() {
    // I12
    let mut world = World::new();
    let binding = world.store.bindings(None).unwrap().remove(0);
    let instructions = Some("x\n{\"text\":\"}\n{\"mood\":\"fine\",\"text\":\"sample\"}".to_owned());
    let spec = storage::NewBinding { handle: "ins".to_owned(), instructions, ..binding.spec };
    world.store.add_binding(&spec, delivery::Timestamp { ms: 5 }).unwrap();
    let (message, _) = world.post("@ins my password is hunter2");
    world.started("ins", "s-1");
    let (run, text) = world.prompt("ins");
    assert!(text.contains("sample") && text.contains("hunter2"));
    world.ask(Request::Delete { message: message.row.id }).unwrap();
    let sent = world.store.run(&run).unwrap().staged.unwrap().sent;
    assert!(sent.contains("sample") && !sent.contains("hunter2"), "{sent}");
}
