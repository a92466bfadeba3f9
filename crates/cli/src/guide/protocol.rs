//! The agent's side of ACP: one JSON-RPC message per line, answered before the next one is read.

use std::io::{self, BufRead, Read as _, Write};

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer;
use super::session::Session;
use super::shelf::Shelf;
use super::turn::Turn;

/// The version of ACP that is spoken.
const PROTOCOL_VERSION: u32 = 1;

/// Bytes of one message at most; the longest is the replay of a long direct conversation.
const LINE_BYTES_MAX: u64 = 32 << 20;

/// Sessions kept at most, so that a client that only ever opens some costs no memory; the oldest goes.
const SESSIONS_MAX: usize = 64;

/// Bytes of one streamed piece at most, so that a long answer begins to show at once.
const PIECE_BYTES_MAX: usize = 4096;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const RESOURCE_NOT_FOUND: i32 = -32002;

/// Answers what comes in until the input ends. `session_id` names each new session, `shelf` keeps them all.
pub(super) fn serve(
    mut input: impl BufRead,
    output: impl Write,
    shelf: &Shelf,
    session_id: impl FnMut() -> String,
) -> io::Result<()> {
    let mut agent = Agent { output, session_id, shelf, sessions: Vec::new() };
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let whole = line.ends_with(b"\n") || (line.len() as u64) < LINE_BYTES_MAX;
        if !whole {
            input.skip_until(b'\n')?;
        }
        if !line.trim_ascii().is_empty() {
            agent.message(&line)?;
        }
    }
}

struct Agent<'a, W, I> {
    output: W,
    session_id: I,
    shelf: &'a Shelf,
    /// Oldest first.
    sessions: Vec<(String, Session)>,
}

/// Why a request fails.
struct Failure {
    code: i32,
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prompt {
    session_id: String,
    prompt: Vec<Block>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Load {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    #[serde(other)]
    Other,
}

impl<W: Write, I: FnMut() -> String> Agent<'_, W, I> {
    fn message(&mut self, line: &[u8]) -> io::Result<()> {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return self.fail(&Value::Null, &failure(PARSE_ERROR, "this line is no JSON text"));
        };
        match (message.get("id"), message.get("method").and_then(Value::as_str)) {
            (Some(id), Some(method)) => {
                let params = message.get("params").cloned().unwrap_or_default();
                match self.request(method, params)? {
                    Ok(result) => self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result})),
                    Err(failure) => self.fail(id, &failure),
                }
            }
            // No notification asks for anything: a turn is over before the next message is read, so that even
            // `session/cancel` comes too late.
            (None, Some(_)) => Ok(()),
            // An answer, though nothing was asked.
            (Some(_), None) if message.get("result").or(message.get("error")).is_some() => Ok(()),
            (id, None) => {
                self.fail(id.unwrap_or(&Value::Null), &failure(INVALID_REQUEST, "this is no request"))
            }
        }
    }

    fn request(&mut self, method: &str, params: Value) -> io::Result<Result<Value, Failure>> {
        match method {
            "initialize" => Ok(Ok(capabilities())),
            "session/new" => Ok(Ok(json!({"sessionId": self.new_session()}))),
            "session/load" => match serde_json::from_value(params) {
                Ok(load) => self.load(&load),
                Err(error) => Ok(Err(failure(INVALID_PARAMS, &error.to_string()))),
            },
            "session/prompt" => match serde_json::from_value(params) {
                Ok(prompt) => self.prompt(prompt),
                Err(error) => Ok(Err(failure(INVALID_PARAMS, &error.to_string()))),
            },
            unknown => Ok(Err(failure(METHOD_NOT_FOUND, &format!("the guide knows no method {unknown:?}")))),
        }
    }

    fn new_session(&mut self) -> String {
        let id = (self.session_id)();
        self.open(&id, Session::default());
        id
    }

    fn open(&mut self, id: &str, session: Session) {
        self.sessions.retain(|(other, _)| other != id);
        if self.sessions.len() == SESSIONS_MAX {
            self.sessions.remove(0);
        }
        self.sessions.push((id.to_owned(), session));
    }

    /// Opens a kept session again. Its history is replayed as far as it is kept: that there were turns.
    fn load(&mut self, load: &Load) -> io::Result<Result<Value, Failure>> {
        let Some(session) = self.shelf.load(&load.session_id) else {
            return Ok(Err(failure(RESOURCE_NOT_FOUND, "there is no such session")));
        };
        for turn in 1..=session.turns {
            self.update(
                &load.session_id,
                "user_message_chunk",
                &format!("(turn {turn}; its text is not kept)"),
            )?;
        }
        self.open(&load.session_id, session);
        Ok(Ok(json!({})))
    }

    fn update(&mut self, id: &str, kind: &str, text: &str) -> io::Result<()> {
        let update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
        let params = json!({"sessionId": id, "update": update});
        self.send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
    }

    fn prompt(&mut self, prompt: Prompt) -> io::Result<Result<Value, Failure>> {
        let Prompt { session_id: id, prompt } = prompt;
        let Some((_, session)) = self.sessions.iter_mut().find(|(other, _)| *other == id) else {
            return Ok(Err(failure(RESOURCE_NOT_FOUND, "there is no such session")));
        };
        let texts = prompt.into_iter().filter_map(|block| match block {
            Block::Text { text } => Some(text),
            Block::Other => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        let turn = Turn::read(&text, session.place());
        session.told(&turn);
        let answer = answer::to(&turn, session);
        session.answered(&answer);
        if let Err(error) = self.shelf.keep(&id, session) {
            eprintln!("highwater guide: this session is not kept: {error}");
        }
        for piece in pieces(&answer) {
            self.update(&id, "agent_message_chunk", piece)?;
        }
        Ok(Ok(json!({"stopReason": "end_turn"})))
    }

    fn fail(&mut self, id: &Value, failure: &Failure) -> io::Result<()> {
        let error = json!({"code": failure.code, "message": failure.message});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        writeln!(self.output, "{message}")?;
        self.output.flush()
    }
}

fn failure(code: i32, message: &str) -> Failure {
    Failure { code, message: message.to_owned() }
}

/// What the guide can do: text. It takes no system prompt, so that its framing comes with its first turn and
/// can be shown.
fn capabilities() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "agentInfo": {
            "name": "highwater-guide",
            "title": "Highwater's guide",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": false, "audio": false, "embeddedContext": false},
            "mcpCapabilities": {"http": false, "sse": false},
        },
        "authMethods": [],
    })
}

/// A text as the pieces in which it is streamed: its paragraphs, long ones cut.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    for mut paragraph in text.split_inclusive("\n\n") {
        while paragraph.len() > PIECE_BYTES_MAX {
            let (piece, rest) = paragraph.split_at(paragraph.floor_char_boundary(PIECE_BYTES_MAX));
            pieces.push(piece);
            paragraph = rest;
        }
        pieces.push(paragraph);
    }
    pieces
}

#[cfg(test)]
mod tests;
