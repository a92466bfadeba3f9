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

#[test]
fn permission_for_an_own_tool_is_given_without_a_word() {
    let check = |spec: &Spec, tool: &str, session: &str, option: &str, seen: bool| {
        let mut talk = Talk::new(spec);
        talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1}}));
        talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
        talk.session.prompt(run("r1"), "hello", talk.now);
        talk.outputs();
        let params = json!({"sessionId": session, "toolCall": {"toolCallId": "t", "title": "x", "name": tool},
            "options": [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]});
        talk.hears(&json!({"id": "p", "method": "session/request_permission", "params": params}));
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        let mut expect = vec![Done::Line(json!({"id": "p", "result": outcome}))];
        if seen {
            let rejected =
                Update::PermissionRejected { title: "x".to_owned(), option: Some("no".to_owned()) };
            expect.insert(0, update(rejected));
        }
        talk.check(&expect);
    };
    let with = with_tools();
    check(&with, "mcp__highwater__decline", "s", "yes", false);
    check(&with, "mcp__highwater__other", "s", "no", true);
    check(&with, "Bash", "s", "no", true);
    check(&with, "mcp__highwater__decline", "another", "no", false);
    check(&spec(None, None), "mcp__highwater__decline", "s", "no", true);
}

#[test]
fn requests_of_the_agent_are_refused() {
    let mut talk = Talk::in_turn();
    let params = json!({"sessionId": "s", "toolCall": {"toolCallId": "t", "title": "rm"}, "options": [
        {"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]});
    talk.hears(&json!({"id": "p", "method": "session/request_permission", "params": params}));
    let rejected = Update::PermissionRejected { title: "rm".to_owned(), option: Some("no".to_owned()) };
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "no"}});
    talk.check(&[update(rejected), Done::Line(json!({"id": "p", "result": outcome}))]);
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
