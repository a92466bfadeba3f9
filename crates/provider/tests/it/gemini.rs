//! Gemini's API over HTTP: answers whole and streamed, and signatures of calls.

use provider::Prefix;
use serde_json::{Value, json};

use crate::world::World;

const WHOLE: &str = "/v1beta/models/gemini-3.1-pro-preview:generateContent";
const STREAMED: &str = "/v1beta/models/gemini-3.1-pro-preview:streamGenerateContent?alt=sse";

fn asking(contents: &Value) -> Value {
    json!({"contents": contents, "systemInstruction": {"parts": [{"text": "Be brief."}]},
           "tools": [{"functionDeclarations": [{"name": "ls"}, {"name": "cat"}]}]})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"text": text}]})
}

fn script() -> Value {
    json!({"rules": [{"when": {"text": "files", "tool": "cat", "system": "brief"}, "answers": [
        {"say": {"parts": [{"call": {"name": "ls", "input": {"of": "."}}}, {"call": {"name": "cat", "input": {"of": "a"}}}]}},
        {"say": {"parts": [{"text": "Two files, and more words than fit one piece."}]}}]}]})
}

#[test]
fn calls_are_signed_and_the_signature_is_asked_for() {
    let world = World::playing(&script());
    let first = world.post(WHOLE, &asking(&json!([user("which files?")]))).json();
    let content = &first["candidates"][0]["content"];
    assert!(
        content["parts"][0]["thoughtSignature"].is_string()
            && content["parts"][1].get("thoughtSignature").is_none()
    );
    let results = json!({"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {}}},
                                                    {"functionResponse": {"name": "cat", "response": {}}}]});
    let check = |signature: Option<&str>, status: u16, expected: &str| {
        let mut content = content.clone();
        match signature {
            Some(signature) => content["parts"][0]["thoughtSignature"] = signature.into(),
            None => drop(content["parts"][0].as_object_mut().unwrap().remove("thoughtSignature")),
        }
        let came = world.post(WHOLE, &asking(&json!([user("which files?"), content, results])));
        assert!(came.status == status && came.text.contains(expected), "{came:?}");
    };
    check(content["parts"][0]["thoughtSignature"].as_str(), 200, "Two files");
    check(Some("skip_thought_signature_validator"), 200, "Two files");
    check(Some("forged"), 400, "Corrupted thought signature.");
    check(None, 400, "missing a thought_signature");
    let kept = world.provider.requests();
    assert_eq!(Prefix::between(&kept[0].told, &kept[1].told), Prefix::Extends { new_pieces: 4 });
    assert!(matches!(Prefix::between(&kept[1].told, &kept[2].told), Prefix::Breaks { common_pieces: 4, .. }));
}

#[test]
fn a_streamed_answer_adds_up_to_the_whole_one() {
    let question = asking(&json!([user("hello")]));
    let script = json!({"otherwise": [{"say": {"parts": [{"text": "Two files, and more words than fit one piece."}]}}]});
    let whole = World::playing(&script).post(WHOLE, &question).json();
    let chunks = World::playing(&script).post(STREAMED, &question).events();
    let text =
        |chunk: &Value| chunk["candidates"][0]["content"]["parts"][0]["text"].as_str().unwrap().to_owned();
    assert!(chunks.len() > 1);
    assert_eq!(chunks.iter().map(text).collect::<String>(), text(&whole));
    let last = chunks.last().unwrap();
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    assert_eq!(last["usageMetadata"], whole["usageMetadata"]);
}

#[test]
fn errors_and_counts_have_their_own_shape() {
    let world = World::playing(&json!({"otherwise": [
        {"fail": {"status": 429, "kind": "RESOURCE_EXHAUSTED", "message": "slow down", "retry_after_s": 3}}]}));
    let came = world.post(WHOLE, &asking(&json!([user("hello")])));
    let error = came.json()["error"].clone();
    assert_eq!(
        (came.status, &error["code"], &error["status"]),
        (429, &json!(429), &json!("RESOURCE_EXHAUSTED"))
    );
    assert_eq!(error["details"][0]["retryDelay"], "3s");
    let counted = world
        .post("/v1beta/models/gemini-3.1-pro-preview:countTokens", &json!({"contents": [user("12345678")]}));
    assert_eq!(counted.json(), json!({"totalTokens": 2}));
    assert_eq!(world.post(WHOLE, &json!({"contents": []})).status, 400);
}
