//! Spending limits: runs that do not begin, and do again.

use agents::{EventKind, Money, Stop, Turn, Update, Usage};
use delivery::model::{Epoch, RunId};
use storage::{Currency, Read, RunStatus, Spending};

use super::super::super::{Command, Reply, Request, SetSpending};
use super::super::world::World;
use crate::error::ApiError;

fn set(
    world: &mut World,
    channel: Option<&str>,
    handle: Option<&str>,
    most: Spending,
) -> Result<Reply, ApiError> {
    let set = SetSpending { channel: channel.map(str::to_owned), handle: handle.map(str::to_owned), most };
    world.ask(Request::SetSpending(Box::new(set)))
}

fn tokens(most: u64) -> Spending {
    Spending { tokens: Some(most), money: None }
}

fn dollars(micros: u64) -> Spending {
    Spending { tokens: None, money: Some((micros, Currency::USD)) }
}

/// A turn of the process that lives, which takes 100 tokens and a dollar.
fn turn(world: &mut World, epoch: Epoch, dollars_so_far: u64) -> RunId {
    let (run, _) = world.prompt("claude");
    let money = Money { micros: dollars_so_far * 1_000_000, currency: "USD".to_owned() };
    world.event("claude", epoch, EventKind::Update { run: run.clone(), update: Update::Cost(money) });
    let usage = Usage { input: 10, output: 10, cached_read: Some(80), total: 100, ..Usage::default() };
    let turn = Turn { stop: Stop::EndTurn, text: Some("ok".to_owned()), usage: Some(usage) };
    world.event("claude", epoch, EventKind::TurnEnded { run: run.clone(), turn });
    run
}

fn failed(world: &World, run: &RunId) -> Option<String> {
    let run = world.store.run(run).unwrap();
    (run.status == RunStatus::Failed).then(|| run.error.unwrap())
}

#[test]
fn a_limit_that_is_reached_keeps_runs_from_beginning() {
    for (channel, handle, most, whose, how, flags) in [
        (None, None, tokens(100), "all agents together", "100 tokens of 100", " --all"),
        (
            Some("general"),
            None,
            dollars(900_000),
            "the agents of general",
            "1 of 0.9 USD",
            " --channel general",
        ),
        (
            Some("general"),
            Some("claude"),
            tokens(50),
            "@claude in general",
            "100 tokens of 50",
            " --channel general --agent claude",
        ),
    ] {
        let mut world = World::new();
        set(&mut world, channel, handle, most).unwrap();
        world.post("@claude one");
        let epoch = world.started("claude", "s1");
        let first = turn(&mut world, epoch, 1);
        assert_eq!(failed(&world, &first), None, "what runs is not stopped");
        let (message, runs) = world.post("@claude two");
        let reason = format!(
            "{whose} reached the spending limit of today: {how}. It begins anew at midnight UTC; a higher one is set with: \
             highwater spending set{flags}"
        );
        assert_eq!(failed(&world, &runs[0].id), Some(reason.clone()));
        let said = world.store.history(&message.channel, None, None, 99).unwrap().pop().unwrap().row;
        let notice = format!(
            "@claude could not answer {}: {reason} (try again with: highwater run retry {})",
            message.row.id, runs[0].id
        );
        assert_eq!(said.text, notice);
        assert_eq!(world.engine.tally().limited, 1);
        // With a higher limit it is tried again by hand; without one nobody is kept.
        let higher = Spending { tokens: Some(150), money: None };
        set(&mut world, channel, handle, higher).unwrap();
        let Reply::Run(again) = world.ask(Request::Retry { run: runs[0].id.clone() }).unwrap() else {
            unreachable!("a retry is answered by its run")
        };
        assert_eq!(turn(&mut world, epoch, 2), again.id);
        let (_, runs) = world.post("@claude three");
        assert!(failed(&world, &runs[0].id).is_some(), "200 tokens of 150");
        set(&mut world, channel, handle, Spending::default()).unwrap();
        world.post("@claude four");
        turn(&mut world, epoch, 3);
    }
}

#[test]
fn others_go_on_and_so_does_the_next_day() {
    let mut world = World::new();
    set(&mut world, Some("general"), Some("claude"), tokens(50)).unwrap();
    world.post("@claude one");
    let epoch = world.started("claude", "s1");
    turn(&mut world, epoch, 1);
    world.post("@codex hi");
    world.started("codex", "s2");
    let (codex, _) = world.prompt("codex");
    assert_eq!(failed(&world, &codex), None, "it is another's limit");
    // Those that wait meet it one by one, over a restart, too.
    let (_, two) = world.post("@claude two");
    let (_, three) = world.post("@claude three");
    let mut world = world.restart();
    for runs in [two, three] {
        assert!(failed(&world, &runs[0].id).is_some());
    }
    assert_eq!(world.given(|command| matches!(command, Command::Start { .. })), 0, "nothing is started");
    world.wall_set += 86_400_000;
    let (_, runs) = world.post("@claude tomorrow");
    assert_eq!(failed(&world, &runs[0].id), None);
    assert_eq!(world.given(|command| matches!(command, Command::Start { .. })), 1);
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    let mut world = World::new();
    let refused = |world: &mut World, channel: Option<&str>, handle: Option<&str>, most| {
        set(world, channel, handle, most).map(drop).unwrap_err().message
    };
    assert_eq!(refused(&mut world, None, Some("claude"), tokens(1)), "name the channel of the agent, too");
    let zero = "a spending limit is more than 0; to stop agents, pause them";
    assert_eq!(refused(&mut world, None, None, tokens(0)), zero);
    assert_eq!(refused(&mut world, None, None, dollars(0)), zero);
    assert_eq!(refused(&mut world, Some("nowhere"), None, tokens(1)), "no such channel: nowhere");
}
