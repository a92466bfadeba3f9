//! `highwater agent change`: what holds from a new session on, and what from the next process on.

use serde_json::{Value, json};

use crate::server::TestServer;

fn turn(server: &TestServer, steps: &Value) -> Value {
    let asked = server.ask("general", &format!("@echo SCRIPT:{}", json!({"prompt": steps})), &[]);
    asked["runs"][0].clone()
}

fn said(run: &Value) -> &str {
    run["replies"][0]["text"].as_str().unwrap()
}

/// Cache breaks B3.43 and B3.48.
#[test]
fn what_a_session_has_from_its_beginning_begins_a_new_one() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let first = turn(&server, &json!([{"text": "one"}]));
    let change = ["agent", "change", "echo", "--channel", "general"];
    let changed = |more: &[&str]| server.ok(&[&change, more].concat());

    // The same as before, and what no session has from its beginning, leave it alone.
    changed(&["--delivery", "lean", "--addressed-by", "owners", "--when-cold", "fresh"]);
    let second = turn(&server, &json!([{"text": "two"}]));
    assert_eq!((&second["lease"], &second["native"]), (&json!("warm"), &first["native"]));

    let shown = changed(&["--delivery", "window", "--model", "m-2"]);
    assert_eq!(
        shown,
        "@echo of general was changed\nprofile: own\ndelivery: window\nsession: resident\nmodel: m-2\nenvironment: \
         SCRIPTED_LOG\n"
    );
    let third = turn(&server, &json!([{"text": "three"}]));
    assert_eq!(third["lease"], "cold", "{third}");
    assert_ne!(third["native"], first["native"]);
    assert!(third["sent"].as_str().unwrap().contains("Recent messages in this channel"), "{third}");

    changed(&["--model", ""]);
    let agents = server.json(&["agent", "list"]);
    let echo = agents.as_array().unwrap().iter().find(|agent| agent["handle"] == "echo").unwrap();
    assert_eq!((&echo["model"], &echo["addressed_by"]), (&Value::Null, &json!("owners")));
}

#[test]
fn an_environment_changes_with_the_next_process_and_the_session_stays() {
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &["--env", "KEY=first"]);
    let look = json!([{"env": "KEY"}]);
    assert_eq!(said(&turn(&server, &look)), "first");
    let change = ["agent", "change", "echo", "--channel", "general"];
    server.ok(&[&change[..], &["--unset-env", "KEY", "--env", "OTHER=there"]].concat());
    let second = turn(&server, &look);
    assert_eq!((said(&second), &second["lease"]), ("first", &json!("warm")));

    server.stop();
    server.start_again(&[]);
    assert_eq!(said(&turn(&server, &look)), "none");
    assert_eq!(said(&turn(&server, &json!([{"env": "OTHER"}]))), "there");
}

#[test]
fn a_change_that_cannot_hold_is_refused_and_changes_nothing() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &["--env", "KEY=first"]);
    let list = || server.json(&["agent", "list"]);
    let before = list();
    let check = |more: &[&str], code: i32, part: &str| {
        let refused = server.run(&[&["agent", "change", "echo", "--channel", "general"], more].concat());
        assert_eq!(refused.code, code, "{more:?}: {refused:?}");
        assert!(refused.err.contains(part), "{more:?}: {refused:?}");
        assert_eq!(list(), before);
    };
    check(&[], 2, "required arguments were not provided");
    check(&["--profile", "lean"], 5, "custom has no profile lean; it has own");
    check(&["--unset-env", "NONE", "--model", "m"], 5, "the agent is given no NONE");
    check(&["--unset-env", "KEY", "--env", "KEY=a"], 5, "say one of it");
    let nobody = server.run(&["agent", "change", "nobody", "--channel", "general", "--model", "m"]);
    assert_eq!((nobody.code, nobody.err.contains("no agent @nobody")), (3, true), "{nobody:?}");
}
