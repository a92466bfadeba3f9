//! What goes in and out: commands to carry out, events that happened.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use delivery::model::{Epoch, Key, MessageId, NativeId, RunId};

use crate::fault::Fault;
use crate::redact::Secrets;
use crate::version::Versions;

mod ask;
mod first;
mod usage;

pub use ask::*;
pub use usage::*;

/// How to run one agent.
#[derive(Clone)]
pub struct Spec {
    /// Program and arguments; the program is looked up on the PATH of `env`.
    pub command: Vec<String>,
    /// Working directory; made if it does not exist.
    pub cwd: PathBuf,
    /// The whole environment: nothing but the mark is added (6.11).
    pub env: Vec<(String, String)>,
    /// What is never shown: replaced in replies, updates, reasons and standard error (6.11).
    pub secrets: Secrets,
    /// A saved session to reload; `None`: a new one begins.
    pub reload: Option<Reload>,
    /// Text for a true system prompt, sent if the agent can take one (3.4); `None`: never sent. For a session that is
    /// reloaded the same bytes that it began with.
    pub system_prompt: Option<String>,
    /// Model to set, where the agent lets it be set.
    pub model: Option<String>,
    /// What the agent is asked for beside the plain start of a session.
    pub manner: Manner,
    /// Highwater's own tools, offered to the session (7); `None`: it gets none.
    pub tools: Option<ToolServer>,
    /// Folder that the agent must not see, and the part of it that it may: its own folder.
    pub hide: Option<Hide>,
    /// Whether an owner trusts the project that it works on (8.2): a process for an untrusted one is started so that it
    /// loads no settings, hooks, plugins, tool servers or environment from there. `None`: it works on no project.
    pub trust: Option<Trust>,
    /// What has to be done before the process starts: a failure is told as the process's own.
    pub before: Option<Before>,
    /// Whose processes it sees, where the system lets that be chosen.
    pub sight: Sight,
    /// Bytes of memory that its whole tree may have.
    pub memory_max: Option<u64>,
    /// What marks the processes of this server: stands in the environment of the agent and its holder, so that
    /// [`sweep`](crate::sweep) finds what outlives both. The same at the server's next start, and no other server's.
    pub mark: String,
    /// Limits of waiting.
    pub limits: TimeLimits,
}

/// What an agent is asked for beside the plain start of a session: its own settings, by its preset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manner {
    /// Goes as `_meta` with `session/new` and, the same again, with what reloads the session.
    pub meta: serde_json::Map<String, serde_json::Value>,
    /// The permission mode: set once, and answered before the first prompt. An agent that does not take it is given up: in
    /// another mode it might do without asking what is to be asked for.
    pub mode: Option<String>,
    /// The versions that this was tried with; one that says it is another works on, with a notice.
    pub versions: Option<Versions>,
    /// The title of a new session, for agents that would else ask a model for one; told to those that take one.
    pub title: Option<String>,
}

/// Whether an owner trusts a project (8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Its settings may be loaded.
    Trusted,
    /// Nothing of it may be loaded.
    Untrusted,
}

/// Work that comes before the start of a process; the error is for people. When the process is to end before it has
/// started, the work is dropped.
#[derive(Clone)]
pub struct Before(Arc<dyn Fn() -> Work + Send + Sync>);

type Work = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

impl Before {
    /// Of what makes the work.
    pub fn new<W>(make: impl Fn() -> W + Send + Sync + 'static) -> Self
    where
        W: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self(Arc::new(move || Box::pin(make())))
    }

    /// This work, then `next`, unless this one fails.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self::new(move || {
            let (first, next) = (self.begin(), next.clone());
            async move {
                first.await?;
                next.begin().await
            }
        })
    }

    pub(crate) fn begin(&self) -> Work {
        (self.0)()
    }
}

impl fmt::Debug for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Before")
    }
}

/// Names the environment's variables without their values, which may be secrets.
impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spec")
            .field("command", &self.command)
            .field("cwd", &self.cwd)
            .field("reload", &self.reload.as_ref().map(|reload| &reload.native))
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("tools", &self.tools)
            .field("hide", &self.hide)
            .field("trust", &self.trust)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// A saved session to reload (6.6), and by what it is known that it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reload {
    /// The agent's id for it.
    pub native: NativeId,
    /// How full its context was, in tokens, if the agent told.
    pub used: Option<u64>,
    /// How its history ends, if that is known.
    pub end: Option<HistoryEnd>,
    /// How long to wait before its process starts: an agent that was asked earlier would lose it.
    pub wait: Duration,
}

/// The end of a session's history, by which the end of its replay is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEnd {
    /// A part of its newest prompt that no other prompt has.
    pub prompt: String,
    /// How its answer to that ends, as it was told, that is redacted.
    pub reply: String,
}

/// Name of Highwater's own tool server, by which agents prefix its tools.
pub const TOOL_SERVER: &str = "highwater";

/// Variables in which the bridge gets its address and token.
pub const BRIDGE_VARIABLES: [&str; 2] = ["HIGHWATER_MCP_URL", "HIGHWATER_MCP_TOKEN"];

/// Where a session finds Highwater's own tools: over HTTP if the agent can, else through the bridge.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolServer {
    /// Address of the tools over streamable HTTP.
    pub url: String,
    /// The process's own token for them.
    pub token: String,
    /// Program and arguments of the bridge from standard input and output to that address.
    pub bridge: Vec<String>,
    /// Names of the tools: a permission that an agent asks for one of them is given.
    pub names: &'static [&'static str],
}

/// Without the token.
impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServer")
            .field("url", &self.url)
            .field("bridge", &self.bridge)
            .finish_non_exhaustive()
    }
}

/// A hidden folder (6.11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hide {
    /// The data folder.
    pub folder: PathBuf,
    /// The agent's own folder inside it.
    pub but: PathBuf,
}

/// Whose processes an agent sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Its own alone: the kernel ends them all when their first one ends, and no other agent's environment is seen.
    Own,
    /// All of the system.
    All,
}

/// Limits of waiting for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// `initialize` and `session/new`, each.
    pub start: Duration,
    /// A turn without any sign of life (6.9).
    pub inactivity: Duration,
    /// A whole turn (6.9).
    pub turn: Duration,
    /// Between asking (cancel, closed stdin, SIGTERM) and forcing.
    pub grace: Duration,
}

/// What to do. A command for a process that is unknown, ending or gone does nothing: the `Exited` that came or
/// comes answers it, and a prompt without `PromptWritten` before it was not written.
#[derive(Clone, Debug)]
pub enum Command {
    /// Start a process, and begin a session or reload one. Answered by `Started` or `Exited`, before which
    /// `ReloadFailed` says that it is the session's fault.
    Start {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// How.
        spec: Box<Spec>,
    },
    /// Send a prompt. Answered by `PromptWritten`, then `TurnEnded` or `TurnFailed`. While another turn is in
    /// flight, or before `Started`: `TurnFailed` alone.
    Prompt {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// The run that it belongs to.
        run: RunId,
        /// The exact text.
        text: String,
    },
    /// Cancel the turn of this run, if it is still the one; a settled turn's cancel never hits the next.
    Cancel {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// The run.
        run: RunId,
    },
    /// Put a message into the turn of this run, if it is the one in flight and the agent can be steered. Answered by
    /// `Steered`, or by the end of the turn: then the turn does not surely have it.
    Steer {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// The run.
        run: RunId,
        /// The message.
        message: MessageId,
        /// The exact text.
        text: String,
    },
    /// Have an idle agent prove that it is alive: its process ends if it does not. A prompt that comes meanwhile waits.
    Prove {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
    },
    /// Answer a permission that this run asked for, if it still waits for that.
    Answer {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// The run.
        run: RunId,
        /// The number of what was asked.
        ask: u64,
        /// Which of its options, from 0; `None`: cancelled.
        choice: Option<usize>,
    },
    /// End the process: stdin closed, grace, then the whole tree by signals. Answered by `Exited`.
    End {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
    },
}

/// What happened. Every `Start` is followed by exactly one `Exited`, at the latest when the tree is gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Key.
    pub key: Key,
    /// Epoch.
    pub epoch: Epoch,
    /// What.
    pub kind: EventKind,
}

/// Kinds of events.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// The session began, or was reloaded.
    Started(Started),
    /// The session was not reloaded, or not for certain: it must begin anew, with another process. `Exited` follows.
    ReloadFailed {
        /// For people.
        reason: String,
    },
    /// The prompt's bytes were handed to the agent's stdin.
    PromptWritten {
        /// The run.
        run: RunId,
    },
    /// A sign of life during a turn.
    Update {
        /// The run.
        run: RunId,
        /// What.
        update: Update,
    },
    /// The agent asks for a permission and waits for [`Command::Answer`]. Until that comes the turn's limit of
    /// inactivity stands still (6.9). The end of the turn ends what still waits.
    PermissionAsked {
        /// The run.
        run: RunId,
        /// What for.
        ask: Box<Ask>,
    },
    /// A permission that was asked for is not waited for any more: an answer that was given meanwhile came too late.
    PermissionClosed {
        /// The run.
        run: RunId,
        /// The number of what was asked.
        ask: u64,
        /// Why.
        why: Closed,
    },
    /// Whether a message that was to steer the turn is in it.
    Steered {
        /// The run.
        run: RunId,
        /// The message.
        message: MessageId,
        /// It is; else why not, for people.
        taken: Result<(), String>,
    },
    /// The turn is over: the agent answered the prompt.
    TurnEnded {
        /// The run.
        run: RunId,
        /// How.
        turn: Turn,
    },
    /// The turn is over without an answer: an error of the agent, a limit, a broken line.
    TurnFailed {
        /// The run.
        run: RunId,
        /// For people, with what to do.
        reason: String,
        /// What kind of failure it was.
        fault: Fault,
    },
    /// The holder went away before it said that the tree is gone. What was found of it was killed, yet a process of it may
    /// live on: its session must not get another. `Exited` follows.
    TreeLost,
    /// The process and its whole tree are gone, or could not be started.
    Exited {
        /// For people: why, with the tail of standard error where that helps. `None` after an `End`.
        reason: Option<String>,
    },
}

/// A session that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The agent's id for it.
    pub native: NativeId,
    /// New, or the one that was to be reloaded.
    pub begun: Begun,
    /// Whether the agent says that it can reload its sessions.
    pub reloadable: bool,
    /// Whether it took the system prompt.
    pub system_prompt: bool,
    /// Whether the agent lets its turns be steered.
    pub steering: bool,
    /// Process id of the holder.
    pub pid: u32,
    /// Things to tell people: the model could not be set, the data folder could not be hidden.
    pub notices: Vec<String>,
}

/// How a session began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It is new.
    New,
    /// It was reloaded: its history was seen, or its context is as full as it was.
    Restored,
    /// It was reloaded on the agent's word: its list names it, and nothing of the history was seen.
    Resumed,
}

/// A sign of life.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// A piece of the answer.
    Text(String),
    /// A tool call began.
    ToolCall {
        /// Its id.
        id: String,
        /// Title.
        title: String,
        /// Kind, in the protocol's words.
        kind: String,
    },
    /// A tool call went on or ended.
    ToolUpdate {
        /// Its id.
        id: String,
        /// Status in the protocol's words, if told.
        status: Option<String>,
        /// Title, if told.
        title: Option<String>,
    },
    /// The plan, one entry a line.
    Plan(String),
    /// How full the context is, in tokens.
    Used(u64),
    /// What the session has cost by now, by the agent's own count.
    Cost(Money),
    /// The agent says that it compacted its context.
    Compacted,
    /// A permission was asked that nobody can be asked about, and a reject option was chosen.
    PermissionRejected {
        /// What it was for.
        title: String,
        /// The option that was chosen; `None` when there was no reject option and the request was cancelled.
        option: Option<String>,
        /// Why, for people.
        why: String,
    },
    /// Something to tell people about this turn.
    Notice(String),
    /// Something else that is a sign of life (a thought, commands, modes).
    Other,
}

/// Why a permission is not waited for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The agent took its request back.
    Withdrawn,
    /// The turn was asked to stop.
    Stopped,
}

/// A turn that was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Why it stopped.
    pub stop: Stop,
    /// The final text by 2.4; `None` when there is none.
    pub text: Option<String>,
    /// Tokens, as the agent tells.
    pub usage: Option<Usage>,
}

/// Why a turn stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Done.
    EndTurn,
    /// Cancelled.
    Cancelled,
    /// A limit of tokens.
    MaxTokens,
    /// A limit of requests within the turn.
    MaxRequests,
    /// The model refused.
    Refusal,
}
