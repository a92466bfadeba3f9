//! The steps of a script, one by one.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::steer::METHOD;
use super::{Player, Request};
use crate::daemon::Environment;
use crate::store::Store;
use crate::tool_client::ToolClient;
use crate::{daemon, line};

impl Player {
    /// Takes these steps for a request.
    pub(super) fn take(&mut self, steps: &[Value], request: &mut Request) {
        for step in steps {
            let Some((name, value)) = step.as_object().and_then(|step| step.iter().next()) else {
                eprintln!("scripted-agent: {step} is no step");
                std::process::exit(2);
            };
            if !(self.stream(name, value, request)
                || self.remember(name, value)
                || self.use_tools(name, value)
                || self.act(name, value)
                || reply(name, value, request, self))
            {
                eprintln!("scripted-agent: the step {name} is not known");
                std::process::exit(2);
            }
        }
    }

    /// Takes a step that streams an update; false if it is none.
    fn stream(&mut self, name: &str, value: &Value, request: &Request) -> bool {
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
            "sh" => self.text(&daemon::output(text)),
            "look" => self.text(&names_in(text)),
            "env" => self.text(&std::env::var(text).unwrap_or_else(|_| "none".to_owned())),
            _ => return false,
        }
        true
    }

    /// Takes a step that uses the history of the session; false if it is none.
    fn remember(&mut self, name: &str, value: &Value) -> bool {
        match name {
            "replay" => {
                let count = usize::try_from(value.as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
                let updates = self.store.as_mut().map(|store| store.replay(count)).unwrap_or_default();
                updates.iter().for_each(|update| self.update(update));
            }
            "recall" => {
                let text = value.as_str().unwrap_or_default();
                let recalls = self.store.as_ref().is_some_and(|store| store.recalled(text));
                self.text(if recalls { "yes" } else { "no" });
            }
            "forget" => self.store.iter_mut().for_each(Store::forget),
            _ => return false,
        }
        true
    }

    pub(super) fn text(&mut self, text: &str) {
        self.said.push_str(text);
        self.update(
            &json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
        );
    }

    fn update(&self, update: &Value) {
        line::write(&json!({ "jsonrpc": "2.0", "method": "session/update",
            "params": { "sessionId": self.session, "update": update } }));
    }

    /// Takes a step that uses the tools that the session was given; false if it is none.
    fn use_tools(&mut self, name: &str, value: &Value) -> bool {
        let told = |tools: &mut Option<ToolClient>,
                    ask: &dyn Fn(&mut ToolClient) -> Result<String, String>| {
            let answer = tools.as_mut().ok_or_else(|| "no tools were given".to_owned()).and_then(ask);
            answer.unwrap_or_else(|error| format!("ERROR: {error}"))
        };
        match name {
            "tools" => {
                let names = told(&mut self.tools, &ToolClient::list);
                self.text(&names);
            }
            "call" => {
                let tool = value["name"].as_str().unwrap_or_default();
                let text = told(&mut self.tools, &|tools| tools.call(tool, &value["arguments"]));
                line::log(&json!({ "called": { "name": tool, "text": text } }));
                if value["quiet"] != true {
                    self.text(&text);
                }
            }
            _ => return false,
        }
        true
    }

    /// Takes a step that asks, waits or ends; false if it is none.
    fn act(&mut self, name: &str, value: &Value) -> bool {
        match name {
            "permission" => self.permission(value),
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
                self.wait(Some(Duration::from_millis(value.as_u64().unwrap_or_default())), |_| false);
            }
            "await_cancel" => {
                if !self.cancelled {
                    self.wait(None, |message| message["method"] == "session/cancel");
                }
            }
            "await_steer" => self.await_steer(),
            "hang" => {
                self.wait(None, |_| false);
            }
            "child" => told(daemon::start(value.as_str().unwrap_or_default(), Environment::Inherited)),
            "stranger" => told(daemon::start(value.as_str().unwrap_or_default(), Environment::Empty)),
            "hog" => {
                let mib = usize::try_from(value.as_u64().unwrap_or_default()).unwrap_or_default();
                Box::leak(vec![1_u8; mib << 20].into_boxed_slice());
            }
            "hydra" => told(daemon::start_hydra(value.as_u64().unwrap_or(1))),
            "exit" => std::process::exit(i32::try_from(value.as_i64().unwrap_or_default()).unwrap_or(1)),
            "signal" => die_by(value),
            "close" => {
                let null = std::fs::File::options().write(true).open("/dev/null");
                let _ = null.map(rustix::stdio::dup2_stdout);
            }
            _ => return false,
        }
        true
    }

    /// Asks for permissions, one or all of a list at once, and waits for the answers.
    fn permission(&mut self, value: &Value) {
        let wishes = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        let mut open: Vec<Value> = Vec::new();
        for wish in &wishes {
            let kinds = wish["options"].as_array().cloned().unwrap_or_default();
            let option = |kind: &Value| match kind.is_object() {
                true => kind.clone(),
                false => json!({ "optionId": kind, "name": kind, "kind": kind }),
            };
            let options: Vec<Value> = kinds.iter().map(option).collect();
            let mut call = json!({ "toolCallId": format!("p{}", self.asked + 1), "status": "pending" });
            let own = ["title", "kind", "name", "rawInput", "locations", "content"];
            for field in own.into_iter().filter(|field| !wish[field].is_null()) {
                call[field] = wish[field].clone();
            }
            let params = json!({ "sessionId": self.session, "options": options, "toolCall": call });
            let id = self.request("session/request_permission", &params);
            if wish["wait"] != false {
                open.push(id);
            }
        }
        let tell = wishes.iter().any(|wish| wish["tell"] == true);
        while !open.is_empty() {
            let waiting = open.clone();
            let answer = self.wait(None, |message| is_answer(message, &waiting));
            open.retain(|id| *id != answer["id"]);
            if tell {
                let outcome = &answer["result"]["outcome"];
                let told = outcome["optionId"].as_str().or_else(|| outcome["outcome"].as_str());
                self.text(&format!(
                    "{}: {}\n",
                    answer["id"].as_str().unwrap_or_default(),
                    told.unwrap_or("error")
                ));
            }
        }
    }

    /// Asks the client and waits for the answer.
    fn ask(&mut self, method: &str, params: &Value) {
        let id = self.request(method, params);
        self.wait(None, |message| is_answer(message, std::slice::from_ref(&id)));
    }

    /// Asks the client; the request's id.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = json!(format!("ask-{}", self.asked));
        line::write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Keeps what comes for later, until the time is over or the message came, which it gives. Cancels are noted at once.
    pub(super) fn wait(&mut self, time: Option<Duration>, is_it: impl Fn(&Value) -> bool) -> Value {
        let until = time.map(|time| Instant::now() + time);
        loop {
            let message = match until {
                None => self.heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self.heard.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            let message = match message {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return Value::Null,
                Err(RecvTimeoutError::Disconnected) => loop {
                    std::thread::park();
                },
            };
            if message["method"] == "session/cancel" {
                self.cancelled = true;
                let steps = self.script.steps("cancel").unwrap_or_default();
                self.take(&steps, &mut Request::none());
            }
            let steers = message["method"] == METHOD && self.can_be_steered();
            if steers {
                self.steer(&message);
            }
            if is_it(&message) {
                return message;
            }
            if message["method"] != "session/cancel" && !steers {
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

/// Bytes of a piece of a flood.
const PIECE_BYTES: usize = 1000;

/// Takes a step that answers; false if it is none.
fn reply(name: &str, value: &Value, request: &mut Request, player: &mut Player) -> bool {
    match name {
        "answer" => {
            player.keep_said();
            let id = if value["id"].is_null() {
                request.id.clone()
            } else if value["id"] == "previous" {
                player.previous.clone()
            } else {
                value["id"].clone()
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
        "result" => {
            for (name, value) in value.as_object().into_iter().flatten() {
                request.result[name] = value.clone();
            }
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

fn is_answer(message: &Value, ids: &[Value]) -> bool {
    message["method"].is_null() && ids.contains(&message["id"])
}

fn told(started: std::io::Result<()>) {
    if let Err(error) = started {
        eprintln!("scripted-agent: no child: {error}");
    }
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
