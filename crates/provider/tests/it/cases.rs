//! The cache models' own tables of cases, asked over HTTP: what `cost` says a provider bills, this one bills.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cost::tokens::Counter;
use provider::{Answer, Counting, Rule, Saying, Script, When};
use serde_json::{Value, json};

use crate::world::{Came, World, post};

/// Cases that no request of the API can express: a parameter in the middle of the conversation.
const NO_REQUEST: &[&str] = &["a parameter takes no position"];

/// Only against waiting for ever.
const DUE_WITHIN: Duration = Duration::from_secs(5);

/// Blocks of a case carry their number of tokens in their text: the last number in it.
struct LastNumber;

impl Counter for LastNumber {
    fn count(&self, text: &str) -> u64 {
        let mut numbers = text.split(|character: char| !character.is_ascii_digit());
        numbers.rfind(|number| !number.is_empty()).map_or(0, |number| number.parse().unwrap())
    }

    fn ids(&self, _text: &str) -> Option<Vec<u32>> {
        None
    }
}

/// `KIND NAME[*COUNT] TOKENS [MARK]`, taken apart: kind, text of each block, and the mark on the last.
fn blocks(written: &Value) -> Vec<(String, String, Option<String>)> {
    let words: Vec<&str> = written.as_str().unwrap().split(' ').collect();
    let names: Vec<String> = match words[1].split_once('*') {
        Some((name, count)) => {
            (1..=count.parse::<u32>().unwrap()).map(|number| format!("{name}{number}")).collect()
        }
        None => vec![words[1].to_owned()],
    };
    let last = names.len() - 1;
    let mark = |index| words.get(3).filter(|_| index == last).map(|mark| (*mark).to_owned());
    let block = |(index, name): (usize, String)| {
        // The name's own digits are not its tokens.
        (words[0].to_owned(), format!("{name} {}", words[2]), mark(index))
    };
    names.into_iter().enumerate().map(block).collect()
}

fn marked(mut block: Value, mark: Option<String>) -> Value {
    if let Some(ttl) = mark {
        block["cache_control"] = json!({"type": "ephemeral", "ttl": ttl});
    }
    block
}

/// The request of a case, as Anthropic's API takes it.
fn anthropic(model: &str, sent: &Value) -> Value {
    let (mut tools, mut system, mut messages) = (Vec::new(), Vec::new(), Vec::<Value>::new());
    let mut body = json!({"model": model, "max_tokens": 100});
    let mut parameter = |text: &str, tools: &mut Vec<Value>| match text.split(' ').next().unwrap() {
        "web_search=on" => tools.push(json!({"type": "web_search_20250305", "name": "web_search"})),
        "web_search=off" | "tool_choice=auto" => {}
        "tool_choice=any" => body["tool_choice"] = json!({"type": "any"}),
        thinking => body["thinking"] = json!({"type": "enabled", "display": thinking}),
    };
    // What stands before everything else is the system text where it is not the tools.
    let head: Vec<_> = sent["head"].as_array().unwrap().iter().flat_map(blocks).collect();
    let has_tools = head.first().is_some_and(|(_, text, _)| text.starts_with("tool"));
    for (kind, text, mark) in head {
        match kind.as_str() {
            "parameter" => parameter(&text, &mut tools),
            _ if has_tools && text.starts_with("tool") => {
                let name = text.split(' ').next().unwrap();
                tools.push(marked(json!({"name": name, "description": text}), mark));
            }
            _ => system.push(marked(json!({"type": "text", "text": text}), mark)),
        }
    }
    for (kind, text, mark) in sent["messages"].as_array().unwrap().iter().flat_map(blocks) {
        let (role, block) = match kind.as_str() {
            "parameter" => {
                parameter(&text, &mut tools);
                continue;
            }
            "tool_use" => {
                ("assistant", json!({"type": "server_tool_use", "name": "t", "input": {"of": text}}))
            }
            "tool_result" => ("user", json!({"type": "web_search_tool_result", "content": text})),
            "thinking" => ("assistant", json!({"type": "redacted_thinking", "data": text})),
            _ => ("user", json!({"type": "text", "text": text})),
        };
        let block = marked(block, mark);
        match messages.last_mut().filter(|last| last["role"] == role) {
            Some(last) => last["content"].as_array_mut().unwrap().push(block),
            None => messages.push(json!({"role": role, "content": [block]})),
        }
    }
    if messages.first().is_none_or(|first| first["role"] != "user") {
        messages.insert(0, json!({"role": "user", "content": []}));
    }
    (body["tools"], body["system"], body["messages"]) = (tools.into(), system.into(), messages.into());
    if let Some(ttl) = sent["automatic"].as_str() {
        body["cache_control"] = json!({"type": "ephemeral", "ttl": ttl});
    }
    body
}

/// The request of a case, as OpenAI's API takes it.
fn openai(model: &str, sent: &Value) -> Value {
    let head = sent["head"].as_array().unwrap().iter().flat_map(blocks);
    let tools: Vec<Value> =
        head.map(|(_, text, _)| json!({"type": "function", "name": "t", "description": text})).collect();
    let messages = sent["messages"].as_array().unwrap().iter().flat_map(blocks);
    let input: Vec<Value> = messages
        .map(|(_, text, _)| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
        .collect();
    json!({"model": model, "tools": tools, "input": input})
}

/// What came back, as a case expects it.
fn found(came: &Came, billed: fn(&Value) -> [u64; 4]) -> Value {
    match came.status {
        200 => json!({"billed": billed(&came.json()["usage"])}),
        _ => json!({"refused": came.json()["error"]["message"]}),
    }
}

fn billed_by_anthropic(usage: &Value) -> [u64; 4] {
    let number = |value: &Value| value.as_u64().unwrap();
    let written = &usage["cache_creation"];
    let (short, long) = (&written["ephemeral_5m_input_tokens"], &written["ephemeral_1h_input_tokens"]);
    assert_eq!(number(&usage["cache_creation_input_tokens"]), number(short) + number(long));
    [number(&usage["cache_read_input_tokens"]), number(short), number(long), number(&usage["input_tokens"])]
}

fn billed_by_openai(usage: &Value) -> [u64; 4] {
    let number = |value: &Value| value.as_u64().unwrap();
    let details = &usage["input_tokens_details"];
    let (read, written) = (number(&details["cached_tokens"]), number(&details["cache_write_tokens"]));
    [read, written, 0, number(&usage["input_tokens"]) - read - written]
}

/// One request of a case, and when it is answered.
struct Asking {
    at_ms: u64,
    body: String,
    scope: String,
    expected: Value,
    /// Nothing: it never is.
    first_byte_ms: Option<u64>,
}

/// What came, once it is due.
fn came(asked: JoinHandle<Came>) -> Came {
    let deadline = Instant::now() + DUE_WITHIN;
    while !asked.is_finished() {
        if Instant::now() > deadline {
            let text = r#"{"error": {"message": "it is due, and not answered"}}"#.to_owned();
            return Came { status: 0, retry_after: None, text, was_cut: false };
        }
        thread::yield_now();
    }
    asked.join().unwrap()
}

/// Plays a case's requests at their times: the ones that are answered late are held meanwhile.
fn play(path: &'static str, askings: &[Asking], billed: fn(&Value) -> [u64; 4]) -> Vec<Value> {
    let rule = |(index, asking): (usize, &Asking)| Rule {
        when: When::default(),
        times: Some(1),
        answers: vec![match asking.first_byte_ms {
            Some(at_ms) => Answer::Say(Saying { first_byte_ms: at_ms - asking.at_ms, ..Saying::default() }),
            None => Answer::failure(529, "overloaded_error", &format!("request {index} is never answered")),
        }],
    };
    // A request that is refused asks no script.
    let answered = askings.iter().filter(|asking| asking.expected.get("refused").is_none());
    let script = Script { rules: answered.enumerate().map(rule).collect(), otherwise: Vec::new() };
    let world = World::new(script, Counting::By(Arc::new(LastNumber)));
    let mut waiting: Vec<(usize, JoinHandle<Came>)> = Vec::new();
    let mut found_at = vec![Value::Null; askings.len()];
    for (index, asking) in askings.iter().enumerate() {
        world.provider.advance(asking.at_ms - world.provider.now_ms());
        let (base_url, scope, body) =
            (world.provider.base_url(), format!("key {}", asking.scope), asking.body.clone());
        let asked = thread::spawn(move || post(&base_url, path, &scope, &body));
        let kept = index + 1;
        while world.provider.requests().len() < kept {
            thread::yield_now();
        }
        waiting.push((index, asked));
        // What is answered at this very time is, before the next one is asked.
        let due = |index: &usize| askings[*index].first_byte_ms.is_none_or(|due_ms| due_ms <= asking.at_ms);
        for (index, asked) in waiting.extract_if(.., |(index, _)| due(index)) {
            found_at[index] = found(&came(asked), billed);
        }
        let Some(next) = askings.get(index + 1) else { continue };
        let mut dues: Vec<u64> =
            waiting.iter().filter_map(|(index, _)| askings[*index].first_byte_ms).collect();
        dues.retain(|due_ms| *due_ms <= next.at_ms);
        dues.sort_unstable();
        for due_ms in dues {
            world.provider.advance(due_ms - world.provider.now_ms());
            for (index, asked) in
                waiting.extract_if(.., |(index, _)| askings[*index].first_byte_ms == Some(due_ms))
            {
                found_at[index] = found(&came(asked), billed);
            }
        }
    }
    world.provider.advance(1 << 40);
    for (index, asked) in waiting {
        found_at[index] = found(&came(asked), billed);
    }
    found_at
}

/// Each case of the table, whole.
fn check(
    table: &str,
    default_model: &str,
    path: &'static str,
    body: fn(&str, &Value) -> Value,
    billed: fn(&Value) -> [u64; 4],
) -> usize {
    let table: Value = serde_json::from_str(table).unwrap();
    let (mut wrong, mut played) = (String::new(), 0);
    for case in table["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let other_day = case["day"].as_str().is_some_and(|day| day != "2026-11-30");
        if NO_REQUEST.contains(&name) || other_day {
            continue;
        }
        let model = case["model"].as_str().unwrap_or(default_model);
        let askings = case["requests"].as_array().unwrap().iter().map(|sent| {
            let at_ms = sent["at_ms"].as_u64().unwrap();
            let first_byte_ms = sent.get("first_byte_ms").map_or(Some(at_ms), Value::as_u64);
            let expected = match sent.get("refused") {
                Some(refused) => json!({"refused": refused}),
                None if first_byte_ms.is_none() => Value::Null,
                None => json!({"billed": sent["billed"]}),
            };
            let scope = sent["scope"].as_str().unwrap_or_default().to_owned();
            Asking { at_ms, body: body(model, sent).to_string(), scope, expected, first_byte_ms }
        });
        let askings: Vec<Asking> = askings.collect();
        let mut found = play(path, &askings, billed);
        let expected: Vec<Value> = askings.iter().map(|asking| asking.expected.clone()).collect();
        for (found, expected) in found.iter_mut().zip(&expected) {
            if expected.is_null() {
                assert!(found["refused"].as_str().unwrap().ends_with("never answered"), "{name}: {found}");
                *found = Value::Null;
            }
        }
        if found != expected {
            wrong += &format!("{name}:\n  expected {expected:?}\n  found    {found:?}\n");
        }
        played += 1;
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    played
}

/// Cache breaks T7, T8, T9, T10 and T13.
#[test]
fn anthropic_bills_as_the_rules_say() {
    let table = include_str!("../../../cost/tests/cases/anthropic.json");
    let played = check(table, "claude-sonnet-4-6", "/v1/messages", anthropic, billed_by_anthropic);
    assert!(played >= 90, "{played} cases");
}

/// Cache break T13.
#[test]
fn openai_bills_as_the_rules_say() {
    let table = include_str!("../../../cost/tests/cases/openai.json");
    let played = check(table, "gpt-5.5", "/v1/responses", openai, billed_by_openai);
    assert!(played >= 18, "{played} cases");
}
