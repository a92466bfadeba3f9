//! Sessions that outlive their process: the scripted agent keeps them on disk, a second process reloads them.

use std::time::Duration;

use agents::{Begun, EventKind, HistoryEnd, Reload, Spec, Started, Stop, Turn};
use delivery::model::NativeId;
use serde_json::{Value, json};

use crate::world::{LIMITS, SHORT, World, ended, failed, text, written};

const NEW: &str = "this is new, and long enough to be known";

/// A world in which a session was had and its process ended; the session's id.
async fn saved(script: &Value) -> (World, NativeId) {
    let mut world = World::new();
    let first = Spec { system_prompt: Some("You are.".to_owned()), ..world.spec(script) };
    let started = world.in_turn(first).await;
    assert_eq!((started.begun, started.reloadable), (Begun::New, true));
    let turn = Turn { stop: Stop::EndTurn, text: Some("noted: sesame".to_owned()), usage: None };
    world.check(&[text("noted: sesame"), ended("r1", turn)]).await;
    world.end();
    assert_eq!(world.next().await, EventKind::Exited { reason: None });
    (world, started.native)
}

fn reload(world: &World, script: &Value, native: &NativeId) -> Spec {
    let end = HistoryEnd { prompt: "hello".to_owned(), reply: "noted: sesame".to_owned() };
    let reload = Reload { native: native.clone(), used: None, end: Some(end), wait: Duration::ZERO };
    Spec { reload: Some(reload), system_prompt: Some("You are.".to_owned()), ..world.spec(script) }
}

fn script(more: &Value) -> Value {
    let mut script = json!({"store": true, "system_prompt": true,
        "prompts": [[{"text": "noted: sesame"}]]});
    more.as_object().unwrap().iter().for_each(|(name, value)| script[name] = value.clone());
    script
}

/// public report A2: a second process knows the word without being told again.
#[tokio::test]
async fn a_second_process_has_the_memory_of_the_first() {
    for ways in [json!(["load"]), json!(["resume", "list"]), json!(["load", "resume", "list"])] {
        let (mut world, native) = saved(&script(&json!({"reload": ways}))).await;
        let again = json!({"store": true, "reload": ways, "system_prompt": true,
            "prompt": [{"recall": "sesame"}]});
        world.start(reload(&world, &again, &native));
        let started = world.started().await;
        let by = if ways.as_array().unwrap().contains(&json!("resume")) { "resume" } else { "load" };
        let begun = if by == "load" { Begun::Restored } else { Begun::Resumed };
        assert_eq!((&started.native, started.begun, started.system_prompt), (&native, begun, true));
        world.prompt("r1", "do you know the word?");
        let turn = Turn { stop: Stop::EndTurn, text: Some("yes".to_owned()), usage: None };
        world.check(&[written("r1"), text("yes"), ended("r1", turn)]).await;
        let opened = |by: &str| json!({"by": by, "session": native.as_str(), "system": "You are."});
        assert_eq!(world.log("opened"), [opened("new"), opened(by)]);
        world.finish().await;
    }
}

/// An agent that would lose its session is not asked for it yet; an end does not wait for that.
#[tokio::test]
async fn a_process_waits_before_it_reloads() {
    let (mut world, native) = saved(&script(&json!({"reload": ["load"]}))).await;
    let again = reload(&world, &script(&json!({"reload": ["load"]})), &native);
    let wait = Duration::from_secs(3600);
    world.start(Spec { reload: again.reload.map(|reload| Reload { wait, ..reload }), ..again });
    world.prompt("r1", "too early");
    assert_eq!(world.next().await, failed("r1", "the agent's session has not begun"));
    world.end();
    assert_eq!(world.next().await, EventKind::Exited { reason: None });
    assert_eq!(world.log("opened").len(), 1, "only the first process opened a session");
    world.over().await;
}

/// Reloads with a script, and expects this reason of the failure.
async fn check_failure(more: &Value, prepare: impl FnOnce(&World), reason: &str) {
    let (mut world, native) = saved(&script(&json!({}))).await;
    prepare(&world);
    let limits = agents::TimeLimits { start: SHORT, ..LIMITS };
    let again = Spec { limits, ..reload(&world, &script(more), &native) };
    let again = if more["load"][0]["hang"] == true { again } else { Spec { limits: LIMITS, ..again } };
    world.start(again);
    assert_eq!(world.next().await, EventKind::ReloadFailed { reason: reason.to_owned() });
    assert!(matches!(world.next().await, EventKind::Exited { reason: Some(_) }));
    world.over().await;
}

/// public reports A1 and E52: a failed load is told as that, and its process ends, so that no half of a session is left.
#[tokio::test]
async fn a_reload_that_fails_ends_its_process() {
    let kept = |_: &World| {};
    let emptied = |world: &World| std::fs::remove_dir_all(world.path("agent/.scripted-sessions")).unwrap();
    let not_found = "the agent answered session/load with an error: Resource not found";
    check_failure(&json!({}), emptied, not_found).await;
    let broken = json!({"load": [{"error": {"code": -32603, "message": "its disk is full"}}]});
    check_failure(&broken, kept, "the agent answered session/load with an error: its disk is full").await;
    let nothing = "the agent said that it loaded the session, and restored nothing";
    check_failure(&json!({"load": [{"forget": true}]}), kept, nothing).await;
    let hangs = "the agent did not answer session/load within 0.1 s";
    check_failure(&json!({"load": [{"hang": true}]}), kept, hangs).await;
    let gone = json!({"load": [{"replay": 1}, {"exit": 3}]});
    check_failure(&gone, kept, "the agent's process ended: exit status 3").await;
}

/// public report A9: what is replayed after the answer, and even in the next turn, is no part of a reply.
#[tokio::test]
async fn a_replay_that_goes_on_is_swallowed() {
    let (mut world, native) = saved(&script(&json!({}))).await;
    let late = json!({"store": true, "load": [{"replay": 1}, {"answer": {}}, {"replay": 1}],
        "prompt": [{"text": NEW}]});
    world.start(reload(&world, &late, &native));
    assert_eq!(world.started().await.begun, Begun::Restored);
    world.prompt("r1", "and now?");
    let turn = || Turn { stop: Stop::EndTurn, text: Some(NEW.to_owned()), usage: None };
    world.check(&[written("r1"), text(NEW), ended("r1", turn())]).await;
    world.end();
    assert_eq!(world.next().await, EventKind::Exited { reason: None });

    let later = json!({"store": true, "load": [{"replay": 3}], "prompt": [{"replay": 0}, {"text": NEW}]});
    let end = HistoryEnd { prompt: "and now?".to_owned(), reply: NEW.to_owned() };
    let again = reload(&world, &later, &native);
    let again = Spec { reload: again.reload.map(|reload| Reload { end: Some(end), ..reload }), ..again };
    world.start(again);
    let Started { begun, .. } = world.started().await;
    assert_eq!(begun, Begun::Restored);
    world.prompt("r1", "and then?");
    assert_eq!(world.next().await, written("r1"));
    let EventKind::TurnEnded { turn: ended, .. } = world.after_updates().await else { panic!("no end") };
    assert_eq!(ended, turn());
    world.finish().await;
}
