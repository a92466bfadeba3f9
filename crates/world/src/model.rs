//! The reference model: slow and obvious, written from the rules. It is told what went in, and says what must have come
//! of it.

mod agent;
mod among;
pub(crate) mod bars;
pub(crate) mod card;
pub(crate) mod chat;
mod clean;
mod compare;
mod deliver;
mod failed;
mod page;
mod people;
mod pool;
mod restart;
mod run;
mod saved;
pub(crate) mod session;
mod telling;
mod turn;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use delivery::model::{Epoch, Key, MessageId, NativeId, RunId};
use delivery::turn::Lease;
use delivery::{Moment, Timestamp};
use server::engine::{Command, Input, Now, Reply, Request};
use server::error::ApiError;
use storage::{PermissionId, PlacedWatermark, Run as StoredRun, RunStatus};

use self::bars::Bars;
use self::card::{Card, Told};
use self::chat::{Chat, Events};
use self::session::{How, Memory, Place, Session, Telling};
use crate::breach::{Breach, Checked, ensure};
use crate::setup::Setup;

/// What one input did, as it was seen within its transaction.
#[derive(Debug)]
pub(crate) struct Seen {
    /// `None`: a new server began where the last one stopped.
    pub(crate) input: Option<Input>,
    pub(crate) now: Now,
    pub(crate) reply: Result<Reply, ApiError>,
    pub(crate) commands: VecDeque<Command>,
    pub(crate) events: Events,
    /// Runs that have not ended, and those that ended by this.
    pub(crate) runs: Vec<StoredRun>,
    /// All watermarks, if a run ended.
    pub(crate) marks: Option<Vec<PlacedWatermark>>,
    /// Permission cards that wait.
    pub(crate) pending: Vec<PermissionId>,
    /// The session that the key of an agent's event has now, if that may have changed it.
    pub(crate) session: Option<Option<storage::Session>>,
}

/// A run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) key: Key,
    pub(crate) message: MessageId,
    pub(crate) thread: Place,
    pub(crate) status: RunStatus,
    pub(crate) retry_of: Option<RunId>,
    /// Whether it had a turn.
    pub(crate) began: bool,
    /// Whether its prompt was lost once, before it was written.
    lost: bool,
    /// Turns of it that failed for a passing reason, and until when it waits for the next.
    tries: u32,
    again: Option<Timestamp>,
}

/// A process, from the command to start it to the event that it is gone.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) epoch: Epoch,
    pub(crate) phase: Phase,
    /// Its session, once that began.
    pub(crate) native: Option<NativeId>,
    /// What its next turn is.
    lease: Lease,
    /// How much its session held, if that is the agent's word alone.
    on_its_word: Option<u64>,
    /// Whether it could not reload a session.
    lost_session: bool,
    /// Why it must end as soon as it has no turn.
    doom: Option<Doom>,
}

/// Why a process must end. Of two reasons the later one here counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doom {
    /// It was idle for long enough.
    Idle,
    /// The session policy is `saved`: no process stays between turns.
    Save,
    /// A fresh session was asked for, or the policy says so.
    Fresh,
    /// Its agent was removed.
    Removed,
    /// The server stops.
    Stop,
}

/// How far a process is.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    Starting,
    Idle { since: Moment },
    Busy(Box<Turn>),
    Ending,
}

/// A turn that is under way.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) run: RunId,
    pub(crate) written: bool,
    lease: Lease,
    /// Whether its session turned out to be another than it was taken for.
    doubted: bool,
    /// The framing that it begins with, and how often the session had compacted by then.
    framing: Option<(String, u32)>,
    cancel: Cancel,
    declined: Option<String>,
    posts: u32,
    answer_bytes: usize,
    refusals: u32,
    /// Whether the agent did anything that somebody may have seen.
    acted: bool,
    /// A person stopped it when nothing waited behind it.
    stopped: bool,
    /// `None` in direct conversations.
    telling: Option<Telling>,
    place: Place,
    /// What the session has been given of the place if it counts.
    after: Option<Memory>,
    shown: Vec<(MessageId, u32, How)>,
    /// Pages: each message with the places that it stands in.
    fetched: Vec<(MessageId, u32, Vec<Place>)>,
}

/// Whether a turn was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cancel {
    Not,
    /// It must be told to its process.
    Asked,
    Told,
}

/// A key that wants a turn, since when: in turns that were given.
#[derive(Clone, Debug)]
struct Wish {
    key: Key,
    grants_before: u64,
}

/// Whether work is taken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doors {
    Open,
    Closed,
}

/// The model.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) chat: Chat,
    pool: usize,
    recipients_max: usize,
    /// Run `r1` first.
    pub(crate) runs: Vec<Run>,
    /// Runs that have not ended, in the order of their turns.
    pub(crate) queues: BTreeMap<Key, VecDeque<RunId>>,
    pub(crate) processes: BTreeMap<Key, Process>,
    pub(crate) sessions: BTreeMap<NativeId, Session>,
    /// Permission cards, `k1` first.
    pub(crate) cards: Vec<Card>,
    /// What agents must be told by now of what they asked.
    told: Vec<Told>,
    /// Processes that must be asked by now to prove that they live.
    proofs: BTreeMap<Key, Epoch>,
    /// Handles of agents whose command cannot be started.
    pub(crate) missing: BTreeSet<String>,
    pub(crate) doors: Doors,
    pub(crate) bars: Bars,
    wishes: Vec<Wish>,
    grants: u64,
    last_epoch: Epoch,
}

impl Model {
    pub(crate) fn new(setup: &Setup) -> Self {
        Self {
            chat: Chat::default(),
            pool: setup.pool,
            recipients_max: usize::try_from(setup.recipients_max).unwrap_or(usize::MAX),
            runs: Vec::new(),
            queues: BTreeMap::new(),
            processes: BTreeMap::new(),
            sessions: BTreeMap::new(),
            cards: Vec::new(),
            told: Vec::new(),
            proofs: BTreeMap::new(),
            missing: BTreeSet::new(),
            doors: Doors::Open,
            bars: Bars::default(),
            wishes: Vec::new(),
            grants: 0,
            last_epoch: Epoch(0),
        }
    }

    /// Takes in what one input did; a breach if anything else should have come of it.
    pub(crate) fn apply(&mut self, mut seen: Seen) -> Checked {
        let key = match &seen.input {
            Some(Input::Agent(event)) => Some(event.key.clone()),
            Some(Input::Request(_) | Input::Woke | Input::Tick) | None => None,
        };
        match seen.input.take() {
            None => self.restarted(&mut seen)?,
            Some(Input::Request(request)) => self.request(request, &mut seen)?,
            Some(Input::Agent(event)) => self.agent_event(event, &mut seen)?,
            Some(Input::Woke) => self.woke(),
            Some(Input::Tick) => {
                self.idle_due(seen.now.mono);
                self.cards_due(seen.now.mono);
                self.bars.due(seen.now.mono);
            }
        }
        ensure!(seen.events.is_empty(), "2", "more happened than should: {:?}", seen.events);
        self.pumped(&mut seen)?;
        if let (Some(key), Some(stored)) = (&key, &seen.session) {
            self.compare_session(key, stored.as_ref())?;
        }
        self.compare(&seen)
    }

    fn request(&mut self, request: Request, seen: &mut Seen) -> Checked {
        match request {
            Request::Post(post) => self.post(&post, seen),
            Request::Edit { message, text } => self.edit(&message, &text, seen),
            Request::Delete { message } => self.delete(&message, seen),
            Request::Cancel { run } => self.cancel(&run, seen),
            Request::Retry { run } => self.retry(&run, seen),
            Request::Resume { run } => self.resume(&run, seen),
            Request::ChangeLimits { channel, handle, change } => {
                self.change_limits(&channel, &handle, change, seen)
            }
            Request::Pause { channel, by, pausing } => self.pause(channel.as_deref(), &by, pausing, seen),
            Request::Fresh { channel, handle } => self.fresh(&channel, &handle, seen),
            Request::AddAgent { channel, new } => self.add_agent(&channel, &new, seen),
            Request::RemoveAgent { channel, handle } => self.remove_agent(&channel, &handle, seen),
            Request::Tool(call) => self.tool(*call, seen),
            Request::Answer(answer) => self.answer(&answer, seen),
            Request::Shutdown => {
                self.stop();
                Ok(())
            }
            Request::CancelTurns => {
                let keys: Vec<Key> = self.processes.keys().cloned().collect();
                keys.iter().for_each(|key| self.ask_to_cancel(key));
                Ok(())
            }
            Request::As(..)
            | Request::AddChannel { .. }
            | Request::Act(_)
            | Request::ChangeAgent { .. }
            | Request::ChangeRules { .. }
            | Request::Project(_)
            | Request::Steer(_)
            | Request::SetSpending(_)
            | Request::Transcript(_)
            | Request::ImportWatermarks(_)
            | Request::Import(_) => Err(Breach::new("model", "this is not modelled")),
        }
    }

    /// The computer was asleep: what lives without a turn that it knows of proves that it does.
    fn woke(&mut self) {
        let lives = self.processes.iter().filter(|(_, process)| match &process.phase {
            Phase::Idle { .. } => true,
            Phase::Busy(turn) => !turn.written,
            Phase::Starting | Phase::Ending => false,
        });
        self.proofs = lives.map(|(key, process)| (key.clone(), process.epoch)).collect();
    }

    pub(crate) fn run(&self, id: &RunId) -> Option<&Run> {
        let n: usize = id.as_str().strip_prefix('r')?.parse().ok()?;
        self.runs.get(n.checked_sub(1)?)
    }

    fn run_mut(&mut self, id: &RunId) -> Checked<&mut Run> {
        let n = id.as_str().strip_prefix('r').and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
        let run = n.checked_sub(1).and_then(|at| self.runs.get_mut(at));
        run.ok_or_else(|| Breach::new("model", format!("no run {id}")))
    }

    fn known_run(&self, id: &RunId) -> Checked<Run> {
        self.run(id).cloned().ok_or_else(|| Breach::new("model", format!("no run {id}")))
    }

    /// The runs of a key that have not ended, the next or present one first.
    pub(crate) fn queue(&self, key: &Key) -> impl Iterator<Item = &RunId> {
        self.queues.get(key).into_iter().flatten()
    }

    /// The turn that a key has.
    pub(crate) fn turn(&self, key: &Key) -> Option<&Turn> {
        match &self.processes.get(key)?.phase {
            Phase::Busy(turn) => Some(turn),
            Phase::Starting | Phase::Idle { .. } | Phase::Ending => None,
        }
    }

    fn turn_mut(&mut self, key: &Key) -> Option<&mut Turn> {
        match &mut self.processes.get_mut(key)?.phase {
            Phase::Busy(turn) => Some(turn),
            Phase::Starting | Phase::Idle { .. } | Phase::Ending => None,
        }
    }

    /// The session of a key's process, if that has one.
    fn session_mut(&mut self, key: &Key) -> Option<&mut Session> {
        let native = self.processes.get(key)?.native.clone()?;
        self.sessions.get_mut(&native)
    }
}

/// The number in an id.
fn number(run: &RunId) -> u64 {
    run.as_str().strip_prefix('r').and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// A refusal must be one, and what is allowed must be done.
fn expect_refusal(seen: &Seen, what: &str) -> Checked {
    ensure!(seen.reply.is_err(), "2", "{what} was not refused: {:?}", seen.reply);
    Ok(())
}

fn expect_done(seen: &Seen, what: &str) -> Checked {
    ensure!(seen.reply.is_ok(), "2", "{what} was refused: {:?}", seen.reply);
    Ok(())
}
