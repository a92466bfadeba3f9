//! Answers of `/v1/responses`, whole and as events.

use cost::cache::Outcome;
use serde_json::{Value, json};

use crate::asked::{Asked, Refused, Reply};
use crate::prompt::Tokens;
use crate::script::{End, Part, Saying};
use crate::stream;

/// What the model says to `asked`, the request of this number, and its tokens.
pub(crate) fn say(
    asked: &Asked,
    number: u64,
    saying: &Saying,
    billed: Outcome,
    tokens: &Tokens,
) -> (Reply, u64) {
    let items: Vec<Item> = saying
        .parts
        .iter()
        .enumerate()
        .filter_map(|(index, part)| Item::of(asked, number, index, part))
        .collect();
    let counted = |thinking: bool| -> u64 {
        let counted = items.iter().filter(|item| matches!(item, Item::Reasoning { .. }) == thinking);
        counted.map(|item| tokens.of(item.text())).sum()
    };
    let spoken = Spoken { reasoning_tokens: counted(true), other_tokens: counted(false) };
    let mut response = response(asked, number);
    if asked.streamed {
        let events = events(&response, &items, saying.end, &usage(billed, spoken));
        return (Reply::Streamed(events), spoken.all());
    }
    finish(&mut response, &items, saying.end, &usage(billed, spoken));
    (Reply::Whole(response), spoken.all())
}

/// An error in the API's shape.
pub(crate) fn refusal(refused: &Refused) -> Value {
    json!({"error": {"message": refused.message, "type": refused.kind, "param": null, "code": null}})
}

/// Tokens of an answer.
#[derive(Clone, Copy)]
struct Spoken {
    reasoning_tokens: u64,
    other_tokens: u64,
}

impl Spoken {
    fn all(self) -> u64 {
        self.reasoning_tokens + self.other_tokens
    }
}

enum Item {
    Message { id: String, text: String },
    Reasoning { id: String, text: String },
    Function { id: String, call_id: String, name: String, arguments: String },
    Custom { id: String, call_id: String, name: String, input: String },
}

impl Item {
    fn of(asked: &Asked, number: u64, index: usize, part: &Part) -> Option<Item> {
        let id = |kind: &str| format!("{kind}_{number:08}_{index:02}");
        match part {
            Part::Text(text) => Some(Item::Message { id: id("msg"), text: text.clone() }),
            Part::Thinking(text) => {
                asked.turn.thinks.then(|| Item::Reasoning { id: id("rs"), text: text.clone() })
            }
            Part::Call { name, input } => {
                let (call_id, name) = (id("call"), name.clone());
                Some(match input.as_str().filter(|_| asked.free_text_tools.contains(&name)) {
                    Some(input) => Item::Custom { id: id("ctc"), call_id, name, input: input.to_owned() },
                    None => Item::Function { id: id("fc"), call_id, name, arguments: input.to_string() },
                })
            }
        }
    }

    /// What its tokens are counted from.
    fn text(&self) -> &str {
        match self {
            Item::Message { text, .. } | Item::Reasoning { text, .. } => text,
            Item::Function { arguments, .. } => arguments,
            Item::Custom { input, .. } => input,
        }
    }

    /// With its text, or as it begins.
    fn value(&self, text: &str, status: &str) -> Value {
        match self {
            Item::Message { id, .. } => {
                let parts = if text.is_empty() { json!([]) } else { json!([output_text(text)]) };
                json!({"type": "message", "id": id, "status": status, "role": "assistant", "content": parts})
            }
            Item::Reasoning { id, .. } => json!({
                "type": "reasoning", "id": id, "encrypted_content": format!("loopback:{text}"),
                "summary": if text.is_empty() { json!([]) } else { json!([{"type": "summary_text", "text": text}]) },
            }),
            Item::Function { id, call_id, name, .. } => json!({
                "type": "function_call", "id": id, "status": status, "call_id": call_id, "name": name, "arguments": text,
            }),
            Item::Custom { id, call_id, name, .. } => json!({
                "type": "custom_tool_call", "id": id, "status": status, "call_id": call_id, "name": name, "input": text,
            }),
        }
    }

    fn id(&self) -> &str {
        match self {
            Item::Message { id, .. }
            | Item::Reasoning { id, .. }
            | Item::Function { id, .. }
            | Item::Custom { id, .. } => id,
        }
    }

    /// The events between its first and its last.
    fn deltas(&self, index: usize) -> Vec<Value> {
        let place = |kind: &str| json!({"type": kind, "item_id": self.id(), "output_index": index});
        let with = |kind: &str, field: &str, value: Value| {
            let mut event = place(kind);
            event[field] = value;
            if matches!(self, Item::Message { .. }) {
                event["content_index"] = 0.into();
            }
            event
        };
        let deltas =
            |kind: &str| stream::chunks(self.text()).map(|part| with(kind, "delta", part.into())).collect();
        let mut events: Vec<Value> = Vec::new();
        match self {
            Item::Message { text, .. } => {
                events.push(with("response.content_part.added", "part", output_text("")));
                events.extend::<Vec<Value>>(deltas("response.output_text.delta"));
                events.push(with("response.output_text.done", "text", text.as_str().into()));
                events.push(with("response.content_part.done", "part", output_text(text)));
            }
            Item::Reasoning { .. } => {}
            Item::Function { arguments, .. } => {
                events.extend::<Vec<Value>>(deltas("response.function_call_arguments.delta"));
                let done = "response.function_call_arguments.done";
                events.push(with(done, "arguments", arguments.as_str().into()));
            }
            Item::Custom { input, .. } => {
                events.extend::<Vec<Value>>(deltas("response.custom_tool_call_input.delta"));
                events.push(with("response.custom_tool_call_input.done", "input", input.as_str().into()));
            }
        }
        events
    }
}

fn output_text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn response(asked: &Asked, number: u64) -> Value {
    json!({
        "id": format!("resp_{number:08}"), "object": "response", "created_at": 0, "status": "in_progress", "error": null,
        "incomplete_details": null, "model": asked.model, "output": [], "usage": null,
    })
}

/// Input counts all of it, what was read and what was written among it.
fn usage(billed: Outcome, spoken: Spoken) -> Value {
    json!({
        "input_tokens": billed.total_tokens(),
        "input_tokens_details": {"cached_tokens": billed.read_tokens, "cache_write_tokens": billed.written_tokens},
        "output_tokens": spoken.all(),
        "output_tokens_details": {"reasoning_tokens": spoken.reasoning_tokens},
        "total_tokens": billed.total_tokens() + spoken.all(),
    })
}

fn finish(response: &mut Value, items: &[Item], end: End, usage: &Value) {
    response["output"] = items.iter().map(|item| item.value(item.text(), "completed")).collect();
    response["usage"] = usage.clone();
    match end {
        End::Whole | End::Cut => response["status"] = "completed".into(),
        End::Length => {
            response["status"] = "incomplete".into();
            response["incomplete_details"] = json!({"reason": "max_output_tokens"});
        }
    }
}

fn events(response: &Value, items: &[Item], end: End, usage: &Value) -> Vec<String> {
    let mut events = vec![
        json!({"type": "response.created", "response": response}),
        json!({"type": "response.in_progress", "response": response}),
    ];
    for (index, item) in items.iter().enumerate() {
        let added = item.value("", "in_progress");
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": added}));
        events.extend(item.deltas(index));
        let done = item.value(item.text(), "completed");
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": done}));
    }
    let mut finished = response.clone();
    finish(&mut finished, items, end, usage);
    match end {
        End::Whole => events.push(json!({"type": "response.completed", "response": finished})),
        End::Length => events.push(json!({"type": "response.incomplete", "response": finished})),
        End::Cut => {}
    }
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = number.into();
        stream::named(&event)
    });
    numbered.collect()
}
