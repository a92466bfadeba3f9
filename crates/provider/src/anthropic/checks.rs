//! What the API refuses, before anything is read from a cache: in its own words, where they are known.

use crate::asked::Refused;
use crate::raw::Fields;

/// The request's own fields.
pub(super) fn fields(fields: &Fields<'_>) -> Result<(), Refused> {
    for name in ["model", "messages", "max_tokens"] {
        if fields.get(name).is_none() {
            return Err(Refused::invalid(format!("{name}: Field required")));
        }
    }
    if fields.items("messages").is_empty() {
        return Err(Refused::invalid("messages: at least one message is required"));
    }
    let tokens = fields.get("max_tokens").and_then(|tokens| tokens.get().parse::<u64>().ok());
    match tokens {
        None => Err(Refused::invalid("max_tokens: Input should be a valid integer")),
        Some(0) if fields.is_true("stream") => {
            Err(Refused::invalid("max_tokens: 0 is not supported with stream"))
        }
        Some(_) => Ok(()),
    }
}

/// Each call of a tool is answered in the next message, and nothing else is.
pub(super) fn conversation(fields: &Fields<'_>) -> Result<(), Refused> {
    let mut open: Vec<String> = Vec::new();
    let mut first = true;
    for (index, message) in fields.items("messages").into_iter().filter_map(Fields::of).enumerate() {
        let role = message.text("role").unwrap_or_default();
        if role == "system" {
            continue;
        }
        if first && role != "user" {
            return Err(Refused::invalid("messages: first message must use the \"user\" role"));
        }
        first = false;
        let answered = ids(&message, "tool_result", "tool_use_id");
        if let Some(id) = answered.iter().find(|id| !open.contains(id)) {
            return Err(Refused::invalid(format!(
                "messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must \
                 have a corresponding `tool_use` block in the previous message."
            )));
        }
        let missing: Vec<String> = open.into_iter().filter(|id| !answered.contains(id)).collect();
        if !missing.is_empty() {
            return Err(Refused::invalid(format!(
                "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
                 `tool_use` block must have a corresponding `tool_result` block in the next message.",
                missing.join(", ")
            )));
        }
        open = ids(&message, "tool_use", "id");
    }
    Ok(())
}

fn ids(message: &Fields<'_>, kind: &str, field: &str) -> Vec<String> {
    let blocks = message.items("content").into_iter().filter_map(Fields::of);
    let of_kind = blocks.filter(|block| block.text("type").as_deref() == Some(kind));
    of_kind.filter_map(|block| block.text(field)).collect()
}
