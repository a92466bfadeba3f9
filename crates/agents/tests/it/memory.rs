//! Floods cost the server no more memory than their bounds (I10), and a holder next to none.

use std::process::Command;
use std::time::Duration;

use agents::EventKind;
use serde_json::json;

use crate::world::World;

/// What a flood may add to the server's memory, in KiB: a line of 16 MiB, its text, and what the allocator keeps.
const GROWTH_KIB_MAX: u64 = 64 * 1024;

/// Anonymous memory of a holder, in KiB.
const HOLDER_KIB_MAX: u64 = 2 * 1024;

/// Set in the process that measures.
const MEASURE: &str = "HIGHWATER_TEST_MEASURE";

#[tokio::test]
async fn floods_are_bounded() {
    if std::env::var_os(MEASURE).is_none() {
        measure();
        return;
    }
    // Once for what stays allocated anyway.
    check("echo", 0).await;
    let before = own("VmRSS:");
    check("no line end", 0).await;
    check("a line of 17 MiB", 17 << 20).await;
    check("a line of 15 MiB", 15 << 20).await;
    check("lines without sense", 0).await;
    check("updates", 0).await;
    check("standard error", 0).await;
    let growth = own("VmHWM:").saturating_sub(before);
    println!("the server grew by {growth} KiB");
    assert!(growth < GROWTH_KIB_MAX, "{growth} KiB");
}

/// Runs the test in a process of its own, since the tests beside it take memory too.
#[expect(clippy::disallowed_methods, reason = "memory is measured in a process of its own")]
fn measure() {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::floods_are_bounded", "--nocapture"])
        .env(MEASURE, "1")
        .status()
        .unwrap();
    assert!(status.success());
}

/// One flood in a turn, and how it ends.
async fn check(flood: &str, bytes: usize) {
    let too_long = Some("the agent wrote a line of more than 16 MiB");
    let foreign = "the agent does not speak the Agent Client Protocol: 200 lines in a row are not it";
    let (step, reason) = match flood {
        "echo" => (json!({"echo": 0}), None),
        "no line end" => (json!({"flood": {"what": "bytes", "count": 0}}), too_long),
        "a line of 17 MiB" => (json!({"huge": bytes}), too_long),
        "a line of 15 MiB" => (json!({"huge": bytes}), None),
        "lines without sense" => (json!({"flood": {"what": "garbage", "count": 0}}), Some(foreign)),
        "updates" => (json!({"flood": {"what": "updates", "count": 100_000}}), None),
        "standard error" => (json!({"flood": {"what": "stderr", "count": 100_000}}), None),
        other => panic!("{other}"),
    };
    let mut world = World::new();
    let mut spec = world.spec(&json!({"prompt": [step]}));
    spec.limits.inactivity = Duration::from_secs(100);
    spec.limits.turn = Duration::from_secs(100);
    let started = world.in_turn(spec).await;
    let holder = of(started.pid, "RssAnon:");
    assert!(holder < HOLDER_KIB_MAX, "the holder takes {holder} KiB");
    let Some(reason) = reason else {
        let event = world.after_updates().await;
        assert!(matches!(event, EventKind::TurnEnded { .. }), "{flood}: {event:?}");
        world.finish().await;
        return;
    };
    for event in [world.after_updates().await, world.next().await] {
        let (EventKind::TurnFailed { reason: told, .. } | EventKind::Exited { reason: Some(told) }) = event
        else {
            panic!("{flood}: {event:?}");
        };
        assert!(told.starts_with(reason), "{flood}: {told}");
    }
    world.over().await;
}

/// A figure of this process, in KiB.
fn own(field: &str) -> u64 {
    of(std::process::id(), field)
}

fn of(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
