//! Plays the script: answers requests by taking steps.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::script::Script;
use crate::{daemon, line};

/// The agent.
pub(crate) struct Player {
    script: Script,
    heard: Receiver<Value>,
    /// Messages that came while a step waited for another.
    waiting: VecDeque<Value>,
    sessions: usize,
    turns: usize,
    session: String,
    cancelled: bool,
    /// Id of the last request of its own.
    asked: u64,
    /// Id of the request answered before.
    previous: Value,
}

/// A request at hand.
struct Request {
    id: Value,
    prompt: String,
    /// The answer that it gets if no step gives another.
    result: Value,
    answered: bool,
}

impl Player {
    /// An agent that has begun nothing.
    pub(crate) fn new(script: Script, heard: Receiver<Value>) -> Self {
        Self {
            script,
            heard,
            waiting: VecDeque::new(),
            sessions: 0,
            turns: 0,
            session: String::new(),
            cancelled: false,
            asked: 0,
            previous: Value::Null,
        }
    }

    /// Whether it lives on when its input ends.
    pub(crate) fn ignores_eof(&self) -> bool {
        self.script.field("ignore_eof") == true
    }

    /// Takes the steps before anything is read.
    pub(crate) fn start(&mut self) {
        let steps = self.script.steps("start").unwrap_or_default();
        self.take(&steps, &mut Request::none());
    }

    /// Answers requests until the input ends.
    pub(crate) fn serve(&mut self) {
        while let Some(message) = self.next() {
            self.handle(&message);
        }
    }

    fn next(&mut self) -> Option<Value> {
        self.waiting.pop_front().or_else(|| self.heard.recv().ok())
    }

    fn handle(&mut self, message: &Value) {
        let params = &message["params"];
        let steps = |player: &Self, name: &str| player.script.steps(name).unwrap_or_default();
        let (result, steps) = match message["method"].as_str() {
            Some("initialize") => (self.initialized(), steps(self, "initialize")),
            Some("session/new") => (self.opened(), steps(self, "new")),
            Some("session/prompt") => {
                self.prompt(message["id"].clone(), params);
                return;
            }
            Some("session/cancel") => {
                // No turn waits for it.
                let steps = steps(self, "cancel");
                self.take(&steps, &mut Request::none());
                return;
            }
            Some("session/set_config_option") => {
                self.set_model(&message["id"], &params["value"]);
                return;
            }
            Some("session/set_model") => {
                self.set_model(&message["id"], &params["modelId"]);
                return;
            }
            Some(_) | None => return,
        };
        self.answer(steps, Request::new(message["id"].clone(), result));
    }

    fn answer(&mut self, steps: Vec<Value>, mut request: Request) {
        self.take(&steps, &mut request);
        if !request.answered {
            line::write(&json!({ "jsonrpc": "2.0", "id": request.id, "result": request.result }));
        }
        self.previous = request.id;
    }

    fn initialized(&self) -> Value {
        let mut session = json!({ "close": {} });
        if self.script.field("system_prompt") == true {
            session["systemPrompt"] = json!({});
        }
        json!({
            "protocolVersion": self.script.field("version").as_u64().unwrap_or(1),
            "agentCapabilities": { "loadSession": false, "sessionCapabilities": session },
            "agentInfo": { "name": "scripted-agent", "version": "1" },
            "authMethods": [],
        })
    }

    fn opened(&mut self) -> Value {
        let own = format!("scripted-{}", std::process::id());
        let native = self.script.field("native").as_str().unwrap_or(&own);
        self.sessions += 1;
        self.session =
            if self.sessions == 1 { native.to_owned() } else { format!("{native}-{}", self.sessions) };
        let mut opened = json!({ "sessionId": self.session });
        let models = self.script.field("models");
        let names = self.models();
        match models["by"].as_str() {
            Some("config_option") => {
                let options: Vec<Value> =
                    names.iter().map(|name| json!({ "value": name, "name": name })).collect();
                let model = json!({ "id": "model", "name": "Model", "type": "select",
                    "currentValue": names.first(), "options": options });
                opened["configOptions"] = json!([
                    { "id": "mode", "name": "Mode", "type": "select", "currentValue": "a", "options": [] }, model
                ]);
            }
            Some("set_model") => {
                let models: Vec<Value> =
                    names.iter().map(|name| json!({ "modelId": name, "name": name })).collect();
                opened["models"] = json!({ "currentModelId": names.first(), "availableModels": models });
            }
            Some(_) | None => {}
        }
        opened
    }

    fn models(&self) -> Vec<Value> {
        self.script.field("models")["names"].as_array().cloned().unwrap_or_default()
    }

    fn set_model(&self, id: &Value, name: &Value) {
        if self.models().contains(name) {
            line::write(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        } else {
            let error = json!({ "code": -32602, "message": format!("no model {name}") });
            line::write(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    }

    fn prompt(&mut self, id: Value, params: &Value) {
        let pieces = params["prompt"].as_array().cloned().unwrap_or_default();
        let text: String = pieces.iter().filter_map(|piece| piece["text"].as_str()).collect();
        line::log(&json!({ "prompt": text }));
        let own = match Script::in_prompt(&text) {
            Some(Ok(script)) => script.turn(self.turns),
            Some(Err(error)) => Some(vec![json!({ "text": format!("SCRIPT is wrong: {error}") })]),
            None => None,
        };
        let steps =
            own.or_else(|| self.script.turn(self.turns)).unwrap_or_else(|| vec![json!({ "echo": 0 })]);
        self.turns += 1;
        self.cancelled = false;
        let mut request = Request::new(id, json!({ "stopReason": "end_turn" }));
        request.prompt = text;
        self.answer(steps, request);
    }

    fn take(&mut self, steps: &[Value], request: &mut Request) {
        for step in steps {
            let Some((name, value)) = step.as_object().and_then(|step| step.iter().next()) else {
                eprintln!("scripted-agent: {step} is no step");
                std::process::exit(2);
            };
            if !(self.stream(name, value, request)
                || self.act(name, value)
                || reply(name, value, request, self))
            {
                eprintln!("scripted-agent: the step {name} is not known");
                std::process::exit(2);
            }
        }
    }

    /// Takes a step that streams an update; false if it is none.
    fn stream(&self, name: &str, value: &Value, request: &Request) -> bool {
        let text = value.as_str().unwrap_or_default();
        let number = usize::try_from(value.as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
        match name {
            "text" => self.text(text),
            "echo" if number == 0 => self.text(&request.prompt),
            "echo" => {
                let chars: Vec<char> = request.prompt.chars().collect();
                chars.chunks(number).for_each(|piece| self.text(&piece.iter().collect::<String>()));
            }
            "big_text" => {
                let pieces = number.div_ceil(PIECE_BYTES);
                (0..pieces).for_each(|at| self.text(&"x".repeat(PIECE_BYTES.min(number - at * PIECE_BYTES))));
            }
            "thought" => self.update(&json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": text } })),
            "tool" => self.update(&json!({ "sessionUpdate": "tool_call", "toolCallId": value["id"],
                "title": value["title"], "kind": value["kind"], "status": "pending", "rawInput": {} })),
            "tool_update" => self.update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": value["id"],
                "status": value["status"], "title": value["title"] })),
            "plan" => {
                let entries: Vec<Value> = value.as_array().map(Vec::as_slice).unwrap_or_default().iter()
                    .map(|entry| json!({ "content": entry, "priority": "medium", "status": "pending" })).collect();
                self.update(&json!({ "sessionUpdate": "plan", "entries": entries }));
            }
            "used" => self.update(&json!({ "sessionUpdate": "usage_update", "used": value, "size": 200_000 })),
            "compacted" => self.update(&json!({ "sessionUpdate": "compaction_update", "compactionId": "c1", "status": value })),
            "update" => self.update(value),
            "huge" => self.update(&json!({ "sessionUpdate": "agent_thought_chunk",
                "content": { "type": "text", "text": "x".repeat(number) } })),
            "look" => self.text(&names_in(text)),
            "env" => self.text(&std::env::var(text).unwrap_or_else(|_| "none".to_owned())),
            _ => return false,
        }
        true
    }

    fn text(&self, text: &str) {
        self.update(
            &json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
        );
    }

    fn update(&self, update: &Value) {
        line::write(&json!({ "jsonrpc": "2.0", "method": "session/update",
            "params": { "sessionId": self.session, "update": update } }));
    }

    /// Takes a step that asks, waits or ends; false if it is none.
    fn act(&mut self, name: &str, value: &Value) -> bool {
        match name {
            "permission" => {
                let kinds = value["options"].as_array().cloned().unwrap_or_default();
                let options: Vec<Value> = kinds
                    .iter()
                    .map(|kind| json!({ "optionId": kind, "name": kind, "kind": kind }))
                    .collect();
                self.ask(
                    "session/request_permission",
                    &json!({ "sessionId": self.session, "options": options,
                    "toolCall": { "toolCallId": "p1", "title": value["title"], "status": "pending" } }),
                );
            }
            "request" => self.ask(value["method"].as_str().unwrap_or_default(), &value["params"]),
            "notify" => {
                line::write(
                    &json!({ "jsonrpc": "2.0", "method": value["method"], "params": value["params"] }),
                );
            }
            "raw" => line::raw(format!("{}\n", value.as_str().unwrap_or_default()).as_bytes()),
            "hex" => line::raw(&bytes_of(value.as_str().unwrap_or_default())),
            "flood" => self.flood(
                value["what"].as_str().unwrap_or_default(),
                value["count"].as_u64().unwrap_or_default(),
            ),
            "stderr" => eprint!("{}", value.as_str().unwrap_or_default()),
            "delay_ms" => {
                self.wait(Some(Duration::from_millis(value.as_u64().unwrap_or_default())), |_| false)
            }
            "await_cancel" => {
                if !self.cancelled {
                    self.wait(None, |message| message["method"] == "session/cancel");
                }
            }
            "hang" => self.wait(None, |_| false),
            "child" => {
                if let Err(error) = daemon::start(value.as_str().unwrap_or_default()) {
                    eprintln!("scripted-agent: no child: {error}");
                }
            }
            "exit" => std::process::exit(i32::try_from(value.as_i64().unwrap_or_default()).unwrap_or(1)),
            "signal" => die_by(value),
            "close" => {
                let null = std::fs::File::options().write(true).open("/dev/null");
                let _ = null.map(|null| rustix::stdio::dup2_stdout(null));
            }
            _ => return false,
        }
        true
    }

    /// Asks the client and waits for the answer.
    fn ask(&mut self, method: &str, params: &Value) {
        self.asked += 1;
        let id = json!(format!("ask-{}", self.asked));
        line::write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait(None, |message| message["id"] == id && message["method"].is_null());
    }

    /// Keeps what comes for later, until the time is over or the message came. Cancels are noted at once.
    fn wait(&mut self, time: Option<Duration>, is_it: impl Fn(&Value) -> bool) {
        let until = time.map(|time| Instant::now() + time);
        loop {
            let message = match until {
                None => self.heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self.heard.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            let message = match message {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => loop {
                    std::thread::park();
                },
            };
            if message["method"] == "session/cancel" {
                self.cancelled = true;
                let steps = self.script.steps("cancel").unwrap_or_default();
                self.take(&steps, &mut Request::none());
            }
            if is_it(&message) {
                return;
            }
            if message["method"] != "session/cancel" {
                self.waiting.push_back(message);
            }
        }
    }

    fn flood(&self, what: &str, count: u64) {
        let piece = match what {
            "bytes" => "x".repeat(PIECE_BYTES),
            "garbage" | "stderr" => format!("npm warn {}\n", "x".repeat(80)),
            "updates" => format!(
                "{}\n",
                json!({ "jsonrpc": "2.0", "method": "session/update", "params": {
                "sessionId": self.session, "update": { "sessionUpdate": "agent_message_chunk",
                "content": { "type": "text", "text": "flood " } } } })
            ),
            "requests" => format!(
                "{}\n",
                json!({ "jsonrpc": "2.0", "id": 7, "method": "fs/read_text_file", "params": {} })
            ),
            other => {
                eprintln!("scripted-agent: the flood {other} is not known");
                std::process::exit(2);
            }
        };
        let mut left = if count == 0 { u64::MAX } else { count };
        while left > 0 {
            if what == "stderr" {
                eprint!("{piece}")
            } else {
                line::raw(piece.as_bytes())
            }
            left -= 1;
        }
    }
}

impl Request {
    fn new(id: Value, result: Value) -> Self {
        Self { id, prompt: String::new(), result, answered: false }
    }

    /// No request: steps that answer do nothing that the client waits for.
    fn none() -> Self {
        Self::new(Value::Null, Value::Null)
    }
}

/// Bytes of a piece of a flood.
const PIECE_BYTES: usize = 1000;

/// Takes a step that answers; false if it is none.
fn reply(name: &str, value: &Value, request: &mut Request, player: &Player) -> bool {
    match name {
        "answer" => {
            let id = match &value["id"] {
                Value::Null => request.id.clone(),
                Value::String(previous) if previous == "previous" => player.previous.clone(),
                other => other.clone(),
            };
            let mut result = request.result.clone();
            if let Some(stop) = value["stop"].as_str() {
                result["stopReason"] = stop.into();
            }
            if !value["usage"].is_null() {
                result["usage"] = value["usage"].clone();
            }
            for _ in 0..value["times"].as_u64().unwrap_or(1) {
                line::write(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            request.answered |= id == request.id;
        }
        "error" => {
            line::write(&json!({ "jsonrpc": "2.0", "id": request.id, "error": value }));
            request.answered = true;
        }
        "silent" => request.answered = true,
        _ => return false,
    }
    true
}

fn names_in(folder: &str) -> String {
    let Ok(entries) = std::fs::read_dir(folder) else { return "none".to_owned() };
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names.join(" ")
}

fn bytes_of(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

fn die_by(signal: &Value) {
    let signal = signal.as_i64().and_then(|number| i32::try_from(number).ok());
    if let Some(signal) = signal.and_then(rustix::process::Signal::from_named_raw) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
}
