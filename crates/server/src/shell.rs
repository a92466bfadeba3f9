//! The shell around the engine: one thread that steps it and commits in groups, readers beside it.

pub(crate) mod outside;
mod points;

use std::sync::Arc;
use std::time::{Duration, Instant};

use agents::Agents;
use storage::{Read, Reader, Sqlite, Store};
use tokio::sync::{mpsc, oneshot, watch};

use crate::clock::Alarm;
pub(crate) use crate::clock::Clock;
use crate::engine::{Board, Command, Engine, Input, Reply, Request, Tally};
use crate::error::{ApiError, Code};
use crate::events::Hub;
use crate::metrics::Metrics;
use crate::start::StartAgents;

/// Requests that wait at most; a flood waits in its connections instead of in memory.
const REQUESTS_MAX: usize = 1_024;
/// Inputs that share one commit at most: enough to hide the fsync, few enough to answer soon.
const BATCH_MAX: usize = 256;
/// How long an event of an agent waits before it is tried again when it could not be stored (a full disk).
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// How long nothing is looked at, at most.
const LOOK_AFTER: Duration = Duration::from_secs(60);

struct Asked {
    request: Request,
    answer: oneshot::Sender<Result<Reply, ApiError>>,
}

enum Ask {
    Request(Asked),
    /// Answered out of memory, also while nothing can be stored.
    Board(oneshot::Sender<Board>),
    /// Answered by a write that changes nothing.
    TryWrite(oneshot::Sender<Result<(), storage::Error>>),
}

/// A handle on the engine's thread. Clones share it.
#[derive(Clone)]
pub(crate) struct Service {
    requests: mpsc::Sender<Ask>,
    ended: watch::Receiver<u64>,
}

impl Service {
    /// Asks the engine. The answer comes when what it says is durable; dropping the future takes nothing back.
    pub(crate) async fn ask(&self, request: Request) -> Result<Reply, ApiError> {
        let (answer, answered) = oneshot::channel();
        self.requests.send(Ask::Request(Asked { request, answer })).await.map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())?
    }

    /// How processes and queues stand.
    pub(crate) async fn board(&self) -> Result<Board, ApiError> {
        let (answer, answered) = oneshot::channel();
        self.requests.send(Ask::Board(answer)).await.map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())
    }

    /// Whether the engine answers, and whether it can write: a write that changes nothing.
    pub(crate) async fn try_write(&self) -> Result<Result<(), storage::Error>, ApiError> {
        let (answer, answered) = oneshot::channel();
        self.requests.send(Ask::TryWrite(answer)).await.map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())
    }

    /// Changes each time runs have ended.
    pub(crate) fn ended(&self) -> watch::Receiver<u64> {
        self.ended.clone()
    }
}

fn stopped() -> ApiError {
    ApiError::new(Code::ShuttingDown, "the server has stopped")
}

/// The engine's thread, for waiting until it is done.
pub(crate) struct EngineThread {
    handle: std::thread::JoinHandle<()>,
}

impl EngineThread {
    /// Waits until the thread has ended: all handles are gone, or no process is left after a shutdown.
    pub(crate) async fn ended(self) {
        let joined = tokio::task::spawn_blocking(move || self.handle.join()).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::error!("the engine's thread ended with a panic");
        }
    }
}

/// Starts the engine's thread on an opened store.
pub(crate) fn spawn(
    store: Sqlite,
    engine: Engine,
    clock: Clock,
    start: StartAgents,
    agents: Agents,
    events: mpsc::Receiver<agents::Event>,
    log: Log,
) -> std::io::Result<(Service, EngineThread)> {
    let (requests, asked) = mpsc::channel(REQUESTS_MAX);
    let (ended_tx, ended) = watch::channel(0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    // What recovery ended counts too.
    log.metrics.tally(&Tally::default(), &engine.tally());
    let worker = Worker {
        store,
        engine,
        clock,
        alarm: Alarm::new(clock.reading()),
        start,
        agents,
        log,
        outside: outside::Outside::new(&requests),
        ended: ended_tx,
        kept: Vec::new(),
        overdue: false,
        stopping: false,
    };
    let handle = std::thread::Builder::new()
        .name("engine".to_owned())
        .spawn(move || runtime.block_on(worker.work(asked, events)))?;
    Ok((Service { requests, ended }, EngineThread { handle }))
}

/// Where what was committed is told and counted, and how many entries of the log are kept.
pub(crate) struct Log {
    pub(crate) hub: Hub,
    pub(crate) metrics: Metrics,
    pub(crate) events_kept: u64,
}

enum Job {
    Asked(Asked),
    Agent(agents::Event),
    Woke,
    Tick,
}

impl Job {
    fn input(&self) -> Input {
        match self {
            Self::Asked(asked) => Input::Request(asked.request.clone()),
            Self::Agent(event) => Input::Agent(event.clone()),
            Self::Woke => Input::Woke,
            Self::Tick => Input::Tick,
        }
    }
}

struct Worker {
    store: Sqlite,
    engine: Engine,
    clock: Clock,
    alarm: Alarm,
    start: StartAgents,
    agents: Agents,
    log: Log,
    outside: outside::Outside,
    ended: watch::Sender<u64>,
    /// Events of agents that could not be stored yet, in order.
    kept: Vec<agents::Event>,
    /// Whether what was due could not be stored: it is tried again after a while instead of at once, for ever.
    overdue: bool,
    stopping: bool,
}

impl Worker {
    async fn work(mut self, mut asked: mpsc::Receiver<Ask>, mut events: mpsc::Receiver<agents::Event>) {
        self.carry_out();
        loop {
            if self.stopping && self.engine.is_empty() {
                return;
            }
            let mut jobs: Vec<Job> = Vec::new();
            let wait = self.wait();
            tokio::select! {
                biased;
                event = events.recv(), if self.kept.is_empty() => jobs.extend(event.map(Job::Agent)),
                request = asked.recv() => match request {
                    Some(ask) => jobs.extend(self.job_of(ask)),
                    None => return,
                },
                () = tokio::time::sleep(wait) => {}
            }
            // While older events wait for a better time, newer ones stay where they are: memory stays bounded.
            if self.kept.is_empty() {
                while jobs.len() < BATCH_MAX {
                    let Ok(event) = events.try_recv() else { break };
                    jobs.push(Job::Agent(event));
                }
            }
            let kept = std::mem::take(&mut self.kept);
            // First of all: what is asked of a process now is for one that lives.
            let woke = self.alarm.rings(self.clock.reading()).then_some(Job::Woke);
            let mut batch: Vec<Job> = woke.into_iter().chain(kept.into_iter().map(Job::Agent)).collect();
            batch.append(&mut jobs);
            while batch.len() < BATCH_MAX {
                let Ok(ask) = asked.try_recv() else { break };
                batch.extend(self.job_of(ask));
            }
            batch.push(Job::Tick);
            self.batch(batch);
        }
    }

    fn wait(&self) -> Duration {
        if !self.kept.is_empty() || self.overdue || self.store.is_scrub_due() {
            return RETRY_AFTER;
        }
        let now = self.clock.now().mono;
        // The wait is no longer for a late deadline: it stands still while the computer sleeps.
        let due = self.engine.next_timeout().map_or(u64::MAX, |due| due.ms.saturating_sub(now.ms));
        Duration::from_millis(due).min(LOOK_AFTER)
    }

    /// What is to be done of what was asked; the rest is answered at once.
    fn job_of(&mut self, ask: Ask) -> Option<Job> {
        match ask {
            Ask::Request(asked) => Some(Job::Asked(asked)),
            Ask::Board(answer) => {
                // Whoever asked may have gone.
                let board = Board { memory: self.agents.memory(), ..self.engine.board(self.clock.now()) };
                let _ = answer.send(board);
                None
            }
            Ask::TryWrite(answer) => {
                let _ = answer.send(self.store.try_write());
                None
            }
        }
    }

    /// Steps the engine through a batch in one transaction, then answers and carries out. When that fails, each
    /// input is tried by itself, so that a bad one costs nobody else anything.
    fn batch(&mut self, jobs: Vec<Job>) {
        let before = self.engine.clone();
        let (now, began) = (self.clock.now(), Instant::now());
        let mut answers: Vec<Result<Reply, ApiError>> = Vec::with_capacity(jobs.len());
        let engine = &mut self.engine;
        let events_kept = self.log.events_kept;
        let committed = self.store.atomic(&mut |tx| {
            for job in &jobs {
                answers.push(engine.step_apart(tx, &job.input(), now)?);
            }
            tx.prune_log(events_kept)?;
            points::inserted(&jobs);
            Ok(())
        });
        match committed {
            Ok(()) => {
                self.overdue = false;
                // The tick that ends each batch is no work of anybody's.
                let size = u32::try_from(jobs.len().saturating_sub(1)).unwrap_or(u32::MAX);
                points::reach(points::Point::Committed, size);
                if size > 0 {
                    self.log.metrics.committed(size, began.elapsed());
                }
                self.log.metrics.tally(&before.tally(), &self.engine.tally());
                for (job, answer) in jobs.into_iter().zip(answers) {
                    self.settled(job, answer);
                }
                points::reach(points::Point::Told, size);
                self.carry_out();
            }
            Err(error) if jobs.len() > 1 => {
                tracing::warn!(%error, "a batch could not be stored; its parts are tried one by one");
                self.engine = before;
                jobs.into_iter().for_each(|job| self.alone(job));
            }
            Err(error) => {
                self.engine = before;
                jobs.into_iter().for_each(|job| self.not_stored(job, &error));
            }
        }
    }

    /// A batch of one. An event behind one that waits for a better time waits too: their order is theirs to keep.
    fn alone(&mut self, job: Job) {
        match job {
            Job::Agent(event) if !self.kept.is_empty() => self.kept.push(event),
            Job::Asked(_) | Job::Agent(_) | Job::Woke | Job::Tick => self.batch(vec![job]),
        }
    }

    /// An input is done: stored, or refused by itself.
    fn settled(&mut self, job: Job, answer: Result<Reply, ApiError>) {
        match job {
            Job::Asked(asked) => {
                if matches!(asked.request, Request::Shutdown) {
                    self.stopping = true;
                }
                // Whoever asked may have gone; what was done stays done.
                let _ = asked.answer.send(answer);
            }
            Job::Agent(event) => {
                tell_notices(&event);
                self.close_tools(&event);
                if let Err(error) = answer {
                    self.give_up(event, &error);
                }
            }
            Job::Woke | Job::Tick => {}
        }
    }

    /// An input could not be stored. A request learns it; an event of an agent waits for space, and is given up if
    /// space is not what is missing.
    fn not_stored(&mut self, job: Job, error: &storage::Error) {
        match (job, error) {
            (Job::Asked(asked), error) => {
                tracing::error!(%error, "a request could not be stored");
                let _ = asked.answer.send(Err(ApiError::from(error.clone())));
            }
            (Job::Agent(event), storage::Error::DiskFull) => self.kept.push(event),
            (Job::Agent(event), error) => self.give_up(event, &ApiError::from(error.clone())),
            (Job::Woke | Job::Tick, error) => {
                tracing::error!(%error, "what is due could not be stored");
                self.overdue = true;
            }
        }
    }

    /// The token of a process that is gone goes with it.
    fn close_tools(&self, event: &agents::Event) {
        if matches!(event.kind, agents::EventKind::Exited { .. }) {
            self.start.tools.tokens.close(&event.key, event.epoch);
        }
    }

    /// What an agent did cannot be taken in: its process ends, which ends its run visibly.
    fn give_up(&mut self, event: agents::Event, error: &ApiError) {
        self.close_tools(&event);
        let agents::Event { key, epoch, kind } = event;
        let kind = kind_of(&kind);
        tracing::error!(binding = %key.binding, code = error.code.as_str(), kind, "an event of an agent was dropped; its process ends");
        self.agents.carry_out(agents::Command::End { key, epoch });
    }

    fn carry_out(&mut self) {
        let mut runs_ended = false;
        while let Some(command) = self.engine.next_command() {
            match command {
                Command::Start { key, epoch, binding, system_prompt, reload, workplace } => {
                    let spec = self.start.process(key.clone(), epoch, &binding, system_prompt);
                    let spec = self.outside.at_work(&self.start, agents::Spec { reload, ..spec }, workplace);
                    self.agents.carry_out(agents::Command::Start { key, epoch, spec: Box::new(spec) });
                }
                Command::Prompt { key, epoch, run, text } => {
                    self.log.metrics.prompted(text.len());
                    self.agents.carry_out(agents::Command::Prompt { key, epoch, run, text });
                }
                Command::Cancel { key, epoch, run } => {
                    self.agents.carry_out(agents::Command::Cancel { key, epoch, run });
                }
                Command::Answer { key, epoch, run, ask, choice } => {
                    self.agents.carry_out(agents::Command::Answer { key, epoch, run, ask, choice });
                }
                Command::Steer { key, epoch, run, message, text } => {
                    self.agents.carry_out(agents::Command::Steer { key, epoch, run, message, text });
                }
                Command::Prove { key, epoch } => {
                    self.agents.carry_out(agents::Command::Prove { key, epoch });
                }
                Command::End { key, epoch } => self.agents.carry_out(agents::Command::End { key, epoch }),
                Command::Stream { key, run, piece } => self.log.hub.stream(key, run, &piece),
                Command::ReadTranscript { run, binding, native, from, until } => {
                    if let Some(projects) = self.start.transcripts(&binding) {
                        self.outside.read_transcript(projects, (run, native), from, until);
                    }
                }
                Command::Tidy(worktree) => self.outside.tidy(&self.start, *worktree),
                Command::RunsEnded => runs_ended = true,
            }
        }
        self.log.hub.committed(self.engine.activities());
        if runs_ended {
            self.ended.send_modify(|count| *count += 1);
        }
    }
}

/// An event by its kind alone: what an agent says is no matter for the log.
fn kind_of(kind: &agents::EventKind) -> &'static str {
    match kind {
        agents::EventKind::Started(_) => "started",
        agents::EventKind::ReloadFailed { .. } => "reload_failed",
        agents::EventKind::PromptWritten { .. } => "prompt_written",
        agents::EventKind::Update { .. } => "update",
        agents::EventKind::PermissionAsked { .. } => "permission_asked",
        agents::EventKind::PermissionClosed { .. } => "permission_closed",
        agents::EventKind::Steered { .. } => "steered",
        agents::EventKind::TurnEnded { .. } => "turn_ended",
        agents::EventKind::TurnFailed { .. } => "turn_failed",
        agents::EventKind::TreeLost => "tree_lost",
        agents::EventKind::Exited { .. } => "exited",
    }
}

/// What an agent's start could not do as it should, for whoever runs the server (6.11).
fn tell_notices(event: &agents::Event) {
    if let agents::EventKind::Started(started) = &event.kind {
        for notice in &started.notices {
            tracing::warn!(binding = %event.key.binding, notice);
        }
    }
}

/// Connections for reading, made when they are needed and kept.
#[derive(Clone)]
pub(crate) struct Readers {
    folder: Arc<std::path::PathBuf>,
    /// How many may read at once.
    places: Arc<tokio::sync::Semaphore>,
    idle: Arc<std::sync::Mutex<Vec<Reader>>>,
}

/// Reading connections at most: more would only wait for the same two or four cores, each with its own cache.
const READERS_MAX: usize = 4;

impl Readers {
    pub(crate) fn new(folder: std::path::PathBuf) -> Self {
        Self {
            folder: Arc::new(folder),
            places: Arc::new(tokio::sync::Semaphore::new(READERS_MAX)),
            idle: Arc::default(),
        }
    }

    /// Reads on a blocking thread.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Read) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let failed = || ApiError::new(Code::Internal, "reading failed");
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| failed())?;
        let readers = self.clone();
        let read = tokio::task::spawn_blocking(move || {
            let result = readers.read_now(work);
            drop(place);
            result
        });
        read.await.map_err(|_| failed())?
    }

    /// Reads at once, where the caller is: for a row or two by their keys, which takes some microseconds, before
    /// anything is awaited. A client that goes away early then loses nothing of what it sent.
    pub(crate) fn read_now<T>(
        &self,
        work: impl FnOnce(&dyn Read) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let kept = self.lock().pop();
        let reader = match kept {
            Some(reader) => reader,
            None => Sqlite::open_reader(&self.folder)?,
        };
        let result = work(&reader);
        self.lock().push(reader);
        result
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Reader>> {
        self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
