//! Notices of turns that read too little from the provider's cache.

use agents::{EventKind, Stop, Turn, Update, Usage};
use delivery::model::{Epoch, RunId};
use storage::Read;

use super::super::MINUTE;
use super::super::world::World;

/// A turn in which so much of 100,000 tokens was read from the cache; its run.
fn turn(world: &mut World, epoch: Epoch, percent: u64) -> RunId {
    world.post("@claude go on");
    finish(world, epoch, percent, 1_000)
}

fn finish(world: &mut World, epoch: Epoch, percent: u64, thousandth: u64) -> RunId {
    let (run, _) = world.prompt("claude");
    let usage = Usage {
        input: (100 - percent) * thousandth,
        output: 10,
        cached_read: Some(percent * thousandth),
        total: 100 * thousandth + 10,
        ..Usage::default()
    };
    let turn = Turn { stop: Stop::EndTurn, text: Some("ok".to_owned()), usage: Some(usage) };
    world.event("claude", epoch, EventKind::TurnEnded { run: run.clone(), turn });
    run
}

/// What was said of the cache: the runs, and the likely causes.
fn alerts(world: &World) -> Vec<String> {
    let channel = world.store.channel("general").unwrap().id;
    let history = world.store.history(&channel, None, None, 1_000).unwrap();
    let texts = history.into_iter().map(|message| message.row.text);
    texts
        .filter(|text| text.contains("provider's cache in"))
        .map(|text| {
            let (run, rest) = text.split_once("cache in ").unwrap().1.split_once(". Likely cause: ").unwrap();
            format!("{run}: {}", rest.split_once(". Compare: ").unwrap().0)
        })
        .collect()
}

const UNKNOWN: &str =
    "nothing that Highwater knows of: its tools, its settings or its version may be others than before";

/// Cache break B4.60.
#[test]
fn a_break_is_said_once_until_it_is_better() {
    let mut world = World::new();
    world.post("@claude begin");
    let epoch = world.started("claude", "s1");
    finish(&mut world, epoch, 0, 1_000);
    assert_eq!(alerts(&world), [""; 0], "a new session has nothing to read");
    turn(&mut world, epoch, 97);
    let low = turn(&mut world, epoch, 12);
    turn(&mut world, epoch, 3);
    // Too short to tell anything.
    world.post("@claude short");
    finish(&mut world, epoch, 90, 1);
    turn(&mut world, epoch, 3);
    assert_eq!(alerts(&world), [format!("{low}: {UNKNOWN}")]);
    turn(&mut world, epoch, 50);
    let again = turn(&mut world, epoch, 49);
    assert_eq!(alerts(&world), [low, again.clone()].map(|run| format!("{run}: {UNKNOWN}")));
    let channel = world.store.channel("general").unwrap().id;
    let said = world.store.history(&channel, None, None, 1_000).unwrap().pop().unwrap().row.text;
    let expected = format!(
        "@claude goes on with a session, and yet only 49 % of its 100000 tokens came from the provider's cache in {again}. \
         Likely cause: {UNKNOWN}. Compare: highwater run show r7 and highwater run show {again}. This is said once, until it \
         is better"
    );
    assert_eq!(said, expected);
    assert_eq!(world.engine.tally().cache_alerts, 2);
}

#[test]
fn the_likely_cause_is_what_the_engine_knows() {
    // A pause that is longer than anybody keeps a cache.
    let mut world = World::new();
    world.post("@claude begin");
    let epoch = world.started("claude", "s1");
    finish(&mut world, epoch, 0, 1_000);
    for _ in 0..4 {
        world.mono += 29 * MINUTE;
    }
    let late = turn(&mut world, epoch, 0);
    let pause = "it had no turn for 116 min, and its provider keeps what it caches for 60 min";
    assert_eq!(alerts(&world), [format!("{late}: {pause}")]);

    // A compaction is known even when there was a pause.
    let mut world = World::new();
    world.post("@claude begin");
    let epoch = world.started("claude", "s1");
    finish(&mut world, epoch, 0, 1_000);
    world.mono += 200 * MINUTE;
    world.post("@claude compact");
    let run = world.store.open_runs().unwrap().pop().unwrap().id;
    world.event("claude", epoch, EventKind::Update { run: run.clone(), update: Update::Compacted });
    assert_eq!(finish(&mut world, epoch, 5, 1_000), run);
    assert_eq!(alerts(&world), [format!("{run}: its agent compacted its context")]);

    // Another process that reloaded the session at once.
    let mut world = World::new();
    world.post("@claude begin");
    let epoch = world.started("claude", "s1");
    finish(&mut world, epoch, 0, 1_000);
    world.exited("claude", epoch, Some("it died"));
    world.post("@claude again");
    let epoch = world.reloaded("claude");
    let run = finish(&mut world, epoch, 5, 1_000);
    let reload = "a new process reloaded the session, and does not send what the last one sent";
    assert_eq!(alerts(&world), [format!("{run}: {reload}")]);
}
