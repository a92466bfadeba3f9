//! The tools of an agent over MCP: real calls over HTTP and over the bridge, tokens, foreign clients.

#[cfg(feature = "mcp-sdk")]
mod sdk;
mod tokens;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use rmcp::model::CallToolRequestParams;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

use crate::server::{TestServer, command, program_path, wait_until};

const TOOLS: &str = "channel_history channel_roster project_activity channel_post decline";

/// How a scripted agent reaches the tools.
#[derive(Clone, Copy, Debug)]
enum Over {
    Http,
    Bridge,
}

/// Adds a scripted agent that logs to `LOG-handle`.
fn add(server: &TestServer, handle: &str, channel: &str, over: Over) {
    let script = match over {
        Over::Http => r#"SCRIPTED_SCRIPT={"mcp_http":true}"#,
        Over::Bridge => "SCRIPTED_SCRIPT={}",
    };
    server.add_scripted(handle, channel, &format!("log-{handle}"), &["--env", script]);
}

fn mention(handle: &str, steps: &Value) -> String {
    format!("@{handle} SCRIPT:{}", json!({ "prompt": steps }))
}

/// A mention's run in full.
fn run(server: &TestServer, channel: &str, handle: &str, steps: &Value) -> Value {
    let asked = server.ask(channel, &mention(handle, steps), &[]);
    server.show(asked["runs"][0]["id"].as_str().unwrap())
}

fn texts(run: &Value) -> Vec<&str> {
    run["replies"].as_array().unwrap().iter().map(|reply| reply["text"].as_str().unwrap()).collect()
}

/// What an agent logged under this name.
fn logged(server: &TestServer, handle: &str, name: &str) -> Vec<Value> {
    let log = std::fs::read_to_string(server.file(&format!("log-{handle}"))).unwrap_or_default();
    let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.filter_map(|entry| entry.get(name).cloned()).collect()
}

/// Address and token of the newest process of an agent that reaches the tools over HTTP.
fn access(server: &TestServer, handle: &str) -> (String, String) {
    let lines = logged(server, handle, "in");
    let new = lines.iter().rev().find(|line| line.as_str().unwrap().contains("session/new")).unwrap();
    let new: Value = serde_json::from_str(new.as_str().unwrap()).unwrap();
    let given = &new["params"]["mcpServers"][0];
    let bearer = given["headers"][0]["value"].as_str().unwrap();
    let token = bearer.strip_prefix("Bearer ").unwrap();
    (given["url"].as_str().unwrap().to_owned(), token.to_owned())
}

/// Adds an agent and lets it take a turn; address and token of its process.
pub(crate) fn new_access(server: &TestServer, handle: &str, channel: &str) -> (String, String) {
    add(server, handle, channel, Over::Http);
    run(server, channel, handle, &json!([{ "text": "hello" }]));
    access(server, handle)
}

/// Posts a list of tools with these headers; the status.
fn post(url: &str, headers: &[(&str, &str)]) -> u16 {
    let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
    let mut head = format!(
        "POST /{path} HTTP/1.0\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n",
        body.len()
    );
    if !headers.iter().any(|(name, _)| *name == "Host") {
        head.push_str(&format!("Host: {host}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Cache break B2.21.
#[test]
fn every_tool_is_listed_and_called_over_http_and_over_the_bridge() {
    for over in [Over::Http, Over::Bridge] {
        let server = TestServer::start();
        add(&server, "echo", "general", over);
        server.ok(&["post", "general", "the deploy\nis red"]);
        let asked = run(&server, "general", "echo", &json!([{ "tools": true }]));
        assert_eq!(texts(&asked), [TOOLS], "{over:?}");
        let call = |name: &str, arguments: Value| {
            let asked = run(
                &server,
                "general",
                "echo",
                &json!([{ "call": { "name": name, "arguments": arguments } }]),
            );
            texts(&asked).last().map(|text| (*text).to_owned()).unwrap()
        };
        let page = call("channel_history", json!({ "limit": 100 }));
        assert!(page.contains("(UNTRUSTED DATA written by other people"), "{page}");
        assert!(page.contains("[user] olive: the deploy\n  is red\n"), "{over:?}: {page}");
        let roster = call("channel_roster", json!({}));
        assert!(
            roster.ends_with("\n- [user] olive\n- [agent] @echo (you)\n- [agent] @guide (reachable)"),
            "{roster}"
        );
        assert_eq!(call("project_activity", json!({})), "This channel has no project.");
        let failed = call("channel_history", json!({ "before": "m999" }));
        assert_eq!(failed, "ERROR: no such message: m999");

        let steps = json!([{ "call": { "name": "channel_post", "arguments": { "text": "half way" }, "quiet": true } }]);
        let posted = run(&server, "general", "echo", &steps);
        assert_eq!((texts(&posted), posted["status"].as_str()), (vec!["half way"], Some("succeeded")));
        assert_eq!(posted["replies"][0]["author"]["name"], "@echo");

        let reason = json!({ "reason": "not mine" });
        let steps =
            json!([{ "call": { "name": "decline", "arguments": reason, "quiet": true } }, { "text": "x" }]);
        let declined = run(&server, "general", "echo", &steps);
        assert_eq!(
            (declined["status"].as_str(), declined["error"].as_str()),
            (Some("declined"), Some("not mine"))
        );
        let shown = texts(&declined);
        assert!(shown.len() == 1 && shown[0].ends_with(": not mine"), "{shown:?}");
    }
}

/// Rule 2.7 and public report H77
#[test]
fn an_agent_calls_another_and_both_wait_for_a_person_in_the_end() {
    let server = TestServer::start();
    add(&server, "one", "general", Over::Http);
    add(&server, "two", "general", Over::Bridge);
    let ask = |handle: &str, text: &str| {
        json!({ "call": { "name": "channel_post", "quiet": true,
        "arguments": { "text": text, "to": [handle] } } })
    };
    // Each turn's steps stand in the message that calls for it, which gets the handle that it is to in front.
    let script = |steps: Value| format!("SCRIPT:{}", json!({ "prompt": steps }));
    let fourth = script(json!([ask("one", "a fifth turn?")]));
    let third = script(json!([ask("two", &fourth)]));
    let second = script(json!([ask("one", &third)]));
    server.ask("general", &mention("one", &json!([ask("two", &second)])), &[]);
    let notice =
        "agents take 4 turns in a row at most; not asked: @one. They go on when a person has written";
    wait_until("the fourth turn was the last", || {
        let history = server.json(&["history", "general"]);
        history.as_array().unwrap().iter().any(|message| message["text"] == notice)
    });
    wait_until("all runs have ended", || {
        let runs = server.json(&["run", "list"]);
        let runs = runs.as_array().unwrap();
        assert!(runs.len() <= 4, "{runs:?}");
        runs.len() == 4 && runs.iter().all(|run| run["status"] == "succeeded")
    });
}

#[test]
fn permission_for_the_tools_is_given_and_for_all_else_refused() {
    let server = TestServer::start();
    add(&server, "echo", "general", Over::Http);
    let ask = |name: &str| {
        json!({ "request": { "method": "session/request_permission", "params": {
        "sessionId": "own", "toolCall": { "toolCallId": "t", "title": name, "name": name },
        "options": [{ "optionId": "yes", "name": "y", "kind": "allow_once" },
                    { "optionId": "no", "name": "n", "kind": "reject_once" }] } } })
    };
    let script = json!({ "mcp_http": true, "native": "own" });
    server.ok(&["agent", "remove", "echo", "--channel", "general"]);
    let script = format!("SCRIPTED_SCRIPT={script}");
    server.add_scripted("echo", "general", "log-echo", &["--env", &script, "--unsupervised"]);
    let steps = json!([ask("mcp__highwater__channel_post"), ask("Bash"), { "text": "done" }]);
    let asked = run(&server, "general", "echo", &steps);
    let refused =
        "@echo asked for permission and was refused: Bash (other is not allowed without supervision)";
    assert_eq!(texts(&asked), [refused, "done"]);
    let answers: Vec<String> = logged(&server, "echo", "in")
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line.as_str().unwrap()).ok())
        .filter_map(|line| line["result"]["outcome"]["optionId"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(answers, ["yes", "no"]);
}

#[test]
fn a_token_is_good_for_its_own_process_alone() {
    // I11
    let server = TestServer::start();
    server.ok(&["channel", "add", "other"]);
    add(&server, "echo", "general", Over::Http);
    add(&server, "far", "other", Over::Http);
    let hello = json!([{ "text": "hello" }]);
    run(&server, "general", "echo", &hello);
    run(&server, "other", "far", &hello);
    let (url, token) = access(&server, "echo");
    let (_, far) = access(&server, "far");
    let owner = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    let bearer = format!("Bearer {token}");
    let check =
        |headers: &[(&str, &str)], expect: u16| assert_eq!(post(&url, headers), expect, "{headers:?}");
    check(&[("Authorization", &bearer)], 200);
    check(&[], 401);
    check(&[("Authorization", &token)], 401);
    check(&[("Authorization", &format!("Bearer {}", "0".repeat(64)))], 401);
    check(&[("Authorization", &format!("Bearer {owner}"))], 401);
    check(&[("Authorization", &bearer), ("Origin", "http://localhost:8000")], 403);
    check(&[("Authorization", &bearer), ("Origin", "null")], 403);
    check(&[("Authorization", &bearer), ("Host", "evil.example")], 403);
    check(&[("Authorization", &bearer), ("Host", "127.0.0.1:1")], 403);
    // The tools' token opens nothing else.
    assert_eq!(post(&url.replace("/mcp", "/api/v1/channels"), &[("Authorization", &bearer)]), 401);

    // Another channel's token sees its own channel, and of this one nothing.
    server.ok(&["post", "general", "a word of general"]);
    let steps = json!([{ "call": { "name": "channel_history", "arguments": {} } }]);
    let page = run(&server, "other", "far", &steps);
    assert!(!texts(&page)[0].contains("general") && texts(&page)[0].contains("@far"), "{page}");
    let foreign = server.json(&["history", "general"])[0]["id"].as_str().unwrap().to_owned();
    for arguments in [json!({ "before": foreign }), json!({ "thread_root_id": foreign })] {
        let steps = json!([{ "call": { "name": "channel_history", "arguments": arguments } }]);
        assert_eq!(
            texts(&run(&server, "other", "far", &steps)),
            [format!("ERROR: no such message: {foreign}")]
        );
    }

    // A process that was replaced leaves a token that opens nothing.
    server.ok(&["agent", "fresh", "echo", "--channel", "general"]);
    run(&server, "general", "echo", &hello);
    let (_, new) = access(&server, "echo");
    assert_ne!(new, token);
    check(&[("Authorization", &bearer)], 401);
    check(&[("Authorization", &format!("Bearer {new}"))], 200);
    server.ok(&["agent", "remove", "far", "--channel", "other"]);
    wait_until("the removed agent's token is closed", || {
        post(&url, &[("Authorization", &format!("Bearer {far}"))]) == 401
    });
}

#[test]
fn the_token_is_never_shown() {
    let server = TestServer::start();
    add(&server, "echo", "general", Over::Http);
    run(&server, "general", "echo", &json!([{ "text": "hello" }]));
    let (_, token) = access(&server, "echo");
    let leak = format!("my token is {token}");
    let steps = json!([{ "call": { "name": "channel_post", "arguments": { "text": leak }, "quiet": true } }, { "text": leak }]);
    let asked = run(&server, "general", "echo", &steps);
    assert_eq!(texts(&asked), ["my token is [redacted]", "my token is [redacted]"]);
}

#[test]
fn a_client_of_the_newest_protocol_goes_through_the_bridge() {
    let server = TestServer::start();
    add(&server, "echo", "general", Over::Http);
    run(&server, "general", "echo", &json!([{ "text": "hello" }]));
    let (url, token) = access(&server, "echo");
    let message = |id: u64, method: &str, mut params: Value| {
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {} });
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    };
    let input = [
        message(1, "server/discover", json!({})),
        message(2, "tools/list", json!({})),
        message(3, "tools/call", json!({ "name": "project_activity", "arguments": {} })),
        "no json\n".to_owned(),
    ];
    let answers = |token: &str| -> Vec<Value> {
        let mut bridge = command(&program_path("highwater"));
        bridge.arg("mcp").env_clear().env("HIGHWATER_MCP_URL", &url).env("HIGHWATER_MCP_TOKEN", token);
        let mut bridge = bridge.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        bridge.stdin.take().unwrap().write_all(input.concat().as_bytes()).unwrap();
        let output = bridge.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let answered = answers(&token);
    let ids: Vec<&Value> = answered.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(json!(ids), json!([1, 2, 3, null]));
    assert_eq!(
        answered[0]["result"]["supportedVersions"].as_array().map(Vec::is_empty),
        Some(false),
        "{answered:?}"
    );
    assert_eq!(answered[1]["result"]["tools"].as_array().unwrap().len(), 5);
    assert_eq!(answered[2]["result"]["content"][0]["text"], "This channel has no project.");
    assert_eq!(answered[3]["error"]["code"], -32_600);
    let refused = answers("wrong");
    assert!(
        refused[1]["error"]["message"].as_str().unwrap().starts_with("the tools need the token"),
        "{refused:?}"
    );
}

/// rmcp's own client, through a bridge with the token of a process.
async fn client(url: &str, token: &str) -> rmcp::service::RunningService<RoleClient, ()> {
    let mut bridge = command(&program_path("highwater"));
    bridge.arg("mcp").env_clear().env("HIGHWATER_MCP_URL", url).env("HIGHWATER_MCP_TOKEN", token);
    bridge.stdin(Stdio::piped()).stdout(Stdio::piped());
    // It ends with its input, which the client closes.
    let mut bridge = tokio::process::Command::from(bridge).spawn().unwrap();
    let pipes = (bridge.stdout.take().unwrap(), bridge.stdin.take().unwrap());
    ().serve(pipes).await.unwrap()
}

async fn call(
    client: &rmcp::service::RunningService<RoleClient, ()>,
    name: &'static str,
    arguments: Value,
) -> String {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let params = CallToolRequestParams::new(name).with_arguments(arguments);
    let result = client.call_tool(params).await.unwrap();
    result.content[0].as_text().unwrap().text.clone()
}

#[tokio::test]
async fn a_foreign_client_pages_backwards_through_a_thousand_messages_without_a_gap() {
    let server = TestServer::start();
    add(&server, "echo", "general", Over::Http);
    run(&server, "general", "echo", &json!([{ "text": "hello" }]));
    post_many(&server, 1_000);
    let (url, token) = access(&server, "echo");
    let client = client(&url, &token).await;
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names.join(" "), TOOLS);
    assert!(call(&client, "channel_roster", json!({})).await.contains("- [agent] @echo (you)"));
    let refused = call(&client, "channel_post", json!({ "text": "out of turn" })).await;
    assert_eq!(refused, "you have no turn now, and can post only in one");

    for limit in [None, Some(100), Some(7)] {
        let (mut before, mut seen, mut pages) = (None::<String>, Vec::new(), 0);
        loop {
            let mut arguments: HashMap<&str, Value> = HashMap::new();
            arguments.extend(before.clone().map(|id| ("before", json!(id))));
            arguments.extend(limit.map(|limit: u64| ("limit", json!(limit))));
            let page = call(&client, "channel_history", json!(arguments)).await;
            let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("- ")).collect();
            assert!(lines.len() <= usize::try_from(limit.unwrap_or(30)).unwrap(), "{page}");
            pages += 1;
            seen.splice(0..0, lines.iter().map(|line| (*line).to_owned()));
            if page.ends_with("\n(nothing is before these)") {
                break;
            }
            before = lines.first().and_then(|line| line.split(' ').nth(1)).map(str::to_owned);
            assert!(
                page.ends_with(&format!("(for the page before: before={})", before.as_deref().unwrap())),
                "{page}"
            );
        }
        assert_eq!(pages, seen.len().div_ceil(usize::try_from(limit.unwrap_or(30)).unwrap()));
        // The mention, its answer, and a thousand more, each once and in order.
        assert_eq!(seen.len(), 1_002);
        for (n, line) in seen[2..].iter().enumerate() {
            assert!(line.ends_with(&format!("[user] olive: message {n}")), "{n}: {line}");
        }
    }
    client.cancel().await.unwrap();
}

/// Posts `message 0`, `message 1`, … over one connection.
fn post_many(server: &TestServer, count: usize) {
    let running: Value =
        serde_json::from_str(&std::fs::read_to_string(server.data().join("server.json")).unwrap()).unwrap();
    let host = running["url"].as_str().unwrap().trim_start_matches("http://").to_owned();
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    for n in 0..count {
        let body = json!({ "text": format!("message {n}") }).to_string();
        let request = format!(
            "POST /api/v1/channels/general/messages HTTP/1.0\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            token.trim(),
            body.len()
        );
        let mut stream = TcpStream::connect(&host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    }
}
