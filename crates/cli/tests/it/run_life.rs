//! The life of runs: tried again, stopped and held, paused, limited, given up.

use std::thread;

use serde_json::{Value, json};

use crate::http::Http;
use crate::server::{TestServer, wait_until};
use crate::thirty_mentions::logged_prompts;

/// Limits that hanging agents reach soon.
const SHORT: &str = "start_limit = \"700ms\"\ninactivity_limit = \"500ms\"\ngrace = \"200ms\"\n";

fn server_with(config: &str) -> TestServer {
    let mut server = TestServer::start();
    server.stop();
    std::fs::write(server.file("config.toml"), config).unwrap();
    start(&mut server);
    server
}

fn start(server: &mut TestServer) {
    let config = server.file("config.toml");
    server.start_again(&["--config", &config]);
}

/// A mention with a script for its turns; the id of its run.
fn mention(server: &TestServer, handle: &str, script: &Value) -> String {
    let posted = server.json(&["post", "general", &format!("@{handle} SCRIPT:{script}")]);
    posted["runs"][0]["id"].as_str().unwrap().to_owned()
}

fn field(run: &Value, name: &str) -> String {
    run[name].as_str().unwrap_or_default().to_owned()
}

fn status(server: &TestServer, run: &str) -> String {
    field(&server.show(run), "status")
}

fn wait_for(server: &TestServer, run: &str, expected: &str) -> Value {
    wait_until(&format!("{run} is {expected}"), || status(server, run) == expected);
    server.show(run)
}

/// What the host said in the channel, oldest first.
fn notices(server: &TestServer) -> Vec<String> {
    let history = server.json(&["history", "general", "--limit", "1000"]);
    let by_host = history.as_array().unwrap().iter().filter(|message| message["author"]["kind"] == "system");
    by_host.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

fn limited(more: &Value) -> Value {
    let mut data = json!({"errorKind": "rate_limit"});
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!([{"error": {"code": -32603, "message": "Internal error", "data": data}}])
}

/// Rule 2.5 and public report G70: a provider that asks to wait is waited for, so often and no more.
#[test]
fn a_rate_limit_is_waited_for_and_the_answer_comes_once() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let soon = limited(&json!({"retryAfterMs": 20}));
    let script = json!({"prompts": [soon, soon, [{"text": "at last"}], soon, soon, soon]});
    let run = wait_for(&server, &mention(&server, "echo", &script), "succeeded");
    assert_eq!((run["tries"].as_u64(), run["again_at"].clone()), (Some(2), Value::Null));
    let replies: Vec<String> =
        run["replies"].as_array().unwrap().iter().map(|one| field(one, "text")).collect();
    assert_eq!(replies, ["at last"]);
    let steps: Vec<&Value> =
        run["events"].as_array().unwrap().iter().map(|step| &step["body"]["text"]).collect();
    assert_eq!(
        steps,
        [
            "the provider's rate limit; tries again in 1 s (2 of 3)",
            "the provider's rate limit; tries again in 1 s (3 of 3)"
        ]
    );
    assert_eq!(logged_prompts(&server.file("log")).len(), 3);

    let run = wait_for(&server, &mention(&server, "echo", &script), "failed");
    assert!(field(&run, "error").ends_with("(tried 3 times)"), "{run}");
    assert_eq!(logged_prompts(&server.file("log")).len(), 6);
}

#[test]
fn a_run_that_waits_to_be_tried_again_says_so_over_a_restart() {
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let later = json!({"prompts": [limited(&json!({"retryAfter": 590})), [{"text": "never"}]]});
    let run = mention(&server, "echo", &later);
    let second = mention(&server, "echo", &json!({"prompt": [{"text": "second"}]}));
    let waits = "tries again in 10 min (2 of 3) after the provider's rate limit";
    wait_until("it waits", || field(&server.show(&run), "waiting") == waits);
    assert_eq!(field(&server.show(&second), "waiting"), format!("behind {run}"));
    assert_eq!(
        server.ask("general", "@guide help", &[])["runs"][0]["status"],
        "succeeded",
        "others do not wait"
    );
    server.kill();
    server.start_again(&[]);
    let shown = server.show(&run);
    assert_eq!((field(&shown, "waiting").as_str(), shown["tries"].as_u64()), (waits, Some(1)));
    server.ok(&["run", "cancel", &run]);
    wait_for(&server, &second, "succeeded");
    assert_eq!(logged_prompts(&server.file("log")).len(), 2);
}

/// Rules 2.5, 2.6 and public report J88: an error of the transport ends the turn.
#[test]
fn what_does_not_pass_is_not_tried_again() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let errors = [
        json!({"code": -32000, "message": "Authentication required"}),
        json!({"code": -32603, "message": "API Error: 413", "data": {"errorKind": "unknown"}}),
        json!({"code": -32603, "message": "API Error: 400", "data": {"errorKind": "invalid_request"}}),
    ];
    for (n, error) in errors.iter().enumerate() {
        let run = mention(&server, "echo", &json!({"prompt": [{"error": error}]}));
        let run = wait_for(&server, &run, "failed");
        assert!(field(&run, "error").contains(error["message"].as_str().unwrap()), "{run}");
        assert_eq!(logged_prompts(&server.file("log")).len(), n + 1);
    }
    // It had spoken: what it did is not done again.
    let late = limited(&json!({"retryAfterMs": 1}));
    let run = mention(&server, "echo", &json!({"prompt": [{"text": "let me see"}, late[0]]}));
    wait_for(&server, &run, "failed");
    assert_eq!(logged_prompts(&server.file("log")).len(), 4);
    let fine = mention(&server, "echo", &json!({"prompt": [{"text": "fine"}]}));
    wait_for(&server, &fine, "succeeded");
}

/// Rule 6.2 and public report A7: one bad input does not fail every later turn.
#[test]
fn a_poisoned_session_is_replaced() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let bad = json!({"code": -32603, "message": "400 {\"type\":\"invalid_request_error\"}", "data": {"errorKind": "unknown"}});
    let mut natives = Vec::new();
    for _ in 0..2 {
        let run = mention(&server, "echo", &json!({"prompt": [{"error": bad}]}));
        natives.push(wait_for(&server, &run, "failed")["native"].clone());
    }
    assert_eq!(natives[0], natives[1]);
    let said = notices(&server);
    assert!(said.last().unwrap().starts_with("@echo begins a new session with its next turn"), "{said:?}");
    let run = mention(&server, "echo", &json!({"prompt": [{"text": "better"}]}));
    let run = wait_for(&server, &run, "succeeded");
    assert_eq!(
        (field(&run, "lease").as_str(), field(&run, "lease_why").as_str()),
        ("cold", "the provider refused its requests as invalid")
    );
    assert_ne!(run["native"], natives[0]);
    assert!(field(&run, "sent").contains("Recent messages in this channel"), "{run}");
}

/// A turn that waits for its cancel.
fn patient() -> Value {
    json!({"prompt": [{"await_cancel": true}, {"answer": {"stop": "cancelled"}}]})
}

/// Rule 2.6 and public report D43: queued runs do not begin because one was stopped.
#[test]
fn a_stop_holds_the_queue_until_somebody_lets_it_go_on() {
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let first = mention(&server, "echo", &patient());
    wait_for(&server, &first, "running");
    let queued: Vec<String> =
        (0..2).map(|n| mention(&server, "echo", &json!({"prompt": [{"text": n.to_string()}]}))).collect();
    server.ok(&["run", "cancel", &first]);
    wait_for(&server, &first, "cancelled");
    let held = format!("held since {first} was stopped");
    for run in &queued {
        let run = server.show(run);
        assert_eq!((field(&run, "status").as_str(), field(&run, "waiting")), ("queued", held.clone()));
    }
    assert!(notices(&server).last().unwrap().contains(&format!("held: {}, {}", queued[0], queued[1])));
    let listed = server.ok(&["agent", "list", "--channel", "general"]);
    assert!(listed.contains(&format!("held since {first}")), "{listed}");
    server.kill();
    server.start_again(&[]);
    assert_eq!(field(&server.show(&queued[0]), "waiting"), held);
    let resumed = server.ok(&["run", "resume", &queued[1]]);
    assert_eq!(resumed, "@echo of general goes on\n");
    for run in &queued {
        wait_for(&server, run, "succeeded");
    }
    let again = server.run(&["run", "resume", &queued[1]]);
    assert!(again.code != 0 && again.err.contains("is not held"), "{again:?}");

    // A new mention lets it go on as well.
    let first = mention(&server, "echo", &patient());
    wait_for(&server, &first, "running");
    let second = mention(&server, "echo", &json!({"prompt": [{"text": "second"}]}));
    server.ok(&["run", "cancel", &first]);
    wait_for(&server, &first, "cancelled");
    let third = mention(&server, "echo", &json!({"prompt": [{"text": "third"}]}));
    for run in [&second, &third] {
        wait_for(&server, run, "succeeded");
    }
}

/// Rule 2.6 and public report D44: whatever a run is doing when its cancel comes, it ends cancelled.
#[test]
fn a_cancel_right_after_the_mention_is_not_lost() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    server.ask("general", "@echo good morning", &[]);
    let http = Http::new(&server);
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    let http = http.token(token.trim());
    for _ in 0..10 {
        let text = json!({"text": format!("@echo SCRIPT:{}", patient())});
        let posted = http.ok("POST", "/channels/general/messages", &text);
        let run = posted["runs"][0]["id"].as_str().unwrap().to_owned();
        http.ok("POST", &format!("/runs/{run}/cancel"), &Value::Null);
        wait_for(&server, &run, "cancelled");
    }
    let last = mention(&server, "echo", &json!({"prompt": [{"text": "good night"}]}));
    wait_for(&server, &last, "succeeded");
}

#[test]
fn paused_agents_finish_what_they_do_and_begin_nothing() {
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let running = mention(&server, "echo", &json!({"prompt": [{"await_cancel": true}, {"text": "done"}]}));
    wait_for(&server, &running, "running");
    assert!(server.ok(&["pause"]).starts_with("all agents are paused since "));
    let waiting = mention(&server, "echo", &json!({"prompt": [{"text": "later"}]}));
    let other =
        server.json(&["post", "general", "@guide help"])["runs"][0]["id"].as_str().unwrap().to_owned();
    let listed = server.ok(&["agent", "list"]);
    assert!(listed.contains("busy, then paused"), "{listed}");
    server.ok(&["run", "cancel", &running]);
    wait_until("it is done", || status(&server, &running) != "running");
    let listed = server.ok(&["agent", "list"]);
    assert!(listed.contains("paused") && !listed.contains("busy"), "{listed}");
    server.ok(&["run", "resume", &waiting]);
    server.kill();
    server.start_again(&[]);
    for run in [&waiting, &other] {
        let waits = field(&server.show(run), "waiting");
        assert!(waits.starts_with("all agents are paused since "), "{waits}");
    }
    let paused = server.ok(&["pause", "--channel", "general"]);
    assert!(paused.starts_with("the agents of general are paused since "), "{paused}");
    assert!(server.ok(&["channel", "list"]).contains("channel, paused"));
    assert_eq!(server.ok(&["resume"]), "the pause of all agents is over\n");
    let waits = field(&server.show(&other), "waiting");
    assert!(waits.starts_with("the channel's agents are paused since "), "{waits}");
    assert_eq!(server.ok(&["resume", "--channel", "general"]), "the agents of general are not paused\n");
    for run in [&waiting, &other] {
        wait_for(&server, run, "succeeded");
    }
    let said: Vec<String> = notices(&server).into_iter().filter(|text| text.starts_with("olive ")).collect();
    let expected = [
        "olive paused all agents: mentions wait, and what runs goes on until it is done. They go on with: highwater resume",
        "olive paused the agents of this channel: mentions wait, and what runs goes on until it is done. They go on with: \
         highwater resume --channel general",
        "olive lets all agents go on",
        "olive lets the agents of this channel go on",
    ];
    assert_eq!(said, expected);
}

/// Rules 6.3, 6.9 and public report E47: four that hang fill the pool; whoever waits for a place gets one as soon as the
/// first of them has come to its limit and its grace is over, and all of them are usable again.
#[test]
fn four_hung_agents_hold_up_nobody_for_long() {
    let server = server_with("inactivity_limit = \"2s\"\ngrace = \"200ms\"\npool_size = 4\n");
    let hung: Vec<String> = (1..=4).map(|n| format!("hung{n}")).collect();
    for handle in &hung {
        server.add_scripted(handle, "general", handle, &[]);
    }
    server.add_scripted("fifth", "general", "fifth", &[]);
    let runs: Vec<String> =
        hung.iter().map(|handle| mention(&server, handle, &json!({"prompt": [{"hang": true}]}))).collect();
    let asked = server.ask("general", r#"@fifth @guide SCRIPT:{"prompt":[{"text":"ok"}]}"#, &[]);
    let others: Vec<Value> =
        asked["runs"].as_array().unwrap().iter().map(|run| server.show(&field(run, "id"))).collect();
    let runs: Vec<Value> = runs.iter().map(|run| wait_for(&server, run, "failed")).collect();
    for run in &runs {
        let reason = "the agent gave no sign of life for 2 s; its turn was cancelled; the agent did not stop within 0.2 s and \
                      was ended";
        assert!(field(run, "error").starts_with(reason), "{run}");
    }
    // They began when all places were taken, and waited for no more than one of those that were given up.
    let mut ends: Vec<String> = runs.iter().map(|run| field(run, "ended_at")).collect();
    ends.sort();
    assert_eq!(others.len(), 2);
    for run in &others {
        assert_eq!(field(run, "status"), "succeeded", "{}", run["error"]);
        assert!(field(run, "started_at") >= ends[0], "{run} had no place before {}", ends[0]);
    }
    for handle in &hung {
        let run = mention(&server, handle, &json!({"prompt": [{"text": "well again"}]}));
        wait_for(&server, &run, "succeeded");
    }
}

/// Rules 6.3, 6.4 and public report E49: starts wait for nobody but themselves.
#[test]
fn a_stuck_start_delays_its_own_key_alone() {
    let server = TestServer::start();
    server.add_scripted(
        "stuck",
        "general",
        "log",
        &["--env", r#"SCRIPTED_SCRIPT={"initialize":[{"hang":true}]}"#],
    );
    server.add_scripted("echo", "general", "log2", &[]);
    let stuck = mention(&server, "stuck", &json!({}));
    let behind = mention(&server, "stuck", &json!({}));
    wait_until("it starts", || field(&server.show(&stuck), "waiting") == "its agent is starting");
    for _ in 0..3 {
        for agent in ["echo", "guide"] {
            assert_eq!(
                server.ask("general", &format!("@{agent} hello"), &[])["runs"][0]["status"],
                "succeeded"
            );
        }
    }
    assert_eq!(field(&server.show(&stuck), "waiting"), "its agent is starting");
    assert_eq!(field(&server.show(&behind), "waiting"), format!("behind {stuck}"));
    for run in [&behind, &stuck] {
        server.ok(&["run", "cancel", run]);
        assert_eq!(status(&server, run), "cancelled");
    }
    server.ok(&["agent", "remove", "stuck", "--channel", "general"]);
}

/// Rules 2.6, 6.9 and public reports D40, E48: signs of life do not make a turn last for ever, and others go on meanwhile.
#[test]
fn a_turn_that_never_ends_reaches_its_limit() {
    let server = server_with("grace = \"200ms\"\n");
    server.add_scripted("busy", "general", "log", &["--turn-limit", "2s"]);
    server.ok(&["channel", "add", "elsewhere"]);
    server.add_scripted("echo", "elsewhere", "log2", &[]);
    let run = mention(&server, "busy", &json!({"prompt": [{"flood": {"what": "updates", "count": 0}}]}));
    let second = mention(&server, "busy", &json!({"prompt": [{"text": "second"}]}));
    assert_eq!(server.ask("elsewhere", "@echo hello", &[])["runs"][0]["status"], "succeeded");
    let run = wait_for(&server, &run, "failed");
    assert!(field(&run, "error").starts_with("the turn took longer than 2 s and was cancelled"), "{run}");
    wait_for(&server, &second, "succeeded");
    let agents = server.json(&["agent", "list", "--channel", "general"]);
    let busy = agents.as_array().unwrap().iter().find(|agent| agent["handle"] == "busy").unwrap();
    assert_eq!(
        (busy["turn_limit_ms"].as_u64(), busy["inactivity_limit_ms"].clone()),
        (Some(2_000), Value::Null)
    );
}

/// Fault experiment 6: at initialize, in a turn, after a cancel.
#[test]
fn an_agent_that_hangs_anywhere_is_ended_and_said_so() {
    let server = server_with(SHORT);
    server.add_scripted(
        "stuck",
        "general",
        "log",
        &["--env", r#"SCRIPTED_SCRIPT={"initialize":[{"hang":true}]}"#],
    );
    server.add_scripted("echo", "general", "log2", &[]);
    let started = wait_for(&server, &mention(&server, "stuck", &json!({})), "failed");
    assert!(
        field(&started, "error").starts_with("the agent did not answer initialize within 0.7 s"),
        "{started}"
    );
    let silent = mention(&server, "echo", &json!({"prompt": [{"hang": true}]}));
    let silent = wait_for(&server, &silent, "failed");
    assert!(field(&silent, "error").starts_with("the agent gave no sign of life for 0.5 s"), "{silent}");

    let child = server.file("child");
    let deaf = json!({"ignore_eof": true, "prompt": [{"child": child}, {"text": "so far"}, {"flood": {"what": "updates", "count": 0}}]});
    let deaf = mention(&server, "echo", &deaf);
    wait_for(&server, &deaf, "running");
    wait_until("it works", || std::path::Path::new(&child).exists());
    server.ok(&["run", "cancel", &deaf]);
    let deaf = wait_for(&server, &deaf, "cancelled");
    assert!(
        field(&deaf, "error").starts_with("cancelled; the agent did not stop within 0.2 s and was ended"),
        "{deaf}"
    );
    for run in [&started, &silent, &deaf] {
        let told = server.json(&["history", "general", "--limit", "1000"]);
        let told = told.as_array().unwrap().iter().filter(|message| message["run_id"] == run["id"]).count();
        assert_eq!(told, 1, "one notice for {run}");
    }
    let fine = mention(&server, "echo", &json!({"prompt": [{"text": "fine"}]}));
    wait_for(&server, &fine, "succeeded");
    let pid = std::fs::read_to_string(&child).unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{}", pid.trim())).exists(), "its child lives on");
}

/// Fault experiment 10, public report C33: each addressed message ends visibly, in one notice.
#[test]
fn a_process_that_dies_in_a_turn_costs_that_run_and_is_said_once() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    for (step, how) in [
        (json!({"exit": 0}), "exit status 0"),
        (json!({"exit": 1}), "exit status 1"),
        // The first only takes the handler away that the standard library has for it.
        (json!({"signal": 11}), "signal 11"),
    ] {
        let run = mention(&server, "echo", &json!({"prompt": [{"text": "half"}, step, step]}));
        let run = wait_for(&server, &run, "failed");
        assert!(field(&run, "error").starts_with(&format!("the agent's process ended: {how}")), "{run}");
        assert_eq!(run["replies"].as_array().unwrap().len(), 1, "{run}");
        let next = mention(&server, "echo", &json!({"prompt": [{"text": "back"}]}));
        assert_eq!(field(&wait_for(&server, &next, "succeeded"), "lease"), "cold");
    }
}

/// Fault experiment 10: backoff, a budget of starts, one notice; then a person.
#[test]
fn a_crash_loop_ends_and_waits_for_a_person() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    server.ok(&["pause"]);
    let dies = json!({"prompt": [{"exit": 1}]});
    let runs: Vec<String> = (0..5).map(|_| mention(&server, "echo", &dies)).collect();
    server.ok(&["resume"]);
    for run in &runs[..3] {
        wait_for(&server, run, "failed");
    }
    let held = format!("held since its agent's process failed 3 times in a row, last in {}", runs[2]);
    for run in &runs[3..] {
        assert_eq!(field(&server.show(run), "waiting"), held);
    }
    let given_up = notices(&server).into_iter().filter(|text| text.contains("It needs a person")).count();
    assert_eq!(given_up, 1);
    assert_eq!(logged_prompts(&server.file("log")).len(), 3);
    for run in &runs[3..] {
        server.ok(&["run", "cancel", run]);
    }
    let fine = mention(&server, "echo", &json!({"prompt": [{"text": "fine"}]}));
    wait_for(&server, &fine, "succeeded");
}

/// Fault experiment 13, rule 2.6 and public reports C33, C35, D45: one turn at a time, nobody's answer is lost.
#[test]
fn many_mentions_at_once_are_answered_one_by_one() {
    const PEOPLE: [&str; 5] = ["ada", "ben", "cleo", "dan", "eve"];
    let server = TestServer::start();
    server.add_scripted(
        "echo",
        "general",
        "log",
        &["--env", r#"SCRIPTED_SCRIPT={"prompt":[{"text":"yes"}]}"#],
    );
    for person in PEOPLE {
        server.ok(&["person", "add", person]);
    }
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    let http = Http::new(&server).token(token.trim());
    thread::scope(|scope| {
        for person in PEOPLE {
            let http = http.clone();
            scope.spawn(move || {
                for n in 0..10 {
                    let body = json!({"text": format!("@echo {person} {n}"), "author": person});
                    http.ok("POST", "/channels/general/messages", &body);
                }
            });
        }
    });
    let runs = || server.json(&["run", "list", "--limit", "100"]);
    wait_until("all are answered", || {
        runs().as_array().unwrap().iter().all(|run| run["status"] == "succeeded")
    });
    let runs = runs();
    let mut turns: Vec<(String, String)> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (field(run, "started_at"), field(run, "ended_at")))
        .collect();
    assert_eq!(turns.len(), 50);
    turns.sort();
    for pair in turns.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "two turns at once: {pair:?}");
    }
    let answers = |run: &Value| run["replies"].as_array().unwrap().len();
    assert!(runs.as_array().unwrap().iter().all(|run| answers(run) == 1));
    let mut asked: Vec<String> =
        runs.as_array().unwrap().iter().map(|run| field(run, "message_id")).collect();
    asked.dedup();
    assert_eq!(asked.len(), 50);
}
