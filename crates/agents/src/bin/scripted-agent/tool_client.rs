//! A small MCP client for the tool server that a session was given: over HTTP, or as a program.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The client.
pub(crate) struct ToolClient {
    line: Line,
    /// Number of the last request.
    asked: u64,
    greeted: bool,
}

/// How it reaches the server.
enum Line {
    Http {
        url: String,
        headers: Vec<(String, String)>,
    },
    Program(Box<Program>),
    /// The program could not be started.
    None(String),
}

/// A server that was started.
struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl ToolClient {
    /// A client of the server that `session/new` named so; `None` if it named none.
    pub(crate) fn new(server: &Value) -> Option<Self> {
        let line = if let Some(url) = server["url"].as_str() {
            Line::Http { url: url.to_owned(), headers: pairs(&server["headers"]) }
        } else {
            match start(server["command"].as_str()?, server) {
                Ok(program) => Line::Program(Box::new(program)),
                Err(error) => Line::None(error.to_string()),
            }
        };
        Some(Self { line, asked: 0, greeted: false })
    }

    /// The names of the tools, in order.
    pub(crate) fn list(&mut self) -> Result<String, String> {
        let listed = self.ask("tools/list", &json!({}))?;
        let tools = listed["tools"].as_array().cloned().unwrap_or_default();
        Ok(tools.iter().filter_map(|tool| tool["name"].as_str()).collect::<Vec<_>>().join(" "))
    }

    /// What a tool tells.
    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> Result<String, String> {
        let result = self.ask("tools/call", &json!({ "name": name, "arguments": arguments }))?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        if result["isError"] == true { Err(text) } else { Ok(text) }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        if !self.greeted {
            self.greeted = true;
            let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "scripted-agent", "version": "1" } });
            self.request("initialize", &client)?;
            self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        }
        self.request(method, params)
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.asked += 1;
        let id = self.asked;
        let text = self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let answer: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
        match answer.get("result") {
            Some(result) if answer["id"] == id => Ok(result.clone()),
            Some(_) | None => Err(text),
        }
    }

    /// Sends a message; its answer, empty for a notification.
    fn send(&mut self, message: &Value) -> Result<String, String> {
        match &mut self.line {
            Line::Http { url, headers } => post(url, headers, message).map_err(|error| error.to_string())?,
            Line::Program(program) => {
                let sent = writeln!(program.input, "{message}").and_then(|()| program.input.flush());
                sent.map_err(|error| error.to_string())?;
                let mut answer = String::new();
                if message["id"].is_u64() {
                    program.output.read_line(&mut answer).map_err(|error| error.to_string())?;
                }
                Ok(answer)
            }
            Line::None(error) => Err(error.clone()),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "a test program that starts a server of its own, as agents do")]
fn start(command: &str, server: &Value) -> std::io::Result<Program> {
    let arguments = server["args"].as_array().cloned().unwrap_or_default();
    let mut child = Command::new(command)
        .args(arguments.iter().filter_map(Value::as_str))
        .envs(pairs(&server["env"]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok(Program { child, input, output: BufReader::new(output) }),
        _ => Err(std::io::Error::other("a pipe is missing")),
    }
}

/// `[{name, value}, ..]`.
fn pairs(list: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = list.as_array().cloned().unwrap_or_default();
    list.iter().map(|pair| (text(&pair["name"]), text(&pair["value"]))).collect()
}

/// One request on a connection of its own: the body of a success, else the status and the body as an error.
fn post(url: &str, headers: &[(String, String)], message: &Value) -> std::io::Result<Result<String, String>> {
    let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap_or((url, ""));
    let body = message.to_string();
    let mut head = format!(
        "POST /{path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(host)?;
    stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    Ok(if status.starts_with('2') { Ok(body.to_owned()) } else { Err(format!("{status}: {body}")) })
}
