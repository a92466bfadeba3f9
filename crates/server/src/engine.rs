//! The engine: the one place where delivery, storage and agents meet.
//!
//! A synchronous step: event and time in, commands out. It keeps no connection, no clock and no thread; its memory
//! can be cloned and put back when a transaction did not commit.

mod activity;
mod admin;
mod agent;
mod among;
mod apart;
mod board;
mod change;
mod command;
mod failed;
mod footprint;
mod hold;
mod identity;
mod import;
mod limits;
mod parts;
mod pause;
mod permission;
mod permit;
mod post;
mod project;
mod request;
mod rules;
mod run;
mod saved;
mod spending;
mod steer;
mod tally;
mod tool;
mod turn;
mod usage;
mod wake;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use delivery::model::{AuthorKind, Epoch, Key, MessageId, RunId};
use delivery::queue::{self, Queue};
use delivery::residency::{self, EndReason, Pool, Residency};
use delivery::turn::{Lease, Telling};
use delivery::{Author, Limits, Moment, Timestamp};
use storage::{Binding, PermissionId, Store};

pub use self::activity::{Activity, Doing, Piece};
use self::admin::add_channel;
pub(crate) use self::admin::{check_channel_name, check_name};
pub use self::change::BindingChange;
pub use self::command::Command;
pub(crate) use self::failed::{TRIES_MAX, seconds};
pub use self::footprint::Footprint;
pub(crate) use self::hold::CRASHES_MAX;
pub(crate) use self::identity::check_topic;
pub use self::identity::{Act, ChannelChanges};
pub use self::limits::LimitsChange;
pub use self::pause::Pausing;
pub use self::permission::Answer;
pub use self::project::{Origin, Prepared, ProjectAct, SetUp, SetUpEnd, Workplace};
pub(crate) use self::request::key_of;
pub use self::request::{Board, Brought, Post, Reply, Request, Spool};
pub use self::rules::RulesChange;
pub use self::spending::SetSpending;
pub(crate) use self::spending::spent;
pub use self::steer::Steer;
pub use self::tally::{Ended, Tally, Tokens, Turns};
pub use self::tool::{ActivityFacts, Tool, ToolCall, WorktreeOf};
pub use self::usage::Transcript;
use crate::error::{ApiError, Code};
use crate::settings::{CacheAlert, Cold};

/// What the engine must know from outside.
#[derive(Clone)]
pub struct Rules {
    /// Limits of a context block.
    pub limits: Limits,
    /// The pool.
    pub pool: Pool,
    /// When reloading a session is dear.
    pub cold: Cold,
    /// Which turns read too little from the provider's cache.
    pub cache_alert: CacheAlert,
    /// How many agents one message may address.
    pub max_recipients: u32,
    /// Whether a binding's command can be started.
    pub reachable: Arc<dyn Fn(&Binding) -> bool + Send + Sync>,
    /// How long a permission card waits, where its binding does not say.
    pub permission_ms: u64,
    /// Whether all that a request touches is surely inside a binding's own working folder.
    pub inside: Arc<IsInside>,
}

/// Whether all that a request touches is surely inside a binding's own working folder.
pub type IsInside = dyn Fn(&Binding, &agents::Touches) -> bool + Send + Sync;

/// The time of a step.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// For people and storage.
    pub wall: Timestamp,
    /// For deadlines.
    pub mono: Moment,
}

/// What goes into a step.
#[derive(Clone, Debug)]
pub enum Input {
    /// A request of a person.
    Request(Request),
    /// An event of an agent process.
    Agent(agents::Event),
    /// The computer was asleep until now.
    Woke,
    /// Time passed.
    Tick,
}

/// A process as the engine knows it.
#[derive(Clone, Debug)]
struct Live {
    epoch: Epoch,
    /// Whether its session began.
    started: bool,
    /// Whether its turns can be steered.
    steering: bool,
    /// The turn that is staged with it.
    turn: Option<LiveTurn>,
    /// Why it is being ended, if it is.
    ending: Option<EndReason>,
    /// Whether it could not reload its session: another process begins anew.
    lost_session: bool,
    /// How many tokens its session held, if it was reloaded on the agent's word alone.
    on_its_word: Option<u64>,
}

/// A staged turn.
#[derive(Clone, Debug)]
struct LiveTurn {
    run: RunId,
    /// Whether the prompt's bytes went to the agent: from then on the run is never tried again by itself.
    written: bool,
    /// Cold, restored or warm.
    lease: Lease,
    /// What it tells the session, to remember when it commits; `None` in direct conversations.
    telling: Option<Telling>,
    /// The framing that it begins with, and how often the session had compacted by then.
    framing: Option<(String, u64)>,
    /// How often the session had compacted before it.
    compactions: u64,
    /// Whether it turned out that the session was not restored.
    doubted: bool,
    /// Bytes of the answer's pieces so far.
    answer_bytes: u64,
    /// The agent declined, with this reason.
    declined: Option<String>,
    /// Whether it was told to cancel: once is enough, and whatever comes of it is a cancel.
    cancelling: bool,
    /// A person stopped it, and nothing waited behind it then: what comes by itself until it ends is held.
    stopped: bool,
    /// Refused permissions so far.
    refusals: u32,
    /// Permission cards so far.
    cards: u32,
    /// Whether the agent did anything that somebody may have seen, or that may have changed something.
    acted: bool,
    /// What kind of failure it ends with, if it does.
    fault: Option<agents::Fault>,
    /// Steps recorded so far.
    events: u32,
    /// Messages posted beside the reply.
    posts: u32,
    /// What the session fetched itself.
    fetched: tool::Fetched,
    /// By whom it is steered.
    steering: steer::Steering,
    /// What the agent answered that it took.
    told: Option<agents::Usage>,
    /// What it added to the agent's own count of money, in millionths.
    spent: Option<(u64, storage::Currency)>,
}

/// Whether work is taken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Stopping,
}

/// The engine's memory. Everything else is in the store.
#[derive(Clone)]
pub struct Engine {
    rules: Rules,
    queue: Queue,
    residency: Residency,
    live: BTreeMap<Key, Live>,
    /// Messages of runs that have not ended.
    open: BTreeMap<RunId, (Key, MessageId)>,
    /// Runs whose process went away before their prompt was written: tried again once.
    tried: BTreeSet<RunId>,
    /// Permission cards that wait.
    cards: BTreeMap<PermissionId, permission::Waiting>,
    /// Keys whose time has not come; each is barred in the queue by that.
    waits: BTreeMap<Key, hold::Wait>,
    /// Keys whose processes failed in a row, lately.
    crashes: BTreeMap<Key, hold::Crashes>,
    phase: Phase,
    out: VecDeque<Command>,
    tally: Tally,
    /// Whether this step changed memory: then its failure undoes the whole batch.
    touched: bool,
}

impl Engine {
    /// Begins where the store was left: queued runs are picked up; runs whose prompt may have been written fail
    /// visibly, with the way to retry them (2.8).
    pub fn recover(store: &mut dyn Store, rules: &Rules, now: Now) -> Result<Self, ApiError> {
        let first_epoch = Epoch(store.max_epoch()?.0 + 1);
        let mut engine = Self {
            queue: Queue::default(),
            residency: Residency::new(rules.pool, first_epoch),
            rules: rules.clone(),
            live: BTreeMap::new(),
            open: BTreeMap::new(),
            tried: BTreeSet::new(),
            cards: BTreeMap::new(),
            waits: BTreeMap::new(),
            crashes: BTreeMap::new(),
            phase: Phase::Open,
            out: VecDeque::new(),
            tally: Tally::default(),
            touched: false,
        };
        engine.end_lost_permissions(store, now)?;
        engine.pick_up_pauses(store)?;
        engine.pick_up_runs(store, now)?;
        engine.pick_up_waits(store, now)?;
        engine.pump(store, now)?;
        Ok(engine)
    }

    /// Takes one input in. On an error the caller undoes the step's writes; if [`Self::touched`] says so, also
    /// memory, by putting a clone from before back.
    pub fn step(&mut self, store: &mut dyn Store, input: Input, now: Now) -> Result<Reply, ApiError> {
        self.touched = false;
        let reply = match input {
            Input::Request(request) => self.request(store, request, now)?,
            Input::Agent(event) => {
                self.agent_event(store, event, now)?;
                Reply::Done
            }
            Input::Woke => {
                self.touched = true;
                self.woke();
                Reply::Done
            }
            Input::Tick => {
                self.touched = true;
                self.residency.handle_timeout(now.mono);
                self.permissions_due(store, now)?;
                self.handle_waits(now);
                Reply::Done
            }
        };
        self.pump(store, now)?;
        Ok(reply)
    }

    /// Whether the last step changed memory.
    pub fn touched(&self) -> bool {
        self.touched
    }

    /// The next thing to do, until there is none.
    pub fn next_command(&mut self) -> Option<Command> {
        self.out.pop_front()
    }

    /// When a [`Input::Tick`] is due.
    pub fn next_timeout(&self) -> Option<Moment> {
        let due = self.residency.next_timeout().into_iter();
        due.chain(self.next_permission()).chain(self.next_wait()).min()
    }

    /// What was counted since [`Self::recover`].
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Whether no process is alive.
    pub fn is_empty(&self) -> bool {
        self.residency.is_empty()
    }

    fn request(&mut self, store: &mut dyn Store, request: Request, now: Now) -> Result<Reply, ApiError> {
        if self.phase == Phase::Stopping && request.makes_work() {
            return Err(ApiError::new(
                Code::ShuttingDown,
                "the server is stopping; try again when it is back",
            ));
        }
        match request {
            Request::AddChannel { name, direct, access, maker } => {
                add_channel(store, &name, direct.as_deref(), access, maker.as_ref(), now)
            }
            Request::Act(act) => self.act(store, *act, now),
            Request::As(who, request) => {
                permit::permit(store, &who, &request)?;
                self.request(store, *request, now)
            }
            Request::AddAgent { channel, new } => self.add_agent(store, &channel, *new, now),
            Request::RemoveAgent { channel, handle } => self.remove_agent(store, &channel, &handle, now),
            Request::Fresh { channel, handle } => self.fresh(store, &channel, &handle, now),
            Request::ChangeAgent { channel, handle, change } => {
                self.change_agent(store, &channel, &handle, *change, now)
            }
            Request::ChangeLimits { channel, handle, change } => {
                self.change_limits(store, &channel, &handle, change, now)
            }
            Request::ChangeRules { channel, handle, change } => {
                self.change_rules(store, &channel, &handle, &change, now)
            }
            Request::Answer(answer) => self.answer(store, &answer, now),
            Request::Post(post) => self.post(store, &post, now),
            Request::Edit { message, text } => self.edit(store, &message, &text, now),
            Request::Delete { message } => self.delete(store, &message, now),
            Request::Cancel { run } => self.cancel(store, &run, now),
            Request::Retry { run } => self.retry(store, &run, now),
            Request::Resume { run } => self.resume(store, &run, now),
            Request::Steer(steer) => self.steer(store, &steer, now),
            Request::Pause { channel: Some(name), by, pausing } => {
                self.pause_channel(store, &name, &by, pausing, now)
            }
            Request::Pause { channel: None, by, pausing } => self.pause_all(store, &by, pausing, now),
            Request::Tool(call) => self.tool(store, *call, now),
            Request::ImportWatermarks(placed) => self.import_watermarks(store, &placed),
            Request::Project(act) => self.project(store, *act, now),
            Request::SetSpending(set) => self.set_spending(store, &set),
            Request::Transcript(read) => self.transcript_read(store, *read, now),
            Request::Import(spool) => self.import(store, &spool, now),
            Request::Shutdown => {
                self.touched = true;
                self.phase = Phase::Stopping;
                self.residency.handle(residency::Event::Shutdown, now.mono);
                Ok(Reply::Done)
            }
            Request::CancelTurns => {
                self.touched = true;
                let keys: Vec<Key> = self.live.keys().cloned().collect();
                keys.iter().try_for_each(|key| self.cancel_turn(store, key, now))?;
                Ok(Reply::Done)
            }
        }
    }

    /// Lets queue and residency talk until both are quiet.
    fn pump(&mut self, store: &mut dyn Store, now: Now) -> Result<(), ApiError> {
        loop {
            if self.phase == Phase::Open
                && let Some(command) = self.queue.next_command()
            {
                self.touched = true;
                match command {
                    queue::Command::Begin { key, run } => {
                        if !self.is_over_limit(store, &key, &run, now)? {
                            self.residency.handle(residency::Event::Wanted(key), now.mono);
                        }
                    }
                }
                continue;
            }
            let Some(command) = self.residency.next_command() else { return Ok(()) };
            self.touched = true;
            match command {
                residency::Command::Start { key, epoch } => self.start(store, key, epoch, now)?,
                residency::Command::Grant { key, epoch, lease } => {
                    self.grant(store, &key, epoch, lease, now)?
                }
                residency::Command::End { key, epoch, why } => {
                    if let Some(live) = self.live.get_mut(&key).filter(|live| live.epoch == epoch) {
                        live.ending = Some(why);
                    }
                    self.out.push_back(Command::End { key, epoch });
                }
            }
        }
    }
}

/// The host, as an author of notices.
fn host() -> Author {
    Author { kind: AuthorKind::System, name: "Highwater".to_owned() }
}

#[cfg(test)]
mod tests;
