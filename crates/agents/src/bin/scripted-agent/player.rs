//! Plays the script: answers requests by taking steps.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use crate::line;
use crate::script::Script;
use crate::tool_client::ToolClient;

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
    /// Of the newest session.
    tools: Option<ToolClient>,
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
            tools: None,
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
            Some("session/new") => {
                self.tools = ToolClient::new(&params["mcpServers"][0]);
                (self.opened(), steps(self, "new"))
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
            Some("session/set_model") => {
                self.set_model(&message["id"], &params["modelId"]);
                return;
            }
            Some(_) | None => return,
        };
        self.answer(&steps, Request::new(message["id"].clone(), result));
    }

    fn answer(&mut self, steps: &[Value], mut request: Request) {
        self.take(steps, &mut request);
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
            "agentCapabilities": { "loadSession": false, "sessionCapabilities": session,
                "mcpCapabilities": { "http": self.script.field("mcp_http") == true, "sse": false } },
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
        self.answer(&steps, request);
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
