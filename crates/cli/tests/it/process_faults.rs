//! Faults of processes: servers that are killed, agents that flood, babble, hide, stop or are wanted by two servers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::server::{TestServer, command, program_path, terminate, wait_until};

/// What an agent may add to the server's memory, in KiB: a line of 16 MiB, its text, and what the allocator keeps.
const GROWTH_KIB_MAX: u64 = 64 * 1024;

/// A mention of `@echo` that it answers by these steps.
fn steps(steps: &str) -> String {
    format!(r#"@echo SCRIPT:{{"prompt":[{steps}]}}"#)
}

/// A mention that is answered, whatever steps stand in the lines above it.
fn hello(handle: &str) -> String {
    format!(r#"@{handle} SCRIPT:{{"prompt":[{{"text":"hello"}}]}}"#)
}

/// Asks `@echo` and checks how its run ended, and by which lease.
#[track_caller]
fn check(server: &TestServer, text: &str, status: &str, lease: &str) {
    let asked = server.ask("general", text, &[]);
    let run = &asked["runs"][0];
    assert_eq!((run["status"].as_str(), run["lease"].as_str()), (Some(status), Some(lease)), "{run}");
}

fn newest_run(server: &TestServer) -> Value {
    server.json(&["run", "list", "--limit", "1"])[0].clone()
}

fn wait_until_it_runs(server: &TestServer) {
    wait_until("it runs", || newest_run(server)["status"] == "running");
}

/// Ids of this server's scripted agents.
fn agents(server: &TestServer) -> Vec<u32> {
    let found = server.left();
    let found = found.iter().filter_map(|process| process.split_once(": "));
    let agents =
        found.filter(|(_, arguments)| arguments.contains("scripted-agent") && !arguments.contains(" hold "));
    agents.map(|(pid, _)| pid.parse().unwrap()).collect()
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

/// Fault experiment 2, rule 6.8 and public report E51: the server is killed during a turn. The holders are stopped, so the next
/// start ends what is left, by their records; the turn is told as interrupted, and a person may try it again. I3, I9
#[test]
fn a_turn_that_its_server_left_is_swept_and_told() {
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &["--env", r#"SCRIPTED_SCRIPT={"ignore_eof":true}"#]);
    let stranger = server.file("stranger");
    server.ok(&["post", "general", &steps(&format!(r#"{{"stranger":"{stranger}"}},{{"hang":true}}"#))]);
    server.process_in(&stranger);
    let holders = server.holders();
    for holder in &holders {
        signal(*holder, Signal::STOP);
    }
    server.kill();
    assert_eq!((server.holders(), holders.is_empty()), (holders, false), "they cannot do their work");
    server.start_again(&[]);
    assert_eq!(server.left(), Vec::<String>::new());
    assert_eq!(fs::read_dir(server.data().join("processes")).unwrap().count(), 0);
    let run = newest_run(&server);
    assert_eq!(run["status"], "failed", "{run}");
    assert_eq!(run["error"], "the server stopped while the agent was at work; what it did by then is done");
    let said = server.json(&["history", "general", "--limit", "1"])[0]["text"].to_string();
    assert!(said.contains(&format!("highwater run retry {}", run["id"].as_str().unwrap())), "{said}");
    check(&server, &hello("echo"), "succeeded", "cold");
}

/// Fault experiment 7: whatever floods, the server grows by less than 64 MiB, and others are answered meanwhile. I10
#[test]
fn a_flood_costs_its_run_and_nobody_else() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    server.add_scripted("other", "general", "log2", &[]);
    server.ask("general", &hello("other"), &[]);
    let before = server.memory_kib("VmRSS:");
    for (flood, count, status) in [
        ("bytes", 0, "failed"),
        ("garbage", 0, "failed"),
        ("updates", 20_000, "succeeded"),
        ("stderr", 50_000, "succeeded"),
    ] {
        server.ok(&[
            "post",
            "general",
            &steps(&format!(r#"{{"flood":{{"what":"{flood}","count":{count}}}}}"#)),
        ]);
        let asked = server.ask("general", &hello("other"), &[]);
        assert_eq!(asked["runs"][0]["status"], "succeeded", "{flood}: {asked}");
        wait_until("the flood ends", || {
            let runs = server.json(&["run", "list", "--limit", "2"]);
            runs.as_array().unwrap().iter().all(|run| run["status"] != "running" && run["status"] != "queued")
        });
        let runs = server.json(&["run", "list", "--limit", "2"]);
        assert_eq!(runs[1]["status"], status, "{flood}: {}", runs[1]);
    }
    let growth = server.memory_kib("VmHWM:").saturating_sub(before);
    assert!(growth < GROWTH_KIB_MAX, "{growth} KiB");
}

/// Fault experiment 8: what is no message is dropped, or ends its run clearly; the next one is answered. I10
#[test]
fn a_babble_costs_at_most_its_run() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let deep = "[".repeat(2_000);
    let babble = format!(
        r#"{{"hex":"fffe0a"}},{{"raw":"npm warn"}},{{"raw":"{deep}"}},{{"raw":"{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}"}},{{"request":{{"method":"no/such","params":{{}}}}}},{{"answer":{{"times":3}}}},{{"raw":"{{\"half\":"}}"#
    );
    check(&server, &steps(&format!(r#"{{"text":"fine"}},{babble}"#)), "succeeded", "cold");
    check(&server, &hello("echo"), "succeeded", "warm");
    check(&server, &steps(r#"{"hex":"7b226a736f6e"},{"exit":0}"#), "failed", "warm");
    check(&server, &hello("echo"), "succeeded", "cold");
}

/// Whatever ends a process ends its tree.
fn check_end(settings: &str, end: impl FnOnce(&mut TestServer)) {
    let settings = config("end", &format!("grace = \"200ms\"\n{settings}"));
    let mut server = TestServer::start_with(&["--config", &settings]);
    server.add_scripted("echo", "general", "log", &["--env", r#"SCRIPTED_SCRIPT={"ignore_eof":true}"#]);
    let (child, stranger) = (server.file("child"), server.file("stranger"));
    let all = format!(r#"{{"child":"{child}"}},{{"stranger":"{stranger}"}},{{"hydra":2}}"#);
    let asked = server.ask("general", &steps(&format!(r#"{all},{{"text":"made"}}"#)), &[]);
    assert_eq!(asked["runs"][0]["status"], "succeeded", "{asked}");
    assert!(Path::new(&child).exists() && Path::new(&stranger).exists());
    end(&mut server);
    server.wait_until_none_is_left(Duration::from_secs(20));
}

/// Fault experiment 9, rule 6.8 and public report E51: no descendant outlives its session, whatever ends that: fresh, removed,
/// stopped, a server that is killed, idle, evicted. I9
#[test]
fn every_end_of_a_process_is_its_trees() {
    check_end("", |server| drop(server.ok(&["agent", "fresh", "echo", "--channel", "general"])));
    check_end("", |server| drop(server.ok(&["agent", "remove", "echo", "--channel", "general"])));
    check_end("", |server| assert!(server.stop().success()));
    check_end("", TestServer::kill);
    check_end("idle_limit = \"100ms\"\n", |_| {});
    check_end("pool_size = 1\nidle_limit = \"1h\"\n", |server| {
        server.ask("general", "@guide hello", &[]);
        wait_until("it made room", || agents(server).is_empty());
        drop(server.ok(&["agent", "fresh", "guide", "--channel", "general"]));
    });
}

fn config(name: &str, text: &str) -> String {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("highwater-{name}-{}.toml", std::process::id()));
    fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// Fault experiment 30, rule 6.8 and public report E57: a second server on the folder refuses, else both would answer.
/// Rule 6.8 and public report E55: what it finds alive is not what was left, however old.
#[test]
fn a_second_server_refuses_and_harms_nothing() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    server.ok(&["post", "general", &steps(r#"{"await_cancel":true},{"answer":{"stop":"cancelled"}}"#)]);
    wait_until_it_runs(&server);
    let before = server.left();
    let second = server.try_start(&[]).wait_with_output().unwrap();
    assert!(!second.status.success());
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("another Highwater server is using it"), "{said}");
    assert_eq!(server.left(), before, "the first one's agents live on");
    assert_eq!(newest_run(&server)["status"], "running");
    server.ok(&["run", "cancel", newest_run(&server)["id"].as_str().unwrap()]);
    wait_until("it is cancelled", || newest_run(&server)["status"] == "cancelled");
}

/// Fault experiment 31: an agent that is stopped fails its turn by its limit; a new process answers the next.
#[test]
fn a_stopped_agent_fails_its_turn_and_is_replaced() {
    let limits = config("stopped", "inactivity_limit = \"500ms\"\ngrace = \"200ms\"\n");
    let server = TestServer::start_with(&["--config", &limits]);
    server.add_scripted("echo", "general", "log", &[]);
    server.ask("general", "@echo hello", &[]);
    for agent in agents(&server) {
        signal(agent, Signal::STOP);
    }
    check(&server, &hello("echo"), "failed", "warm");
    let error = newest_run(&server)["error"].as_str().unwrap().to_owned();
    assert!(error.starts_with("the agent gave no sign of life for 0.5 s"), "{error}");
    check(&server, &hello("echo"), "succeeded", "cold");
}

/// What it tells on standard error before it is stopped, in a user namespace prepared by this shell command.
fn served_after(server: &TestServer, prepare: &str) -> Option<String> {
    let mut serve = command(Path::new("unshare"));
    let script = format!("{prepare} && exec \"$@\"");
    serve.args(["-Urm", "sh", "-c", &script, "sh"]).arg(program_path("highwater"));
    serve.args(["serve", "--listen", "127.0.0.1:0", "--data", &server.file("other")]);
    serve
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", server.home.path())
        .env("HIGHWATER_MEMORY_LIMIT", "1GiB");
    let mut serve = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(serve.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    terminate(&serve);
    let told = serve.wait_with_output().unwrap();
    line.contains("listens on").then(|| String::from_utf8_lossy(&told.stderr).into_owned())
}

#[test]
fn serve_says_what_the_system_refuses() {
    let server = TestServer::start();
    let Some(nothing) = served_after(&server, "true") else {
        eprintln!("SKIPPED: this system refuses user namespaces");
        return;
    };
    let hidden = "the data folder could not be hidden from the agent";
    let apart = "the agent could not be given processes of its own";
    let check = |prepare: &str, expect: [bool; 2]| {
        let told = served_after(&server, prepare).unwrap();
        assert_eq!([hidden, apart].map(|word| told.contains(word)), expect, "{prepare}: {told}");
    };
    assert!(!nothing.contains("could not"), "{nothing}");
    check("echo 0 >/proc/sys/user/max_pid_namespaces", [false, true]);
    check("echo 0 >/proc/sys/user/max_mnt_namespaces", [true, true]);
    let told = served_after(&server, "mount -t tmpfs none /sys/fs/cgroup").unwrap();
    let measured = "the system does not keep the agent to its memory limit of 1 GiB, so it is measured: ";
    assert!(told.contains(measured), "{told}");
}

/// The control groups of this server's agents.
fn groups(server: u32) -> Vec<String> {
    let (own, mut found) = (format!("highwater-{server}-"), Vec::new());
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

/// Fault experiment 32: an agent takes more memory than it may. Whoever keeps it to its limit on this system, it alone is
/// ended, and its run says the limit and what to do, which helps. A server that is killed leaves no control group for long.
#[test]
fn an_agent_over_its_memory_limit_fails_its_run_and_nobody_elses() {
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &["--memory-limit", "64MiB"]);
    server.add_scripted("other", "general", "log2", &[]);
    check(&server, &hello("other"), "succeeded", "cold");
    let asked = server.ask("general", &steps(r#"{"text":"more"},{"hog":300},{"hang":true}"#), &[]);
    assert_eq!(asked["runs"][0]["status"], "failed", "{asked}");
    assert_eq!(
        asked["runs"][0]["error"],
        "the agent was over its memory limit of 64 MiB and was ended: raise the limit, or give it less to do at a time"
    );
    check(&server, &hello("other"), "succeeded", "warm");
    check(&server, &hello("echo"), "succeeded", "cold");
    wait_until("its memory is measured", || {
        let agents = server.json(&["agent", "list"]);
        let echo = agents.as_array().unwrap().iter().find(|agent| agent["handle"] == "echo").unwrap();
        assert_eq!(echo["memory_limit_bytes"], 64 << 20);
        echo["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 100_000)
    });
    let table = server.ok(&["agent", "list"]);
    assert!(table.contains(" MiB of 64 MiB"), "{table}");
    // What the reason says helps.
    let raised =
        server.json(&["agent", "limits", "echo", "--channel", "general", "--memory-limit", "600MiB"]);
    assert_eq!(raised["memory_limit_bytes"], 600 << 20);
    server.ok(&["agent", "fresh", "echo", "--channel", "general"]);
    check(&server, &steps(r#"{"hog":200},{"text":"held"}"#), "succeeded", "cold");
    let refused =
        server.run(&["agent", "add", "small", "--channel", "general", "--memory-limit", "1MiB", "--", "x"]);
    assert!(refused.code == 5 && refused.err.contains("16 MiB"), "{refused:?}");
    let pid = server.pid();
    let keeper =
        if groups(pid).is_empty() { "the server, by measuring" } else { "the kernel, by a control group" };
    println!("kept to its limit by {keeper}");
    server.kill();
    server.wait_until_none_is_left(Duration::from_secs(10));
    server.start_again(&[]);
    assert_eq!(groups(pid), Vec::<String>::new());
}
