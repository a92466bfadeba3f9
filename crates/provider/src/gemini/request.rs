//! Reading a request to `/v1beta/models/MODEL:generateContent`.

use std::sync::Arc;

use cost::cache::{Kind, Layer};
use serde_json::value::RawValue;

use crate::asked::{Asked, Refused};
use crate::prompt::{Piece, Role, Told};
use crate::raw::Fields;
use crate::script::Turn;

/// How the signatures of this provider begin.
pub(super) const SIGNATURE: &str = "bG9vcGJhY2s6";

/// What a client may send instead of a signature it does not have.
const SKIPS: &[&str] = &["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// What the request tells and how it wants to be answered. `call` is `MODEL:METHOD`.
///
/// # Errors
///
/// It is one that the API refuses.
pub(crate) fn read(call: &str, body: &str) -> Result<Asked, Refused> {
    let (model, method) = call.rsplit_once(':').unwrap_or((call, ""));
    let fields: Fields<'_> = serde_json::from_str(body)
        .map_err(|_| invalid("Invalid JSON payload received: an object is expected"))?;
    let mut turn = Turn::default();
    let mut pieces = Vec::new();
    for (index, tool) in fields.items("tools").into_iter().enumerate() {
        let Some(tool) = Fields::of(tool) else { continue };
        for (place, declared) in tool.items("functionDeclarations").into_iter().enumerate() {
            let path = format!("tools[{index}].functionDeclarations[{place}]");
            turn.tools.extend(Fields::of(declared).and_then(|declared| declared.text("name")));
            pieces.push(piece(Layer::Tools, Kind::Content, Role::Head, path, declared));
        }
    }
    if let Some(system) = fields.get("systemInstruction").and_then(Fields::of) {
        for (index, part) in system.items("parts").into_iter().enumerate() {
            let piece = piece(
                Layer::System,
                Kind::Content,
                Role::Head,
                format!("systemInstruction.parts[{index}]"),
                part,
            );
            turn.system += &piece.text;
            pieces.push(piece);
        }
    }
    let contents = fields.items("contents");
    if contents.is_empty() {
        return Err(invalid("GenerateContentRequest.contents: contents is not specified"));
    }
    for (index, content) in contents.into_iter().enumerate() {
        let content = Fields::of(content).ok_or_else(|| invalid("contents: an object is expected"))?;
        pieces.extend(parts(index, &content, &mut turn));
    }
    let config = fields.get("generationConfig").and_then(Fields::of);
    turn.thinks = config.is_some_and(|config| config.get("thinkingConfig").is_some());
    signatures(model, &fields)?;
    Ok(Asked {
        model: model.to_owned(),
        session: None,
        streamed: method == "streamGenerateContent",
        warms_only: false,
        told: Told { pieces, automatic: None },
        turn,
        free_text_tools: Vec::new(),
    })
}

fn invalid(message: &str) -> Refused {
    Refused { kind: "INVALID_ARGUMENT".to_owned(), ..Refused::invalid(message) }
}

fn parts(index: usize, content: &Fields<'_>, turn: &mut Turn) -> Vec<Piece> {
    let role = if content.text("role").as_deref() == Some("model") { Role::Assistant } else { Role::User };
    let parts = content.items("parts");
    let brings_results = parts.iter().any(|part| has(part, "functionResponse"));
    let mut said = Vec::new();
    let mut pieces = Vec::new();
    for (place, part) in parts.into_iter().enumerate() {
        let Some(fields) = Fields::of(part) else { continue };
        let kind = if has(part, "functionCall") {
            Kind::ToolUse
        } else if has(part, "functionResponse") {
            Kind::ToolResult
        } else if fields.is_true("thought") {
            Kind::Thinking
        } else {
            said.extend(fields.text("text"));
            Kind::Content
        };
        pieces.push(piece(Layer::Messages, kind, role, format!("contents[{index}].parts[{place}]"), part));
    }
    match role {
        Role::Assistant => turn.step += 1,
        Role::User if !brings_results => (turn.text, turn.step) = (said.join("\n"), 0),
        Role::User | Role::Head | Role::System => {}
    }
    pieces
}

fn has(part: &RawValue, field: &str) -> bool {
    Fields::of(part).is_some_and(|part| part.get(field).is_some())
}

fn piece(layer: Layer, kind: Kind, role: Role, path: String, part: &RawValue) -> Piece {
    let json: Arc<str> = part.get().into();
    let fields = Fields::of(part);
    let text = fields.as_ref().and_then(|fields| fields.text("text"));
    let unsigned = || {
        fields.as_ref().map_or_else(|| part.get().to_owned(), |fields| fields.without(&["thoughtSignature"]))
    };
    let text = text.unwrap_or_else(unsigned).into();
    Piece { layer, kind, role, path, json, text, mark: None }
}

/// The first call of each step of the running turn has to carry the signature that came with it; models from 3 on insist.
fn signatures(model: &str, fields: &Fields<'_>) -> Result<(), Refused> {
    let insists = model.strip_prefix("gemini-").and_then(|rest| rest.chars().next());
    if !insists.is_some_and(|first| ('3'..='9').contains(&first)) {
        return Ok(());
    }
    for content in fields.items("contents").into_iter().rev().filter_map(Fields::of) {
        let parts = content.items("parts");
        if content.text("role").as_deref() != Some("model") {
            if parts.iter().any(|part| has(part, "functionResponse")) {
                continue;
            }
            return Ok(());
        }
        let Some(call) = parts.into_iter().find(|part| has(part, "functionCall")).and_then(Fields::of) else {
            continue;
        };
        match call.text("thoughtSignature") {
            Some(signature) if signature.starts_with(SIGNATURE) || SKIPS.contains(&signature.as_str()) => {}
            Some(_) => return Err(invalid("Corrupted thought signature.")),
            None => {
                return Err(invalid("Function call is missing a thought_signature in functionCall parts."));
            }
        }
    }
    Ok(())
}
