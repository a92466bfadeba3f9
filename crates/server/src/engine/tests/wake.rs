//! The computer sleeps, and its clock is set.

use agents::EventKind;
use delivery::model::Epoch;
use storage::{Read, RunStatus};

use super::super::{Command, Input};
use super::MINUTE;
use super::world::World;

const HOUR: u64 = 60 * MINUTE;

/// The processes that are to prove that they are alive, and those that are to end.
fn told(world: &mut World) -> (Vec<Epoch>, Vec<Epoch>) {
    let (mut proves, mut ends) = (Vec::new(), Vec::new());
    world.given.retain(|command| match command {
        Command::Prove { epoch, .. } => {
            proves.push(*epoch);
            false
        }
        Command::End { epoch, .. } => {
            ends.push(*epoch);
            false
        }
        Command::Start { .. }
        | Command::Prompt { .. }
        | Command::Cancel { .. }
        | Command::Answer { .. }
        | Command::Steer { .. }
        | Command::Stream { .. }
        | Command::ReadTranscript { .. }
        | Command::Tidy(_)
        | Command::RunsEnded => true,
    });
    (proves, ends)
}

/// A turn of this agent.
fn turn(world: &mut World, handle: &str, epoch: Epoch) {
    let (run, _) = world.prompt(handle);
    world.answered(handle, epoch, &run, "ok");
}

/// With both agents idle after a turn.
fn idle() -> (World, Epoch, Epoch) {
    let mut world = World::new();
    world.post("@claude @codex hello");
    let (claude, codex) = (world.started("claude", "s-1"), world.started("codex", "s-2"));
    turn(&mut world, "claude", claude);
    turn(&mut world, "codex", codex);
    (world, claude, codex)
}

/// Rule 6.4 and public report J87
#[test]
fn what_was_idle_while_the_computer_slept_proves_that_it_lives() {
    let (mut world, claude, codex) = idle();
    world.post("@codex work");
    let (run, _) = world.prompt("codex");
    world.mono += 5 * MINUTE;
    world.step(&Input::Woke).unwrap();
    assert_eq!(told(&mut world), (vec![claude], vec![]), "a turn has limits of its own");

    // It lives: its next turn is warm, in the same process.
    world.post("@claude still there?");
    turn(&mut world, "claude", claude);
    world.answered("codex", codex, &run, "done");
    world.step(&Input::Woke).unwrap();
    assert_eq!(told(&mut world), (vec![claude, codex], vec![]));
}

/// Rule 6.4 and public report J87
#[test]
fn what_does_not_prove_it_is_replaced_and_the_turn_is_not_lost() {
    let (mut world, claude, _) = idle();
    world.step(&Input::Woke).unwrap();
    let (_, runs) = world.post("@claude still there?");
    let reason = "the agent gave no sign of life within 10 s after the computer had slept".to_owned();
    world.event("claude", claude, EventKind::Exited { reason: Some(reason) });
    assert_eq!(world.status(&runs[0].id), RunStatus::Queued);
    let next = world.started("claude", "s-3");
    assert!(next > claude);
    world.given.retain(|command| !matches!(command, Command::Prompt { epoch, .. } if *epoch == claude));
    turn(&mut world, "claude", next);
    assert_eq!(world.status(&runs[0].id), RunStatus::Succeeded);
    assert_eq!(
        world.tail(2),
        ["aiko: @claude still there?", "@claude: ok"],
        "and nobody is told of a failure"
    );
}

/// Rule 6.1 and public report J87: time asleep counts as idle.
#[test]
fn what_was_idle_all_night_ends_and_is_not_asked_in_vain() {
    let (mut world, claude, codex) = idle();
    world.mono += 8 * HOUR;
    world.step(&Input::Woke).unwrap();
    world.step(&Input::Tick).unwrap();
    assert_eq!(told(&mut world), (vec![claude, codex], vec![claude, codex]));
    world.step(&Input::Woke).unwrap();
    assert_eq!(told(&mut world), (vec![], vec![]), "what ends is not asked");
}

/// Rule 6.4 and public report E55: how long something lives is no reason to end it; that it is idle is.
#[test]
fn a_turn_is_not_idle_however_long_it_takes() {
    let mut world = World::new();
    world.post("@claude build it");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    for _ in 0..10 {
        world.mono += 10 * HOUR;
        world.step(&Input::Tick).unwrap();
    }
    assert_eq!(told(&mut world), (vec![], vec![]));
    world.answered("claude", epoch, &run, "built");
    world.mono += 29 * MINUTE;
    world.step(&Input::Tick).unwrap();
    assert_eq!(told(&mut world), (vec![], vec![]));
    world.mono += MINUTE;
    world.step(&Input::Tick).unwrap();
    assert_eq!(told(&mut world), (vec![], vec![epoch]));
}

/// Fault experiment 11: the wall clock is set an hour back and a day ahead during a run: messages stay in the order of their
/// numbers, and deadlines where monotonic time has them. I2
#[test]
fn a_wall_clock_that_is_set_changes_no_order_and_no_deadline() {
    for set in [-3_600_000, 86_400_000, 999] {
        let (mut world, claude, codex) = idle();
        world.post("before");
        world.post("@claude work");
        world.wall_set = set;
        world.step(&Input::Tick).unwrap();
        assert_eq!(told(&mut world), (vec![], vec![]), "{set}: nothing is idle for longer by that");
        let (run, text) = world.prompt("claude");
        assert!(text.contains("- [user] aiko: before"), "{text}");
        world.post("after");
        world.answered("claude", claude, &run, "done");
        world.wall_set = 0;
        world.post("@claude and now?");
        let (run, text) = world.prompt("claude");
        let news = text.split("\n- ").skip(1).collect::<Vec<_>>();
        assert_eq!(news, ["[user] aiko: after"], "{set}: each line once");
        world.answered("claude", claude, &run, "done");

        let channel = world.store.channel("general").unwrap().id;
        let history = world.store.history(&channel, None, None, 100).unwrap();
        let seqs: Vec<u64> = history.iter().map(|message| message.row.seq).collect();
        assert_eq!(seqs, (1..=u64::try_from(history.len()).unwrap()).collect::<Vec<_>>());
        assert!(history.windows(2).all(|two| two[0].row.created_at < two[1].row.created_at), "{set}");
        // Codex was idle all the while by the other clock alone.
        world.mono += 30 * MINUTE;
        world.step(&Input::Tick).unwrap();
        assert_eq!(told(&mut world), (vec![], vec![claude, codex]));
    }
}
