//! How a conversation begins.

use super::*;

#[test]
fn a_session_begins_with_what_the_agent_can_take() {
    let mut talk = Talk::new(&spec(Some("You are."), None));
    talk.check(&[Done::Line(json!({"id": 1, "method": "initialize", "params": {
        "protocolVersion": 1,
        "clientCapabilities": {
            "fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false, "session": {"compaction": {}},
            "auth": {"terminal": false},
        },
        "clientInfo": {"name": "highwater", "version": env!("CARGO_PKG_VERSION")},
    }}))]);
    let capable =
        json!({"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"systemPrompt": {}}}});
    talk.hears(&json!({"id": 1, "result": capable}));
    talk.check(&[Done::Line(json!({"id": 2, "method": "session/new", "params": {
        "cwd": "/agent", "mcpServers": [],
        "systemPrompt": {"mode": "append", "content": [{"type": "text", "text": "You are."}]},
    }}))]);
    talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
    talk.check(&[started(Prompted::System, &[])]);

    let mut talk = Talk::new(&spec(Some("You are."), None));
    talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1}}));
    talk.outputs();
    talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
    talk.check(&[started(Prompted::Not, &[])]);

    let mut talk = Talk::new(&spec(None, None));
    talk.outputs();
    talk.hears(&json!({"id": 1, "result": capable}));
    let new = json!({"id": 2, "method": "session/new", "params": {"cwd": "/agent", "mcpServers": []}});
    talk.check(&[Done::Line(new)]);
}

#[track_caller]
fn check_model(opened: &Value, request: Option<(&str, Value)>, answer: &Value, notices: &[&str]) {
    let mut talk = Talk::new(&spec(None, Some("small")));
    talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1}}));
    talk.outputs();
    talk.hears(&json!({"id": 2, "result": opened}));
    if let Some((method, params)) = request {
        talk.check(&[Done::Line(json!({"id": 3, "method": method, "params": params}))]);
        talk.hears(answer);
    }
    talk.check(&[started(Prompted::Not, notices)]);
}

#[test]
fn the_model_is_set_where_the_agent_lets_it() {
    let option = json!({"sessionId": "s", "configOptions": [{"id": "model"}]});
    let by_option = json!({"sessionId": "s", "configId": "model", "value": "small"});
    let request = Some(("session/set_config_option", by_option));
    check_model(&option, request.clone(), &json!({"id": 3, "result": {}}), &[]);
    let refused = "the agent's model could not be set: no such model";
    check_model(&option, request, &json!({"id": 3, "error": {"message": "no such model"}}), &[refused]);
    let models = json!({"sessionId": "s", "models": {}});
    let request = Some(("session/set_model", json!({"sessionId": "s", "modelId": "small"})));
    check_model(&models, request, &json!({"id": 3, "result": null}), &[]);
    check_model(
        &json!({"sessionId": "s"}),
        None,
        &Value::Null,
        &["the agent does not let its model be set to small"],
    );
}

/// Until the mode is set nothing is prompted; an agent that refuses it is given up.
/// Cache break B3.43.
#[test]
fn the_mode_is_set_before_the_first_prompt() {
    let begin = |mut spec: Spec| {
        spec.manner.mode = Some("default".to_owned());
        spec.manner.meta = json!({"claudeCode": {"options": {"title": "t"}}}).as_object().unwrap().clone();
        let mut talk = Talk::new(&spec);
        talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1}}));
        talk.outputs();
        talk
    };
    let mode = |id| {
        let params = json!({"sessionId": "s", "modeId": "default"});
        Done::Line(json!({"id": id, "method": "session/set_mode", "params": params}))
    };
    let mut talk = begin(spec(None, Some("small")));
    talk.hears(&json!({"id": 2, "result": {"sessionId": "s", "models": {}}}));
    talk.outputs();
    talk.hears(&json!({"id": 3, "result": {}}));
    talk.check(&[mode(4)]);
    talk.hears(&json!({"id": 4, "result": {}}));
    talk.check(&[started(Prompted::Not, &[])]);

    let mut talk = begin(spec(None, None));
    talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
    talk.check(&[mode(3)]);
    talk.hears(&json!({"id": 3, "error": {"message": "no such mode"}}));
    talk.check(&[unfit("the agent answered session/set_mode with an error: no such mode")]);

    let mut talk = Talk::new(&{
        let mut spec = spec(None, None);
        spec.manner.meta = json!({"own": 1}).as_object().unwrap().clone();
        spec
    });
    talk.outputs();
    talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1}}));
    let params = json!({"cwd": "/agent", "mcpServers": [], "_meta": {"own": 1}});
    talk.check(&[Done::Line(json!({"id": 2, "method": "session/new", "params": params}))]);
}

#[track_caller]
fn check_start_failure(answer: &Value, reason: &str) {
    let mut talk = Talk::new(&spec(None, None));
    talk.outputs();
    talk.hears(answer);
    talk.check(&[unfit(reason)]);
    talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1}}));
    talk.check(&[]);
}

#[test]
fn a_start_that_fails_says_why() {
    check_start_failure(
        &json!({"id": 1, "result": {"protocolVersion": 2}}),
        "the agent speaks version 2 of the Agent Client Protocol, Highwater speaks version 1",
    );
    check_start_failure(
        &json!({"id": 1, "result": 7}),
        "the agent's answer to initialize is not understood: 7",
    );
    check_start_failure(
        &json!({"id": 1, "error": {"message": "key geheim-4711 is wrong"}}),
        "the agent answered initialize with an error: key [redacted] is wrong",
    );
    let mut talk = Talk::new(&spec(None, None));
    talk.outputs();
    talk.at(29);
    talk.check(&[]);
    talk.at(30);
    talk.check(&[unfit("the agent did not answer initialize within 30 s")]);
}

#[track_caller]
fn check_native(native: &str, expect: &[Done]) {
    let mut talk = Talk::new(&spec(None, None));
    talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1}}));
    talk.outputs();
    talk.hears(&json!({"id": 2, "result": {"sessionId": native}}));
    talk.check(expect);
}

#[test]
fn an_id_that_is_none_is_refused() {
    check_native("s", &[started(Prompted::Not, &[])]);
    let refused = |fault: &str| [unfit(&format!("the agent gave its session an id that {fault}"))];
    check_native("", &refused("is empty"));
    check_native(&"ä".repeat(257), &refused("has 514 bytes; the limit is 512"));
    check_native("a\nb", &refused("holds control characters"));
    let longest = "x".repeat(512);
    let mut talk = Talk::new(&spec(None, None));
    talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1}}));
    talk.hears(&json!({"id": 2, "result": {"sessionId": longest}}));
    let native = talk.outputs().into_iter().find_map(|output| match output {
        Output::Event(EventKind::Started(started)) => Some(started.native),
        Output::Event(_) | Output::Line(_) | Output::Prompt { .. } | Output::Unfit(_) => None,
    });
    assert_eq!(native, Some(NativeId(longest)));
}

fn started(system_prompt: Prompted, notices: &[&str]) -> Done {
    let notices = ["a notice"].iter().chain(notices).map(|&notice| notice.to_owned()).collect();
    let system_prompt = system_prompt == Prompted::System;
    Done::Event(EventKind::Started(Started {
        native: NativeId::from("s"),
        begun: Begun::New,
        reloadable: false,
        system_prompt,
        steering: false,
        pid: 42,
        notices,
    }))
}

#[derive(Clone, Copy, PartialEq)]
enum Prompted {
    System,
    Not,
}

/// A title that is given spares an agent the request for one; one that takes none is not told it.
#[test]
fn a_new_session_gets_its_title() {
    let begin = |capabilities: &Value| {
        let mut spec = spec(None, None);
        spec.manner.title = Some("Highwater".to_owned());
        let mut talk = Talk::new(&spec);
        let answer =
            json!({"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": capabilities}});
        talk.hears(&json!({"id": 1, "result": answer}));
        talk.outputs();
        talk
    };
    let mut talk = begin(&json!({"title": {}}));
    talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
    let params = json!({"sessionId": "s", "title": "Highwater"});
    talk.check(&[Done::Line(json!({"id": 3, "method": "session/set_title", "params": params}))]);
    talk.hears(&json!({"id": 3, "error": {"message": "no title today"}}));
    talk.check(&[started(Prompted::Not, &["the session's title could not be set: no title today"])]);

    let mut talk = begin(&json!({}));
    talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
    talk.check(&[started(Prompted::Not, &[])]);
}
