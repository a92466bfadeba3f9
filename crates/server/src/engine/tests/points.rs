//! The server is killed at named points of a mention: before and after each commit, and before and after what the commit
//! lets out.
//!
//! I1, I3, I4, I5

use agents::{EventKind, Stop, Turn};
use delivery::Watermark;
use delivery::model::{Epoch, RunId};
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

/// How many histories each point is tried with.
const SEEDS: u64 = 8;

/// What a killed server left, as the next one finds it.
struct Found {
    world: World,
    /// The run of the mention, if its post was acknowledged.
    run: Option<RunId>,
    /// The watermark before the mention.
    mark: Option<Watermark>,
}

/// What was said before: some posts, and every other time a turn, so that the session is warm; its epoch.
fn history(world: &mut World, seed: u64) -> Option<Epoch> {
    (0..seed % 4).for_each(|n| drop(world.post(&format!("before {n}"))));
    if seed.is_multiple_of(2) {
        return None;
    }
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (run, _) = world.prompt("claude");
    world.answered("claude", epoch, &run, "first");
    (0..seed % 3).for_each(|n| drop(world.post(&format!("between {n}"))));
    Some(epoch)
}

/// Mentions the agent, and is killed at that point.
fn killed_at(point: Point, seed: u64) -> Found {
    let mut world = World::new();
    let warm = history(&mut world, seed);
    let mark = world.mark("claude");
    if point == Point::PostBeforeCommit {
        lose(&mut world, &Input::Request(post_of("@claude hello")));
        return Found { world: world.restart(), run: None, mark };
    }
    let (_, runs) = world.post("@claude hello");
    let run = runs[0].id.clone();
    let found = |world: World| Found { world: world.restart(), run: Some(run.clone()), mark };
    if point == Point::PostCommitted {
        return found(world);
    }
    let epoch = warm.unwrap_or_else(|| world.started("claude", "s-1"));
    if point == Point::Staged {
        assert!(world.given.iter().any(|command| matches!(command, Command::Prompt { .. })));
        return found(world);
    }
    world.prompt("claude");
    if point == Point::PromptWritten {
        return found(world);
    }
    if point == Point::AnswerBeforeCommit {
        let turn = Turn { stop: Stop::EndTurn, text: Some("hi".to_owned()), usage: None };
        let kind = EventKind::TurnEnded { run: run.clone(), turn };
        let event = agents::Event { key: world.key("claude"), epoch, kind };
        lose(&mut world, &Input::Agent(event));
        return found(world);
    }
    world.answered("claude", epoch, &run, "hi");
    found(world)
}

/// How the run stands after the restart, with the watermark and what the channel says last.
fn check(point: Point, seed: u64, status: RunStatus) -> Found {
    let found = killed_at(point, seed);
    let run = found.run.clone().unwrap();
    assert_eq!(found.world.status(&run), status, "{point:?}, seed {seed}");
    let said = found.world.tail(1).remove(0);
    let failed = format!(
        "the server stopped while the agent was at work; what it did by then is done (try again with: highwater run retry \
         {run})"
    );
    let expected = match status {
        RunStatus::Succeeded => "@claude: hi",
        RunStatus::Failed => &failed,
        RunStatus::Queued | RunStatus::Running | RunStatus::Cancelled | RunStatus::Declined => {
            "aiko: @claude hello"
        }
    };
    assert!(said.ends_with(expected), "{point:?}, seed {seed}: {said}");
    assert_eq!(
        found.world.mark("claude") != found.mark,
        status == RunStatus::Succeeded,
        "{point:?}, seed {seed}: a watermark without its answer, or the reverse"
    );
    found
}

/// Fault experiment 1: what was not committed never was; what was is acted upon; what the agent may have begun is told, and
/// never begun again by the server itself.
/// Cache break T11.
#[test]
fn what_is_found_after_a_kill_at_each_named_point() {
    for (point, seed) in POINTS.iter().flat_map(|point| (0..SEEDS).map(|seed| (*point, seed))) {
        let is_warm = seed % 2 == 1;
        match point {
            Point::PostBeforeCommit => {
                let Found { world, mark, .. } = killed_at(point, seed);
                assert_eq!(world.store.runs(None, 10).unwrap().len(), usize::from(is_warm));
                assert!(world.tail(1).iter().all(|said| !said.contains("hello")), "seed {seed}");
                assert_eq!(world.mark("claude"), mark);
            }
            // Nothing was begun: it is begun now.
            Point::PostCommitted if !is_warm => {
                let Found { mut world, .. } = check(point, seed, RunStatus::Queued);
                let epoch = world.started("claude", "s-2");
                let (run, _) = world.prompt("claude");
                world.answered("claude", epoch, &run, "hi");
                assert_eq!(world.tail(1), ["@claude: hi"]);
            }
            // The agent may have begun: a warm one gets its prompt by the commit of the post.
            Point::PostCommitted | Point::Staged | Point::PromptWritten | Point::AnswerBeforeCommit => {
                let Found { world, .. } = check(point, seed, RunStatus::Failed);
                assert!(!world.given.iter().any(|command| matches!(command, Command::Prompt { .. })));
            }
            Point::AnswerCommitted => {
                check(point, seed, RunStatus::Succeeded);
            }
        }
    }
}
