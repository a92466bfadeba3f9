//! Every tool with every token that is not its own process's: nothing is told and nothing is done.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{access, add, new_access, run};
use crate::server::{TestServer, wait_until};

/// Calls a method; the status, and what came.
fn call(url: &str, token: &str, method: &str, params: &Value) -> (u16, Value) {
    let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let request = format!(
        "POST /{path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap_or(Value::Null))
}

/// What one may ask for: the list, and each tool with arguments that are good.
fn asked() -> Vec<(&'static str, Value)> {
    let tools = [
        ("channel_history", json!({})),
        ("channel_roster", json!({})),
        ("project_activity", json!({})),
        ("channel_post", json!({ "text": "stolen" })),
        ("decline", json!({ "reason": "stolen" })),
    ];
    let calls =
        tools.map(|(name, arguments)| ("tools/call", json!({ "name": name, "arguments": arguments })));
    std::iter::once(("tools/list", json!({}))).chain(calls).collect()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

#[test]
fn no_other_token_opens_any_tool() {
    // I11
    let mut server = TestServer::start();
    server.stop();
    std::fs::write(server.file("config.toml"), "pool_size = 1\n").unwrap();
    server.start_again(&["--config", &server.file("config.toml")]);
    server.ok(&["channel", "add", "other"]);
    let hello = json!([{ "text": "hello" }]);
    let (url, evicted) = new_access(&server, "evicted", "general");
    let (_, removed) = new_access(&server, "removed", "other");
    server.ok(&["agent", "remove", "removed", "--channel", "other"]);
    let (_, old) = new_access(&server, "echo", "general");
    server.ok(&["agent", "fresh", "echo", "--channel", "general"]);
    run(&server, "general", "echo", &hello);
    let (_, own) = access(&server, "echo");
    let person = server.ok(&["token", "create", "x", "--scope", "read", "--scope", "write"]);
    let owner = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    let tokens = [
        ("of a process that made room", &*evicted),
        ("of an agent that was removed", &*removed),
        ("of an old epoch", &*old),
        ("of a person", person.trim()),
        ("of the owner", owner.trim()),
        ("that is half of the right one", &own[..32]),
        ("that is none", ""),
    ];
    for (method, params) in asked() {
        assert_eq!(call(&url, &own, method, &params).0, 200, "its own: {method} {params}");
        for (name, token) in tokens {
            let (status, answer) = call(&url, token, method, &params);
            assert_eq!((status, &answer["code"]), (401, &json!("unauthorized")), "{name}: {method} {params}");
        }
    }
    let history =
        server.json(&["history", "general"]).to_string() + &server.json(&["history", "other"]).to_string();
    assert!(!history.contains("stolen"), "{history}");
}

/// A token of one channel is good there alone, whatever it asks for, and ends with what the channel takes.
#[test]
fn a_tool_acts_in_the_channel_of_its_process() {
    let server = TestServer::start();
    server.ok(&["channel", "add", "vault", "--private"]);
    server.ok(&["post", "vault", "the quince is ripe"]);
    let (url, near) = new_access(&server, "near", "general");
    add(&server, "far", "vault", super::Over::Http);
    run(&server, "vault", "far", &json!([{ "text": "hello" }]));
    let (_, far) = access(&server, "far");
    let quince = server.json(&["history", "vault"])[0]["id"].clone();
    let tool = |token: &str, name: &str, arguments: &Value| {
        call(&url, token, "tools/call", &json!({ "name": name, "arguments": arguments })).1
    };
    for arguments in [json!({}), json!({ "before": quince }), json!({ "thread_root_id": quince })] {
        let told = tool(&near, "channel_history", &arguments).to_string();
        assert!(!told.contains("ripe"), "{arguments}: {told}");
    }
    let rosters = [&near, &far].map(|token| tool(token, "channel_roster", &json!({})));
    assert!(text(&rosters[0]).contains("@near (you)") && !text(&rosters[0]).contains("@far"), "{rosters:?}");
    assert!(text(&rosters[1]).contains("@far (you)") && !text(&rosters[1]).contains("@near"), "{rosters:?}");

    // An archived channel can still be read, but takes no posts.
    let posted = server.json(&["post", "vault", r#"@far SCRIPT:{"prompt":[{"await_cancel":true}]}"#]);
    let turn = posted["runs"][0]["id"].as_str().unwrap();
    wait_until("its turn has begun", || server.show(turn)["status"] == "running");
    server.ok(&["channel", "archive", "vault"]);
    let refused = tool(&far, "channel_post", &json!({ "text": "late" }));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(text(&refused).contains("was archived"), "{refused}");
    assert!(text(&tool(&far, "channel_history", &json!({}))).contains("the quince is ripe"));
    server.ok(&["run", "cancel", turn]);
}
