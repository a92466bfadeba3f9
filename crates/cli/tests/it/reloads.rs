//! Sessions that outlive their processes, and the server: what the agents themselves recorded of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use delivery::prose::FRAMING;
use serde_json::Value;

use crate::server::{TestServer, wait_until};

const KEPT: &str = r#"SCRIPTED_SCRIPT={"store":true}"#;

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// What a scripted agent logged under one name, in order.
fn logged(server: &TestServer, log: &str, name: &str) -> Vec<Value> {
    let log = std::fs::read_to_string(server.file(log)).unwrap_or_default();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| line.get(name).cloned()).collect()
}

/// How each session of a scripted agent was opened: `new`, `load` or `resume`.
fn opened(server: &TestServer, log: &str) -> Vec<String> {
    logged(server, log, "opened").iter().map(|opened| text_of(&opened["by"]).to_owned()).collect()
}

fn state_of(server: &TestServer, handle: &str) -> String {
    let agents = server.json(&["agent", "list"]);
    let agent = agents.as_array().unwrap().iter().find(|agent| agent["handle"] == handle).unwrap().clone();
    text_of(&agent["state"]).to_owned()
}

/// Mentions the agent; the run that came of it.
fn turn(server: &TestServer, text: &str) -> Value {
    let asked = server.ask("general", text, &[]);
    server.show(text_of(&asked["runs"][0]["id"]))
}

const AGENTS: usize = 50;
const ROUNDS: usize = 3;

/// Fifty agents share four places, over three rounds and a killed server. Every third is fed by its own way of
/// reloading, every second takes the framing as its system prompt.
#[test]
fn fifty_agents_share_four_places_and_are_told_everything_once() {
    // I4, I6, I8
    let mut server = TestServer::start();
    let ways = [r#"["load"]"#, r#"["resume","list"]"#, r#"["load","resume","list"]"#];
    for n in 0..AGENTS {
        let script = format!(
            r#"SCRIPTED_SCRIPT={{"store":true,"system_prompt":{},"reload":{}}}"#,
            n.is_multiple_of(2),
            ways[n % 3]
        );
        server.add_scripted(&format!("a{n}"), "general", &format!("log-{n}"), &["--env", &script]);
    }
    let mut asked = 0;
    for round in 0..ROUNDS {
        for n in (0..AGENTS).step_by(3) {
            let called: Vec<String> = (n..AGENTS.min(n + 3)).map(|n| format!("@a{n}")).collect();
            asked += 1;
            let text = format!(
                r#"{} question-{asked}- SCRIPT:{{"prompt":[{{"text":"answer-{asked}-"}}]}}"#,
                called.join(" ")
            );
            let posted = server.ask("general", &text, &[]);
            for run in posted["runs"].as_array().unwrap() {
                assert_eq!(run["status"], "succeeded", "{run}");
                let lease = if round == 0 { "cold" } else { "restored" };
                assert_eq!(run["lease"], lease, "{run}");
            }
            let alive =
                server.left().iter().filter(|process| process.contains("scripted-agent hold")).count();
            assert!(alive <= 4, "{alive} processes");
        }
        if round == 1 {
            server.kill();
            server.wait_until_none_is_left(Duration::from_secs(2));
            server.start_again(&[]);
        }
    }
    let runs = server.json(&["run", "list", "--limit", "1000"]);
    let mut shown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for run in runs.as_array().unwrap() {
        let ids = run["shown"].as_array().unwrap().iter().chain([&run["message_id"]]);
        let session = shown.entry(text_of(&run["native"]).to_owned()).or_default();
        session.extend(ids.map(|id| text_of(id).to_owned()));
    }
    assert_eq!(shown.len(), AGENTS, "one session each");
    for (native, ids) in &shown {
        assert_eq!(
            ids.iter().collect::<BTreeSet<_>>().len(),
            ids.len(),
            "{native} was shown a message twice"
        );
    }
    for n in 0..AGENTS {
        check_agent(&server, n, asked);
    }
}

/// What one of the fifty recorded: one session, each of its words once, and the framing once.
fn check_agent(server: &TestServer, n: usize, asked: usize) {
    let log = format!("log-{n}");
    let sessions = logged(server, &log, "opened");
    let (again, name) = if n.is_multiple_of(3) { ("load", "session") } else { ("resume", "session") };
    assert_eq!(opened(server, &log), ["new", again, again], "a{n}");
    for key in [name, "system"] {
        let values: BTreeSet<String> = sessions.iter().map(|opened| opened[key].to_string()).collect();
        assert_eq!(values.len(), 1, "a{n}: {values:?}");
    }
    let prompts: Vec<String> =
        logged(server, &log, "prompt").iter().map(|prompt| text_of(prompt).to_owned()).collect();
    assert_eq!(prompts.len(), ROUNDS, "a{n}");
    let all = prompts.join("\n");
    assert_eq!(all.matches(FRAMING).count(), n % 2, "a{n}");
    assert_eq!(sessions[0]["system"].is_string(), n.is_multiple_of(2), "a{n}");
    for question in 1..=asked {
        assert!(all.matches(&format!(" question-{question}- ")).count() <= 1, "a{n} got {question} twice");
    }
    // Each line and each payload that it was ever sent, against all before.
    let is_told = |line: &&str| line.starts_with("- [") || line.starts_with('{');
    let lines: Vec<&str> = all.lines().filter(is_told).collect();
    assert!(lines.iter().any(|line| line.starts_with("- [agent]")), "a{n} got no line");
    assert_eq!(lines.iter().filter(|line| line.starts_with('{')).count(), ROUNDS, "a{n}");
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), lines.len(), "a{n} got a line twice");
    let own = format!("- [agent] @a{n}:");
    assert!(!lines.iter().any(|line| line.starts_with(&own)), "a{n} got its own answer");
}

/// public reports A2 and A3: over a stop, a kill and a turn that a crash cut off, the word is known and one session is used.
/// Cache breaks B3.41 and B3.47.
#[test]
fn a_session_survives_the_server() {
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &["--env", KEPT]);
    turn(&server, r#"@echo the word is sesame. SCRIPT:{"prompt":[{"text":"noted"}]}"#);
    let recall = r#"@echo do you know it? SCRIPT:{"prompt":[{"recall":"sesame"}]}"#;
    let knows = |server: &TestServer, lease: &str| {
        let run = turn(server, recall);
        assert_eq!((&run["replies"][0]["text"], &run["lease"]), (&"yes".into(), &lease.into()), "{run}");
        run
    };
    assert!(server.stop().success());
    server.start_again(&[]);
    assert_eq!(state_of(&server, "echo"), "saved");
    assert!(server.ok(&["agent", "list"]).contains("saved, reloads at next mention"));
    let run = knows(&server, "restored");
    assert!(!text_of(&run["sent"]).contains("the word is"), "it is not told again: {run}");
    server.kill();
    server.start_again(&[]);
    knows(&server, "restored");
    let crashed = turn(&server, r#"@echo SCRIPT:{"prompt":[{"text":"I …"},{"signal":9}]}"#);
    assert_eq!(crashed["status"], "failed");
    knows(&server, "restored");
    knows(&server, "warm");
    assert_eq!(opened(&server, "log"), ["new", "load", "load", "load"]);
    let natives: BTreeSet<String> = server
        .json(&["run", "list"])
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["native"].to_string())
        .collect();
    assert_eq!(natives.len(), 1);
}

#[test]
fn the_guide_goes_on_after_a_restart() {
    let mut server = TestServer::start();
    turn(&server, "@guide hello");
    server.kill();
    server.start_again(&[]);
    let run = turn(&server, "@guide hello");
    assert_eq!(run["lease"], "restored", "{run}");
    let reply = text_of(&run["replies"][0]["text"]);
    assert!(reply.contains("**restored**"), "{reply}");
    assert!(!text_of(&run["sent"]).contains(FRAMING), "{run}");
}

#[test]
fn a_saved_session_has_no_process_between_turns() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &["--session", "saved", "--env", KEPT]);
    for lease in ["cold", "restored", "restored"] {
        let run = turn(&server, "@echo hello");
        assert_eq!(run["lease"], lease, "{run}");
        wait_until("its process is gone", || state_of(&server, "echo") == "saved");
        server.wait_until_none_is_left(Duration::from_secs(20));
    }
    assert_eq!(opened(&server, "log"), ["new", "load", "load"]);
}

#[test]
fn start_fresh_holds_over_a_restart() {
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &["--env", KEPT]);
    turn(&server, "@echo hello");
    server.ok(&["agent", "fresh", "echo", "--channel", "general"]);
    assert!(server.stop().success());
    server.start_again(&[]);
    assert_eq!(state_of(&server, "echo"), "absent");
    let run = turn(&server, "@echo hello again");
    assert_eq!(run["lease"], "cold");
    assert!(text_of(&run["lease_why"]).contains("a fresh session was asked for"), "{run}");
    assert_eq!(opened(&server, "log"), ["new", "new"]);
}

/// A session whose reload goes wrong by `script`, or by what `prepare` does to its store: it begins anew, says so once, and
/// is told the newest messages in full.
fn check_lost(script: &str, prepare: impl FnOnce(&TestServer), why: &str) {
    let config = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("highwater-start-{}.toml", std::process::id()));
    std::fs::write(&config, "start_limit = \"2s\"\n").unwrap();
    let mut server = TestServer::start_with(&["--config", &config.display().to_string()]);
    let script = format!(r#"SCRIPTED_SCRIPT={{"store":true,{script}}}"#);
    server.add_scripted("echo", "general", "log", &["--env", &script]);
    server.ok(&["post", "general", "the news is quince"]);
    turn(&server, r#"@echo one SCRIPT:{"prompt":[{"text":"an answer to one, that is long enough"}]}"#);
    assert!(server.stop().success());
    prepare(&server);
    server.start_again(&["--config", &config.display().to_string()]);
    let run = turn(&server, r#"@echo two SCRIPT:{"prompt":[{"text":"an answer to two"}]}"#);
    assert_eq!((&run["status"], &run["lease"]), (&"succeeded".into(), &"cold".into()), "{run}");
    assert!(text_of(&run["lease_why"]).contains(why), "{run}");
    let sent = text_of(&run["sent"]);
    for part in [FRAMING, "\"channel_id\"", "Recent messages in this channel", "quince", "an answer to one"] {
        assert!(sent.contains(part), "without {part:?}: {sent}");
    }
    let history = server.json(&["history", "general"]);
    let history = history.as_array().unwrap();
    let notices = history.iter().filter(|message| text_of(&message["text"]).contains("begins anew"));
    assert_eq!(notices.count(), 1, "{history:?}");
    let answers: Vec<&str> = history
        .iter()
        .filter(|message| message["author"]["name"] == "@echo")
        .map(|message| text_of(&message["text"]))
        .collect();
    assert_eq!(answers, ["an answer to one, that is long enough", "an answer to two"]);
    assert_eq!(opened(&server, "log").iter().filter(|by| *by == "new").count(), 2);
}

/// public reports A1 and A8
#[test]
fn what_was_not_restored_begins_anew_and_says_so() {
    let kept = |_: &TestServer| {};
    check_lost(r#""load":[{"forget":true}]"#, kept, "restored nothing");
    check_lost(r#""load":[{"error":{"code":-32603,"message":"out of order"}}]"#, kept, "out of order");
    check_lost(r#""load":[{"replay":1},{"exit":3}]"#, kept, "exit status 3");
    check_lost(r#""load":[{"hang":true}]"#, kept, "did not answer session/load");
    check_lost(r#""load":[{"result":{"sessionId":"another"}}]"#, kept, "another session");
    check_lost(r#""reload":["resume"]"#, kept, "nothing shows that");
    let emptied = |server: &TestServer| {
        std::fs::remove_dir_all(server.data().join("agents/b-echo/.scripted-sessions")).unwrap();
    };
    check_lost(r#""reload":["load","resume","list"]"#, emptied, "Resource not found");
}

/// public reports A9 and A10: nothing of a replay is posted, whenever it comes.
#[test]
fn a_replay_is_never_posted() {
    let mut server = TestServer::start();
    let script = r#"SCRIPTED_SCRIPT={"store":true,"load":[{"replay":1},{"answer":{}},{"replay":1}]}"#;
    server.add_scripted("echo", "general", "log", &["--env", script]);
    let answer = "an old answer, that is long enough to be known";
    turn(&server, &format!(r#"@echo one SCRIPT:{{"prompt":[{{"text":"{answer}"}}]}}"#));
    assert!(server.stop().success());
    server.start_again(&[]);
    let run = turn(&server, r#"@echo two SCRIPT:{"prompt":[{"text":"new"}]}"#);
    assert_eq!((&run["lease"], &run["replies"][0]["text"]), (&"restored".into(), &"new".into()), "{run}");
    let history = server.json(&["history", "general"]);
    let answers =
        history.as_array().unwrap().iter().filter(|message| text_of(&message["text"]).contains(answer));
    // The message that asks for it, and the answer.
    assert_eq!(answers.count(), 2);
}
