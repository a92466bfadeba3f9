//! Sessions that outlive their process: reloaded where that is certain, begun anew and said so where it is not.

use std::time::Duration;

use agents::{Begun, EventKind, HistoryEnd, Reload, Update};
use delivery::model::{Epoch, NativeId, RunId};
use delivery::prose;
use delivery::turn::Lease;
use storage::{NewBinding, Read, RunStatus, Staged, Store};

use super::world::World;
use super::{Command, Input, MINUTE, Request};

const SNAPSHOT: &str = "Recent messages in this channel";
const DELTA: &str = "New messages in this channel since you last heard from it";

/// A world in which `@claude` answered one mention, and its process ended for idleness.
fn saved() -> (World, RunId) {
    let mut world = World::new();
    world.post("before");
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let run = world.answers("claude", epoch, "a first answer");
    world.idles("claude", epoch);
    (world, run)
}

fn staged(world: &World, run: &RunId) -> Staged {
    world.store.run(run).unwrap().staged.unwrap()
}

/// How a turn was given: its lease, its session, and whether its text has framing, full payload, full brief, snapshot
/// and delta.
fn given(world: &World, run: &RunId) -> (Lease, String, [bool; 5]) {
    let Staged { lease, native, sent, .. } = staged(world, run);
    let has = [prose::FRAMING, "\"channel_id\"", prose::channel_task_brief(), SNAPSHOT, DELTA];
    (lease, native.0, has.map(|text| sent.contains(text)))
}

fn fresh(world: &mut World) {
    world.ask(Request::Fresh { channel: "general".to_owned(), handle: "claude".to_owned() }).unwrap();
}

/// public report A2
#[test]
fn an_evicted_session_is_reloaded_and_told_only_what_is_new() {
    // I4, I6
    let (mut world, first) = saved();
    let session = world.store.session(&world.key("claude")).unwrap().unwrap();
    assert!(session.saved_at.is_some() && session.ended_at.is_none());
    world.post("after");
    world.post("@claude second");
    let (epoch, reload, system) = world.start("claude");
    let end = HistoryEnd { prompt: format!("\"run_id\":\"{first}\""), reply: "a first answer".to_owned() };
    let expected = Reload { native: "s-1".into(), used: None, end: Some(end), wait: Duration::ZERO };
    assert_eq!((reload, system), (Some(expected), None));
    world.began("claude", epoch, &"s-1".into(), Begun::Restored, false);
    let (second, text) = world.prompt("claude");
    // The history holds the framing; payload and brief are told in full, lines only if they are new.
    assert_eq!(given(&world, &second), (Lease::Restored, "s-1".to_owned(), [false, true, true, false, true]));
    assert!(text.contains("aiko: after") && !text.contains("aiko: before"), "{text}");
    assert!(!text.contains("a first answer"), "its own answer is no news: {text}");
    world.answered("claude", epoch, &second, "a second answer");
    assert_eq!(world.status(&second), RunStatus::Succeeded);
    assert_eq!(world.mark("claude").unwrap().native, NativeId::from("s-1"));
    let why = "a new process reloaded the session: its last process was idle for longer than the limit";
    assert_eq!(staged(&world, &second).why, why);
    world.post("@claude third");
    let third = world.answers("claude", epoch, "a third answer");
    assert_eq!(given(&world, &third), (Lease::Warm, "s-1".to_owned(), [false; 5]));
    assert_eq!(world.tail(9).iter().filter(|line| line.starts_with("Highwater")).count(), 0);
}

/// public report G67: the same instructions, byte for byte, go with the reload.
/// Cache breaks T4, T12 and B3.46.
#[test]
fn a_system_prompt_goes_with_the_reload() {
    // I6
    let mut world = World::new();
    world.post("@claude first");
    let (epoch, _, system) = world.start("claude");
    world.began("claude", epoch, &"s-1".into(), Begun::New, true);
    world.answers("claude", epoch, "ok");
    world.idles("claude", epoch);
    world.post("@claude second");
    let (epoch, reload, again) = world.start("claude");
    assert!(system.is_some() && reload.is_some());
    assert_eq!(again, system);
    world.began("claude", epoch, &"s-1".into(), Begun::Restored, true);
    let run = world.answers("claude", epoch, "ok");
    // The brief stands there, too: a reminder is enough.
    assert_eq!(given(&world, &run), (Lease::Restored, "s-1".to_owned(), [false, true, false, false, false]));

    // An agent that does not take it any more gets it with the turn.
    world.idles("claude", epoch);
    world.post("@claude third");
    let (epoch, _, _) = world.start("claude");
    world.began("claude", epoch, &"s-1".into(), Begun::Restored, false);
    let run = world.answers("claude", epoch, "ok");
    assert_eq!(given(&world, &run), (Lease::Restored, "s-1".to_owned(), [true, true, true, false, false]));
}

/// Cache break B3.51.
#[test]
fn after_a_compaction_the_framing_is_sent_again() {
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    world.event("claude", epoch, EventKind::Update { run: run.clone(), update: Update::Compacted });
    world.answered("claude", epoch, &run, "ok");
    world.idles("claude", epoch);
    world.post("@claude second");
    let epoch = world.reloaded("claude");
    let run = world.answers("claude", epoch, "ok");
    assert_eq!(given(&world, &run), (Lease::Restored, "s-1".to_owned(), [true, true, true, false, false]));
}

/// public reports A1 and A8: no delta and no newest turn alone for a session that does not have the rest.
#[test]
fn a_session_that_cannot_be_reloaded_begins_anew_and_says_so() {
    // I3
    let (mut world, _) = saved();
    world.post("after");
    world.post("@claude second");
    let (epoch, reload, _) = world.start("claude");
    assert!(reload.is_some());
    let reason = "the agent answered session/load with an error: Resource not found";
    world.event("claude", epoch, EventKind::ReloadFailed { reason: reason.to_owned() });
    world.event("claude", epoch, EventKind::ReloadFailed { reason: reason.to_owned() });
    let notice = format!(
        "Highwater: @claude begins anew: its session could not be reloaded ({reason}). It is given the newest messages \
         here and has no other memory."
    );
    assert_eq!(world.tail(1), std::slice::from_ref(&notice));
    world.exited("claude", epoch, Some("it was ended"));
    let (epoch, reload, _) = world.start("claude");
    assert_eq!(reload, None, "it is tried once");
    world.began("claude", epoch, &"s-2".into(), Begun::New, false);
    let (run, text) = world.prompt("claude");
    assert_eq!(given(&world, &run), (Lease::Cold, "s-2".to_owned(), [true, true, true, true, false]));
    // public report B23: its predecessor's answers are news for it.
    assert!(text.contains("aiko: before") && text.contains("@claude: a first answer"), "{text}");
    assert_eq!(staged(&world, &run).why, format!("its last session could not be reloaded: {reason}"));
    world.answered("claude", epoch, &run, "ok");
    assert_eq!(world.tail(2), [notice, "@claude: ok".to_owned()]);
}

/// public report B13: told by the session that wrote it, not by the name it stands under.
#[test]
fn a_session_knows_its_own_messages_and_no_predecessors() {
    // I4
    let (mut world, _) = saved();
    world.post("@claude second");
    let epoch = world.reloaded("claude");
    let (run, text) = world.prompt("claude");
    assert!(!text.contains("a first answer"), "{text}");
    world.answered("claude", epoch, &run, "a second answer");
    fresh(&mut world);
    world.exited("claude", epoch, None);
    world.post("@claude third");
    let epoch = world.started("claude", "s-2");
    let (run, text) = world.prompt("claude");
    assert!(text.contains("@claude: a first answer") && text.contains("@claude: a second answer"), "{text}");
    world.answered("claude", epoch, &run, "ok");
}

#[test]
fn a_start_that_fails_before_the_reload_loses_no_session() {
    let (mut world, _) = saved();
    world.post("@claude second");
    let (epoch, _, _) = world.start("claude");
    world.exited("claude", epoch, Some("cannot start `claude`"));
    assert!(world.tail(1)[0].starts_with("Highwater: @claude could not answer"));
    world.post("@claude third");
    let epoch = world.reloaded("claude");
    let run = world.answers("claude", epoch, "ok");
    assert_eq!(given(&world, &run).0, Lease::Restored);
}

#[test]
fn a_shutdown_in_the_middle_of_a_reload_loses_no_session() {
    let (mut world, _) = saved();
    world.post("@claude second");
    let (epoch, reload, _) = world.start("claude");
    world.ask(Request::Shutdown).unwrap();
    let reason = "the agent's process was ended during the turn".to_owned();
    world.event("claude", epoch, EventKind::ReloadFailed { reason });
    world.exited("claude", epoch, None);
    let mut world = world.restart();
    assert_eq!(world.start("claude").1, reload);
    assert!(!world.tail(9).iter().any(|line| line.contains("begins anew")));
}

/// public report A3: a restart needs no new session.
#[test]
fn a_killed_server_reloads_its_sessions() {
    // I1, I3, I5
    let mut world = World::new();
    world.post("before");
    world.post("@claude first");
    let old = world.started("claude", "s-1");
    world.answers("claude", old, "ok");
    world.post("@claude second");
    let (second, _) = world.prompt("claude");
    let mark = world.mark("claude");
    let mut world = world.restart();
    assert_eq!((world.status(&second), world.mark("claude")), (RunStatus::Failed, mark));
    world.post("@claude third");
    let epoch = world.reloaded("claude");
    assert!(epoch > old);
    let (third, text) = world.prompt("claude");
    assert_eq!(given(&world, &third), (Lease::Restored, "s-1".to_owned(), [false, true, true, false, true]));
    assert!(text.contains("aiko: @claude second") && !text.contains("aiko: before"), "{text}");
    assert_eq!(staged(&world, &third).why, "a new process reloaded the session: the server was restarted");
    // What the process before the kill still says changes nothing (5.7).
    world.answered("claude", old, &third, "late");
    assert_eq!(world.status(&third), RunStatus::Running);
    world.answered("claude", epoch, &third, "in time");
    assert_eq!(world.tail(1), ["@claude: in time"]);
}

#[test]
fn fresh_holds_over_a_restart() {
    let (mut world, _) = saved();
    fresh(&mut world);
    let mut world = world.restart();
    world.post("@claude second");
    assert_eq!(world.start("claude").1, None);

    // Also asked for while the agent has a turn, which may end.
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    fresh(&mut world);
    world.answered("claude", epoch, &run, "ok");
    assert!(world.mark("claude").is_some());
    let mut world = world.restart();
    world.post("@claude second");
    let (_, reload, _) = world.start("claude");
    assert_eq!(reload, None);
    let why = world.store.last_end(&world.key("claude")).unwrap();
    assert_eq!(why.as_deref(), Some("the server was restarted, and a fresh session was asked for"));
}

#[test]
fn a_restored_backup_goes_on_with_no_session() {
    let (world, _) = saved();
    let mut world = world.restored();
    world.post("@claude second");
    assert_eq!(world.start("claude").1, None);
    let why = world.store.last_end(&world.key("claude")).unwrap();
    assert_eq!(why.as_deref(), Some("the server was restored from a backup"));
}

/// Rule 3.8 and public report G69: no session goes on with another model or other instructions.
/// Cache break B3.48.
#[test]
fn a_removed_agent_leaves_no_session() {
    let (mut world, _) = saved();
    let key = world.key("claude");
    let spec = world.store.binding(&key.binding).unwrap().spec;
    world.ask(Request::RemoveAgent { channel: "general".to_owned(), handle: "claude".to_owned() }).unwrap();
    assert_eq!(world.store.session(&key).unwrap(), None);
    let other = Some("another".to_owned());
    let spec = NewBinding { model: other.clone(), instructions: other, ..spec };
    Store::add_binding(&mut world.store, &spec, delivery::Timestamp { ms: 5 }).unwrap();
    world.post("@claude second");
    let (epoch, reload, system) = world.start("claude");
    assert_eq!(reload, None);
    assert!(system.unwrap().contains("\n\nanother\n\n"));
    world.began("claude", epoch, &"s-2".into(), Begun::New, false);
    let (run, text) = world.prompt("claude");
    assert_eq!(given(&world, &run).0, Lease::Cold);
    assert!(text.contains("Recent messages in this channel"), "{text}");
}

#[test]
fn a_crash_is_survived_once_and_not_for_ever() {
    let mut world = World::new();
    let mut epoch = None;
    let crash = |world: &mut World, epoch: Epoch| {
        world.post("@claude again");
        let (run, _) = world.prompt("claude");
        world.exited("claude", epoch, Some("it crashed"));
        assert_eq!(world.status(&run), RunStatus::Failed);
    };
    for n in 0..2 {
        world.post("@claude hello");
        let begun = if n == 0 { world.started("claude", "s-1") } else { world.reloaded("claude") };
        world.answers("claude", begun, "ok");
        crash(&mut world, begun);
        epoch = Some(begun);
    }
    world.post("@claude hello");
    let begun = world.start("claude").0;
    assert!(Some(begun) > epoch);
    world.began("claude", begun, &"s-1".into(), Begun::Restored, false);
    let (run, _) = world.prompt("claude");
    world.exited("claude", begun, Some("it crashed"));
    assert_eq!(world.status(&run), RunStatus::Failed);
    world.post("@claude hello");
    assert_eq!(world.start("claude").1, None, "twice in a row");
    let why = world.store.last_end(&world.key("claude")).unwrap();
    let expected = "its last process went away: it crashed, and its process went away in 2 turns in a row";
    assert_eq!(why.as_deref(), Some(expected));
}

#[test]
fn a_session_that_turns_out_to_be_another_is_not_used_again() {
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    let used = |run: &RunId, used| EventKind::Update { run: run.clone(), update: Update::Used(used) };
    world.event("claude", epoch, used(&run, 10_000));
    world.answered("claude", epoch, &run, "ok");
    world.idles("claude", epoch);
    // One whose history was seen may have been compacted.
    world.post("@claude again");
    let epoch = world.reloaded("claude");
    let (run, _) = world.prompt("claude");
    world.event("claude", epoch, used(&run, 4_999));
    world.event("claude", epoch, used(&run, 10_000));
    world.answered("claude", epoch, &run, "ok");
    world.idles("claude", epoch);
    world.post("@claude second");
    let (epoch, reload, _) = world.start("claude");
    world.began("claude", epoch, &reload.unwrap().native, Begun::Resumed, false);
    let (run, _) = world.prompt("claude");
    world.event("claude", epoch, used(&run, 0));
    world.event("claude", epoch, used(&run, 4_999));
    world.event("claude", epoch, used(&run, 5_000));
    world.answered("claude", epoch, &run, "ok");
    let notice = "Highwater: @claude begins anew: its session was reloaded with 4999 tokens of 10000, so that this \
                  answer may lack what came before. It is given the newest messages here and has no other memory.";
    assert_eq!(world.tail(2), [notice, "@claude: ok"]);
    assert!(world.given.iter().any(|command| matches!(command, Command::End { .. })));
    world.exited("claude", epoch, None);
    world.post("@claude third");
    assert_eq!(world.start("claude").1, None);
}

#[test]
fn what_was_never_begun_is_not_reloaded() {
    // A session without a turn, one that its agent cannot reload, and one whose id names two.
    let mut world = World::new();
    let (_, runs) = world.post("@claude first");
    let epoch = world.start_command("claude");
    world.ask(Request::Cancel { run: runs[0].id.clone() }).unwrap();
    world.began("claude", epoch, &"s-1".into(), Begun::New, false);
    world.idles("claude", epoch);
    assert_eq!(world.store.session(&world.key("claude")).unwrap(), None);

    let why = |world: &World| world.store.last_end(&world.key("claude")).unwrap().unwrap();
    world.post("@claude second");
    let epoch = world.start_command("claude");
    let started = agents::Started {
        native: "s-2".into(),
        begun: Begun::New,
        reloadable: false,
        system_prompt: false,
        steering: false,
        pid: 1,
        notices: vec![],
    };
    world.event("claude", epoch, EventKind::Started(started));
    world.answers("claude", epoch, "ok");
    world.idles("claude", epoch);
    let idle = "its last process was idle for longer than the limit";
    assert_eq!(why(&world), format!("{idle}, and the agent can neither resume nor load sessions"));

    world.post("@claude third");
    let epoch = world.started("claude", "s-2");
    world.answers("claude", epoch, "ok");
    world.idles("claude", epoch);
    assert_eq!(why(&world), format!("{idle}, and the agent gave it the id of an earlier one"));
}

/// public report E47: one session, one writer.
#[test]
fn a_session_that_an_old_process_may_have_is_not_reloaded() {
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    world.answers("claude", epoch, "ok");
    // While its process ends, a mention waits: nothing is started beside it.
    world.mono += 31 * MINUTE;
    world.step(&Input::Tick).unwrap();
    world.post("@claude second");
    assert!(!world.given.iter().any(|command| matches!(command, Command::Start { .. })));
    world.exited("claude", epoch, None);
    let epoch = world.reloaded("claude");
    world.answers("claude", epoch, "ok");

    world.event("claude", epoch, EventKind::TreeLost);
    world.exited("claude", epoch, Some("its holder ended too"));
    world.post("@claude third");
    assert_eq!(world.start("claude").1, None);
    let why = world.store.last_end(&world.key("claude")).unwrap().unwrap();
    assert!(why.ends_with("and a process of it may live on, since its holder was killed"), "{why}");
}

#[test]
fn a_direct_conversation_goes_on_where_it_was() {
    // I12
    let mut world = World::new();
    let binding = world.store.bindings(None).unwrap().remove(0);
    let at = delivery::Timestamp { ms: 5 };
    let channel = world.store.add_channel("alone", storage::ChannelKind::Direct("claude"), at).unwrap();
    let direct = world.store.add_binding(&NewBinding { channel: channel.id, ..binding.spec }, at).unwrap();
    let key = super::super::key_of(&direct);
    let post = |world: &mut World, text: &str| {
        let post = super::Post {
            channel: "alone".to_owned(),
            author: "aiko".to_owned(),
            text: text.to_owned(),
            thread: None,
            client_id: None,
        };
        world.ask(Request::Post(Box::new(post))).unwrap();
    };
    let prompt = |world: &mut World| {
        let at = world.given.iter().position(|command| matches!(command, Command::Prompt { .. })).unwrap();
        let Command::Prompt { run, text, .. } = world.given.remove(at) else {
            unreachable!("it is a prompt")
        };
        (run, text)
    };
    let start = |world: &mut World| {
        let at = world.given.iter().position(|command| matches!(command, Command::Start { .. })).unwrap();
        let Command::Start { epoch, reload, .. } = world.given.remove(at) else {
            unreachable!("it is a start")
        };
        (epoch, reload)
    };
    let tell = |world: &mut World, epoch, kind| {
        world.step(&Input::Agent(agents::Event { key: key.clone(), epoch, kind })).unwrap();
    };
    let begun = |begun| {
        let native = "d-1".into();
        let notices = vec![];
        EventKind::Started(agents::Started {
            native,
            begun,
            reloadable: true,
            system_prompt: false,
            steering: false,
            pid: 1,
            notices,
        })
    };
    let answered = |run: &RunId| {
        let turn = agents::Turn { stop: agents::Stop::EndTurn, text: Some("ok".to_owned()), usage: None };
        EventKind::TurnEnded { run: run.clone(), turn }
    };
    post(&mut world, "the first");
    let (epoch, _) = start(&mut world);
    tell(&mut world, epoch, begun(Begun::New));
    let (run, _) = prompt(&mut world);
    tell(&mut world, epoch, EventKind::PromptWritten { run: run.clone() });
    tell(&mut world, epoch, answered(&run));
    world.mono += 31 * MINUTE;
    world.step(&Input::Tick).unwrap();
    tell(&mut world, epoch, EventKind::Exited { reason: None });
    post(&mut world, "my secret is quince");
    let (epoch, reload) = start(&mut world);
    assert_eq!(reload.map(|reload| reload.native), Some("d-1".into()));
    tell(&mut world, epoch, begun(Begun::Restored));
    let (run, text) = prompt(&mut world);
    assert_eq!(text, "my secret is quince", "neither framing nor what it knows");
    let message = world.store.run(&run).unwrap().message;
    world.ask(Request::Delete { message }).unwrap();
    assert!(!staged(&world, &run).sent.contains("quince"));
}
