//! Answers of `generateContent`, whole and as events.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
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
    let mut is_signed = false;
    let mut parts = Vec::new();
    let mut spoken = Spoken::default();
    for (index, part) in saying.parts.iter().enumerate() {
        match part {
            Part::Text(text) => {
                spoken.other_tokens += tokens.of(text);
                parts.push(json!({"text": text}));
            }
            Part::Thinking(text) if asked.turn.thinks => {
                spoken.thinking_tokens += tokens.of(text);
                parts.push(json!({"text": text, "thought": true}));
            }
            Part::Thinking(_) => {}
            Part::Call { name, input } => {
                spoken.other_tokens += tokens.of(&format!("{name} {input}"));
                let id = format!("call_{number:08}_{index:02}");
                let mut call = json!({"functionCall": {"id": id, "name": name, "args": input}});
                // Only the first of parallel calls is signed.
                if !std::mem::replace(&mut is_signed, true) {
                    call["thoughtSignature"] = STANDARD.encode(format!("loopback:{number:08}")).into();
                }
                parts.push(call);
            }
        }
    }
    let usage = usage(billed, spoken);
    let reply = if asked.streamed {
        Reply::Streamed(events(asked, number, &parts, saying.end, &usage))
    } else {
        let mut whole = chunk(asked, number, &parts, &usage);
        whole["candidates"][0]["finishReason"] = finish_reason(saying.end).into();
        Reply::Whole(whole)
    };
    (reply, spoken.thinking_tokens + spoken.other_tokens)
}

/// An error in the API's shape.
pub(crate) fn refusal(refused: &Refused) -> Value {
    let mut error = json!({"code": refused.status, "message": refused.message, "status": refused.kind});
    if let Some(seconds) = refused.retry_after_s {
        let kind = "type.googleapis.com/google.rpc.RetryInfo";
        error["details"] = json!([{"@type": kind, "retryDelay": format!("{seconds}s")}]);
    }
    json!({"error": error})
}

#[derive(Clone, Copy, Default)]
struct Spoken {
    thinking_tokens: u64,
    other_tokens: u64,
}

/// The prompt's count has what was read from the cache in it.
fn usage(billed: Outcome, spoken: Spoken) -> Value {
    json!({
        "promptTokenCount": billed.total_tokens(),
        "cachedContentTokenCount": billed.read_tokens,
        "candidatesTokenCount": spoken.other_tokens,
        "thoughtsTokenCount": spoken.thinking_tokens,
        "totalTokenCount": billed.total_tokens() + spoken.thinking_tokens + spoken.other_tokens,
    })
}

fn chunk(asked: &Asked, number: u64, parts: &[Value], usage: &Value) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "usageMetadata": usage,
        "modelVersion": asked.model,
        "responseId": format!("response_{number:08}"),
    })
}

fn finish_reason(end: End) -> &'static str {
    match end {
        End::Whole | End::Cut => "STOP",
        End::Length => "MAX_TOKENS",
    }
}

/// Texts come in pieces, calls whole.
fn events(asked: &Asked, number: u64, parts: &[Value], end: End, usage: &Value) -> Vec<String> {
    let mut pieces = Vec::new();
    for part in parts {
        match part.get("text").and_then(Value::as_str) {
            Some(text) => pieces.extend(stream::chunks(text).map(|piece| {
                let mut part = part.clone();
                part["text"] = piece.into();
                part
            })),
            None => pieces.push(part.clone()),
        }
    }
    let mut chunks: Vec<Value> =
        pieces.iter().map(|part| chunk(asked, number, std::slice::from_ref(part), usage)).collect();
    if end != End::Cut {
        let last = chunks.pop();
        let mut last = last.unwrap_or_else(|| chunk(asked, number, &[], usage));
        last["candidates"][0]["finishReason"] = finish_reason(end).into();
        chunks.push(last);
    }
    chunks.iter().map(stream::unnamed).collect()
}
