//! Anthropic's API over HTTP: answers, tools, errors, and what is refused.

use provider::{Ended, Prefix};
use serde_json::{Value, json};

use crate::world::World;

const PATH: &str = "/v1/messages";

fn asking(messages: &Value) -> Value {
    json!({"model": "claude-opus-5-5", "max_tokens": 100, "messages": messages})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

#[test]
fn a_turn_with_tools_is_answered_step_by_step() {
    let world = World::playing(&json!({"rules": [{"when": {"text": "tests"}, "answers": [
        {"say": {"parts": [{"text": "I look."}, {"call": {"name": "Bash", "input": {"command": "ls"}}},
                           {"call": {"name": "Read", "input": {"file": "a"}}}]}},
        {"say": {"parts": [{"text": "Done."}]}}]}]}));
    let first = world.post(PATH, &asking(&json!([user("run the tests")]))).json();
    assert_eq!(first["stop_reason"], "tool_use");
    let expected = json!([
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_00000001_01", "name": "Bash", "input": {"command": "ls"}},
        {"type": "tool_use", "id": "toolu_00000001_02", "name": "Read", "input": {"file": "a"}},
    ]);
    assert_eq!(first["content"], expected);
    let results: Vec<Value> = ["toolu_00000001_01", "toolu_00000001_02"]
        .iter()
        .map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": "a b"}))
        .collect();
    let messages = json!([user("run the tests"), {"role": "assistant", "content": first["content"]},
                          {"role": "user", "content": results}]);
    let second = world.post(PATH, &asking(&messages)).json();
    assert_eq!(
        (&second["content"], &second["stop_reason"]),
        (&json!([{"type": "text", "text": "Done."}]), &json!("end_turn"))
    );
    let kept = world.provider.requests();
    assert_eq!(kept.iter().map(|kept| (kept.number, kept.turn.step)).collect::<Vec<_>>(), [(1, 0), (2, 1)]);
    assert_eq!(Prefix::between(&kept[0].told, &kept[1].told), Prefix::Extends { new_pieces: 5 });
    assert!(kept.iter().all(|kept| kept.end == Ended::Whole && kept.first_byte_ms == Some(0)));
}

#[test]
fn a_streamed_answer_adds_up_to_the_whole_one() {
    let script = json!({"otherwise": [{"say": {"parts": [
        {"thinking": "It is about the lid of a laptop."}, {"text": "Ein Satz, länger als ein Stück: äöü 🦊."},
        {"call": {"name": "Bash", "input": {"command": "echo \"ä\""}}}]}}]});
    let mut body = asking(&json!([user("hello")]));
    body["thinking"] = json!({"type": "adaptive"});
    let whole = World::playing(&script).post(PATH, &body).json();
    body["stream"] = true.into();
    let events = World::playing(&script).post(PATH, &body).events();
    let mut message = events[0]["message"].clone();
    let mut blocks: Vec<Value> = Vec::new();
    let mut input = String::new();
    for event in &events {
        let text = |field: &str| event["delta"][field].as_str().unwrap_or_default().to_owned();
        let mut add = |field: &str, text: &str| {
            let block = blocks.last_mut().unwrap();
            block[field] = (block[field].as_str().unwrap().to_owned() + text).into();
        };
        match (event["type"].as_str().unwrap(), event["delta"]["type"].as_str()) {
            ("content_block_start", _) => blocks.push(event["content_block"].clone()),
            (_, Some("text_delta")) => add("text", &text("text")),
            (_, Some("thinking_delta")) => add("thinking", &text("thinking")),
            (_, Some("signature_delta")) => add("signature", &text("signature")),
            (_, Some("input_json_delta")) => input += &text("partial_json"),
            ("message_delta", _) => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                message["usage"] = event["usage"].clone();
            }
            (_, _) => {}
        }
    }
    blocks.last_mut().unwrap()["input"] = serde_json::from_str(&input).unwrap();
    message["content"] = blocks.into();
    assert_eq!(message, whole);
    assert_eq!(events.last().unwrap()["type"], "message_stop");
}

#[test]
fn errors_come_as_the_script_has_them() {
    let failure = json!({"fail": {"status": 429, "kind": "rate_limit_error", "message": "slow down", "retry_after_s": 7}});
    let cut = json!({"say": {"parts": [{"text": "half of it"}], "end": "cut"}});
    let world = World::playing(&json!({"rules": [
        {"times": 1, "answers": [failure]}, {"when": {"text": "cut"}, "answers": [cut]}]}));
    let limited = world.post(PATH, &asking(&json!([user("hello")])));
    assert_eq!((limited.status, limited.retry_after.as_deref()), (429, Some("7")));
    assert_eq!(limited.json()["error"], json!({"type": "rate_limit_error", "message": "slow down"}));
    let again = world.post(PATH, &asking(&json!([user("hello")])));
    assert_eq!(again.status, 200);
    for streamed in [false, true] {
        let mut body = asking(&json!([user("cut it")]));
        body["stream"] = streamed.into();
        let came = world.post(PATH, &body);
        assert!(came.was_cut && !came.text.contains("message_stop"), "{came:?}");
    }
    let ends: Vec<Ended> = world.provider.requests().into_iter().map(|kept| kept.end).collect();
    assert_eq!(ends, [Ended::Failed(429, "slow down".to_owned()), Ended::Whole, Ended::Cut, Ended::Cut]);
}

#[test]
fn who_leaves_a_silent_provider_is_noted() {
    let world = World::playing(&json!({"otherwise": [{"silence": {}}]}));
    let address = world.provider.address();
    let body = asking(&json!([user("hello")])).to_string();
    let mut connection = std::net::TcpStream::connect(address).unwrap();
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: {address}\r\nx-api-key: k\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    std::io::Write::write_all(&mut connection, (head + &body).as_bytes()).unwrap();
    while world.provider.requests().is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(world.provider.requests()[0].end, Ended::Not);
    drop(connection);
    while world.provider.requests()[0].end == Ended::Not {
        std::thread::yield_now();
    }
    let kept = &world.provider.requests()[0];
    assert_eq!((&kept.end, kept.first_byte_ms), (&Ended::Cut, None));
}

/// What the real API refuses, and in which words.
/// Cache break B4.58.
#[test]
fn what_is_wrong_is_refused() {
    let world = World::playing(&json!({}));
    let check = |change: fn(&mut Value), expected: &str| {
        let mut body = asking(&json!([user("hello")]));
        change(&mut body);
        let came = world.post(PATH, &body);
        assert_eq!(
            (came.status, came.json()["error"]["message"].as_str().unwrap()),
            (400, expected),
            "{body}"
        );
    };
    check(|body| drop(body.as_object_mut().unwrap().remove("max_tokens")), "max_tokens: Field required");
    check(|body| body["messages"] = json!([]), "messages: at least one message is required");
    check(
        |body| body["messages"][0]["content"] = "".into(),
        "messages[0].content: text content blocks must be non-empty",
    );
    check(
        |body| body["messages"] = json!([{"role": "assistant", "content": "x"}]),
        "messages: first message must use the \"user\" role",
    );
    check(|body| body["tools"] = json!([{"name": "a"}, {"name": "a"}]), "tools: Tool names must be unique.");
    check(
        |body| {
            let mark = json!({"type": "ephemeral"});
            let block = json!({"type": "text", "text": "x", "cache_control": mark});
            body["messages"] = json!([{"role": "user", "content": vec![block; 5]}]);
        },
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
    check(
        |body| {
            let call = json!({"type": "tool_use", "id": "t1", "name": "a", "input": {}});
            body["messages"] = json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": [call]},
                                      {"role": "user", "content": "y"}]);
        },
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must \
         have a corresponding `tool_result` block in the next message.",
    );
    check(
        |body| {
            body["messages"][0]["content"] =
                json!([{"type": "tool_result", "tool_use_id": "t9", "content": "x"}])
        },
        "messages.0: unexpected `tool_use_id` found in `tool_result` blocks: t9. Each `tool_result` block must have a \
         corresponding `tool_use` block in the previous message.",
    );
    let unkeyed =
        crate::world::post(&world.provider.base_url(), PATH, "", &asking(&json!([user("x")])).to_string());
    assert_eq!((unkeyed.status, &unkeyed.json()["error"]["type"]), (401, &json!("authentication_error")));
}

/// Append-only is a matter of being answered at all, where thinking is bound to its prefix.
/// Cache break T15.
#[test]
fn thinking_behind_a_changed_prefix_is_refused() {
    let world =
        World::playing(&json!({"otherwise": [{"say": {"parts": [{"thinking": "so"}, {"text": "yes"}]}}]}));
    let body = |model: &str, messages: Value| json!({"model": model, "max_tokens": 100, "thinking": {"type": "adaptive"}, "system": "Be brief.", "messages": messages});
    let first = world.post(PATH, &body("claude-opus-5-5", json!([user("one")]))).json();
    let answer = json!({"role": "assistant", "content": first["content"]});
    let check = |model: &str, messages: Value, status: u16, expected: &str| {
        let came = world.post(PATH, &body(model, messages));
        let message = came.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(came.status == status && message.contains(expected), "{came:?}");
    };
    check("claude-opus-5-5", json!([user("one"), answer, user("two")]), 200, "");
    check(
        "claude-opus-5-5",
        json!([user("won"), answer, user("two")]),
        400,
        "bound to a different conversation",
    );
    check("claude-opus-4-8", json!([user("won"), answer, user("two")]), 200, "");
    let mut forged = answer.clone();
    forged["content"][0]["thinking"] = "no".into();
    check(
        "claude-opus-4-8",
        json!([user("one"), forged, user("two")]),
        400,
        "Invalid `signature` in `thinking` block",
    );
    // A client may leave thinking out.
    let mut without = answer;
    without["content"].as_array_mut().unwrap().remove(0);
    check("claude-opus-5-5", json!([user("one"), without, user("two")]), 200, "");
}

#[test]
fn tokens_are_counted_and_not_kept() {
    let world = World::playing(&json!({}));
    let body = json!({"model": "claude-opus-5-5", "messages": [user("12345678")]});
    assert_eq!(world.post("/v1/messages/count_tokens", &body).json(), json!({"input_tokens": 2}));
    assert!(world.provider.requests().is_empty());
    assert_eq!(world.post("/v1/elsewhere", &body).status, 404);
    assert_eq!(world.provider.strays().len(), 1);
}

/// Deferred tools are outside the prefix; a string and one block of text are the same; marks are not part of the text.
#[test]
fn what_does_not_reach_the_model_breaks_nothing() {
    let world = World::playing(&json!({}));
    let mut one = asking(&json!([user("hello"), {"role": "assistant", "content": "hi"}, user("go on")]));
    one["tools"] = json!([{"name": "a"}]);
    let mut two = asking(&json!([
        {"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}, user("go on"),
        {"role": "assistant", "content": "yes"}, user("more")]));
    two["tools"] = json!([{"name": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}, {"name": "b", "defer_loading": true}]);
    world.post(PATH, &one);
    world.post(PATH, &two);
    let kept = world.provider.requests();
    assert_eq!(Prefix::between(&kept[0].told, &kept[1].told), Prefix::Extends { new_pieces: 2 });
}
