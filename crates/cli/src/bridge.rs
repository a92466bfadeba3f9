//! `highwater mcp`: carries an agent's tool calls from standard input and output to the server over HTTP, for agents
//! whose tool servers are programs.

use std::io::{self, BufRead, Read as _, Write};
use std::process::ExitCode;
use std::time::Duration;

use agents::BRIDGE_VARIABLES;
use serde_json::{Value, json};
use ureq::http::Request;

/// Bytes of a message at most: what the server takes of a request.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Bytes of an answer at most: a page of history, each byte escaped, stays far below.
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How long an answer may take: the server answers out of its own database.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// JSON-RPC's code for what is not understood.
const INVALID_REQUEST: i32 = -32600;

/// JSON-RPC's code for a fault within.
const INTERNAL_ERROR: i32 = -32603;

/// Where a message names the version of the protocol that it is written in.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Carries messages until the input ends.
pub(crate) fn run() -> ExitCode {
    let [url, token] = BRIDGE_VARIABLES.map(|name| std::env::var(name).unwrap_or_default());
    if url.is_empty() || token.is_empty() {
        let [url, token] = BRIDGE_VARIABLES;
        eprintln!(
            "highwater mcp: {url} or {token} is not set; Highwater sets both when it offers its tools to an agent"
        );
        return ExitCode::from(2);
    }
    match carry(&Server::new(url, token), &mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // The agent left in the middle of an answer: the same as the end of its input.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("highwater mcp: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One message a line in, its answer a line out, in order.
fn carry(server: &Server, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
    loop {
        let mut line = Vec::new();
        if input.take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let answer = if line.len() > LINE_BYTES_MAX {
            skip_line(input)?;
            Some(refusal(&Value::Null, INVALID_REQUEST, "a message has 1 MiB at most"))
        } else if line.trim_ascii().is_empty() {
            None
        } else {
            answer(server, &line)
        };
        if let Some(answer) = answer {
            writeln!(output, "{answer}").and_then(|()| output.flush())?;
        }
    }
}

/// The answer to a line; none to what wants none.
fn answer(server: &Server, line: &[u8]) -> Option<String> {
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Some(refusal(&Value::Null, INVALID_REQUEST, "this line is no JSON"));
    };
    let wants_answer = message["id"].is_string() || message["id"].is_number();
    match server.send(&message) {
        Ok(answer) => answer.filter(|_| wants_answer),
        Err(reason) if wants_answer => Some(refusal(&message["id"], INTERNAL_ERROR, &reason)),
        Err(reason) => {
            eprintln!("highwater mcp: {reason}");
            None
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (length, ended) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(length);
        if ended {
            return Ok(());
        }
    }
}

fn refusal(id: &Value, code: i32, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
}

/// The server's end.
struct Server {
    agent: ureq::Agent,
    url: String,
    token: String,
}

impl Server {
    fn new(url: String, token: String) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // The server is on loopback: a proxy would be asked for its own.
            .proxy(None)
            .max_redirects(0)
            .timeout_global(Some(ANSWER_LIMIT))
            .build();
        Self { agent: config.new_agent(), url, token }
    }

    /// Sends a message; what came back, if anything. It is one line, as JSON that is written compactly is.
    fn send(&self, message: &Value) -> Result<Option<String>, String> {
        let mut request = Request::post(&self.url)
            .header("authorization", format!("Bearer {}", self.token))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        // From this version on, the headers repeat what the message says.
        if let Some(version) = message["params"]["_meta"][VERSION].as_str() {
            let method = message["method"].as_str().unwrap_or_default();
            request = request.header("mcp-protocol-version", version).header("mcp-method", method);
            if let Some(name) = message["params"]["name"].as_str() {
                request = request.header("mcp-name", name);
            }
        }
        let request = request.body(message.to_string()).map_err(|error| error.to_string())?;
        let mut answer =
            self.agent.run(request).map_err(|error| format!("Highwater does not answer: {error}"))?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|error| format!("the answer broke off: {error}"))?;
        match serde_json::from_slice::<Value>(&body) {
            Ok(answer) if answer["jsonrpc"] == "2.0" => Ok(Some(answer.to_string())),
            Ok(error) if error["message"].is_string() => {
                Err(error["message"].as_str().unwrap_or_default().to_owned())
            }
            Ok(_) | Err(_) if (200..300).contains(&status) && body.is_empty() => Ok(None),
            Ok(_) | Err(_) => Err(format!("Highwater answered with status {status}")),
        }
    }
}

#[cfg(test)]
mod tests;
