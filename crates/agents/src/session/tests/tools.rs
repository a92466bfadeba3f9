//! What an agent asks for, and Highwater's own tools, about whose use nobody is asked.

use super::*;

const NAMES: &[&str] = &["channel_history", "decline"];

fn with_tools() -> Spec {
    let tools = ToolServer {
        url: "http://127.0.0.1:7717/mcp".to_owned(),
        token: "t0ken".to_owned(),
        bridge: vec!["/bin/highwater".to_owned(), "mcp".to_owned()],
        names: NAMES,
    };
    Spec { tools: Some(tools), ..spec(None, None) }
}

#[test]
fn a_session_is_told_of_the_tools_in_the_way_that_the_agent_can_reach_them() {
    let check = |capabilities: &Value, server: &Value| {
        let mut talk = Talk::new(&with_tools());
        talk.outputs();
        talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": capabilities}}));
        let params = json!({"cwd": "/agent", "mcpServers": [server]});
        talk.check(&[Done::Line(json!({"id": 2, "method": "session/new", "params": params}))]);
    };
    let http = json!({"type": "http", "name": "highwater", "url": "http://127.0.0.1:7717/mcp",
        "headers": [{"name": "Authorization", "value": "Bearer t0ken"}]});
    let stdio = json!({"name": "highwater", "command": "/bin/highwater", "args": ["mcp"], "env": [
        {"name": "HIGHWATER_MCP_URL", "value": "http://127.0.0.1:7717/mcp"},
        {"name": "HIGHWATER_MCP_TOKEN", "value": "t0ken"}]});
    check(&json!({"mcpCapabilities": {"http": true}}), &http);
    check(&json!({"mcpCapabilities": {"http": false, "sse": true}}), &stdio);
    check(&json!({}), &stdio);
}

/// What the agent is told at once, if anything, and what people are.
fn check_asked(spec: &Spec, session: &str, tool: &Value, answered: Option<&str>, asked: bool) {
    let mut talk = Talk::new(spec);
    talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1}}));
    talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
    talk.session.prompt(run("r1"), "hello", talk.now);
    talk.session.written(run("r1"));
    talk.outputs();
    let mut call = json!({"toolCallId": "t", "title": "mcp__highwater__decline"});
    call.as_object_mut().unwrap().extend(tool.as_object().unwrap().clone());
    let params = json!({"sessionId": session, "toolCall": call,
        "options": [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]});
    talk.hears(&json!({"id": "p", "method": "session/request_permission", "params": params}));
    let outputs = talk.outputs();
    let lines = outputs.iter().filter_map(|output| match output {
        Output::Line(line) => Some(without_version(line)),
        Output::Prompt { .. } | Output::Event(_) | Output::Unfit(_) => None,
    });
    let selected =
        |option| json!({"id": "p", "result": {"outcome": {"outcome": "selected", "optionId": option}}});
    assert_eq!(lines.collect::<Vec<_>>(), answered.map(selected).into_iter().collect::<Vec<_>>(), "{tool}");
    let is_ask = |output: &Output| matches!(output, Output::Event(EventKind::PermissionAsked { .. }));
    assert_eq!(outputs.iter().any(is_ask), asked, "{tool}");
}

#[test]
fn permission_for_an_own_tool_is_given_without_a_word() {
    let with = with_tools();
    let own = json!({"name": "mcp__highwater__decline"});
    check_asked(&with, "s", &own, Some("yes"), false);
    check_asked(&with, "another", &own, Some("no"), false);
    check_asked(&spec(None, None), "s", &own, None, true);
}

#[test]
fn a_tool_that_is_only_called_like_an_own_one_is_asked_about() {
    let with = with_tools();
    let check = |tool: &Value| check_asked(&with, "s", tool, None, true);
    // The title is an own tool's in each of them.
    check(&json!({}));
    check(&json!({"name": "Bash"}));
    check(&json!({"name": "decline"}));
    check(&json!({"name": "mcp__highwater__other"}));
    check(&json!({"name": "mcp__evil__decline"}));
    check(&json!({"name": "mcp__evil__mcp__highwater__decline"}));
    check(&json!({"rawInput": {"name": "mcp__highwater__decline"}}));
    let titled = |id: &str| json!({"toolCallId": id, "title": "decline (highwater MCP Server)"});
    check(&titled("run_shell_command__1"));
    check(&titled("mcp_evil_decline__1"));
    check_asked(&with, "s", &titled("mcp_highwater_decline__1"), Some("yes"), false);
    let of = |server: &Value| json!({"_meta": {"claudeCode": {"toolName": "mcp__highwater__decline", "mcpServer": server}}});
    check(&of(&json!("evil")));
    check(&of(&json!({"name": "evil"})));
    check_asked(&with, "s", &of(&json!("highwater")), Some("yes"), false);
    check_asked(&with, "s", &of(&json!({"name": "highwater"})), Some("yes"), false);
}

#[test]
fn requests_of_the_agent_are_refused() {
    let mut talk = Talk::in_turn();
    talk.hears(&json!({"id": 0, "method": "session/request_permission", "params": {}}));
    talk.hears(&json!({"id": null, "method": "fs/read_text_file", "params": {}}));
    talk.hears(&json!({"id": [7], "method": "terminal/create"}));
    talk.hears(&json!({"method": "$/cancel_request"}));
    let not_found = json!({"code": -32601, "message": "method not found"});
    talk.check(&[
        Done::Line(json!({"id": 0, "error": {"code": -32602, "message": "not understood"}})),
        Done::Line(json!({"id": [7], "error": not_found})),
    ]);
}
