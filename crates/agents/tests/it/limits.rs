//! An agent that takes more memory than it may is ended, and nothing else is.

use std::fs;
use std::process::Command;

use agents::{EventKind, Spec, Stop, Turn, Update};
use serde_json::json;

use crate::world::{self, World, ended, exited, key, lost, sights, text, update, written};

const LIMIT: u64 = 64 << 20;
const REASON: &str = "the agent was over its memory limit of 64 MiB and was ended: raise the limit, or give it less to \
                      do at a time";
const NEWS: &str = "a process of the agent was over its memory limit of 64 MiB and was ended";

/// What people are told where the system keeps no limit.
const MEASURED: &str =
    "the system does not keep the agent to its memory limit of 64 MiB, so it is measured: ";

fn done(text: &str) -> Turn {
    Turn { stop: Stop::EndTurn, text: Some(text.to_owned()), usage: None }
}

/// The control groups of this process's agents.
fn groups() -> Vec<String> {
    let own = format!("highwater-{}-", std::process::id());
    let mut found = Vec::new();
    let mut folders = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(&own) {
                found.push(name);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    found
}

/// Who keeps this agent to its limit, by name.
fn keeper(notices: &[String]) -> &'static str {
    let measured = notices.iter().any(|notice| notice.starts_with(MEASURED));
    let keeper = if measured { "the server, by measuring" } else { "the kernel, by a control group" };
    println!("kept to its limit by {keeper}: {notices:?}");
    keeper
}

/// One that takes too much itself, beside one that does not.
async fn check_own() {
    for &sight in sights() {
        let (mut world, mut other) = (World::new(), World::new());
        let script = json!({"prompt": [{"text": "more"}, {"hog": 300}, {"hang": true}]});
        let bounded = |spec| Spec { sight, memory_max: Some(LIMIT), ..spec };
        other
            .in_turn(bounded(other.spec(&json!({"prompt": [{"await_cancel": true}, {"text": "fine"}]}))))
            .await;
        let started = world.in_turn(bounded(world.spec(&script))).await;
        keeper(&started.notices);
        world.check(&[text("more"), lost("r1", REASON), exited(REASON)]).await;
        world.over().await;
        other.cancel("r1");
        assert_eq!(other.after_updates().await, ended("r1", done("fine")));
        other.finish().await;
    }
    // Those of the tests beside this one end too.
    world::wait_until("no control group is left", || groups().is_empty()).await;
}

/// What the agent started takes too much, and keeps it for as long as somebody reads it byte by byte. The kernel ends that
/// alone, and the agent goes on; the server, which only measures, ends the whole agent.
async fn check_child() {
    let mut world = World::new();
    let takes = "head -c 300m /dev/zero | tail -c 250m | { read -r line; }";
    let script = json!({"prompts": [
        [{"sh": format!("{takes}; echo went on")}],
        [{"sh": takes}, {"error": {"code": -32603, "message": "lost it"}}],
        [{"text": "still here"}],
    ]});
    let started = world.in_turn(Spec { memory_max: Some(LIMIT), ..world.spec(&script) }).await;
    if keeper(&started.notices).starts_with("the server") {
        assert_eq!(world.after_updates().await, lost("r1", REASON));
        world.check(&[exited(REASON)]).await;
        world.over().await;
        return;
    }
    let EventKind::Update { update: Update::Text(said), .. } = world.next().await else {
        panic!("it says nothing")
    };
    assert!(said.contains("went on"), "{said}");
    world.check(&[update(Update::Notice(NEWS.to_owned())), ended("r1", done(&said))]).await;
    world.prompt("r2", "again");
    world.check(&[written("r2")]).await;
    let EventKind::TurnFailed { reason, .. } = world.after_updates().await else { panic!("it did not fail") };
    assert!(reason.contains("lost it") && reason.ends_with(&format!("; {NEWS}")), "{reason}");
    world.prompt("r3", "again");
    world.check(&[written("r3")]).await;
    assert_eq!(world.after_updates().await, ended("r3", done("still here")));
    world.finish().await;
}

/// Fault experiment 32: whoever keeps it to its limit here, the agent fails its turn by its name, and nobody else's.
#[tokio::test]
async fn an_agent_over_its_limit_fails_its_turn_alone() {
    check_own().await;
}

/// Fault experiment 32: the same of what the agent has started.
#[tokio::test]
async fn a_process_of_an_agent_over_the_limit_is_ended_and_told() {
    check_child().await;
}

/// Set in the process in which no control groups are found.
const UNBOUNDED: &str = "HIGHWATER_TEST_UNBOUNDED";

/// Fault experiment 32: the same where the system has no control groups that could be written.
#[tokio::test]
async fn where_there_are_no_control_groups_it_is_measured() {
    if std::env::var_os(UNBOUNDED).is_some() {
        assert_eq!(groups(), Vec::<String>::new());
        check_own().await;
        check_child().await;
        println!("measured");
        return;
    }
    if !world::can_unshare() {
        eprintln!("SKIPPED: this system refuses the mount namespace that takes the control groups away");
        return;
    }
    let printed = without_groups("limits::where_there_are_no_control_groups_it_is_measured");
    assert!(printed.contains("by the server, by measuring") && printed.contains("measured"), "{printed}");
    assert!(!printed.contains("by the kernel"), "{printed}");
}

#[expect(clippy::disallowed_methods, reason = "control groups are hidden from a process of its own")]
fn without_groups(test: &str) -> String {
    let script = "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"";
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-c", script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(UNBOUNDED, "1")
        .output()
        .unwrap();
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}");
    printed
}

#[tokio::test]
async fn what_a_tree_has_is_measured_while_it_lives() {
    let mut world = World::new();
    assert!(world.agents.memory().is_empty());
    // Half of it in a child.
    let child = "(head -c 100m /dev/zero | tail -c 100m | sleep 1000) >/dev/null 2>&1 &";
    let script = json!({"new": [{"hog": 100}, {"sh": child}]});
    world.start(world.spec(&script));
    world.started().await;
    world::wait_until("all of it is measured", || {
        let memory = world.agents.memory();
        memory.get(&key()).is_some_and(|bytes| (150 << 20..400 << 20).contains(bytes))
    })
    .await;
    world.end();
    world.check(&[EventKind::Exited { reason: None }]).await;
    assert!(world.agents.memory().is_empty(), "what is gone weighs nothing");
    world.over().await;
}
