//! What people ask of the engine, and what it answers.

use std::collections::BTreeMap;

use delivery::Timestamp;
use delivery::model::{ChannelId, Key, MessageId, RunId};
use delivery::residency::State;
use storage::{
    Access, Binding, Channel, Credential, Message, NewBinding, Permission, PermissionId, Person, PersonId,
    PlacedWatermark, Run,
};

use super::identity::Act;
use super::project::ProjectAct;
use crate::rights::Principal;
pub use crate::spool::Spool;
pub use crate::transfer::Brought;

use super::{
    ActivityFacts, Answer, BindingChange, LimitsChange, Pausing, RulesChange, SetSpending, Steer, ToolCall,
    Transcript,
};

/// A message that a person wants to post.
#[derive(Clone, Debug)]
pub struct Post {
    /// Channel name.
    pub channel: String,
    /// Person's name.
    pub author: String,
    /// Text as given.
    pub text: String,
    /// Thread root.
    pub thread: Option<MessageId>,
    /// The client's own id for it.
    pub client_id: Option<String>,
}

/// A request. Reads do not come here: the server's readers answer them. By itself a request is the server's own and
/// may do everything; what somebody asks for comes in [`Request::As`].
#[derive(Clone, Debug)]
pub enum Request {
    /// Make a channel; with a handle, a direct conversation.
    AddChannel {
        /// Name.
        name: String,
        /// Agent's handle.
        direct: Option<String>,
        /// Who may find it; a direct conversation is private in any case.
        access: Access,
        /// Who makes it and manages it then.
        maker: Option<PersonId>,
    },
    /// Something about people, their channels or their credentials.
    Act(Box<Act>),
    /// What a principal asks for: done if they have the right to it, which is looked up in the same transaction.
    As(Box<Principal>, Box<Request>),
    /// Bind an agent to a channel. The channel's id inside is ignored: it is named.
    AddAgent {
        /// Channel name.
        channel: String,
        /// All about it.
        new: Box<NewBinding>,
    },
    /// Remove an agent from a channel.
    RemoveAgent {
        /// Channel name.
        channel: String,
        /// Handle.
        handle: String,
    },
    /// Start fresh (6.7).
    Fresh {
        /// Channel name.
        channel: String,
        /// Handle.
        handle: String,
    },
    /// Change what an agent was given when it was added.
    ChangeAgent {
        /// Channel name.
        channel: String,
        /// Handle.
        handle: String,
        /// What is other.
        change: Box<BindingChange>,
    },
    /// Decide an agent's permission requests by other rules.
    ChangeRules {
        /// Channel name.
        channel: String,
        /// Handle.
        handle: String,
        /// What is other.
        change: Box<RulesChange>,
    },
    /// Change an agent's own limits.
    ChangeLimits {
        /// Channel name.
        channel: String,
        /// Handle.
        handle: String,
        /// What is other.
        change: LimitsChange,
    },
    /// Answer a permission card.
    Answer(Answer),
    /// Post a message.
    Post(Box<Post>),
    /// Edit a message.
    Edit {
        /// Which.
        message: MessageId,
        /// New text.
        text: String,
    },
    /// Delete a message.
    Delete {
        /// Which.
        message: MessageId,
    },
    /// Cancel a run, queued or running.
    Cancel {
        /// Which.
        run: RunId,
    },
    /// Try a run again that failed or was cancelled.
    Retry {
        /// Which.
        run: RunId,
    },
    /// Let the runs of an agent go on that are held, this one among them.
    Resume {
        /// Which.
        run: RunId,
    },
    /// Put a message into the turn of a run (2.6).
    Steer(Box<Steer>),
    /// Pause agents, or end their pause.
    Pause {
        /// Name of their channel; all channels if `None`.
        channel: Option<String>,
        /// Name of the person who does so.
        by: String,
        /// Which of both.
        pausing: Pausing,
    },
    /// Set a spending limit, or take it away.
    SetSpending(Box<SetSpending>),
    /// What was read of a transcript.
    Transcript(Box<Transcript>),
    /// Something about projects and worktrees.
    Project(Box<ProjectAct>),
    /// An agent calls one of its tools (7).
    Tool(Box<ToolCall>),
    /// Put watermarks in place.
    ImportWatermarks(Vec<PlacedWatermark>),
    /// Bring the channels of an export that was checked.
    Import(Spool),
    /// No new work; turns may end.
    Shutdown,
    /// Cancel the turns that still run.
    CancelTurns,
}

impl Request {
    /// Whether it begins something that a stopping server would not finish.
    pub(super) fn makes_work(&self) -> bool {
        match self {
            Self::As(_, request) => request.makes_work(),
            Self::AddChannel { .. }
            | Self::Act(_)
            | Self::AddAgent { .. }
            | Self::RemoveAgent { .. }
            | Self::Fresh { .. }
            | Self::ChangeAgent { .. }
            | Self::ChangeRules { .. }
            | Self::ChangeLimits { .. }
            | Self::Post(_)
            | Self::Edit { .. }
            | Self::Delete { .. }
            | Self::Retry { .. }
            | Self::Resume { .. }
            | Self::ImportWatermarks(_)
            | Self::Import(_) => true,
            Self::Project(act) => act.makes_work(),
            // A turn that may end by itself may use its tools until then.
            Self::Cancel { .. }
            | Self::Answer(_)
            | Self::Steer(_)
            | Self::Pause { .. }
            | Self::SetSpending(_)
            | Self::Transcript(_)
            | Self::Tool(_)
            | Self::Shutdown
            | Self::CancelTurns => false,
        }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A channel.
    Channel(Channel),
    /// A person.
    Person(Person),
    /// A credential.
    Credential(Box<Credential>),
    /// A binding.
    Binding(Box<Binding>),
    /// A message and its runs.
    Posted {
        /// The message.
        message: Box<Message>,
        /// Its runs.
        runs: Vec<Run>,
    },
    /// A message.
    Message(Box<Message>),
    /// A run.
    Run(Box<Run>),
    /// A permission card.
    Permission(Box<Permission>),
    /// What an import brought.
    Brought(Box<Brought>),
    /// What the engine knows of a channel's project, if it has one; the rest is on the disk.
    Activity(Option<Box<ActivityFacts>>),
    /// What a tool tells the agent.
    Told(String),
    /// Done.
    Done,
}

/// How processes and queues stand, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// The moment.
    pub at: Timestamp,
    /// Keys that have a process or want one.
    pub states: Vec<(Key, State)>,
    /// For each key with runs: the current one, then those that wait.
    pub queues: Vec<(Key, Vec<RunId>)>,
    /// Permission cards that wait, by the run that waits for them, oldest first.
    pub asking: BTreeMap<RunId, Vec<PermissionId>>,
    /// Keys whose last process failed, with the time at which the next may start.
    pub backoffs: Vec<(Key, Timestamp)>,
    /// Bytes of memory of the processes of each key, where they were measured. The engine itself knows none.
    pub memory: BTreeMap<Key, u64>,
}

impl Default for Board {
    /// As before anything began.
    fn default() -> Self {
        Self {
            at: Timestamp { ms: 0 },
            states: Vec::new(),
            queues: Vec::new(),
            asking: BTreeMap::new(),
            backoffs: Vec::new(),
            memory: BTreeMap::new(),
        }
    }
}

impl Board {
    /// How a key stands.
    pub fn state(&self, key: &Key) -> State {
        self.states.iter().find(|(at, _)| at == key).map_or(State::Absent, |(_, state)| *state)
    }

    /// When the next process of a key may start, if its last one failed just now.
    pub fn backoff(&self, key: &Key) -> Option<Timestamp> {
        self.backoffs.iter().find(|(at, _)| at == key).map(|(_, until)| *until)
    }

    /// The runs of a key that have not ended, the current one first.
    pub fn runs(&self, key: &Key) -> &[RunId] {
        self.queues.iter().find(|(at, _)| at == key).map_or(&[], |(_, runs)| runs)
    }
}

/// A key of a binding.
pub(crate) fn key_of(binding: &Binding) -> Key {
    Key { channel: ChannelId(binding.spec.channel.0.clone()), binding: binding.id.clone() }
}
