//! What comes before the start of a process: done first, told when it fails, dropped when the process is to end.

use std::future::pending;

use agents::{Before, EventKind};
use serde_json::json;
use tokio::sync::mpsc;

use crate::world::{World, failed};

#[tokio::test]
async fn a_process_starts_after_what_comes_before_it() {
    let mut world = World::new();
    let file = world.path("done");
    let mut spec = world.spec(&json!({"prompt": [{"look": file.parent().unwrap()}]}));
    let before = file.clone();
    spec.before = Some(Before::new(move || {
        let before = before.clone();
        async move { std::fs::write(before, "").map_err(|error| error.to_string()) }
    }));
    world.start(spec);
    world.started().await;
    assert!(file.exists());
    world.finish().await;
}

#[tokio::test]
async fn a_process_does_not_start_when_what_comes_before_fails() {
    let mut world = World::new();
    let mut spec = world.spec(&json!({}));
    spec.before = Some(Before::new(|| async { Err("there is no place".to_owned()) }));
    world.start(spec);
    let EventKind::Exited { reason } = world.next().await else { panic!("it started") };
    assert_eq!(reason.as_deref(), Some("there is no place"));
    assert!(!world.path("log").exists());
    world.over().await;
}

#[tokio::test]
async fn an_end_drops_what_comes_before_and_a_prompt_is_refused() {
    let mut world = World::new();
    let mut spec = world.spec(&json!({}));
    let (held, mut dropped) = mpsc::channel::<()>(1);
    spec.before = Some(Before::new(move || {
        let held = held.clone();
        async move {
            let _held = held;
            pending().await
        }
    }));
    world.start(spec);
    world.prompt("r1", "too early");
    assert_eq!(world.next().await, failed("r1", "the agent's session has not begun"));
    world.end();
    assert_eq!(world.next().await, EventKind::Exited { reason: None });
    world.over().await;
    assert_eq!(dropped.recv().await, None);
}
