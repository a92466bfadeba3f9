//! Turns that are steered, with a real process.

use agents::{EventKind, Stop, Turn};
use serde_json::{Value, json};

use crate::world::{World, ended, text};

fn done(text: Option<&str>) -> Turn {
    Turn { stop: Stop::EndTurn, text: text.map(str::to_owned), usage: None }
}

fn steered(message: &str, taken: Result<(), &str>) -> EventKind {
    EventKind::Steered { run: "r1".into(), message: message.into(), taken: taken.map_err(str::to_owned) }
}

fn waiting(steering: &Value) -> Value {
    json!({"steering": steering, "prompt": [{"await_steer": true}]})
}

#[tokio::test]
async fn a_turn_takes_a_message_in_while_it_runs() {
    let mut world = World::new();
    let started = world.in_turn(world.spec(&waiting(&json!(true)))).await;
    assert!(started.steering);
    world.steer("r1", "m7", "left, please");
    world.check(&[steered("m7", Ok(()))]).await;
    world.check(&[text("left, please"), ended("r1", done(Some("left, please")))]).await;
    world.steer("r1", "m8", "too late");
    world.check(&[steered("m8", Err("its turn had ended"))]).await;
    assert_eq!(world.log("steered"), [json!("left, please")]);
    world.finish().await;
}

#[tokio::test]
async fn what_the_agent_does_not_take_in_is_told() {
    for (steering, why) in [
        (json!("promptRequired"), "its turn had ended"),
        (json!({"error": {"code": -1, "message": "busy"}}), "the agent answered with an error: busy"),
    ] {
        let mut world = World::new();
        world.in_turn(world.spec(&json!({"steering": steering, "prompt": [{"await_cancel": true}]}))).await;
        world.steer("r1", "m7", "left, please");
        world.check(&[steered("m7", Err(why))]).await;
        world.cancel("r1");
        world.check(&[ended("r1", done(None))]).await;
        world.finish().await;
    }
}

/// An agent that never says whether it took a message in holds its turn up by that in no way.
#[tokio::test]
async fn a_silent_agent_is_not_waited_for() {
    let mut world = World::new();
    let script = json!({"steering": {}, "prompt": [{"await_cancel": true}, {"text": "done"}]});
    world.in_turn(world.spec(&script)).await;
    world.steer("r1", "m7", "left, please");
    world.cancel("r1");
    world.check(&[text("done"), ended("r1", done(Some("done")))]).await;
    world.finish().await;
}
