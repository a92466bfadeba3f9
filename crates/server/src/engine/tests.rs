//! The engine with a real store and pretend agents, in virtual time.

mod among;
mod found;
mod identity;
mod life;
mod moved;
mod permissions;
mod points;
mod policies;
mod prefix;
mod projects;
mod reports;
mod saved;
mod steering;
mod tools;
mod usage;
mod wake;
mod world;

use agents::{Event, EventKind, Stop, Turn, Update};
use delivery::model::NativeId;
use storage::{Read, RunStatus};

use self::world::World;
use super::{Activity, Command, Doing, Input, Piece, Post, Reply, Request, Rules, Tool};

const MINUTE: u64 = 60_000;

#[test]
fn a_mention_is_answered() {
    let mut world = World::new();
    let (message, runs) = world.post("@claude hello");
    let epoch = world.started("claude", "s-1");
    let (run, text) = world.prompt("claude");
    assert_eq!(run, runs[0].id);
    assert!(text.contains("\n\nYou were mentioned in a team chat channel."), "{text}");
    world.answered("claude", epoch, &run, "hi");
    assert_eq!(world.status(&run), RunStatus::Succeeded);
    assert_eq!(world.tail(2), ["aiko: @claude hello", "@claude: hi"]);
    assert_eq!(world.mark("claude").unwrap().ids, [message.row.id]);
}

/// Rule 5.4 and public report B14: what failed showed nothing.
#[test]
fn a_failed_run_leaves_the_watermark_and_the_session_gets_the_lines_again() {
    // I5
    let mut world = World::new();
    world.post("one");
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (first, _) = world.prompt("claude");
    world.answered("claude", epoch, &first, "ok");
    let before = world.mark("claude");
    world.post("two");
    world.post("@claude second");
    let (second, text) = world.prompt("claude");
    assert!(text.contains("- [user] aiko: two"), "{text}");
    world.failed("claude", epoch, &second);
    assert_eq!(world.status(&second), RunStatus::Failed);
    assert_eq!(world.mark("claude"), before);

    world.post("@claude third");
    let (third, text) = world.prompt("claude");
    assert!(text.contains("- [user] aiko: two\n- [user] aiko: @claude second"), "{text}");
    assert!(text.contains("\"channel_id\""), "after a failure the payload is full again: {text}");
    world.answered("claude", epoch, &third, "ok");
    assert_ne!(world.mark("claude"), before);
}

/// Rule 5.4 and public report B14
#[test]
fn a_cancelled_run_leaves_the_watermark() {
    // I5
    let mut world = World::new();
    world.post("one");
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    world.ask(Request::Cancel { run: run.clone() }).unwrap();
    assert!(world.given.iter().any(|command| matches!(command, Command::Cancel { .. })));
    let turn = Turn { stop: Stop::Cancelled, text: Some("half".to_owned()), usage: None };
    world.event("claude", epoch, EventKind::TurnEnded { run: run.clone(), turn });
    assert_eq!(world.status(&run), RunStatus::Cancelled);
    assert_eq!(world.mark("claude"), None);
    let notice = format!(
        "Highwater: run {run} of @claude was cancelled: by request (try again with: highwater run retry {run})"
    );
    assert_eq!(world.tail(1), [notice]);
}

#[test]
fn a_declined_run_commits() {
    // I5
    let mut world = World::new();
    world.post("one");
    world.post("@claude do something rude");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    world.call("claude", epoch, Tool::Decline { reason: "not\nmy task".to_owned() }).unwrap();
    world.answered("claude", epoch, &run, "I declined.");
    assert_eq!(world.status(&run), RunStatus::Declined);
    assert_eq!(world.mark("claude").unwrap().ids.len(), 2);
    assert_eq!(world.tail(1), ["Highwater: @claude declined m2: not my task"]);
}

/// Rule 5.7 and public report B14: what comes late from a session that was replaced counts nothing.
#[test]
fn a_late_success_under_an_old_epoch_changes_nothing() {
    // I5
    let mut world = World::new();
    world.post("@claude first");
    let old = world.started("claude", "s-1");
    let (first, _) = world.prompt("claude");
    world.event("claude", old, EventKind::Exited { reason: Some("it crashed".to_owned()) });
    assert_eq!(world.status(&first), RunStatus::Failed);
    world.post("@claude second");
    let new = world.started("claude", "s-2");
    assert!(new > old);
    let (second, _) = world.prompt("claude");
    let tail = world.tail(10);
    world.answered("claude", old, &first, "late");
    world.answered("claude", old, &second, "late");
    assert_eq!(world.tail(10), tail);
    assert_eq!(world.mark("claude"), None);
    world.answered("claude", new, &second, "in time");
    assert_eq!(world.status(&second), RunStatus::Succeeded);
    assert_eq!(world.mark("claude").unwrap().native, NativeId::from("s-2"));
}

/// Rule 2.8 and public report C31: what was asked while nobody could answer is answered once after the start.
#[test]
fn a_restart_picks_up_what_waits_and_fails_what_may_have_begun() {
    // I1, I3
    let mut world = World::new();
    world.post("@claude first");
    world.post("@claude second");
    world.started("claude", "s-1");
    let (first, _) = world.prompt("claude");
    let mut world = world.restart();
    assert_eq!(world.status(&first), RunStatus::Failed);
    assert!(world.tail(1)[0].starts_with("Highwater: @claude could not answer m1: the server stopped"));
    let epoch = world.started("claude", "s-2");
    let (second, text) = world.prompt("claude");
    assert!(text.contains("@claude second"), "{text}");
    assert!(text.contains("- [user] aiko: @claude first"), "a new session gets a snapshot: {text}");
    world.answered("claude", epoch, &second, "ok");
    assert_eq!(world.status(&second), RunStatus::Succeeded);
}

#[test]
fn a_prompt_that_was_not_written_is_tried_again() {
    // I3
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let run = match world.given.pop() {
        Some(Command::Prompt { run, .. }) => run,
        other => panic!("{other:?}"),
    };
    world.event("claude", epoch, EventKind::Exited { reason: Some("it had died".to_owned()) });
    assert_eq!(world.status(&run), RunStatus::Queued);
    let epoch = world.started("claude", "s-2");
    let (again, _) = world.prompt("claude");
    assert_eq!(again, run);
    world.answered("claude", epoch, &run, "ok");
    assert_eq!(world.tail(1), ["@claude: ok"]);
}

#[test]
fn a_prompt_that_is_lost_twice_fails_visibly() {
    // I3
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    world.event("claude", epoch, EventKind::Exited { reason: Some("it had died".to_owned()) });
    let epoch = world.started("claude", "s-2");
    world.event("claude", epoch, EventKind::Exited { reason: Some("it had died".to_owned()) });
    assert!(world.tail(1)[0].starts_with("Highwater: @claude could not answer m1: it had died"));
    assert!(world.engine.is_empty() && world.engine.tried.is_empty());
}

#[test]
fn cancelling_twice_is_cancelling_once_and_whatever_comes_of_it_is_a_cancel() {
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    for _ in 0..3 {
        world.ask(Request::Cancel { run: run.clone() }).unwrap();
    }
    let cancels = world.given.iter().filter(|command| matches!(command, Command::Cancel { .. }));
    assert_eq!(cancels.count(), 1);
    world.failed("claude", epoch, &run);
    assert_eq!(world.status(&run), RunStatus::Cancelled);
}

#[test]
fn many_refused_permissions_do_not_fill_the_channel() {
    // I10
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    for n in 0..600 {
        let update = rejected(&format!("rm {n}"));
        world.event("claude", epoch, EventKind::Update { run: run.clone(), update });
    }
    assert_eq!(world.tail(100).len(), 1 + 5);
    assert!(world.tail(1)[0].ends_with(&format!("(further refusals are told by: highwater run show {run})")));
    assert_eq!(world.store.run_events(&run).unwrap().len(), 500);
}

#[test]
fn a_client_id_of_another_message_is_refused() {
    let mut world = World::new();
    let mut post = Post {
        channel: "general".to_owned(),
        author: "aiko".to_owned(),
        text: "one".to_owned(),
        thread: None,
        client_id: Some("once".to_owned()),
    };
    world.ask(Request::Post(Box::new(post.clone()))).unwrap();
    post.text = "two".to_owned();
    let error = world.ask(Request::Post(Box::new(post))).unwrap_err();
    assert_eq!(error.code.as_str(), "conflict");
    assert_eq!(world.tail(9), ["aiko: one"]);
}

#[test]
fn a_process_that_cannot_start_fails_each_of_its_runs_visibly() {
    // I3
    let mut world = World::new();
    world.post("@claude first");
    world.post("@claude second");
    for message in ["m1", "m2"] {
        world.after(1_000);
        let epoch = world.start_command("claude");
        world.event("claude", epoch, EventKind::Exited { reason: Some("cannot start `claude`".to_owned()) });
        let last = world.tail(1).remove(0);
        assert!(
            last.starts_with(&format!("Highwater: @claude could not answer {message}: cannot start")),
            "{last}"
        );
    }
    assert!(world.engine.is_empty());
}

/// Rules 4.5, 2.6 and public report B16: what waits as a payload is not shown as a line before.
#[test]
fn one_turn_at_a_time_and_queued_mentions_are_no_context() {
    // I8
    let mut world = World::new();
    world.post("@claude first");
    world.post("@claude second");
    world.post("chatter");
    let epoch = world.started("claude", "s-1");
    let (first, text) = world.prompt("claude");
    assert!(text.contains("- [user] aiko: chatter") && !text.contains("@claude second"), "{text}");
    assert!(!world.given.iter().any(|command| matches!(command, Command::Prompt { .. })));
    world.answered("claude", epoch, &first, "one");
    let (second, text) = world.prompt("claude");
    assert!(!text.contains("chatter") && !text.contains("@claude first"), "nothing twice: {text}");
    world.answered("claude", epoch, &second, "two");
    assert_eq!(world.tail(2), ["@claude: one", "@claude: two"]);
}

#[test]
fn two_agents_and_a_limit_of_recipients() {
    let mut world = World::new();
    let (_, runs) = world.post("@codex and @claude, please");
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].key, world.key("codex"));
    let more = Rules { max_recipients: 1, ..world.engine.rules.clone() };
    world.engine.rules = more;
    let (_, runs) = world.post("@codex and @claude, again");
    assert_eq!(runs.len(), 1);
    assert_eq!(world.tail(1), ["Highwater: one message reaches 1 agents at most; not asked: @claude"]);
}

/// Rule 2.5 and public report C36: a turn without a text ends visibly.
#[test]
fn an_empty_answer_is_visible() {
    // I3
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    world.answered("claude", epoch, &run, "");
    assert_eq!(world.status(&run), RunStatus::Succeeded);
    assert_eq!(world.tail(1), ["Highwater: @claude: (no reply)"]);
}

#[test]
fn a_native_id_that_comes_again_inherits_nothing() {
    // I4
    let mut world = World::new();
    world.post("one");
    world.post("@claude first");
    let epoch = world.started("claude", "same");
    let (run, _) = world.prompt("claude");
    world.answered("claude", epoch, &run, "ok");
    world.event("claude", epoch, EventKind::Exited { reason: Some("gone".to_owned()) });
    world.post("@claude second");
    world.started("claude", "same");
    let (_, text) = world.prompt("claude");
    assert!(text.contains("Recent messages in this channel") && text.contains("aiko: one"), "{text}");
}

#[test]
fn a_permission_that_is_refused_is_seen() {
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    let update = rejected("rm -rf\n/");
    world.event("claude", epoch, EventKind::Update { run: run.clone(), update });
    assert_eq!(
        world.tail(1),
        ["Highwater: @claude asked for permission and was refused: rm -rf / (it is too large)"]
    );
    assert_eq!(world.store.run_events(&run).unwrap().len(), 1);
}

fn rejected(title: &str) -> Update {
    Update::PermissionRejected { title: title.to_owned(), option: None, why: "it is too large".to_owned() }
}

#[test]
fn an_answer_streams_until_its_message_is_there() {
    let mut world = World::new();
    world.post("@claude first");
    world.post("@claude second");
    let key = world.key("claude");
    let stands = |world: &World| world.engine.activities().get(&key).copied();
    assert_eq!(stands(&world), Some(Doing { activity: Activity::Queued, open_runs: 2, steerable: false }));
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    assert_eq!(stands(&world), Some(Doing { activity: Activity::Working, open_runs: 2, steerable: false }));
    let tool = Update::ToolCall { id: "1".to_owned(), title: "look".to_owned(), kind: "read".to_owned() };
    for update in [Update::Text("let me".to_owned()), tool, Update::Text("done".to_owned())] {
        world.event("claude", epoch, EventKind::Update { run: run.clone(), update });
    }
    let pieces: Vec<Piece> = std::mem::take(&mut world.given)
        .into_iter()
        .filter_map(|command| {
            let Command::Stream { key: of, run: by, piece } = command else { return None };
            (of == key && by == run).then_some(piece)
        })
        .collect();
    assert_eq!(pieces, [Piece::Text("let me".to_owned()), Piece::Anew, Piece::Text("done".to_owned())]);
    // Both in one step's batch: the message makes the piece needless.
    world.engine.out.push_back(Command::Stream { key: key.clone(), run: run.clone(), piece: Piece::Anew });
    world.answered("claude", epoch, &run, "done");
    assert!(!world.given.iter().any(|command| matches!(command, Command::Stream { .. })));
    let (second, _) = world.prompt("claude");
    world.answered("claude", epoch, &second, "yes");
    assert_eq!(stands(&world), None);
}

#[test]
fn an_agent_that_floods_with_steps_fills_no_disk() {
    // I10
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    for n in 0..600 {
        let update =
            Update::ToolCall { id: n.to_string(), title: "x".repeat(10_000), kind: "read".to_owned() };
        world.event("claude", epoch, EventKind::Update { run: run.clone(), update });
    }
    let steps = world.store.run_events(&run).unwrap();
    assert_eq!(steps.len(), 500);
    assert!(steps.iter().all(|step| step.body.len() < 5_000));
}

#[test]
fn a_deleted_message_cancels_the_run_that_waits_for_it() {
    let mut world = World::new();
    let (message, runs) = world.post("@claude zebra");
    world.ask(Request::Delete { message: message.row.id }).unwrap();
    assert_eq!(world.status(&runs[0].id), RunStatus::Cancelled);
    let epoch = world.started("claude", "s-1");
    assert!(!world.given.iter().any(|command| matches!(command, Command::Prompt { .. })));
    world.post("@claude second");
    let (run, text) = world.prompt("claude");
    assert!(!text.contains("zebra"), "{text}");
    world.answered("claude", epoch, &run, "ok");
}

#[test]
fn removing_an_agent_ends_its_runs_and_its_process() {
    let mut world = World::new();
    world.post("@claude first");
    world.post("@claude second");
    let epoch = world.started("claude", "s-1");
    let (first, _) = world.prompt("claude");
    let key = world.key("claude");
    let channel = "general".to_owned();
    world.ask(Request::RemoveAgent { channel, handle: "@Claude".to_owned() }).unwrap();
    assert_eq!(world.status(&first), RunStatus::Cancelled);
    assert!(world.given.iter().any(|command| matches!(command, Command::End { .. })));
    let gone = Event { key, epoch, kind: EventKind::Exited { reason: None } };
    world.step(&Input::Agent(gone)).unwrap();
    assert!(world.engine.is_empty());
    assert_eq!(world.post("@claude third").1, []);
}

#[test]
fn fresh_begins_a_new_session() {
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    world.answered("claude", epoch, &run, "ok");
    world.ask(Request::Fresh { channel: "general".to_owned(), handle: "claude".to_owned() }).unwrap();
    world.post("@claude second");
    world.event("claude", epoch, EventKind::Exited { reason: None });
    world.started("claude", "s-2");
    let (run, _) = world.prompt("claude");
    assert_eq!(world.store.run(&run).unwrap().staged.unwrap().lease, delivery::turn::Lease::Cold);
}

#[test]
fn idle_processes_end_and_memory_is_given_back() {
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    world.answered("claude", epoch, &run, "ok");
    world.mono = 31 * MINUTE;
    world.step(&Input::Tick).unwrap();
    assert!(world.given.iter().any(|command| matches!(command, Command::End { .. })));
    world.event("claude", epoch, EventKind::Exited { reason: None });
    assert!(world.engine.is_empty() && world.engine.live.is_empty() && world.engine.open.is_empty());
}

/// Rule 2.1 and public report B28
#[test]
fn a_client_id_twice_is_one_message_with_its_runs() {
    let mut world = World::new();
    let post = Post {
        channel: "general".to_owned(),
        author: "aiko".to_owned(),
        text: "@claude hi".to_owned(),
        thread: None,
        client_id: Some("once".to_owned()),
    };
    let twice = [(), ()].map(|()| {
        let Reply::Posted { message, runs } = world.ask(Request::Post(Box::new(post.clone()))).unwrap()
        else {
            unreachable!("a post is answered by what was posted")
        };
        (message.row.id, runs.len())
    });
    assert_eq!(twice[0], twice[1]);
    assert_eq!(world.tail(9).len(), 1);
}

#[test]
fn bad_posts_are_refused_and_change_nothing() {
    let check = |text: &str, channel: &str, author: &str, expect: &str| {
        let mut world = World::new();
        let post = Post {
            channel: channel.to_owned(),
            author: author.to_owned(),
            text: text.to_owned(),
            thread: None,
            client_id: None,
        };
        let error = world.ask(Request::Post(Box::new(post))).unwrap_err();
        assert_eq!(error.code.as_str(), expect, "{error}");
        assert_eq!(world.tail(9), Vec::<String>::new());
        assert!(!world.engine.touched());
    };
    check("hi", "nowhere", "aiko", "not_found");
    check("hi", "general", "nobody", "not_found");
    check("", "general", "aiko", "invalid");
    check(" \n\t ", "general", "aiko", "invalid");
    check("a\0b", "general", "aiko", "invalid");
    check(&"x".repeat(64 * 1024 + 1), "general", "aiko", "too_large");
}
