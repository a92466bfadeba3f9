//! Reading a request to `/v1/responses`.

use std::sync::Arc;

use axum::http::HeaderMap;
use cost::cache::{Kind, Layer};
use serde_json::value::RawValue;

use crate::asked::{Asked, Refused};
use crate::prompt::{Piece, Role, Told};
use crate::raw::{self, Fields};
use crate::script::Turn;

/// Fields that name an item for its sender. Whether they reach the model is not published; they are taken for names alone.
const NAMES: &[&str] = &["id", "status"];

/// What the request tells and how it wants to be answered.
///
/// # Errors
///
/// It is one that the API refuses.
pub(crate) fn read(headers: &HeaderMap, body: &str) -> Result<Asked, Refused> {
    let fields: Fields<'_> = serde_json::from_str(body).map_err(|_| {
        Refused::invalid("We could not parse the JSON body of your request: an object is expected")
    })?;
    let Some(model) = fields.text("model") else {
        return Err(Refused::invalid("Missing required parameter: 'model'."));
    };
    let Some(input) = fields.get("input") else {
        return Err(Refused::invalid("Missing required parameter: 'input'."));
    };
    let mut tools = Tools::default();
    let mut pieces = parameters(&fields);
    for (index, tool) in fields.items("tools").into_iter().enumerate() {
        tools.note(tool);
        pieces.push(piece(Layer::Tools, Kind::Content, Role::Head, format!("tools[{index}]"), tool.get()));
    }
    let instructions = fields.text("instructions").unwrap_or_default();
    if let Some(raw) = fields.get("instructions").filter(|_| !instructions.is_empty()) {
        let mut piece = piece(Layer::System, Kind::Content, Role::Head, "instructions".to_owned(), raw.get());
        piece.text = instructions.as_str().into();
        pieces.push(piece);
    }
    let mut turn =
        Turn { system: instructions, thinks: fields.get("reasoning").is_some(), ..Turn::default() };
    match raw::text(input) {
        Some(text) => {
            let mut whole =
                piece(Layer::Messages, Kind::Content, Role::User, "input".to_owned(), input.get());
            whole.text = text.as_str().into();
            pieces.push(whole);
            turn.text = text;
        }
        None => conversation(&fields, &mut pieces, &mut turn, &mut tools)?,
    }
    turn.tools = tools.names;
    Ok(Asked {
        session: session(headers, &fields),
        streamed: fields.is_true("stream"),
        warms_only: false,
        told: Told { pieces, automatic: None },
        turn,
        free_text_tools: tools.free_text,
        model,
    })
}

#[derive(Default)]
struct Tools {
    names: Vec<String>,
    /// Of these, the ones that take free text.
    free_text: Vec<String>,
}

impl Tools {
    fn note(&mut self, tool: &RawValue) {
        let Some(tool) = Fields::of(tool) else { return };
        // A namespace holds tools of its own.
        tool.items("tools").into_iter().for_each(|inner| self.note(inner));
        let Some(name) = tool.text("name") else { return };
        if tool.text("type").as_deref() == Some("custom") {
            self.free_text.push(name.clone());
        }
        self.names.push(name);
    }
}

/// What is part of the key besides the text: the schema of the answer, and how much effort is made.
fn parameters(fields: &Fields<'_>) -> Vec<Piece> {
    let within = |outer: &str, inner: &str| {
        let value = fields.get(outer).and_then(Fields::of)?.get(inner)?;
        Some(Piece {
            kind: Kind::Parameter,
            text: "".into(),
            json: format!("{outer}.{inner}={}", value.get()).into(),
            ..piece(Layer::Tools, Kind::Parameter, Role::Head, format!("{outer}.{inner}"), "")
        })
    };
    [within("text", "format"), within("reasoning", "effort")].into_iter().flatten().collect()
}

fn conversation(
    fields: &Fields<'_>,
    pieces: &mut Vec<Piece>,
    turn: &mut Turn,
    tools: &mut Tools,
) -> Result<(), Refused> {
    let mut speaks = false;
    for (index, item) in fields.items("input").into_iter().enumerate() {
        let path = format!("input[{index}]");
        let item = Fields::of(item)
            .ok_or_else(|| Refused::invalid(format!("Invalid type for '{path}': expected an object.")))?;
        let role = role(&item);
        if role == Role::Assistant {
            turn.step += usize::from(!speaks);
        } else if let Some(text) = said(&item) {
            (turn.text, turn.step) = (text, 0);
        }
        speaks = role == Role::Assistant;
        item.items("tools").into_iter().for_each(|tool| tools.note(tool));
        pieces.extend(item_pieces(&item, role, &path));
    }
    Ok(())
}

fn role(item: &Fields<'_>) -> Role {
    match (item.text("type").as_deref(), item.text("role").as_deref()) {
        (None | Some("message"), Some("assistant")) => Role::Assistant,
        (None | Some("message"), Some("system" | "developer")) => Role::System,
        (None | Some("message"), Some(_) | None) => Role::User,
        (Some("additional_tools"), _) => Role::Head,
        (Some(kind), _) if kind.ends_with("_output") => Role::User,
        (Some(_), _) => Role::Assistant,
    }
}

/// What the user says in this item. None: somebody else speaks.
fn said(item: &Fields<'_>) -> Option<String> {
    let is_message = matches!(item.text("type").as_deref(), None | Some("message"));
    if !is_message || item.text("role").as_deref() != Some("user") {
        return None;
    }
    Some(item.text("content").unwrap_or_else(|| {
        let parts = item.items("content").into_iter().filter_map(Fields::of);
        parts.filter_map(|part| part.text("text")).collect::<Vec<_>>().join("\n")
    }))
}

/// A message's parts, each a piece of its own; other items are one.
fn item_pieces(item: &Fields<'_>, role: Role, path: &str) -> Vec<Piece> {
    let kind = match item.text("type").as_deref() {
        None | Some("message") => {
            let parts = item.items("content");
            if !parts.is_empty() {
                let part = |(index, part): (usize, &RawValue)| {
                    let path = format!("{path}.content[{index}]");
                    piece(Layer::Messages, Kind::Content, role, path, part.get())
                };
                return parts.into_iter().enumerate().map(part).collect();
            }
            Kind::Content
        }
        Some("reasoning") => Kind::Thinking,
        Some(kind) if kind.ends_with("_output") => Kind::ToolResult,
        Some(kind) if kind.ends_with("_call") => Kind::ToolUse,
        Some(_) => Kind::Content,
    };
    vec![piece(Layer::Messages, kind, role, path.to_owned(), &item.without(NAMES))]
}

/// What is read of it: its texts, or all of it where it has none.
fn piece(layer: Layer, kind: Kind, role: Role, path: String, json: &str) -> Piece {
    let fields = serde_json::from_str::<Fields<'_>>(json).ok();
    let text = fields.and_then(|fields| {
        let texts = ["text", "content", "output", "arguments", "input"];
        texts.iter().find_map(|name| fields.text(name))
    });
    let json: Arc<str> = json.into();
    let text = text.map_or_else(|| Arc::clone(&json), Arc::from);
    Piece { layer, kind, role, path, json, text, mark: None }
}

/// Codex tells it in a header and as the key of its cache.
fn session(headers: &HeaderMap, fields: &Fields<'_>) -> Option<String> {
    let header = ["session_id", "session-id"].iter().find_map(|name| headers.get(*name));
    let header = header.and_then(|value| value.to_str().ok()).map(str::to_owned);
    fields.text("prompt_cache_key").or(header)
}
