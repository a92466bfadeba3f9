//! OpenAI's API over HTTP: answers whole and streamed, tools with arguments and with free text.

use provider::Prefix;
use serde_json::{Value, json};

use crate::world::World;

const PATH: &str = "/v1/responses";

fn asking(input: &Value) -> Value {
    json!({"model": "gpt-6-sol", "instructions": "Be brief.", "prompt_cache_key": "s1", "input": input, "tools": [
        {"type": "function", "name": "shell", "parameters": {}}, {"type": "custom", "name": "exec"},
        {"type": "namespace", "name": "mcp__hub", "tools": [{"type": "function", "name": "history"}]}]})
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

#[test]
fn a_turn_with_tools_is_answered_step_by_step() {
    let world = World::playing(&json!({"rules": [{"when": {"text": "tests", "tool": "history"}, "answers": [
        {"say": {"parts": [{"call": {"name": "shell", "input": {"command": ["ls"]}}},
                           {"call": {"name": "exec", "input": "text(1)"}}]}},
        {"say": {"parts": [{"text": "Done."}]}}]}]}));
    let question = message("user", "input_text", "run the tests");
    let first = world.post(PATH, &asking(&json!([question]))).json();
    let output = first["output"].as_array().unwrap();
    let kinds: Vec<_> =
        output.iter().map(|item| (item["type"].as_str().unwrap(), item["name"].as_str().unwrap())).collect();
    assert_eq!(kinds, [("function_call", "shell"), ("custom_tool_call", "exec")]);
    assert_eq!(
        (&output[0]["arguments"], &output[1]["input"]),
        (&json!(r#"{"command":["ls"]}"#), &json!("text(1)"))
    );
    let mut input = vec![question];
    input.extend(output.iter().cloned());
    input.push(json!({"type": "function_call_output", "call_id": output[0]["call_id"], "output": "a"}));
    input.push(json!({"type": "custom_tool_call_output", "call_id": output[1]["call_id"], "output": "1"}));
    let second = world.post(PATH, &asking(&input.into())).json();
    assert_eq!(second["output"][0]["content"][0]["text"], "Done.");
    let kept = world.provider.requests();
    assert_eq!(Prefix::between(&kept[0].told, &kept[1].told), Prefix::Extends { new_pieces: 4 });
    assert_eq!(kept[1].session.as_deref(), Some("s1"));
    let usage = &second["usage"];
    assert_eq!(usage["total_tokens"].as_u64().unwrap(), usage["input_tokens"].as_u64().unwrap() + 2);
}

#[test]
fn a_streamed_answer_ends_as_the_whole_one() {
    let script = json!({"otherwise": [{"say": {"parts": [{"thinking": "so"}, {"text": "A sentence that is cut in pieces."},
        {"call": {"name": "exec", "input": "text(1)"}}]}}]});
    let mut body = asking(&json!("hello"));
    body["reasoning"] = json!({"effort": "low"});
    let whole = World::playing(&script).post(PATH, &body).json();
    body["stream"] = true.into();
    let events = World::playing(&script).post(PATH, &body).events();
    assert_eq!(events.last().unwrap()["response"], whole);
    let deltas = events.iter().filter(|event| event["type"] == "response.output_text.delta");
    let text: String = deltas.map(|event| event["delta"].as_str().unwrap()).collect();
    assert_eq!(text, "A sentence that is cut in pieces.");
    let numbers: Vec<u64> = events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert!(numbers.iter().zip(0..).all(|(number, expected)| *number == expected), "{numbers:?}");
    assert_eq!(whole["output"][0]["type"], "reasoning");
}

#[test]
fn what_is_wrong_is_refused() {
    let world = World::playing(
        &json!({"otherwise": [{"fail": {"status": 503, "kind": "server_error", "message": "busy"}}]}),
    );
    let check = |body: &Value, status: u16, expected: &str| {
        let came = world.post(PATH, body);
        assert_eq!((came.status, came.json()["error"]["message"].as_str().unwrap()), (status, expected));
    };
    check(&json!({"input": "x"}), 400, "Missing required parameter: 'model'.");
    check(&json!({"model": "gpt-6-sol"}), 400, "Missing required parameter: 'input'.");
    check(&json!({"model": "gpt-6-sol", "input": "x"}), 503, "busy");
}

/// Effort is part of the key, and names of items are not.
#[test]
fn what_breaks_the_prefix_and_what_does_not() {
    let world = World::playing(&json!({}));
    let question = message("user", "input_text", "one");
    let mut answer = message("assistant", "output_text", "yes");
    answer["id"] = "msg_1".into();
    world.post(PATH, &asking(&json!([question, answer])));
    answer["id"] = "msg_2".into();
    world.post(PATH, &asking(&json!([question, answer, question])));
    let mut other = asking(&json!([question, answer, question]));
    other["reasoning"] = json!({"effort": "high"});
    world.post(PATH, &other);
    let kept = world.provider.requests();
    assert_eq!(Prefix::between(&kept[0].told, &kept[1].told), Prefix::Extends { new_pieces: 1 });
    assert!(matches!(Prefix::between(&kept[1].told, &kept[2].told), Prefix::Breaks { common_pieces: 0, .. }));
}
