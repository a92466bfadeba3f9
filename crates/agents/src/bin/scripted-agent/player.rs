//! Plays the script: answers requests by taking steps.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use crate::line;
use crate::script::Script;
use crate::store::Store;
use crate::tool_client::ToolClient;

mod steer;
mod steps;

/// The agent.
pub(crate) struct Player {
    script: Script,
    heard: Receiver<Value>,
    /// Messages that came while a step waited for another.
    waiting: VecDeque<Value>,
    sessions: usize,
    turns: usize,
    session: String,
    store: Option<Store>,
    /// What it said in the turn.
    said: String,
    /// Of the newest session.
    tools: Option<ToolClient>,
    cancelled: bool,
    /// What its turn was steered by and no step waited for yet.
    steered: VecDeque<String>,
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
        let store = Store::new(script.field("store"));
        Self {
            script,
            store,
            said: String::new(),
            heard,
            waiting: VecDeque::new(),
            sessions: 0,
            turns: 0,
            session: String::new(),
            tools: None,
            cancelled: false,
            steered: VecDeque::new(),
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
            Some("session/new") => {
                self.tools = ToolClient::new(&params["mcpServers"][0]);
                let opened = self.opened();
                log_opened("new", &self.session, params);
                (opened, steps(self, "new"))
            }
            Some("authenticate") if self.script.steps("authenticate").is_some() => {
                (json!({}), steps(self, "authenticate"))
            }
            Some("session/list") => (self.listed(), Vec::new()),
            Some("session/load") => {
                self.reload("load", message, &[json!({ "replay": 0 })]);
                return;
            }
            Some("session/resume") => {
                self.reload("resume", message, &[]);
                return;
            }
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
            Some("session/set_mode") if !self.modes().is_empty() => {
                self.set_mode(&message["id"], &params["modeId"]);
                return;
            }
            Some("session/set_model") => {
                self.set_model(&message["id"], &params["modelId"]);
                return;
            }
            Some(steer::METHOD) if self.can_be_steered() => {
                self.refuse_steer(message);
                return;
            }
            Some(method) => {
                if self.script.field("deaf") != true && !message["id"].is_null() {
                    let error = json!({ "code": -32601, "message": format!("no method {method}") });
                    line::write(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
                }
                return;
            }
            None => return,
        };
        self.answer(&steps, Request::new(message["id"].clone(), result));
    }

    fn answer(&mut self, steps: &[Value], mut request: Request) {
        self.take(steps, &mut request);
        self.keep_said();
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
        for by in ["resume", "list"].into_iter().filter(|by| self.reloads_by(by)) {
            session[by] = json!({});
        }
        let mut initialized = json!({
            "protocolVersion": self.script.field("version").as_u64().unwrap_or(1),
            "agentCapabilities": { "loadSession": self.reloads_by("load"), "sessionCapabilities": session,
                "mcpCapabilities": { "http": self.script.field("mcp_http") == true, "sse": false } },
            "agentInfo": { "name": "scripted-agent", "version": "1" },
            "authMethods": [],
        });
        if self.can_be_steered() {
            initialized["_meta"] = json!({ "steering": { "supported": true } });
        }
        initialized
    }

    fn reloads_by(&self, by: &str) -> bool {
        match self.script.field("reload").as_array() {
            Some(ways) => ways.iter().any(|way| way == by),
            None => by == "load" && self.store.is_some(),
        }
    }

    fn listed(&self) -> Value {
        let cwd = std::env::current_dir().unwrap_or_default();
        let known = self.store.as_ref().map(Store::sessions).unwrap_or_default();
        let known: Vec<Value> =
            known.iter().map(|session| json!({ "sessionId": session, "cwd": cwd })).collect();
        json!({ "sessions": known })
    }

    /// Opens a session of an earlier process again.
    fn reload(&mut self, by: &str, message: &Value, default: &[Value]) {
        let session = message["params"]["sessionId"].as_str().unwrap_or_default();
        let known = self.store.as_mut().is_some_and(|store| store.reload(session).is_ok());
        let mut request = Request::new(message["id"].clone(), json!({}));
        let mut steps = self.script.steps(by).unwrap_or_else(|| default.to_vec());
        if known {
            self.tools = ToolClient::new(&message["params"]["mcpServers"][0]);
            session.clone_into(&mut self.session);
            log_opened(by, session, &message["params"]);
        } else {
            request.result = Value::Null;
            steps = vec![json!({ "error": { "code": -32002, "message": "Resource not found" } })];
        }
        self.answer(&steps, request);
    }

    fn opened(&mut self) -> Value {
        let mut own = format!("scripted-{}", std::process::id());
        if self.store.is_some() {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            own = format!("{own}-{:x}", now.unwrap_or_default().as_nanos());
        }
        let native = self.script.field("native").as_str().unwrap_or(&own);
        self.sessions += 1;
        self.session =
            if self.sessions == 1 { native.to_owned() } else { format!("{native}-{}", self.sessions) };
        if let Some(Err(error)) = self.store.as_mut().map(|store| store.begin(&self.session)) {
            eprintln!("scripted-agent: no session can be kept: {error}");
            std::process::exit(2);
        }
        let mut opened = json!({ "sessionId": self.session });
        let models = self.script.field("models");
        let names = self.models();
        let modes: Vec<Value> = self.modes().iter().map(|mode| json!({ "id": mode, "name": mode })).collect();
        if let Some(first) = modes.first() {
            opened["modes"] = json!({ "currentModeId": first["id"], "availableModes": modes });
        }
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

    fn modes(&self) -> Vec<Value> {
        self.script.field("modes").as_array().cloned().unwrap_or_default()
    }

    fn set_mode(&self, id: &Value, name: &Value) {
        let known = self.modes().contains(name);
        let error = json!({ "code": -32602, "message": format!("no mode {name}") });
        let (field, answer) = if known { ("result", json!({})) } else { ("error", error) };
        line::write(&json!({ "jsonrpc": "2.0", "id": id, field: answer }));
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
        self.steered.clear();
        self.keep("user", &text);
        self.said.clear();
        let mut request = Request::new(id, json!({ "stopReason": "end_turn" }));
        request.prompt = text;
        self.answer(&steps, request);
    }

    /// Keeps what was said, before the answer says that it was: the client may end the process then.
    fn keep_said(&mut self) {
        let said = std::mem::take(&mut self.said);
        if !said.is_empty() {
            self.keep("agent", &said);
        }
    }

    fn keep(&mut self, who: &str, text: &str) {
        if let Some(Err(error)) = self.store.as_mut().map(|store| store.add(who, text)) {
            eprintln!("scripted-agent: what was said is not kept: {error}");
        }
    }
}

fn log_opened(by: &str, session: &str, params: &Value) {
    let system = params["systemPrompt"]["content"][0]["text"].clone();
    line::log(&json!({ "opened": { "by": by, "session": session, "system": system } }));
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
