//! After the computer had slept an agent proves that it is alive, or ends.

use std::time::Duration;

use agents::{Stop, Turn};
use rustix::process::Signal;
use serde_json::json;

use crate::trees::kill;
use crate::world::{World, ended, exited, text, written};

/// How long an agent that gives no sign of life is waited for. A start takes less, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(3);

const REASON: &str = "the agent gave no sign of life within 3 s after the computer had slept";

#[tokio::test]
async fn an_agent_that_lives_goes_on() {
    let mut world = World::new();
    world.in_turn(world.spec(&json!({}))).await;
    let turn = |text: &str| Turn { stop: Stop::EndTurn, text: Some(text.to_owned()), usage: None };
    world.check(&[text("hello"), ended("r1", turn("hello"))]).await;
    world.prove();
    world.prompt("r2", "again");
    world.check(&[written("r2")]).await;
    assert_eq!(world.after_updates().await, ended("r2", turn("again")));
    let asked: Vec<_> = world.read_by_agent("method").iter().map(|line| line["method"].clone()).collect();
    let expect = ["initialize", "session/new", "session/prompt", "_highwater/alive", "session/prompt"];
    assert_eq!(json!(asked), json!(expect));
    world.finish().await;
}

/// Rule 6.4 and public report J87
#[tokio::test]
async fn an_agent_that_gives_no_sign_of_life_ends_before_it_is_prompted() {
    for stopped in [false, true] {
        let mut world = World::new();
        let mut spec = world.spec(&json!({"deaf": !stopped, "ignore_eof": true}));
        spec.limits.start = LIMIT;
        world.start(spec);
        world.started().await;
        if stopped {
            let agent = i32::try_from(world.log("start")[0]["pid"].as_i64().unwrap()).unwrap();
            kill(world.outer(agent), Signal::STOP);
        }
        world.prove();
        world.prompt("r1", "hello");
        world.check(&[exited(REASON)]).await;
        assert_eq!(world.log("prompt"), [] as [serde_json::Value; 0]);
        world.over().await;
    }
}
