//! Reading a request to `/v1/messages`.

use std::sync::Arc;

use axum::http::HeaderMap;
use cost::cache::{Change, Kind, Layer, Ttl};
use serde_json::value::RawValue;

use super::{checks, signature};
use crate::asked::{Asked, Refused};
use crate::prompt::{Piece, Role, Told};
use crate::raw::{self, Fields};
use crate::script::Turn;

/// The tokens of an image: what one of about a megapixel takes (its width times its height through 750, at most about 1,600).
const IMAGE_TOKENS: usize = 1600;

/// What the request tells and how it wants to be answered.
///
/// # Errors
///
/// It is one that the API refuses.
pub(crate) fn read(headers: &HeaderMap, body: &str) -> Result<Asked, Refused> {
    let fields: Fields<'_> = serde_json::from_str(body)
        .map_err(|_| Refused::invalid("The request body is not valid JSON: an object is expected"))?;
    checks::fields(&fields)?;
    let model = fields.text("model").unwrap_or_default();
    let tools = tools(&fields)?;
    let mut pieces = tools.pieces;
    pieces.extend(tools.parameters);
    pieces.extend(speed(&fields));
    pieces.extend(system(&fields)?);
    let system = text_of(&pieces, Layer::System);
    pieces.extend(parameters(&fields, &model));
    let conversation_from = pieces.len();
    for (index, message) in fields.items("messages").into_iter().enumerate() {
        pieces.extend(content(index, message)?);
    }
    checks::conversation(&fields)?;
    signature::verify(&model, &pieces, conversation_from)?;
    let automatic = fields.get("cache_control").map(ttl).transpose()?;
    let mut turn = turn(&fields);
    (turn.system, turn.tools) = (system, tools.names);
    turn.thinks = thinks(&fields);
    Ok(Asked {
        session: session(headers, &fields),
        streamed: fields.is_true("stream"),
        warms_only: fields.get("max_tokens").is_some_and(|tokens| tokens.get() == "0"),
        told: Told { pieces, automatic },
        turn,
        free_text_tools: Vec::new(),
        model,
    })
}

struct Tools {
    pieces: Vec<Piece>,
    /// Tools that the provider runs itself: switching them on or off leaves the definitions of the others in the cache.
    parameters: Vec<Piece>,
    names: Vec<String>,
}

fn tools(fields: &Fields<'_>) -> Result<Tools, Refused> {
    let mut tools = Tools { pieces: Vec::new(), parameters: Vec::new(), names: Vec::new() };
    for (index, tool) in fields.items("tools").into_iter().enumerate() {
        let path = format!("tools[{index}]");
        let tool =
            Fields::of(tool).ok_or_else(|| Refused::invalid(format!("{path}: an object is expected")))?;
        let name = tool.text("name").unwrap_or_default();
        if tools.names.contains(&name) {
            return Err(Refused::invalid("tools: Tool names must be unique."));
        }
        tools.names.push(name);
        if tool.text("type").is_some_and(|kind| kind.starts_with("web_search_")) {
            tools.parameters.push(parameter(Change::WebSearch, "web_search", "on"));
        } else if !tool.is_true("defer_loading") {
            let mut piece = piece(Layer::Tools, Kind::Content, Role::Head, path, &tool)?;
            piece.text = Arc::clone(&piece.json);
            tools.pieces.push(piece);
        }
    }
    Ok(tools)
}

fn speed(fields: &Fields<'_>) -> Option<Piece> {
    let speed = fields.text("speed").filter(|speed| speed != "standard")?;
    Some(parameter(Change::Speed, "speed", &speed))
}

/// The parameters that are part of what the conversation is found by.
fn parameters(fields: &Fields<'_>, model: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let choice = fields.get("tool_choice").filter(|choice| {
        Fields::of(choice).and_then(|choice| choice.text("type")).as_deref() != Some("auto")
    });
    pieces.extend(choice.map(|choice| parameter(Change::ToolChoice, "tool_choice", choice.get())));
    if thinks(fields) {
        let value = fields.get("thinking").map(RawValue::get).unwrap_or_default();
        pieces.push(parameter(Change::Thinking, "thinking", value));
    }
    let effort = fields.get("output_config").and_then(Fields::of).and_then(|config| config.text("effort"));
    if let Some(effort) = effort.filter(|_| !signature::is_bound(model)) {
        pieces.push(parameter(Change::Effort, "effort", &effort));
    }
    pieces
}

fn thinks(fields: &Fields<'_>) -> bool {
    let kind = fields.get("thinking").and_then(Fields::of).and_then(|thinking| thinking.text("type"));
    kind.is_some_and(|kind| kind != "disabled")
}

fn parameter(change: Change, name: &str, value: &str) -> Piece {
    Piece {
        layer: change.invalidates_from(),
        kind: Kind::Parameter,
        role: Role::Head,
        path: name.to_owned(),
        json: format!("{name}={value}").into(),
        text: "".into(),
        mark: None,
    }
}

fn system(fields: &Fields<'_>) -> Result<Vec<Piece>, Refused> {
    let Some(system) = fields.get("system") else { return Ok(Vec::new()) };
    blocks(Layer::System, Role::Head, "system", system)
}

/// The pieces of one message.
fn content(index: usize, message: &RawValue) -> Result<Vec<Piece>, Refused> {
    let path = format!("messages[{index}]");
    let message =
        Fields::of(message).ok_or_else(|| Refused::invalid(format!("{path}: an object is expected")))?;
    let role = match message.text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some(_) | None => {
            return Err(Refused::invalid(format!(
                "{path}.role: Input should be 'user', 'assistant' or 'system'"
            )));
        }
    };
    let content = message.get("content");
    let content = content.ok_or_else(|| Refused::invalid(format!("{path}.content: Field required")))?;
    blocks(Layer::Messages, role, &format!("{path}.content"), content)
}

/// A string counts as one block of text.
fn blocks(layer: Layer, role: Role, path: &str, value: &RawValue) -> Result<Vec<Piece>, Refused> {
    if let Some(text) = raw::text(value) {
        if text.is_empty() {
            return Err(Refused::invalid(format!("{path}: text content blocks must be non-empty")));
        }
        return Ok(vec![Piece {
            layer,
            kind: Kind::Content,
            role,
            path: path.to_owned(),
            json: text_block(value).into(),
            text: text.into(),
            mark: None,
        }]);
    }
    let items = raw::items(value)
        .ok_or_else(|| Refused::invalid(format!("{path}: Input should be a valid string or array")))?;
    let mut pieces = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let path = format!("{path}[{index}]");
        let block =
            Fields::of(item).ok_or_else(|| Refused::invalid(format!("{path}: an object is expected")))?;
        let kind = match block.text("type").as_deref() {
            Some("thinking" | "redacted_thinking") => Kind::Thinking,
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => Kind::ToolUse,
            Some(kind) if kind.ends_with("tool_result") => Kind::ToolResult,
            Some("text") if block.text("text").is_none_or(|text| text.is_empty()) => {
                return Err(Refused::invalid(format!("{path}: text content blocks must be non-empty")));
            }
            Some(_) => Kind::Content,
            None => return Err(Refused::invalid(format!("{path}.type: Field required"))),
        };
        pieces.push(piece(layer, kind, role, path, &block)?);
    }
    Ok(pieces)
}

/// Text and nothing else has one form, however it was written.
fn text_block(text: &RawValue) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, text.get())
}

fn piece(layer: Layer, kind: Kind, role: Role, path: String, block: &Fields<'_>) -> Result<Piece, Refused> {
    let mark = block.get("cache_control").filter(|mark| mark.get() != "null").map(ttl).transpose()?;
    let json: Arc<str> =
        match block.get("text").filter(|_| block.is_made_of(&["type", "text", "cache_control"])) {
            Some(text) => text_block(text).into(),
            None => block.without(&["cache_control"]).into(),
        };
    Ok(Piece { layer, kind, role, path, json, text: readable(block).into(), mark })
}

/// The text that tokens are counted from.
fn readable(block: &Fields<'_>) -> String {
    match block.text("type").as_deref() {
        Some("text") => block.text("text").unwrap_or_default(),
        Some("thinking") => block.text("thinking").unwrap_or_default(),
        Some("redacted_thinking") => block.text("data").unwrap_or_default(),
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
            let input = block.get("input").map(RawValue::get).unwrap_or_default();
            format!("{} {input}", block.text("name").unwrap_or_default())
        }
        Some("image") => "x ".repeat(IMAGE_TOKENS),
        Some(_) | None => match block.get("content") {
            Some(content) => raw::text(content).unwrap_or_else(|| nested(content)),
            None => block.without(&["cache_control", "signature", "data"]),
        },
    }
}

/// The texts of the blocks in a tool's result.
fn nested(content: &RawValue) -> String {
    let items = raw::items(content).unwrap_or_default();
    let texts: Vec<String> = items.into_iter().filter_map(Fields::of).map(|block| readable(&block)).collect();
    texts.join("\n")
}

/// The time to live that a mark asks for.
fn ttl(mark: &RawValue) -> Result<Ttl, Refused> {
    let fields = Fields::of(mark).ok_or_else(|| Refused::invalid("cache_control: an object is expected"))?;
    if fields.text("type").as_deref() != Some("ephemeral") {
        return Err(Refused::invalid("cache_control.type: Input should be 'ephemeral'"));
    }
    match fields.text("ttl").as_deref() {
        None | Some("5m") => Ok(Ttl::FiveMinutes),
        Some("1h") => Ok(Ttl::OneHour),
        Some(_) => Err(Refused::invalid("cache_control.ttl: Input should be '5m' or '1h'")),
    }
}

fn text_of(pieces: &[Piece], layer: Layer) -> String {
    let texts = pieces.iter().filter(|piece| piece.layer == layer && piece.kind == Kind::Content);
    texts.map(|piece| &*piece.text).collect::<Vec<_>>().join("\n")
}

/// What the user said last, and how many times the model has spoken since. A message with results of tools goes on with a turn.
fn turn(fields: &Fields<'_>) -> Turn {
    let mut turn = Turn::default();
    let messages = fields.items("messages");
    for message in messages.into_iter().rev().filter_map(Fields::of) {
        match message.text("role").as_deref() {
            Some("assistant") => turn.step += 1,
            Some("user") => {
                if let Some(text) = said(&message) {
                    turn.text = text;
                    return turn;
                }
            }
            Some(_) | None => {}
        }
    }
    turn
}

/// None: the message brings results of tools.
fn said(message: &Fields<'_>) -> Option<String> {
    if let Some(text) = message.text("content") {
        return Some(text);
    }
    let mut said = Vec::new();
    for block in message.items("content").into_iter().filter_map(Fields::of) {
        match block.text("type").as_deref() {
            Some("tool_result") => return None,
            Some("text") => said.extend(block.text("text")),
            Some(_) | None => {}
        }
    }
    Some(said.join("\n"))
}

/// Claude Code tells it in a header, and within the user's id.
fn session(headers: &HeaderMap, fields: &Fields<'_>) -> Option<String> {
    let header = headers.get("x-claude-code-session-id").and_then(|value| value.to_str().ok());
    header.map(str::to_owned).or_else(|| {
        let user = fields.get("metadata").and_then(Fields::of)?.text("user_id")?;
        let user: serde_json::Value = serde_json::from_str(&user).ok()?;
        user.get("session_id")?.as_str().map(str::to_owned)
    })
}
