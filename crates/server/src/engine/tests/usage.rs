//! What turns took, by all who tell.

mod cache;
mod spending;

use agents::{EventKind, Fault, ModelUsage, Money, Passing, Stop, Turn, Update, Usage};
use delivery::Timestamp;
use delivery::model::{Epoch, NativeId, RunId};
use storage::{
    Cost, CostBy, Currency, NewBinding, Read as _, ReadUsage as _, Store as _, TranscriptMark, UsageSource,
};

use super::super::{Command, Request, Transcript};
use super::world::World;

/// An answer that tells what it took.
fn answered(world: &mut World, epoch: Epoch, run: &RunId, usage: Option<Usage>) {
    let turn = Turn { stop: Stop::EndTurn, text: Some("done".to_owned()), usage };
    world.event("claude", epoch, EventKind::TurnEnded { run: run.clone(), turn });
}

fn cost(world: &mut World, epoch: Epoch, run: &RunId, micros: u64, currency: &str) {
    let update = Update::Cost(Money { micros, currency: currency.to_owned() });
    world.event("claude", epoch, EventKind::Update { run: run.clone(), update });
}

fn usage(input: u64, cached_read: u64) -> Usage {
    Usage {
        input,
        output: 5,
        cached_read: Some(cached_read),
        total: input + cached_read + 5,
        ..Usage::default()
    }
}

/// What the turns of a run took, each on one line.
fn took(world: &World, run: &RunId) -> Vec<String> {
    let turns = world.store.turns(run).unwrap();
    let line = |turn: storage::Turned| {
        let usage = turn.took.usage;
        let money =
            usage.cost.map(|cost: Cost| format!("{} {} by {:?}", cost.micros, cost.currency, cost.by));
        format!(
            "{:?} {:?} {:?} {money:?} {:?}",
            usage.input, usage.cached_read, usage.output, turn.took.source
        )
    };
    turns.into_iter().map(line).collect()
}

#[test]
fn each_turn_is_given_what_it_took() {
    let mut world = World::new();
    world.post("@claude one");
    let epoch = world.started("claude", "s1");
    let (first, _) = world.prompt("claude");
    cost(&mut world, epoch, &first, 500, "USD");
    cost(&mut world, epoch, &first, 700, "usd");
    answered(&mut world, epoch, &first, Some(usage(10, 90)));
    let told = "Some(10) Some(90) Some(5) Some(\"700 USD by Agent\") Some(Agent)";
    assert_eq!(took(&world, &first), [told]);
    assert_eq!(world.store.run(&first).unwrap().usage.unwrap().total, Some(105));

    // The agent's count is of its whole session; a currency that is none tells nothing.
    world.post("@claude two");
    let (second, _) = world.prompt("claude");
    cost(&mut world, epoch, &second, 1_000, "USD");
    cost(&mut world, epoch, &second, 9_000, "dollars");
    answered(&mut world, epoch, &second, None);
    assert_eq!(took(&world, &second), ["None None None Some(\"300 USD by Agent\") None"]);

    // With another process it may begin anew, and may also go on.
    world.exited("claude", epoch, Some("it died"));
    world.post("@claude three");
    let epoch = world.reloaded("claude");
    let (third, _) = world.prompt("claude");
    cost(&mut world, epoch, &third, 40, "USD");
    answered(&mut world, epoch, &third, Some(usage(1, 1)));
    assert_eq!(took(&world, &third), ["Some(1) Some(1) Some(5) Some(\"40 USD by Agent\") Some(Agent)"]);

    // By model, requests beside the turn's own are counted, and priced where the agent does not.
    world.post("@claude four");
    let (fourth, _) = world.prompt("claude");
    let model = |model: &str, input| ModelUsage {
        model: model.to_owned(),
        input,
        output: 10,
        cached_read: Some(1_000),
        cached_write: None,
    };
    let models = vec![model("claude-opus-5-5", 100), model("claude-haiku-5-5", 50)];
    answered(&mut world, epoch, &fourth, Some(Usage { models, ..usage(1, 1) }));
    let turn = world.store.turns(&fourth).unwrap().pop().unwrap().took;
    assert_eq!(turn.model.as_deref(), Some("claude-opus-5-5"));
    let counts = (turn.usage.input, turn.usage.cached_read, turn.usage.output, turn.usage.total);
    assert_eq!(counts, (Some(150), Some(2_000), Some(20), Some(2_170)));
    let priced = turn.usage.cost.unwrap();
    assert_eq!((priced.currency, priced.by), (Currency::USD, CostBy::Price));
    assert_eq!(turn.source, Some(UsageSource::Agent));

    let tally = world.engine.tally();
    assert_eq!((tally.tokens.input, tally.tokens.cached_read), (161, 2_091));
    assert_eq!(tally.cost_usd_micros, 1_040 + priced.micros);
    assert_eq!((tally.turns.told, tally.turns.untold), (4, 0));
}

#[test]
fn turns_that_are_tried_again_or_lost_are_counted_too() {
    let mut world = World::new();
    world.post("@claude one");
    let epoch = world.started("claude", "s1");
    let (run, _) = world.prompt("claude");
    cost(&mut world, epoch, &run, 500, "USD");
    let fault = Fault::Passing { kind: Passing::RateLimit, retry_after_ms: Some(10) };
    world.failed_by("claude", epoch, &run, fault);
    world.after(20);
    let (again, _) = world.prompt("claude");
    assert_eq!(again, run);
    answered(&mut world, epoch, &run, Some(usage(10, 90)));
    let first = "None None None Some(\"500 USD by Agent\") None";
    assert_eq!(took(&world, &run), [first, "Some(10) Some(90) Some(5) None Some(Agent)"]);
    let sum = world.store.run(&run).unwrap().usage.unwrap();
    assert_eq!((sum.input, sum.cost.map(|cost| cost.micros)), (Some(10), Some(500)));

    world.post("@claude two");
    let (lost, _) = world.prompt("claude");
    let world = world.restart();
    assert_eq!(took(&world, &lost), ["None None None None None"]);
    assert_eq!(world.store.run(&lost).unwrap().usage, None);
}

/// A world in which `@claude` keeps transcripts.
fn with_transcripts() -> World {
    let mut world = World::new();
    let binding = world.store.bindings(None).unwrap().remove(0);
    world.store.remove_binding(&binding.id, delivery::Timestamp { ms: 2 }).unwrap();
    let spec = NewBinding { preset: "claude".to_owned(), ..binding.spec };
    world.store.add_binding(&spec, delivery::Timestamp { ms: 3 }).unwrap();
    world
}

/// The transcript that is to be read: of which run, and from where on.
fn to_read(world: &mut World) -> Option<(RunId, NativeId, TranscriptMark)> {
    let is_it = |command: &Command| matches!(command, Command::ReadTranscript { .. });
    let at = world.given.iter().position(is_it)?;
    let Command::ReadTranscript { run, native, from, .. } = world.given.remove(at) else {
        unreachable!("it is one")
    };
    Some((run, native, from))
}

/// It was read up to this byte, and told so many tokens.
fn was_read(
    world: &mut World,
    (run, native, from): (RunId, NativeId, TranscriptMark),
    bytes: u64,
    input: u64,
) {
    let model = ModelUsage {
        model: "claude-opus-5-5".to_owned(),
        input,
        output: 5,
        cached_read: Some(100),
        cached_write: None,
    };
    let to = TranscriptMark { bytes, request: Some("q".to_owned()) };
    let until = Timestamp { ms: 0 };
    let read = Transcript { run, native, from, until, to, models: vec![model], cut: 1 };
    world.ask(Request::Transcript(Box::new(read))).unwrap();
}

#[test]
fn a_transcript_tells_what_the_agent_did_not() {
    let mut world = with_transcripts();
    world.post("@claude one");
    let epoch = world.started("claude", "s1");
    let (first, _) = world.prompt("claude");
    answered(&mut world, epoch, &first, Some(usage(10, 90)));
    let read = to_read(&mut world).unwrap();
    assert_eq!(read, (first.clone(), "s1".into(), TranscriptMark::default()));
    was_read(&mut world, read, 70, 999);
    let told = took(&world, &first);
    assert_eq!(told, ["Some(10) Some(90) Some(5) None Some(Agent)"], "what the agent told stays");
    let turn = world.store.turns(&first).unwrap().pop().unwrap().took;
    assert_eq!(turn.cut, 1, "but of what was broken off it told nothing");

    world.post("@claude two");
    let (second, _) = world.prompt("claude");
    let stopped = Turn { stop: Stop::Cancelled, text: None, usage: None };
    world.event("claude", epoch, EventKind::TurnEnded { run: second.clone(), turn: stopped });
    let read = to_read(&mut world).unwrap();
    assert_eq!(read.2, TranscriptMark { bytes: 70, request: Some("q".to_owned()) });
    was_read(&mut world, read.clone(), 80, 7);
    let turn = world.store.turns(&second).unwrap().pop().unwrap().took;
    assert_eq!((turn.usage.input, turn.source, turn.cut), (Some(7), Some(UsageSource::Transcript), 1));
    assert_eq!(turn.usage.cost.map(|cost| cost.by), Some(CostBy::Price));
    assert_eq!(world.store.run(&second).unwrap().usage.unwrap().input, Some(7));
    assert_eq!(world.engine.tally().tokens.input, 17);

    // What was read from an old place is looked at again, from the present one.
    was_read(&mut world, read, 99, 1_000);
    let again = to_read(&mut world).unwrap();
    assert_eq!((again.0, again.2.bytes), (second.clone(), 80));
    assert_eq!(world.store.run(&second).unwrap().usage.unwrap().input, Some(7));

    // A turn that its server lost is looked up by the next one.
    world.post("@claude three");
    let (third, _) = world.prompt("claude");
    let mut world = world.restart();
    let read = to_read(&mut world).unwrap();
    assert_eq!((&read.0, read.2.bytes), (&third, 80));
    was_read(&mut world, read, 90, 8);
    assert_eq!(world.store.run(&third).unwrap().usage.unwrap().input, Some(8));
}
