//! The server is killed at named points of a mention (Fault experiment 1): before and after each commit, and before and after what
//! the commit lets out.
//!
//! I1, I3, I4, I5

use agents::{EventKind, Stop, Turn};
use storage::{Read, RunStatus, Store};

use super::super::{Command, Input};
use super::world::{World, now, post_of};

/// Where the server is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    /// The post is in the transaction, which does not commit.
    PostBeforeCommit,
    /// The post has committed; nobody was told, no process started.
    PostCommitted,
    /// The session has begun and the turn is staged; whether the prompt was sent is not known.
    Staged,
    /// The agent has its prompt, and works.
    PromptWritten,
    /// The agent answered; the commit of reply, run and watermark does not happen.
    AnswerBeforeCommit,
    /// That has committed; nobody was told.
    AnswerCommitted,
}

const POINTS: [Point; 6] = [
    Point::PostBeforeCommit,
    Point::PostCommitted,
    Point::Staged,
    Point::PromptWritten,
    Point::AnswerBeforeCommit,
    Point::AnswerCommitted,
];

/// Takes an input in, in a transaction that ends as a power cut ends it.
fn lose(world: &mut World, input: &Input) {
    let now = now(world.mono);
    let engine = &mut world.engine;
    let lost = world.store.atomic(&mut |tx| {
        engine.step(tx, input.clone(), now).unwrap();
        Err(storage::Error::Conflict("the power is gone".to_owned()))
    });
    assert!(lost.is_err());
}

/// Mentions the agent, and is killed at that point; what the next server finds.
fn killed_at(point: Point) -> World {
    let mut world = World::new();
    world.post("before");
    if point == Point::PostBeforeCommit {
        lose(&mut world, &Input::Request(post_of("@claude hello")));
        return world.restart();
    }
    let (_, runs) = world.post("@claude hello");
    let run = runs[0].id.clone();
    if point == Point::PostCommitted {
        return world.restart();
    }
    let epoch = world.started("claude", "s-1");
    if point == Point::Staged {
        assert!(world.given.iter().any(|command| matches!(command, Command::Prompt { .. })));
        return world.restart();
    }
    world.prompt("claude");
    if point == Point::PromptWritten {
        return world.restart();
    }
    if point == Point::AnswerBeforeCommit {
        let turn = Turn { stop: Stop::EndTurn, text: Some("hi".to_owned()), usage: None };
        let kind = EventKind::TurnEnded { run, turn };
        let event = agents::Event { key: world.key("claude"), epoch, kind };
        lose(&mut world, &Input::Agent(event));
        return world.restart();
    }
    world.answered("claude", epoch, &run, "hi");
    world.restart()
}

/// How the run stands after the restart, and the last two lines of the channel.
fn check(point: Point, status: Option<RunStatus>, tail: [&str; 2]) -> World {
    let world = killed_at(point);
    let runs = world.store.runs(None, 10).unwrap();
    assert_eq!(runs.iter().map(|run| run.status).collect::<Vec<_>>(), Vec::from_iter(status), "{point:?}");
    assert_eq!(world.tail(2), tail, "{point:?}");
    let delivered = status == Some(RunStatus::Succeeded);
    assert_eq!(
        world.mark("claude").is_some(),
        delivered,
        "{point:?}: a watermark without its answer, or the reverse"
    );
    world
}

#[test]
fn what_is_found_after_a_kill_at_each_named_point() {
    let failed = "Highwater: @claude could not answer m2: the server stopped while the agent was at work; what it did by then \
                  is done (try again with: highwater run retry r1)";
    for point in POINTS {
        match point {
            Point::PostBeforeCommit => {
                let world = killed_at(point);
                assert_eq!(
                    (world.tail(2), world.store.runs(None, 10).unwrap().len()),
                    (vec!["aiko: before".to_owned()], 0)
                );
            }
            // Nothing was begun: it is begun now.
            Point::PostCommitted => {
                let mut world =
                    check(point, Some(RunStatus::Queued), ["aiko: before", "aiko: @claude hello"]);
                let epoch = world.started("claude", "s-2");
                let (run, _) = world.prompt("claude");
                world.answered("claude", epoch, &run, "hi");
                assert_eq!(world.tail(1), ["@claude: hi"]);
            }
            // The agent may have begun: it is never begun again by the server itself.
            Point::Staged | Point::PromptWritten | Point::AnswerBeforeCommit => {
                let world = check(point, Some(RunStatus::Failed), ["aiko: @claude hello", failed]);
                assert!(!world.given.iter().any(|command| matches!(command, Command::Prompt { .. })));
            }
            Point::AnswerCommitted => {
                check(point, Some(RunStatus::Succeeded), ["aiko: @claude hello", "@claude: hi"]);
            }
        }
    }
}
