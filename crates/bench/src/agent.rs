//! The least agent: it notes when a prompt's bytes are there, and answers at once.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::clock::Instant;

/// What stands before the number by which a prompt is known.
const MARK: &str = "mark-";

/// A word that makes a message known when it arrives in a prompt.
pub(crate) fn mark(number: u64) -> String {
    format!("{MARK}{number}")
}

/// Speaks ACP until the input ends; appends a line to `log` for each prompt: when it was there, and its mark.
pub(crate) fn serve(log: &str) -> Result<()> {
    let log = OpenOptions::new().append(true).create(true).open(log).context("opening the log")?;
    let mut agent = Agent { log, output: std::io::stdout().lock(), sessions: 0 };
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let arrived = Instant::now();
        agent.answer(&line, arrived)?;
        line.clear();
    }
    Ok(())
}

struct Agent<W> {
    log: File,
    output: W,
    sessions: u32,
}

impl<W: Write> Agent<W> {
    fn answer(&mut self, line: &[u8], arrived: Instant) -> Result<()> {
        let message: Value = serde_json::from_slice(line).context("a line that is no JSON")?;
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
            return Ok(());
        };
        let result = match method {
            "initialize" => json!({
                "protocolVersion": 1,
                "agentInfo": {"name": "bench-agent", "version": "1"},
                "agentCapabilities": {"loadSession": false, "sessionCapabilities": {"systemPrompt": {}}},
                "authMethods": [],
            }),
            "session/new" => {
                self.sessions += 1;
                json!({"sessionId": format!("bench-{}-{}", Instant::now().ns, self.sessions)})
            }
            "session/prompt" => {
                // Before the answer: whoever sees the turn's end can read when it began.
                writeln!(self.log, "{} {}", arrived.ns, marked(&message.to_string()))?;
                self.say(&message["params"]["sessionId"])?;
                json!({"stopReason": "end_turn"})
            }
            _ => {
                let error = json!({"code": -32601, "message": format!("no method {method}")});
                return self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
        };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn say(&mut self, session: &Value) -> Result<()> {
        let content = json!({"type": "text", "text": "here"});
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
        let params = json!({"sessionId": session, "update": update});
        self.send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.output, "{message}")?;
        Ok(self.output.flush()?)
    }
}

/// The highest mark in a prompt; 0 if there is none.
fn marked(prompt: &str) -> u64 {
    let digits = |rest: &str| {
        let end = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse::<u64>().ok()
    };
    prompt.split(MARK).skip(1).filter_map(digits).max().unwrap_or_default()
}

/// What an agent noted.
pub(crate) struct Arrivals {
    log: PathBuf,
}

impl Arrivals {
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { log: folder.join("arrivals") }
    }

    /// Program and arguments of an agent that notes its prompts here.
    pub(crate) fn agent(&self, program: &Path) -> [String; 3] {
        [program.display().to_string(), "agent".to_owned(), self.log.display().to_string()]
    }

    /// When the newest prompt was there; it must be the one with this mark.
    pub(crate) fn newest(&self, number: u64) -> Result<Instant> {
        let text = std::fs::read_to_string(&self.log).context("the agent noted nothing")?;
        let line = text.lines().next_back().unwrap_or_default();
        let parts =
            line.split_once(' ').and_then(|(ns, mark)| Some((ns.parse().ok()?, mark.parse::<u64>().ok()?)));
        let (ns, found) = parts.with_context(|| format!("the agent noted {line:?}"))?;
        ensure!(found == number, "the newest prompt has mark {found} instead of {number}");
        Ok(Instant { ns })
    }
}
