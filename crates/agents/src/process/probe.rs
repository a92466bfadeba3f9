//! Asks an agent what it is and what it can, without a turn: no model is asked anything.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{Instant, timeout};

use super::{DRAIN_LIMIT, FORCE_LIMIT, STDERR_BYTES, open};
use crate::lines::{Line, LineReader};
use crate::mark::Mark;
use crate::message::Spec;
use crate::platform;
use crate::tail::Tail;
use crate::wire::{self, McpOver};

mod told;

pub use told::{Login, LoginBy, Modes, Refused};

/// How long an agent that was asked may take to end when its input is closed, and to tell what it has left to tell.
const END_LIMIT: Duration = Duration::from_secs(3);

/// JSON-RPC's code by which agents say that somebody has to log in.
const AUTH_REQUIRED: i64 = -32000;

/// An agent that is asked what it is.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Its command, folder, environment, manner and what it must not see; nothing else of it counts.
    pub spec: Spec,
    /// Tells it from everything else that bears the server's mark.
    pub number: u64,
}

/// What an agent told of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its version.
    pub version: Option<String>,
    /// Whether it replays the history of a session that it loads.
    pub load: bool,
    /// Whether it resumes a session without a replay.
    pub resume: bool,
    /// Whether its sessions take a true system prompt.
    pub system_prompt: bool,
    /// Whether a running turn can be steered.
    pub steering: bool,
    /// Whether it reaches tool servers over HTTP.
    pub mcp_http: bool,
    /// The ways to log in that it offers.
    pub logins: Vec<Login>,
    /// What it says of its login by itself: a label, no secret.
    pub account: Option<String>,
    /// Whether it began a session.
    pub session: Result<Modes, Refused>,
    /// Between its start and its first answer.
    pub took: Duration,
}

impl Probe {
    /// Asks it for its abilities and for a session, and ends it. The error is for people: it did not start, or did not
    /// speak the protocol. To be called within a runtime.
    pub async fn run(self, holder: &Arc<[String]>) -> Result<Seen, String> {
        let (cwd, meta) = (self.spec.cwd.clone(), self.spec.manner.meta.clone());
        let conversation = async |talk: &mut Talk, began: Instant| {
            let answer = talk.ask("initialize", &initialize()).await?.map_err(|refused| refused.text)?;
            let took = began.elapsed();
            let mut params = json!({"cwd": cwd, "mcpServers": []});
            if !meta.is_empty() {
                params["_meta"] = Value::Object(meta.clone());
            }
            let session = talk.ask("session/new", &params).await?;
            talk.finish().await;
            let none = || format!("its answer to initialize is none: {}", short(&answer.to_string()));
            let raw: Box<RawValue> = serde_json::value::to_raw_value(&answer).map_err(|_| none())?;
            let told = wire::initialized(&raw).ok_or_else(none)?;
            Ok(Seen {
                version: answer["agentInfo"]["version"].as_str().map(short),
                load: told.stored.load,
                resume: told.stored.resume,
                system_prompt: told.takes_system_prompt,
                steering: told.steering,
                mcp_http: told.mcp == McpOver::Http,
                logins: told::logins(&answer),
                account: talk.account.take(),
                session: session.map(|session| told::modes(&session)),
                took,
            })
        };
        self.talk(holder, conversation).await
    }

    /// Has it log somebody in by one of its own ways ([`LoginBy::Itself`]), for as long as that takes; `tell` gets what
    /// it writes to its standard error meanwhile, which says what to do. The error is for people.
    pub async fn log_in(self, holder: &Arc<[String]>, way: &str, tell: fn(&str)) -> Result<(), String> {
        let conversation = async |talk: &mut Talk, _| {
            talk.ask("initialize", &initialize()).await?.map_err(|refused| refused.text)?;
            talk.limit = None;
            talk.tell = Some(tell);
            talk.ask("authenticate", &json!({"methodId": way})).await?.map_err(|refused| refused.text)?;
            talk.finish().await;
            Ok(())
        };
        self.talk(holder, conversation).await
    }

    async fn talk<T>(
        self,
        holder: &Arc<[String]>,
        conversation: impl AsyncFnOnce(&mut Talk, Instant) -> Result<T, String>,
    ) -> Result<T, String> {
        let Self { mut spec, number } = self;
        let mark = Mark::errand(&spec.mark, number);
        spec.env.push(mark.variable());
        let began = Instant::now();
        let open::Opened { mut child, pid, stdin, stdout, stderr, reports: _reports, control, .. } =
            open::open(holder, &spec, &mark).await?;
        let mut talk = Talk {
            stdin: Some(stdin),
            stdout: LineReader::new(stdout),
            stderr: Some(stderr),
            tail: Tail::default(),
            asked: 0,
            limit: Some(spec.limits.start),
            account: None,
            tell: None,
        };
        let told = conversation(&mut talk, began).await;
        let Talk { stdin, stdout, stderr, tail, .. } = talk;
        drop((stdin, stdout, stderr));
        // The holder ends what is left.
        drop(control);
        if timeout(FORCE_LIMIT, child.wait()).await.is_err() {
            platform::kill_tree(pid);
            let _ = child.start_kill();
            mark.sweep().await;
        }
        told.map_err(|reason| match tail.shown(&spec.secrets) {
            Some(written) => format!("{}; it wrote:\n{written}", spec.secrets.redact(&reason)),
            None => spec.secrets.redact(&reason),
        })
    }
}

fn initialize() -> Value {
    json!({
        "protocolVersion": 1,
        // Ways to log in that need a terminal are told only to those that have one to offer.
        "clientCapabilities": {"auth": {"terminal": true}, "_meta": {"terminal-auth": true}},
        "clientInfo": {"name": "highwater", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// A conversation of one question at a time.
struct Talk {
    /// `None` once closed.
    stdin: Option<ChildStdin>,
    stdout: LineReader<ChildStdout>,
    /// `None` once it ended.
    stderr: Option<ChildStderr>,
    tail: Tail,
    /// Number of the last request.
    asked: u64,
    /// Of each answer.
    limit: Option<Duration>,
    account: Option<String>,
    tell: Option<fn(&str)>,
}

impl Talk {
    /// Asks and waits for the answer; the outer error ends the conversation.
    async fn ask(&mut self, method: &str, params: &Value) -> Result<Result<Value, Refused>, String> {
        self.asked += 1;
        let (asked, limit) = (self.asked, self.limit);
        let line = wire::request(asked, method, params);
        let closed = || format!("it ended before it answered {method}");
        let answer = async {
            self.stdin.as_mut().ok_or_else(closed)?.write_all(&line).await.map_err(|_| closed())?;
            loop {
                let message = self.next().await.ok_or_else(closed)?;
                if message["method"].is_null() && message["id"] == asked {
                    return Ok(answered(message));
                }
                self.hear(&message).await;
            }
        };
        let Some(limit) = limit else { return answer.await };
        let late = || format!("it did not answer {method} within {} s", limit.as_secs());
        timeout(limit, answer).await.unwrap_or_else(|_| Err(late()))
    }

    /// Closes its input, and hears what it has left to tell.
    async fn finish(&mut self) {
        self.stdin = None;
        let rest = async {
            while let Some(message) = self.next().await {
                self.hear(&message).await;
            }
        };
        // One that does not end by itself is ended.
        let _ = timeout(END_LIMIT, rest).await;
    }

    /// The next message; `None`: there will be none.
    async fn next(&mut self) -> Option<Value> {
        let mut bytes = [0; STDERR_BYTES];
        loop {
            let written = async {
                match &mut self.stderr {
                    Some(stderr) => stderr.read(&mut bytes).await.unwrap_or(0),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                line = self.stdout.next() => match line {
                    Ok(Line::Text(line)) => match serde_json::from_str::<Value>(&line) {
                        Ok(message) if message.is_object() => return Some(message),
                        Ok(_) | Err(_) => {}
                    },
                    Ok(Line::TooLong | Line::End) | Err(_) => {
                        // What it wrote before it ended may not have been read yet, and says why.
                        let _ = timeout(DRAIN_LIMIT, self.drain()).await;
                        return None;
                    }
                },
                read = written => {
                    if read == 0 {
                        self.stderr = None;
                        continue;
                    }
                    self.tail.push(&bytes[..read]);
                    if let Some(tell) = self.tell {
                        tell(&String::from_utf8_lossy(&bytes[..read]));
                    }
                }
            }
        }
    }

    /// Reads its standard error to the end.
    async fn drain(&mut self) {
        let mut bytes = [0; STDERR_BYTES];
        while let Some(stderr) = &mut self.stderr {
            match stderr.read(&mut bytes).await.unwrap_or(0) {
                0 => self.stderr = None,
                read => self.tail.push(&bytes[..read]),
            }
        }
    }

    /// What comes between: it is refused what it asks for.
    async fn hear(&mut self, message: &Value) {
        match message["method"].as_str() {
            Some("_auth/status_update") => self.account = told::account(&message["params"]),
            Some(_) if !message["id"].is_null() => {
                let Some(stdin) = &mut self.stdin else { return };
                let refusal = json!({"jsonrpc": "2.0", "id": message["id"],
                    "error": {"code": wire::METHOD_NOT_FOUND, "message": "nothing is asked for here"}});
                // One that is gone is noticed by its output.
                let _ = stdin.write_all(format!("{refusal}\n").as_bytes()).await;
            }
            Some(_) | None => {}
        }
    }
}

fn answered(mut message: Value) -> Result<Value, Refused> {
    let error = &message["error"];
    if error.is_null() {
        return Ok(message["result"].take());
    }
    let text = error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
    let text = if error["data"].is_null() { text } else { format!("{text} ({})", error["data"]) };
    Err(Refused { text: short(&text), login: error["code"] == AUTH_REQUIRED })
}

/// What is shown of a text that an agent gives.
fn short(text: &str) -> String {
    const CHARS_MAX: usize = 300;
    text.chars().filter(|c| !c.is_control()).take(CHARS_MAX).collect()
}
