//! Answers of `/v1/messages`, whole and as events.

use cost::cache::Outcome;
use serde_json::{Value, json};

use super::signature;
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
    let blocks = blocks(asked, number, saying);
    let output_tokens = blocks.iter().map(|block| block.output_tokens(tokens)).sum();
    let reply = if asked.streamed {
        Reply::Streamed(events(asked, number, &blocks, saying.end, billed, output_tokens))
    } else {
        let mut message = message(asked, number, billed, output_tokens);
        message["content"] = blocks.iter().map(Block::whole).collect();
        message["stop_reason"] = stop_reason(asked, &blocks, saying.end).into();
        Reply::Whole(message)
    };
    (reply, output_tokens)
}

/// An error in the API's shape.
pub(crate) fn refusal(refused: &Refused) -> Value {
    json!({"type": "error", "error": {"type": refused.kind, "message": refused.message}, "request_id": "req_loopback"})
}

enum Block {
    Text(String),
    Thinking { thought: String, signature: String },
    Call { id: String, name: String, input: Value },
}

fn blocks(asked: &Asked, number: u64, saying: &Saying) -> Vec<Block> {
    let mut blocks = Vec::new();
    if asked.warms_only {
        return blocks;
    }
    for (index, part) in saying.parts.iter().enumerate() {
        match part {
            Part::Text(text) => blocks.push(Block::Text(text.clone())),
            Part::Thinking(thought) if asked.turn.thinks => {
                let signature = signature::of(&asked.told.pieces, thought);
                blocks.push(Block::Thinking { thought: thought.clone(), signature });
            }
            Part::Thinking(_) => {}
            Part::Call { name, input } => {
                let id = format!("toolu_{number:08}_{index:02}");
                blocks.push(Block::Call { id, name: name.clone(), input: input.clone() });
            }
        }
    }
    blocks
}

impl Block {
    fn output_tokens(&self, tokens: &Tokens) -> u64 {
        match self {
            Block::Text(text) | Block::Thinking { thought: text, .. } => tokens.of(text),
            Block::Call { name, input, .. } => tokens.of(&format!("{name} {input}")),
        }
    }

    fn whole(&self) -> Value {
        match self {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::Thinking { thought, signature } => {
                json!({"type": "thinking", "thinking": thought, "signature": signature})
            }
            Block::Call { id, name, input } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        }
    }

    /// As it begins, and what is added to it.
    fn in_parts(&self) -> (Value, Vec<Value>) {
        match self {
            Block::Text(text) => {
                let deltas = stream::chunks(text).map(|text| json!({"type": "text_delta", "text": text}));
                (json!({"type": "text", "text": ""}), deltas.collect())
            }
            Block::Thinking { thought, signature } => {
                let deltas =
                    stream::chunks(thought).map(|text| json!({"type": "thinking_delta", "thinking": text}));
                let signed = json!({"type": "signature_delta", "signature": signature});
                let begun = json!({"type": "thinking", "thinking": "", "signature": ""});
                (begun, deltas.chain([signed]).collect())
            }
            Block::Call { id, name, input } => {
                let input = input.to_string();
                let deltas = stream::chunks(&input)
                    .map(|text| json!({"type": "input_json_delta", "partial_json": text}));
                (json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas.collect())
            }
        }
    }
}

fn stop_reason(asked: &Asked, blocks: &[Block], end: End) -> &'static str {
    match end {
        _ if asked.warms_only => "max_tokens",
        End::Length => "max_tokens",
        End::Whole | End::Cut if blocks.iter().any(|block| matches!(block, Block::Call { .. })) => "tool_use",
        End::Whole | End::Cut => "end_turn",
    }
}

fn message(asked: &Asked, number: u64, billed: Outcome, output_tokens: u64) -> Value {
    json!({
        "id": format!("msg_{number:08}"), "type": "message", "role": "assistant", "model": asked.model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage(billed, output_tokens),
    })
}

fn usage(billed: Outcome, output_tokens: u64) -> Value {
    json!({
        "input_tokens": billed.uncached_tokens,
        "cache_creation_input_tokens": billed.written_tokens + billed.written_1h_tokens,
        "cache_read_input_tokens": billed.read_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": billed.written_tokens,
            "ephemeral_1h_input_tokens": billed.written_1h_tokens,
        },
        "output_tokens": output_tokens,
        "service_tier": "standard",
    })
}

fn events(
    asked: &Asked,
    number: u64,
    blocks: &[Block],
    end: End,
    billed: Outcome,
    output_tokens: u64,
) -> Vec<String> {
    let mut events = vec![json!({"type": "message_start", "message": message(asked, number, billed, 1)})];
    for (index, block) in blocks.iter().enumerate() {
        let (begun, deltas) = block.in_parts();
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begun}));
        let deltas = deltas.into_iter();
        events.extend(
            deltas.map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    if end != End::Cut {
        let stopped = json!({"stop_reason": stop_reason(asked, blocks, end), "stop_sequence": null});
        events
            .push(json!({"type": "message_delta", "delta": stopped, "usage": usage(billed, output_tokens)}));
        events.push(json!({"type": "message_stop"}));
    }
    events.iter().map(stream::named).collect()
}
