//! How runs wait and go on: tried again, held, paused, given up.

use agents::{Event, EventKind, Fault, Passing, Stop, Turn, Update};
use delivery::model::{Epoch, RunId};
use delivery::turn::Lease;
use storage::{Change, Hold, HoldReason, Read, ReadLife, RunStatus};

use super::super::{Activity, Command, Doing, Input, Pausing, Request, Tool};
use super::world::World;

const LIMITED: Fault = Fault::Passing { kind: Passing::RateLimit, retry_after_ms: None };

fn is_prompt(command: &Command) -> bool {
    matches!(command, Command::Prompt { .. })
}

fn is_start(command: &Command) -> bool {
    matches!(command, Command::Start { .. })
}

fn asks_to_wait(ms: u64) -> Fault {
    Fault::Passing { kind: Passing::RateLimit, retry_after_ms: Some(ms) }
}

/// A world with `@claude` in its first turn.
fn in_turn() -> (World, Epoch, RunId) {
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    (world, epoch, run)
}

fn again(world: &World, run: &RunId) -> Option<(u32, i64)> {
    let run = world.store.run(run).unwrap();
    run.again.map(|again| (run.tries, again.at.ms - 1_000))
}

fn pause(world: &mut World, channel: Option<&str>, pausing: Pausing) {
    let channel = channel.map(str::to_owned);
    world.ask(Request::Pause { channel, by: "aiko".to_owned(), pausing }).unwrap();
}

/// Rule 2.5 and public report G70: bounded, visible, and not for ever.
#[test]
fn a_passing_failure_is_tried_again_up_to_a_limit() {
    let (mut world, epoch, run) = in_turn();
    for (tries, wait_ms) in [(1, 10_000), (2, 60_000)] {
        let now = i64::try_from(world.mono).unwrap();
        world.failed_by("claude", epoch, &run, LIMITED);
        assert_eq!(world.status(&run), RunStatus::Queued);
        assert_eq!(again(&world, &run), Some((tries, now + wait_ms)));
        assert_eq!(world.tail(9).len(), 1, "nothing is said while it waits");
        world.after(u64::try_from(wait_ms).unwrap() - 1);
        assert_eq!(world.given(is_prompt), 0);
        world.after(1);
        let (again, text) = world.prompt("claude");
        assert_eq!(again, run);
        assert!(text.contains("\"channel_id\""), "the payload is full again: {text}");
    }
    world.failed_by("claude", epoch, &run, LIMITED);
    assert_eq!(world.status(&run), RunStatus::Failed);
    let last = world.tail(1).remove(0);
    assert!(last.starts_with("Highwater: @claude could not answer m1: it broke (tried 3 times)"), "{last}");
    assert!(
        world.engine.waits.is_empty() && world.engine.next_timeout() == world.engine.residency.next_timeout()
    );
}

#[test]
fn a_provider_that_names_a_time_is_waited_for_up_to_a_limit() {
    let (mut world, epoch, run) = in_turn();
    world.failed_by("claude", epoch, &run, asks_to_wait(3 * 60_000));
    assert_eq!(again(&world, &run), Some((1, 3 * 60_000)));
    world.after(3 * 60_000);
    world.prompt("claude");
    world.failed_by("claude", epoch, &run, asks_to_wait(11 * 60_000));
    assert_eq!(world.status(&run), RunStatus::Failed);
    let last = world.tail(1).remove(0);
    assert!(
        last.contains("(the provider asks to wait 11 min, which is longer than the limit of 10 min)"),
        "{last}"
    );
}

#[test]
fn what_an_agent_did_is_not_done_again() {
    // I3
    let deeds = [
        Update::Text("let me".to_owned()),
        Update::ToolCall { id: "1".to_owned(), title: "rm".to_owned(), kind: "execute".to_owned() },
        Update::Plan("first".to_owned()),
        Update::PermissionRejected { title: "rm".to_owned(), option: None, why: "no".to_owned() },
    ];
    for update in deeds {
        let (mut world, epoch, run) = in_turn();
        world.event("claude", epoch, EventKind::Update { run: run.clone(), update });
        world.failed_by("claude", epoch, &run, LIMITED);
        assert_eq!(world.status(&run), RunStatus::Failed);
    }
    for update in [Update::Other, Update::Used(7)] {
        let (mut world, epoch, run) = in_turn();
        world.event("claude", epoch, EventKind::Update { run: run.clone(), update });
        world.failed_by("claude", epoch, &run, LIMITED);
        assert_eq!(world.status(&run), RunStatus::Queued);
    }
    let (mut world, epoch, run) = in_turn();
    world.call("claude", epoch, Tool::Roster).unwrap();
    world.failed_by("claude", epoch, &run, LIMITED);
    assert_eq!(world.status(&run), RunStatus::Failed);
}

#[test]
fn other_failures_are_not_tried_again_and_free_the_key() {
    for fault in [Fault::Invalid, Fault::Other, Fault::Lost] {
        let (mut world, epoch, run) = in_turn();
        world.post("@claude second");
        world.failed_by("claude", epoch, &run, fault);
        assert_eq!(world.status(&run), RunStatus::Failed, "{fault:?}");
        if fault == Fault::Lost {
            assert_eq!(world.given(is_prompt), 0, "a dying process gets no turn");
            world.event("claude", epoch, EventKind::Exited { reason: Some("it broke".to_owned()) });
            world.after(1_000);
            world.started("claude", "s-2");
        }
        let (_, text) = world.prompt("claude");
        assert!(text.contains("@claude second"), "{fault:?}: {text}");
    }
}

#[test]
fn a_restart_goes_on_waiting_and_counting() {
    // I3
    let (mut world, epoch, run) = in_turn();
    world.failed_by("claude", epoch, &run, LIMITED);
    world.after(4_000);
    let mut world = world.restart();
    world.after(5_999);
    assert_eq!(world.given(is_start), 0);
    world.after(1);
    let epoch = world.started("claude", "s-2");
    let (again, _) = world.prompt("claude");
    assert_eq!(again, run);
    world.failed_by("claude", epoch, &run, LIMITED);
    let mut world = world.restart();
    world.after(60_000);
    let epoch = world.started("claude", "s-3");
    world.prompt("claude");
    world.failed_by("claude", epoch, &run, LIMITED);
    assert_eq!(world.status(&run), RunStatus::Failed, "a restart gives it no more tries");
}

#[test]
fn what_waits_to_be_tried_again_can_be_cancelled_and_keeps_its_place() {
    let (mut world, epoch, run) = in_turn();
    world.post("@claude second");
    world.failed_by("claude", epoch, &run, LIMITED);
    assert_eq!(world.given(is_prompt), 0, "the second waits behind it");
    let key = world.key("claude");
    assert_eq!(
        world.engine.activities()[&key],
        Doing { activity: Activity::Held, open_runs: 2, steerable: false }
    );
    world.post("@codex hello");
    world.started("codex", "x-1");
    assert_eq!(world.given(is_prompt), 1, "others do not");
    world.ask(Request::Cancel { run: run.clone() }).unwrap();
    assert_eq!(world.status(&run), RunStatus::Cancelled);
    let (_, text) = world.prompt("claude");
    assert!(text.contains("@claude second"), "{text}");
    assert!(world.engine.waits.is_empty());
}

/// Rule 6.2 and public report A7: what poisoned a session does not fail every later turn.
#[test]
fn a_session_that_is_refused_twice_is_replaced() {
    let (mut world, epoch, run) = in_turn();
    world.failed_by("claude", epoch, &run, Fault::Invalid);
    world.post("@claude second");
    let (second, _) = world.prompt("claude");
    let staged = world.store.run(&second).unwrap().staged.unwrap();
    assert_eq!(staged.lease, Lease::Warm, "one refusal may be the message's own fault");
    world.failed_by("claude", epoch, &second, Fault::Invalid);
    let said = world.tail(2);
    assert!(said[0].starts_with("Highwater: @claude could not answer m3: it broke"), "{said:?}");
    assert!(
        said[1].starts_with("Highwater: @claude begins a new session with its next turn: the provider"),
        "{said:?}"
    );
    assert_eq!(world.given(|command| matches!(command, Command::End { .. })), 1);
    world.post("@claude third");
    world.event("claude", epoch, EventKind::Exited { reason: None });
    let epoch = world.started("claude", "s-2");
    let (third, text) = world.prompt("claude");
    assert!(text.contains("Recent messages in this channel"), "{text}");
    let staged = world.store.run(&third).unwrap().staged.unwrap();
    assert_eq!(
        (staged.lease, staged.why.as_str()),
        (Lease::Cold, "the provider refused its requests as invalid")
    );
    world.answered("claude", epoch, &third, "ok");
    world.post("@claude fourth");
    let (fourth, _) = world.prompt("claude");
    world.failed_by("claude", epoch, &fourth, Fault::Invalid);
    assert_eq!(world.given(|command| matches!(command, Command::End { .. })), 1, "a success in between");
}

/// Rule 2.6 and public report D43: what a person stops stays stopped.
#[test]
fn a_stop_does_not_start_the_queue() {
    let (mut world, epoch, run) = in_turn();
    world.post("@claude second");
    let (_, third) = world.post("@claude third");
    world.ask(Request::Cancel { run: run.clone() }).unwrap();
    let turn = Turn { stop: Stop::Cancelled, text: None, usage: None };
    world.event("claude", epoch, EventKind::TurnEnded { run: run.clone(), turn });
    assert_eq!(world.status(&run), RunStatus::Cancelled);
    assert_eq!(world.given(is_prompt), 0);
    let said = world.tail(1).remove(0);
    let expected = "Highwater: @claude begins nothing more since r1 was stopped; held: r2, r3. They go on with: highwater run \
                    resume r2, or when somebody mentions it again";
    assert_eq!(said, expected);
    let hold = world.store.hold(&world.key("claude").binding).unwrap();
    assert!(
        matches!(hold, Some(Hold { why: HoldReason::Stopped, run: ref by, .. }) if *by == run),
        "{hold:?}"
    );

    let mut world = world.restart();
    assert_eq!(world.given(is_start), 0, "a restart does not start it either");
    world.post("@codex hello");
    assert_eq!(world.given(is_start), 1, "others are not held");
    world.ask(Request::Resume { run: third[0].id.clone() }).unwrap();
    world.started("claude", "s-2");
    let (_, text) = world.prompt("claude");
    assert!(text.contains("@claude second"), "in their order: {text}");
    let error = world.ask(Request::Resume { run: third[0].id.clone() }).unwrap_err();
    assert_eq!(error.message, "run r3 is not held, so there is nothing to resume");
}

#[test]
fn a_person_lets_a_stopped_queue_go_on_by_a_mention_or_a_retry() {
    for retry in [false, true] {
        let (mut world, epoch, run) = in_turn();
        world.post("@claude second");
        world.ask(Request::Cancel { run: run.clone() }).unwrap();
        world.failed("claude", epoch, &run);
        assert_eq!(world.given(is_prompt), 0);
        match retry {
            true => drop(world.ask(Request::Retry { run: run.clone() }).unwrap()),
            false => drop(world.post("@claude go on")),
        }
        let (_, text) = world.prompt("claude");
        assert!(text.contains("@claude second"), "{text}");
        assert_eq!(world.store.hold(&world.key("claude").binding).unwrap(), None);
    }
}

#[test]
fn a_mention_between_a_stop_and_its_end_is_no_part_of_the_stop() {
    let (mut world, epoch, run) = in_turn();
    world.ask(Request::Cancel { run: run.clone() }).unwrap();
    world.post("@claude second");
    world.failed("claude", epoch, &run);
    let (_, text) = world.prompt("claude");
    assert!(text.contains("@claude second"), "{text}");
}

#[test]
fn what_agents_ask_for_between_a_stop_and_its_end_is_held() {
    let mut world = World::new();
    world.post("@codex and @claude, please");
    let (x, s) = (world.started("codex", "x-1"), world.started("claude", "s-1"));
    let ((called, _), (run, _)) = (world.prompt("codex"), world.prompt("claude"));
    world.ask(Request::Cancel { run: run.clone() }).unwrap();
    world.answered("codex", x, &called, "@claude go on");
    world.failed("claude", s, &run);
    assert_eq!(world.given(is_prompt), 0);
    assert!(world.tail(1)[0].contains("held: r3"), "{:?}", world.tail(1));
}

#[test]
fn a_stop_with_nothing_behind_it_holds_nothing() {
    let (mut world, epoch, run) = in_turn();
    let before = world.store.log_span().unwrap().head;
    world.ask(Request::Cancel { run: run.clone() }).unwrap();
    world.failed("claude", epoch, &run);
    assert_eq!(world.store.holds().unwrap(), []);
    assert!(!world.tail(1)[0].contains("held"));
    let changes: Vec<Change> =
        world.store.log(before, 9).unwrap().into_iter().map(|entry| entry.change).collect();
    assert_eq!(changes, [Change::MessageAdded("m2".into()), Change::RunEnded(run)]);

    let (mut world, epoch, run) = in_turn();
    let (_, second) = world.post("@claude second");
    world.ask(Request::Cancel { run: run.clone() }).unwrap();
    world.failed("claude", epoch, &run);
    assert_eq!(world.store.holds().unwrap().len(), 1);
    world.ask(Request::Cancel { run: second[0].id.clone() }).unwrap();
    assert_eq!(world.store.holds().unwrap(), [], "all that was held is cancelled");
    let world = world.restart();
    assert_eq!(world.store.holds().unwrap(), []);
}

/// Rule 6.9 and public report D41: the next turn is not the one that was meant.
#[test]
fn a_cancel_after_the_end_reaches_nothing() {
    let (mut world, epoch, run) = in_turn();
    world.post("@claude second");
    world.answered("claude", epoch, &run, "ok");
    let error = world.ask(Request::Cancel { run }).unwrap_err();
    assert_eq!(error.message, "run r1 has ended already");
    assert_eq!(world.given(|command| matches!(command, Command::Cancel { .. })), 0);
    assert_eq!(world.store.holds().unwrap(), []);
    world.prompt("claude");
}

#[test]
fn a_run_whose_process_starts_can_be_cancelled() {
    let mut world = World::new();
    let (_, first) = world.post("@claude first");
    world.post("@claude second");
    world.ask(Request::Cancel { run: first[0].id.clone() }).unwrap();
    assert_eq!(world.status(&first[0].id), RunStatus::Cancelled);
    world.started("claude", "s-1");
    let (_, text) = world.prompt("claude");
    assert!(
        text.contains("\"text\":\"@claude second\""),
        "what only waited was taken out, not stopped: {text}"
    );
}

/// Rule 2.5: a bounded number of starts, then one notice.
#[test]
fn a_process_that_fails_again_and_again_waits_for_a_person() {
    let mut world = World::new();
    for n in 1..=5 {
        world.post(&format!("@claude {n}"));
    }
    for (n, backoff_ms) in [(1, 1_000), (2, 5_000), (3, 0)] {
        let epoch = world.started("claude", &format!("s-{n}"));
        world.prompt("claude");
        let reason = "its process ended: exit status 1".to_owned();
        world.event("claude", epoch, EventKind::Exited { reason: Some(reason) });
        assert_eq!(world.given(is_start), 0, "after {n}");
        if backoff_ms > 0 {
            let key = world.key("claude");
            let now = super::world::now(world.mono);
            assert_eq!(world.engine.board(now).backoff(&key), Some(now.wall.after(backoff_ms)));
            world.after(backoff_ms - 1);
            assert_eq!(world.given(is_start), 0, "too early after {n}");
            world.after(1);
        }
    }
    world.after(3_600_000);
    assert_eq!(world.given(is_start), 0);
    let expected = "Highwater: @claude's process failed 3 times in a row. It needs a person: it begins nothing until \
                    somebody mentions it again; held: r4, r5 (highwater run resume r4 lets them go on, too)";
    assert_eq!(world.tail(1), [expected]);
    let mut world = world.restart();
    assert_eq!(world.given(is_start), 0, "a restart is no person");
    assert_eq!(world.store.holds().unwrap()[0].1.why, HoldReason::Crashed);
    world.post("@claude again");
    world.started("claude", "s-4");
    let (_, text) = world.prompt("claude");
    assert!(text.contains("@claude 4"), "{text}");
    assert_eq!(world.store.holds().unwrap(), []);
}

#[test]
fn a_success_or_time_forgives_a_process() {
    let mut world = World::new();
    let crash = |world: &mut World, text: &str, native: &str| {
        world.post(text);
        let epoch = world.started("claude", native);
        world.prompt("claude");
        world.event("claude", epoch, EventKind::Exited { reason: Some("it broke".to_owned()) });
    };
    crash(&mut world, "@claude 1", "s-1");
    world.post("@claude 2");
    let epoch = world.started("claude", "s-2");
    let (run, _) = world.prompt("claude");
    assert_eq!(world.engine.crashes.len(), 0, "a person wanted it");
    world.answered("claude", epoch, &run, "ok");
    world.event("claude", epoch, EventKind::Exited { reason: Some("idle".to_owned()) });
    assert_eq!(world.engine.crashes.len(), 0, "an idle process may go");
    crash(&mut world, "@claude 3", "s-3");
    assert_eq!(world.engine.crashes.len(), 1);
    world.after(600_000);
    assert_eq!((world.engine.crashes.len(), world.engine.waits.len()), (0, 0), "memory is given back");
}

#[test]
fn a_pause_lets_turns_end_and_begins_nothing() {
    let (mut world, epoch, run) = in_turn();
    world.post("@claude second");
    pause(&mut world, None, Pausing::Pause);
    let expected = "Highwater: aiko paused all agents: mentions wait, and what runs goes on until it is done. They go on with: \
                    highwater resume";
    assert_eq!(world.tail(1), [expected]);
    pause(&mut world, None, Pausing::Pause);
    assert_eq!(world.tail(1), [expected], "twice is once");
    world.answered("claude", epoch, &run, "done");
    assert_eq!((world.status(&run), world.given(is_prompt)), (RunStatus::Succeeded, 0));
    world.post("@codex hello");
    assert_eq!(world.given(is_start), 0);
    assert_eq!(
        world.engine.activities()[&world.key("codex")],
        Doing { activity: Activity::Held, open_runs: 1, steerable: false }
    );

    let mut world = world.restart();
    assert_eq!(world.given(is_start), 0, "durable");
    pause(&mut world, Some("general"), Pausing::Pause);
    pause(&mut world, None, Pausing::Resume);
    assert_eq!(world.given(is_start), 0, "the channel's own pause stays");
    pause(&mut world, Some("general"), Pausing::Resume);
    assert_eq!(world.given(is_start), 2);
    assert_eq!(world.tail(1), ["Highwater: aiko lets the agents of this channel go on"]);
}

#[test]
fn a_pause_takes_back_what_has_not_begun() {
    let mut world = World::new();
    let (_, runs) = world.post("@claude first");
    pause(&mut world, Some("general"), Pausing::Pause);
    world.started("claude", "s-1");
    assert_eq!(world.given(is_prompt), 0, "its process may start, its turn does not begin");
    assert_eq!(world.status(&runs[0].id), RunStatus::Queued);
    pause(&mut world, Some("general"), Pausing::Resume);
    world.prompt("claude");

    // Nor does a start that fails meanwhile fail what waits.
    let mut world = World::new();
    let (_, runs) = world.post("@claude first");
    let epoch = world.start_command("claude");
    pause(&mut world, None, Pausing::Pause);
    world.event("claude", epoch, EventKind::Exited { reason: Some("it broke".to_owned()) });
    assert_eq!(world.status(&runs[0].id), RunStatus::Queued);
    pause(&mut world, None, Pausing::Resume);
    world.started("claude", "s-1");
    world.prompt("claude");
}

/// Rule 2.1 and public report C37: one message asks an agent once, however often it names it or is sent.
#[test]
fn one_message_makes_one_run_of_an_agent() {
    let mut world = World::new();
    let (_, runs) = world.post("@claude please, **@Claude**! @codex too, and @claude");
    assert_eq!(runs.len(), 2);
    let keys: Vec<_> = runs.iter().map(|run| run.key.clone()).collect();
    assert_eq!(keys, [world.key("claude"), world.key("codex")]);
}

#[test]
fn a_removed_agent_leaves_no_bar_behind() {
    let (mut world, epoch, run) = in_turn();
    world.post("@claude second");
    world.ask(Request::Cancel { run: run.clone() }).unwrap();
    world.failed("claude", epoch, &run);
    let (key, channel) = (world.key("claude"), "general".to_owned());
    world.ask(Request::RemoveAgent { channel, handle: "claude".to_owned() }).unwrap();
    assert_eq!(world.store.holds().unwrap(), []);
    let gone = Event { key: key.clone(), epoch, kind: EventKind::Exited { reason: None } };
    world.step(&Input::Agent(gone)).unwrap();
    assert!(!world.engine.queue.is_barred(&key) && world.engine.queue.keys() == 0);
}
