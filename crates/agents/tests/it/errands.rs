//! Commands that are run to their end under the holder.

use std::sync::Arc;
use std::time::Duration;

use agents::{Errand, Returned, Secrets};
use serde_json::json;

use crate::world::{World, scripted};

async fn run(world: &World, script: &str, limit: Duration) -> Returned {
    let mut spec = world.spec(&json!({}));
    spec.command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    spec.secrets = Secrets::new(["s3cret-value".to_owned()]);
    let holder: Arc<[String]> = vec![scripted(), "hold".to_owned()].into();
    Errand { spec, number: 1, limit, output_bytes_max: 30 }.run(&holder).await.unwrap()
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn an_errand_tells_its_end_and_its_output() {
    let world = World::new();
    let check = async |script: &str, status: i32, output: &str| {
        let returned = run(&world, script, LONG).await;
        assert_eq!(returned, Returned { status: Some(status), output: output.to_owned() }, "{script}");
    };
    // Nothing tells in which order two pipes were written.
    check("echo one; exit 3", 3, "one").await;
    check("echo two >&2", 0, "two").await;
    check("kill -KILL $$", 137, "").await;
    check("echo s3cret-value; basename $PWD", 0, "[redacted]\nagent").await;
    check("cat; seq 1000 | tr -d '\\n'", 0, "919929939949959969979989991000").await;
    world.over().await;
}

#[tokio::test]
async fn an_errand_that_takes_too_long_ends_with_its_tree() {
    // I9
    let world = World::new();
    let script = "setsid sleep 600 & trap '' TERM; sleep 600; sleep 600";
    let returned = run(&world, script, Duration::from_millis(500)).await;
    assert_eq!(returned, Returned { status: None, output: String::new() });
    world.over().await;
}
