//! Whole trees end: with their process, with their holder, with their server (I9).

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use agents::{EventKind, Sight, Spec};
use rustix::process::{Pid, Signal};
use serde_json::json;

use crate::world::{self, SHORT, World, exited, gone, handle, lost, marked, sights};

/// Makes the test agent start a child that leaves group and session, is orphaned and ignores SIGTERM.
fn with_child(world: &World, name: &str) -> serde_json::Value {
    json!({"child": world.path(name)})
}

/// How many processes there are beside the agent and its children.
fn holders(sight: Sight) -> usize {
    match sight {
        Sight::Own => 2,
        Sight::All => 1,
    }
}

#[tokio::test]
async fn what_left_its_group_and_session_ends_with_the_process() {
    for &sight in sights() {
        let mut world = World::new();
        let script =
            json!({"new": [with_child(&world, "one"), with_child(&world, "two")], "ignore_eof": true});
        let mut spec = Spec { sight, ..world.spec(&script) };
        spec.limits.grace = SHORT;
        world.start(spec);
        assert_eq!(world.started().await.notices, Vec::<String>::new());
        let children = [handle(world.told("one")), handle(world.told("two"))];
        assert_eq!(world.processes().len(), holders(sight) + 3, "agent, two children");
        world.end();
        world.check(&[EventKind::Exited { reason: None }]).await;
        for child in children {
            gone(child).await;
        }
        world.over().await;
    }
}

#[tokio::test]
async fn what_an_agent_leaves_behind_ends_before_it_is_told() {
    for &sight in sights() {
        let mut world = World::new();
        let script = json!({"prompt": [with_child(&world, "child"), {"exit": 0}]});
        world.start(Spec { sight, ..world.spec(&script) });
        world.started().await;
        world.prompt("r1", "hello");
        let reason = "the agent's process ended: exit status 0";
        world.check(&[world::written("r1"), lost("r1", reason), exited(reason)]).await;
        assert!(world.path("child").exists());
        world.over().await;
    }
}

#[tokio::test]
async fn a_killed_holder_takes_its_agent_along() {
    for &sight in sights() {
        let mut world = World::new();
        let script = json!({"ignore_eof": true, "prompt": [{"hang": true}]});
        let started = world.in_turn(Spec { sight, ..world.spec(&script) }).await;
        let holder = i32::try_from(started.pid).unwrap();
        kill(holder, Signal::KILL);
        let reason = "the agent's process ended: its holder ended too (signal: 9 (SIGKILL))";
        world.check(&[EventKind::TreeLost, lost("r1", reason), exited(reason)]).await;
        world.over().await;
    }
}

#[tokio::test]
async fn what_left_its_session_does_not_outlive_a_killed_holder() {
    let idle = "the agent's process ended: its holder ended too (signal: 9 (SIGKILL))";
    let alike = |sight| {
        [
            ("new", vec![EventKind::TreeLost, exited(idle)], sight),
            ("prompt", vec![EventKind::TreeLost, lost("r1", idle), exited(idle)], sight),
        ]
    };
    for (when, expect, sight) in sights().iter().copied().flat_map(alike) {
        let mut world = World::new();
        let steps = json!([with_child(&world, "child")]);
        let script = match when {
            "new" => json!({"new": steps}),
            _ => json!({"prompt": [steps[0], {"text": "ready"}, {"hang": true}]}),
        };
        world.start(Spec { sight, ..world.spec(&script) });
        let started = world.started().await;
        if when == "prompt" {
            world.prompt("r1", "hello");
            world.check(&[world::written("r1"), world::text("ready")]).await;
        }
        let child = handle(world.told("child"));
        kill(i32::try_from(started.pid).unwrap(), Signal::KILL);
        world.check(&expect).await;
        gone(child).await;
        world.over().await;
    }
}

#[tokio::test]
async fn a_sweep_takes_what_has_its_mark_and_nothing_else() {
    let world = World::new();
    let mark = world.folder.path().display().to_string();
    let marks = [
        format!("{mark}:1"),
        format!("{mark}:22"),
        mark.clone(),
        format!("{mark}:a:1"),
        format!("{mark}b:1"),
    ];
    let mut children: Vec<Child> = marks.iter().map(|mark| sleeper(mark)).collect();
    assert_eq!(agents::sweep(&mark, &world.path("processes")), 2);
    let ended: Vec<bool> = children.iter_mut().map(|child| child.try_wait().unwrap().is_some()).collect();
    assert_eq!(ended, [true, true, false, false, false]);
    assert_eq!(agents::sweep(&mark, &world.path("processes")), 0);
    for child in &mut children[2..] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    world.over().await;
}

#[expect(clippy::disallowed_methods, reason = "a process to be found has to be there")]
fn sleeper(mark: &str) -> Child {
    let mut sleeper = Command::new("sleep");
    sleeper.arg("1000").env("HIGHWATER_AGENT", mark);
    sleeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// It has the same parent, mark and session at no two moments.
#[tokio::test]
async fn what_forks_while_it_is_killed_ends() {
    for &sight in sights() {
        let mut world = World::new();
        let mut spec = Spec { sight, ..world.spec(&json!({"new": [{"hydra": 3}], "ignore_eof": true})) };
        spec.limits.grace = SHORT;
        world.start(spec);
        world.started().await;
        world.end();
        world.check(&[EventKind::Exited { reason: None }]).await;
        world.over().await;
    }
}

#[tokio::test]
async fn a_stopped_holder_or_agent_ends_as_well() {
    for &sight in sights() {
        let mut world = World::new();
        let mut spec = Spec { sight, ..world.spec(&json!({"prompt": [{"hang": true}]})) };
        spec.limits.grace = SHORT;
        let started = world.in_turn(spec).await;
        let all = world.processes();
        assert!(all.contains(&i32::try_from(started.pid).unwrap()));
        assert_eq!(all.len(), holders(sight) + 1);
        for process in all {
            kill(process, Signal::STOP);
        }
        world.end();
        let reason = "the agent's process was ended during the turn";
        world.check(&[lost("r1", reason), EventKind::Exited { reason: None }]).await;
        world.over().await;
    }
}

pub(crate) fn kill(pid: i32, signal: Signal) {
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Set in the process that is the server.
const SERVER: &str = "HIGHWATER_TEST_SERVER";

#[tokio::test]
async fn nothing_outlives_a_killed_server() {
    if std::env::var_os(SERVER).is_some() {
        serve_until_killed().await;
    }
    let (mut server, mark) = server();
    let handles: Vec<_> = marked(&mark).into_iter().map(handle).collect();
    assert_eq!(handles.len(), holders(sights()[0]) + 2, "agent and its child");
    server.kill().unwrap();
    for handle in handles {
        gone(handle).await;
    }
    server.wait().unwrap();
    assert!(marked(&mark).is_empty());
    std::fs::remove_dir_all(mark).unwrap();
}

/// Starts this test program anew as a server and waits until its agent is in a turn; gives the mark of its processes.
#[expect(clippy::disallowed_methods, reason = "a server to be killed has to be a process of its own")]
fn server() -> (Child, String) {
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "trees::nothing_outlives_a_killed_server", "--nocapture"])
        .env(SERVER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mark = lines.map(Result::unwrap).find_map(|line| line.strip_prefix("mark: ").map(str::to_owned));
    (server, mark.expect("the server tells its mark"))
}

async fn serve_until_killed() {
    let mut world = World::new();
    let steps = json!([with_child(&world, "child"), {"text": "ready"}, {"hang": true}]);
    let script = json!({"ignore_eof": true, "prompt": steps});
    let mut spec = world.spec(&script);
    spec.command.splice(..0, ["sh", "-c", "trap '' TERM; exec \"$0\" \"$@\""].map(str::to_owned));
    world.in_turn(spec).await;
    world.check(&[world::text("ready")]).await;
    println!("mark: {}", world.folder.path().display());
    std::future::pending::<()>().await;
}
