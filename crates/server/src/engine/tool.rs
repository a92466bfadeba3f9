//! The tools of an agent (7): who calls, and what each of them does.

mod activity;
mod history;
mod post;

use delivery::model::{AuthorKind, Epoch, Key, MessageId};
use delivery::tool_result::{Member, Standing, roster};
use delivery::{Author, clean};
use storage::{Binding, Session, Store};

pub use self::activity::{ActivityFacts, WorktreeOf};
pub(super) use self::history::{Fetched, keep_fetched};
use super::{Engine, LiveTurn, Now, Reply};
use crate::error::{ApiError, Code};

/// Characters of a reason that are kept: it is shown in a notice.
const REASON_CHARS_MAX: usize = 500;

/// A call, made with the token of a process.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Whose process.
    pub key: Key,
    /// Which process of it.
    pub epoch: Epoch,
    /// What it calls.
    pub tool: Tool,
}

/// A tool with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `channel_history` (7.1).
    History {
        /// Messages before this one.
        before: Option<MessageId>,
        /// Of this thread.
        thread: Option<MessageId>,
        /// How many.
        limit: Option<usize>,
    },
    /// `channel_roster` (7.2).
    Roster,
    /// `project_activity` (7.3).
    Activity,
    /// `channel_post` (7.4).
    Post {
        /// Text.
        text: String,
        /// Handles of agents that it calls.
        to: Vec<String>,
        /// Into this thread.
        thread: Option<MessageId>,
    },
    /// `decline` (7.5).
    Decline {
        /// Why.
        reason: String,
    },
}

/// Who calls: checked again with each call (7.6).
struct Caller {
    key: Key,
    binding: Binding,
    session: Session,
}

impl Engine {
    pub(super) fn tool(
        &mut self,
        store: &mut dyn Store,
        call: ToolCall,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let caller = self.caller(store, call.key, call.epoch)?;
        if let Some(turn) = self.live.get_mut(&caller.key).and_then(|live| live.turn.as_mut()) {
            self.touched |= !turn.acted;
            turn.acted = true;
        }
        let told = match call.tool {
            Tool::Activity => {
                let facts = activity::facts(store, &caller)?;
                return Ok(Reply::Activity(facts.map(Box::new)));
            }
            Tool::History { before, thread, limit } => {
                self.history(store, &caller, before.as_ref(), thread.as_ref(), limit)?
            }
            Tool::Roster => self.roster(store, &caller)?,
            Tool::Post { text, to, thread } => self.tool_post(store, &caller, &text, &to, thread, now)?,
            Tool::Decline { reason } => self.decline(&caller, &reason)?,
        };
        Ok(Reply::Told(told))
    }

    /// The session whose process this is, if it lives and its agent is a member of the channel.
    fn caller(&self, store: &dyn Store, key: Key, epoch: Epoch) -> Result<Caller, ApiError> {
        let refused = |why: &str| Err(ApiError::new(Code::Unauthorized, why));
        if self.live.get(&key).is_none_or(|live| live.epoch != epoch || !live.started) {
            return refused("this session has no process any more, or has not begun");
        }
        let binding = store.binding(&key.binding)?;
        if binding.removed_at.is_some() || binding.spec.channel != key.channel {
            return refused("this agent is not a member of the channel any more");
        }
        match store.session(&key)?.filter(|session| session.epoch == epoch) {
            Some(session) => Ok(Caller { key, binding, session }),
            None => refused("this session has ended"),
        }
    }

    /// The caller's turn; without one, an error that says that it needs one to `act`.
    fn turn_of_caller(&mut self, caller: &Caller, act: &str) -> Result<&mut LiveTurn, ApiError> {
        let turn = self.live.get_mut(&caller.key).and_then(|live| live.turn.as_mut());
        turn.ok_or_else(|| ApiError::conflict(format!("you have no turn now, and can {act} only in one")))
    }

    fn roster(&self, store: &dyn Store, caller: &Caller) -> Result<String, ApiError> {
        let people = store.members(&caller.key.channel)?.into_iter().map(|member| Member {
            author: Author { kind: AuthorKind::User, name: member.person.name },
            standing: Standing::Person,
        });
        let agents = store.bindings(Some(&caller.key.channel))?.into_iter().map(|binding| Member {
            standing: if binding.id == caller.binding.id {
                Standing::Asking
            } else if self.is_reachable(&binding) {
                Standing::Reachable
            } else {
                Standing::Unreachable
            },
            author: Author { kind: AuthorKind::Agent, name: format!("@{}", binding.spec.handle) },
        });
        Ok(roster(&people.chain(agents).collect::<Vec<_>>()))
    }

    /// Notes that the agent declines; the run ends so when its turn does.
    fn decline(&mut self, caller: &Caller, reason: &str) -> Result<String, ApiError> {
        let reason = one_line(reason);
        if reason.is_empty() {
            return Err(ApiError::invalid("say why: `reason` is empty"));
        }
        self.turn_of_caller(caller, "decline")?.declined = Some(reason);
        self.touched = true;
        Ok("Declined. End your turn now; what else you say in it is not posted.".to_owned())
    }
}

/// A text of an agent's on one line of a notice, cleaned and cut.
pub(super) fn one_line(text: &str) -> String {
    let line = clean::text(text).replace('\n', " ");
    let line = line.trim();
    match line.char_indices().nth(REASON_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
