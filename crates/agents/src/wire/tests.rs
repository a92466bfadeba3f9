//! What is read and written, against the protocol's own types.

use agent_client_protocol_schema::ProtocolVersion;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::message::{Stop, Turn, Update, Usage};

#[track_caller]
fn check_read(line: &str, expect: &str) {
    assert_eq!(format!("{:?}", read(line)), expect, "{line}");
}

#[test]
fn messages_are_told_apart() {
    check_read(
        r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#,
        r#"Some(Answer { id: 7, answer: Ok(RawValue({"a":1})) })"#,
    );
    check_read(r#"{"id":7,"result":null}"#, "Some(Answer { id: 7, answer: Ok(RawValue(null)) })");
    check_read(r#"{"id":7}"#, "Some(Answer { id: 7, answer: Ok(RawValue(null)) })");
    check_read(r#"{"id":"x","result":1}"#, "Some(Answer { id: 0, answer: Ok(RawValue(1)) })");
    check_read(r#"{"id":-1,"result":1}"#, "Some(Answer { id: 0, answer: Ok(RawValue(1)) })");
    check_read(
        r#"{"id":7,"error":{"code":-32603,"message":"Internal error","data":{"errorKind":"rate_limit"}}}"#,
        r#"Some(Answer { id: 7, answer: Err(Failed { text: "Internal error ({\"errorKind\":\"rate_limit\"})", fault: Passing { kind: RateLimit, retry_after_ms: None } }) })"#,
    );
    check_read(
        r#"{"id":7,"error":{"message":"no"}}"#,
        r#"Some(Answer { id: 7, answer: Err(Failed { text: "no", fault: Other }) })"#,
    );
    check_read(
        r#"{"id":7,"error":"odd"}"#,
        r#"Some(Answer { id: 7, answer: Err(Failed { text: "\"odd\"", fault: Other }) })"#,
    );
    check_read(
        r#" {"method":"m\u0061","id":"q","params":[]}"#,
        r#"Some(Request { id: RawValue("q"), method: "ma", params: RawValue([]) })"#,
    );
    check_read(r#"{"method":"m"}"#, r#"Some(Notification { method: "m", params: RawValue(null) })"#);
}

#[test]
fn what_is_no_message_is_none() {
    for line in
        ["", "npm warn", "{", "[]", "[1,2,3,4,5]", "{}", "7", "null", r#"{"method":7}"#, r#"{"id":1,"id":2}"#]
    {
        check_read(line, "None");
    }
    check_read(&format!(r#"{{"method":"m","id":"{}"}}"#, "x".repeat(ID_BYTES_MAX)), "None");
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

/// What is read of an answer in the words of the protocol's own types.
#[test]
fn answers_of_the_schema_are_read() {
    let plain = schema::InitializeResponse::new(ProtocolVersion::V1);
    assert_eq!(
        initialized(&raw(&plain)),
        Some(Initialized {
            version: 1,
            agent: None,
            takes_system_prompt: false,
            mcp: McpOver::Stdio,
            stored: Stored::default(),
            steering: false,
            titles: false,
        })
    );
    let claude = json!({
        "protocolVersion": 1,
        "agentCapabilities": {"_meta": {"x": {}}, "loadSession": true, "mcpCapabilities": {"http": true, "sse": true},
            "sessionCapabilities": {"fork": {}, "list": {}, "resume": {}, "systemPrompt": {"mode": {}}, "title": {}}},
        "agentInfo": {"name": "claude-agent-acp", "version": "0.101.0"},
        "authMethods": [],
        "_meta": {"steering": {"supported": true}},
    });
    assert_eq!(
        initialized(&raw(&claude)),
        Some(Initialized {
            version: 1,
            agent: Some("0.101.0".to_owned()),
            takes_system_prompt: true,
            mcp: McpOver::Http,
            stored: Stored { load: true, resume: true, list: true },
            steering: true,
            titles: true,
        })
    );
    let null = json!({"protocolVersion": 2, "agentCapabilities": {"loadSession": false, "sessionCapabilities":
            {"systemPrompt": null, "resume": null, "list": null}}});
    assert_eq!(
        initialized(&raw(&null)),
        Some(Initialized {
            version: 2,
            agent: None,
            takes_system_prompt: false,
            mcp: McpOver::Stdio,
            stored: Stored::default(),
            steering: false,
            titles: false,
        })
    );
    assert_eq!(initialized(&raw(&json!({"protocolVersion": "1"}))), None);

    let open = |value: &Value| opened(&raw(value)).map(|opened| (opened.native, opened.model));
    let options =
        json!({"sessionId": "s", "configOptions": [{"id": "mode"}, {"id": "model", "options": [1]}]});
    assert_eq!(open(&options), Some((Some("s".to_owned()), ModelSetting::ConfigOption)));
    let models = json!({"sessionId": "s", "configOptions": [], "models": {"availableModels": []}});
    assert_eq!(open(&models), Some((Some("s".to_owned()), ModelSetting::SetModel)));
    assert_eq!(
        open(&json!({"sessionId": "s", "configOptions": 7})),
        Some((Some("s".to_owned()), ModelSetting::Absent))
    );
    for nothing in [json!({}), json!(null)] {
        assert_eq!(open(&nothing), Some((None, ModelSetting::Absent)));
    }
    assert_eq!(open(&json!([])), None);

    let usage = schema::Usage::new(100, 60, 40).cached_read_tokens(7_u64);
    let answer = schema::PromptResponse::new(schema::StopReason::MaxTurnRequests).usage(usage);
    let expect = Usage { input: 60, output: 40, cached_read: Some(7), total: 100, ..Usage::default() };
    let expect = Turn { stop: Stop::MaxRequests, text: None, usage: Some(expect) };
    assert_eq!(turn(&raw(&answer)), Some(expect));
    let odd = json!({"stopReason": "new_word", "usage": {"inputTokens": -1}});
    assert_eq!(turn(&raw(&odd)), Some(Turn { stop: Stop::EndTurn, text: None, usage: None }));
    assert_eq!(turn(&raw(&json!({"usage": {}}))), None);
}

#[test]
fn lists_and_replays_of_the_schema_are_read() {
    let known = |id: &str| schema::SessionInfo::new(schema::SessionId::new(id), "/agent");
    let page = schema::ListSessionsResponse::new(vec![known("s1"), known("s2")]).next_cursor("c".to_owned());
    let next = Some("c".to_owned());
    assert_eq!(listed(&raw(&page), "s2"), Some(Listed { found: true, next: next.clone() }));
    assert_eq!(listed(&raw(&page), "s3"), Some(Listed { found: false, next }));
    assert_eq!(
        listed(&raw(&json!({"sessions": [7, {"sessionId": "s"}]})), "s"),
        Some(Listed { found: true, next: None })
    );
    assert_eq!(listed(&raw(&json!({})), "s"), None);

    use schema::{ContentChunk, SessionUpdate};
    let piece = |update: &SessionUpdate| replayed(&raw(&json!({"sessionId": "s", "update": update})));
    let chunk = |text: &str| ContentChunk::new(schema::ContentBlock::from(text));
    assert_eq!(piece(&SessionUpdate::UserMessageChunk(chunk("a\nb"))), Replayed::User("a\nb".to_owned()));
    assert_eq!(piece(&SessionUpdate::AgentMessageChunk(chunk("a"))), Replayed::Agent("a".to_owned()));
    assert_eq!(piece(&SessionUpdate::AgentThoughtChunk(chunk("a"))), Replayed::Act);
    assert_eq!(piece(&SessionUpdate::ToolCall(schema::ToolCall::new("t1", "Read"))), Replayed::Act);
    assert_eq!(piece(&SessionUpdate::UsageUpdate(schema::UsageUpdate::new(5, 9))), Replayed::Used(5));
    for other in
        [json!({"sessionUpdate": "available_commands_update"}), json!({"sessionUpdate": 7}), json!(7)]
    {
        assert_eq!(replayed(&raw(&json!({"sessionId": "s", "update": other}))), Replayed::Other);
    }
    let image = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "image", "data": ""}});
    assert_eq!(replayed(&raw(&json!({"update": image}))), Replayed::User(String::new()));
}

#[track_caller]
fn check_update(update_value: &impl serde::Serialize, expect: Update) {
    let params = json!({"sessionId": "s", "update": update_value});
    assert_eq!(update(&raw(&params)), Some((Cow::Borrowed("s"), expect)), "{params}");
}

#[test]
fn updates_of_the_schema_are_read() {
    use schema::{ContentChunk, SessionUpdate};
    let chunk = |text: &str| ContentChunk::new(schema::ContentBlock::from(text));
    check_update(&SessionUpdate::AgentMessageChunk(chunk("a\nb")), Update::Text("a\nb".to_owned()));
    check_update(&SessionUpdate::AgentThoughtChunk(chunk("hm")), Update::Other);
    check_update(&SessionUpdate::UserMessageChunk(chunk("hm")), Update::Other);
    let call = schema::ToolCall::new("t1", "Read").kind(schema::ToolKind::Read);
    let expect = |kind: &str| Update::ToolCall {
        id: "t1".to_owned(),
        title: "Read".to_owned(),
        kind: kind.to_owned(),
    };
    check_update(&SessionUpdate::ToolCall(call), expect("read"));
    let claude = json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Read", "rawInput": {}});
    check_update(&claude, expect("other"));
    let fields = schema::ToolCallUpdateFields::new().status(schema::ToolCallStatus::Completed);
    check_update(
        &SessionUpdate::ToolCallUpdate(schema::ToolCallUpdate::new("t1", fields)),
        Update::ToolUpdate { id: "t1".to_owned(), status: Some("completed".to_owned()), title: None },
    );
    let entry = |text: &str| {
        schema::PlanEntry::new(text, schema::PlanEntryPriority::High, schema::PlanEntryStatus::Pending)
    };
    let plan = schema::Plan::new(vec![entry("one"), entry("two")]);
    check_update(&SessionUpdate::Plan(plan), Update::Plan("one\ntwo".to_owned()));
    check_update(
        &SessionUpdate::UsageUpdate(schema::UsageUpdate::new(11_615, 200_000)),
        Update::Used(11_615),
    );
    let compaction = |status| SessionUpdate::CompactionUpdate(schema::CompactionUpdate::new("c", status));
    check_update(&compaction(schema::CompactionStatus::InProgress), Update::Other);
    check_update(&compaction(schema::CompactionStatus::Completed), Update::Compacted);
    let image = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "", "mimeType": ""}});
    check_update(&image, Update::Other);
    check_update(&json!({"sessionUpdate": "usage_update", "used": "many"}), Update::Other);
    check_update(&json!({"sessionUpdate": "from_the_future", "x": [[[]]]}), Update::Other);
    assert_eq!(update(&raw(&json!({"sessionId": "s", "update": {}}))), None);
    assert_eq!(update(&raw(&json!({"update": {"sessionUpdate": "plan"}}))), None);
}

#[track_caller]
fn check_permission(kinds: &[&str], allow: Option<&str>, reject: Option<&str>) {
    let options: Vec<Value> = kinds
        .iter()
        .map(|kind| json!({"optionId": format!("o-{kind}"), "name": "n", "kind": kind}))
        .collect();
    let tool = json!({"toolCallId": "t", "title": "touch a.txt"});
    let params = json!({"sessionId": "s", "toolCall": tool, "options": options});
    assert!(is::<schema::RequestPermissionRequest>(&params), "{params}");
    let read = permission(&raw(&params)).unwrap();
    assert_eq!(
        (read.session.as_str(), read.call_id.as_str(), read.title(&read.call)),
        ("s", "t", "touch a.txt")
    );
    let named = |kind: Option<&str>| kind.map(|kind| format!("o-{kind}"));
    let found = (read.allow().map(str::to_owned), read.reject().map(str::to_owned));
    assert_eq!(found, (named(allow), named(reject)));
}

#[test]
fn rejecting_once_goes_before_rejecting_for_ever() {
    let once = Some("allow_once");
    check_permission(&["allow_once", "reject_always", "reject_once"], once, Some("reject_once"));
    check_permission(&["allow_once", "reject_always"], once, Some("reject_always"));
    check_permission(&["allow_always", "allow_once"], once, None);
    check_permission(&["allow_always"], Some("allow_always"), None);
    check_permission(&[], None, None);
    assert!(permission(&raw(&json!({"sessionId": "s"}))).is_none());
}

#[test]
fn a_tool_is_known_by_its_own_name_and_no_title() {
    let check = |fields: &Value, expect: Option<&str>| {
        let mut tool = json!({"toolCallId": "t", "title": "mcp__highwater__decline"});
        tool.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let params = json!({"sessionId": "s", "toolCall": tool, "options": []});
        assert_eq!(permission(&raw(&params)).unwrap().call.tool.as_deref(), expect, "{fields}");
    };
    check(&json!({}), None);
    check(&json!({"name": "Bash"}), Some("Bash"));
    check(&json!({"name": "mcp__a__b", "_meta": {"claudeCode": {"toolName": "x"}}}), Some("mcp__a__b"));
    check(&json!({"_meta": {"claudeCode": {"toolName": "mcp__a__b", "mcpServer": "a"}}}), Some("mcp__a__b"));
    check(&json!({"_meta": {"other": 1}}), None);
    check(&json!({"name": 5}), None);
    // Gemini's: the id, which no model writes, has to say the same.
    let title = "decline (highwater MCP Server)";
    let id = |id: &str| json!({"title": title, "toolCallId": id});
    check(&id("mcp_highwater_decline__call_1"), Some("mcp_highwater_decline"));
    check(&id("mcp_highwater_decline"), None);
    check(&id("run_shell_command__mcp_highwater_decline__call_1"), None);
    check(&json!({"toolCallId": "mcp_highwater_decline__call_1"}), None);
}

#[test]
fn agents_join_server_and_tool_in_their_own_ways() {
    let check =
        |tool: &str, expect: bool| assert_eq!(is_tool_of(tool, "highwater", "decline"), expect, "{tool}");
    for own in ["mcp__highwater__decline", "mcp_highwater_decline", "highwater_decline"] {
        check(own, true);
    }
    for other in
        ["decline", "Bash", "mcp__highwater__declin", "mcp__highwater__decline2", "mcp__highwater2__decline"]
    {
        check(other, false);
    }
    for other in ["x mcp__highwater__decline", "mcp__highwater_decline", "mcp__other__decline", ""] {
        check(other, false);
    }
}

fn is<T: DeserializeOwned>(value: &Value) -> bool {
    serde_json::from_value::<T>(value.clone()).is_ok()
}

#[track_caller]
fn check_line(line: &[u8], expect: &Value) {
    let text = std::str::from_utf8(line).unwrap().strip_suffix('\n').unwrap();
    assert!(!text.contains('\n'));
    assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), expect);
}

#[test]
fn lines_are_written_as_the_protocol_wants() {
    check_line(
        &request(3, "m", &json!({"a": "x\ny"})),
        &json!({"jsonrpc": "2.0", "id": 3, "method": "m", "params": {"a": "x\ny"}}),
    );
    check_line(&notification("m", &json!({})), &json!({"jsonrpc": "2.0", "method": "m", "params": {}}));
    let id = raw(&"q-1");
    check_line(
        &answer(&id, &permission_answer(Some("no"))),
        &json!({"jsonrpc": "2.0", "id": "q-1", "result": {"outcome": {"outcome": "selected", "optionId": "no"}}}),
    );
    check_line(
        &answer(&id, &permission_answer(None)),
        &json!({"jsonrpc": "2.0", "id": "q-1", "result": {"outcome": {"outcome": "cancelled"}}}),
    );
    check_line(
        &refusal(&id, METHOD_NOT_FOUND, "method not found"),
        &json!({"jsonrpc": "2.0", "id": "q-1", "error": {"code": -32601, "message": "method not found"}}),
    );
}
