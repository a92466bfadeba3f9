//! Runs that are steered, with whole programs.

use serde_json::{Value, json};

use crate::server::{TestServer, program_path, wait_until};
use crate::thirty_mentions::logged_prompts;

/// Adds an agent with this script, logging to `log`.
fn add(server: &TestServer, handle: &str, script: &Value, more: &[&str]) {
    let log = format!("SCRIPTED_LOG={}", server.file("log"));
    let agent = program_path("scripted-agent").display().to_string();
    let args = ["agent", "add", handle, "--channel", "general", "--env", &log];
    server.ok(&[&args[..], more, &["--", &agent, &script.to_string()]].concat());
}

/// A mention whose run has begun; the run's id.
fn begun(server: &TestServer, text: &str) -> String {
    let posted = server.json(&["post", "general", text]);
    let run = posted["runs"][0]["id"].as_str().unwrap().to_owned();
    wait_until("it has begun", || server.show(&run)["status"] == "running");
    run
}

fn steps(run: &Value) -> Vec<String> {
    let steps = run["events"].as_array().unwrap().iter();
    let steps = steps.filter(|step| ["steer", "steered"].contains(&step["kind"].as_str().unwrap()));
    steps.map(|step| step["body"]["outcome"].as_str().unwrap_or("sent").to_owned()).collect()
}

fn history(server: &TestServer) -> Vec<Value> {
    server.json(&["history", "general", "--limit", "1000"]).as_array().unwrap().clone()
}

/// Rules 2.6, 3.5 and public report B16: what was put into a turn is committed with it.
#[test]
fn a_person_steers_a_turn_and_it_is_told_once() {
    let server = TestServer::start();
    let prompts = json!([[{"await_steer": true}], [{"text": "second"}]]);
    add(&server, "echo", &json!({"steering": true, "prompts": prompts}), &[]);
    let run = begun(&server, "@echo first");
    let steer = ["run", "steer", &run, "-"];
    let output = server.run_with(&steer, b"leave the *tests* alone\n");
    assert_eq!((output.code, output.out), (0, format!("m2 goes to the agent of {run}\n")), "{}", output.err);
    wait_until("it is done", || server.show(&run)["status"] == "succeeded");
    let shown = server.show(&run);
    assert_eq!(steps(&shown), ["sent", "injected"]);
    let reply = shown["replies"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(shown["replies"].as_array().unwrap().len(), 1, "the steer is no reply: {shown}");
    assert_eq!(shown["events"][0]["body"]["text"], reply.as_str(), "what was sent is kept byte for byte");
    assert!(reply.contains("\"text\":\"leave the *tests* alone\""), "{reply}");
    let message = &history(&server)[1];
    assert_eq!((&message["text"], &message["run_id"]), (&json!("leave the *tests* alone"), &json!(run)));
    let words = server.ok(&["run", "show", &run]);
    assert!(words.contains("steers it by m2") && words.contains("m2 was taken in"), "{words}");

    server.ask("general", "@echo next", &[]);
    let next = logged_prompts(&server.file("log")).pop().unwrap();
    assert!(!next.contains("leave the"), "{next}");
    server.ok(&["delete", "m2"]);
    let step = server.show(&run)["events"][0]["body"].clone();
    assert_eq!(step, json!({"message_id": "m2", "author": "olive", "text": "[deleted]"}));
}

/// Rule 2.6 and public report D38: without steering, messages during a turn wait, and none is dropped.
#[test]
fn who_cannot_be_steered_says_so_and_mentions_wait() {
    let server = TestServer::start();
    let prompts = json!([[{"await_cancel": true}, {"answer": {"stop": "cancelled"}}], [{"text": "second"}]]);
    add(&server, "echo", &json!({"prompts": prompts}), &[]);
    let run = begun(&server, "@echo first");
    let before = history(&server);
    let output = server.run(&["run", "steer", &run, "leave the tests alone"]);
    assert!(output.code != 0 && output.err.contains("@echo cannot be steered"), "{output:?}");
    assert!(output.err.contains("Mention it instead"), "{output:?}");
    assert_eq!(history(&server), before, "nothing is posted");
    let posted = server.json(&["post", "general", "@echo leave the tests alone"]);
    let second = posted["runs"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(server.show(&second)["waiting"], format!("behind {run}"));
    server.ok(&["run", "cancel", &run]);
    wait_until("it was stopped", || server.show(&run)["status"] == "cancelled");
    server.ok(&["run", "resume", &second]);
    wait_until("it is answered", || server.show(&second)["status"] == "succeeded");
    let output = server.run(&["run", "steer", &second, "more"]);
    assert!(output.err.contains("has ended; mention @echo again instead"), "{output:?}");
}

/// Rules 5.4, 6.9 and public report D39: however often a turn is steered, it ends at its limit, and the next one is told
/// what it took in.
#[test]
fn steering_extends_no_limit_and_what_was_absorbed_comes_again() {
    let server = TestServer::start();
    let script = json!({"steering": true, "prompts": [[{"await_cancel": true}, {"answer": {"stop": "cancelled"}}],
        [{"text": "second"}]]});
    add(&server, "echo", &script, &["--turn-limit", "900ms", "--inactivity-limit", "800ms"]);
    let run = begun(&server, "@echo first");
    let mut taken = 0;
    while server.show(&run)["status"] == "running" {
        taken += u32::from(server.run(&["run", "steer", &run, &format!("steer {taken}.")]).code == 0);
    }
    let shown = server.show(&run);
    assert_eq!(shown["status"], "failed");
    assert!(shown["error"].as_str().unwrap().contains("the turn took longer than 0.9 s"), "{shown}");
    assert!(taken > 0, "{shown}");
    server.ask("general", "@echo next", &[]);
    let next = logged_prompts(&server.file("log")).pop().unwrap();
    let newest = format!("- [user] olive: steer {}.", taken - 1);
    assert_eq!(next.matches(&newest).count(), 1, "{newest} in {next}");
}

/// An agent that takes nothing in loses nothing: the message is an ordinary one.
#[test]
fn what_is_not_taken_in_is_said_and_comes_with_the_next_turn() {
    let server = TestServer::start();
    let error = json!({"error": {"code": -32603, "message": "not now"}});
    let prompts =
        json!([[{"await_cancel": true}, {"text": "as asked"}, {"answer": {}}], [{"text": "second"}]]);
    add(&server, "echo", &json!({"steering": error, "prompts": prompts}), &[]);
    let run = begun(&server, "@echo first");
    server.ok(&["run", "steer", &run, "leave the tests alone"]);
    wait_until("it is refused", || steps(&server.show(&run)) == ["sent", "not_taken"]);
    let notice = history(&server).pop().unwrap()["text"].as_str().unwrap().to_owned();
    let expected = "@echo did not take in m2: the agent answered with an error: not now; it comes with the next turn, when \
                    somebody mentions it";
    assert_eq!(notice, expected);
    server.ok(&["run", "cancel", &run]);
    server.ask("general", "@echo next", &[]);
    let next = logged_prompts(&server.file("log")).pop().unwrap();
    assert_eq!(next.matches("leave the tests alone").count(), 1, "{next}");
}
