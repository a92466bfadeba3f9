//! The hub: what happened goes in once, and out to each reader's bounded queue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use delivery::model::{ChannelId, Key, RunId};
use storage::{LogSpan, Read};
use tokio::sync::{Notify, Semaphore, mpsc};

use super::item::Renderer;
use super::live::{Answer, Names, Standing};
use super::{Item, Principal, may_see};
use crate::engine::{Activity, Piece};
use crate::error::{ApiError, Code};
use crate::shell::Readers;
use crate::wire::Happened;

/// Events that wait for one reader at most. At 50 messages a second a reader may pause for ten seconds.
const QUEUE_MAX: usize = 512;
/// Entries of the log that are read at once.
pub(super) const PAGE: usize = 100;
/// Readers that read the log at once at most: hundreds that come back together take turns.
const READING_MAX: usize = 4;

/// A handle on the hub. Clones share it.
#[derive(Clone)]
pub(crate) struct Hub {
    shared: Arc<Shared>,
}

struct Shared {
    origin: [u8; 8],
    readers: Readers,
    reading: Semaphore,
    wake: Notify,
    state: Mutex<State>,
}

/// Everything under one lock, so that a reader who joins finds an exact moment: what was handed out before it is in
/// the log or in its first events, what comes after it is in its queue.
struct State {
    /// The newest entry of the log that was handed out.
    head: u64,
    subscribers: Vec<Subscriber>,
    answers: BTreeMap<RunId, Answer>,
    /// Runs whose start was handed out, but not their end: pieces of their answers are told between the two.
    begun: BTreeSet<RunId>,
    standings: BTreeMap<Key, Standing>,
    closing: bool,
}

struct Subscriber {
    queue: mpsc::Sender<Arc<Item>>,
    principal: Principal,
    channel: Option<ChannelId>,
    slow: Arc<AtomicBool>,
}

impl Subscriber {
    /// Hands an event out; whether the reader is still there and keeps up.
    fn offer(&self, item: &Arc<Item>) -> bool {
        if !wants(item, &self.principal, self.channel.as_ref()) {
            return true;
        }
        match self.queue.try_send(item.clone()) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.slow.store(true, Ordering::Relaxed);
                false
            }
            Err(mpsc::error::TrySendError::Closed(_)) => false,
        }
    }
}

/// A reader's end of its queue.
pub(super) struct Subscription {
    pub(super) queue: mpsc::Receiver<Arc<Item>>,
    /// The newest entry that was handed out before it joined.
    pub(super) head: u64,
    /// What is going on, for one who comes in the middle.
    pub(super) live: Vec<Arc<Item>>,
    slow: Arc<AtomicBool>,
}

impl Subscription {
    /// Whether the queue ended because it was full.
    pub(super) fn is_slow(&self) -> bool {
        self.slow.load(Ordering::Relaxed)
    }
}

/// What one round hands out.
pub(super) struct Round {
    pub(super) items: Vec<Arc<Item>>,
    pub(super) names: BTreeMap<Key, Names>,
}

impl Hub {
    /// A hub that hands out what comes after this moment of the log.
    pub(crate) fn new(readers: Readers, span: LogSpan) -> Self {
        let state = State {
            head: span.head,
            subscribers: Vec::new(),
            answers: BTreeMap::new(),
            begun: BTreeSet::new(),
            standings: BTreeMap::new(),
            closing: false,
        };
        let shared = Shared {
            origin: span.origin,
            readers,
            reading: Semaphore::new(READING_MAX),
            wake: Notify::new(),
            state: Mutex::new(state),
        };
        Self { shared: Arc::new(shared) }
    }

    /// A piece of a run's answer.
    pub(crate) fn stream(&self, key: Key, run: RunId, piece: &Piece) {
        self.lock().answers.entry(run).or_insert_with(|| Answer::new(key)).grow(piece);
    }

    /// Something was committed, and agents stand so now.
    pub(crate) fn committed(&self, activities: BTreeMap<Key, (Activity, usize)>) {
        let mut state = self.lock();
        for standing in state.standings.values_mut() {
            standing.now = None;
        }
        for (key, now) in activities {
            state.standings.entry(key).or_default().now = Some(now);
        }
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Hands out what is there, then ends all readers.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.shared.wake.notify_one();
    }

    pub(super) async fn woken(&self) {
        self.shared.wake.notified().await;
    }

    pub(super) fn is_closing(&self) -> bool {
        self.lock().closing
    }

    pub(super) fn head(&self) -> u64 {
        self.lock().head
    }

    /// Names the database in cursors.
    pub(super) fn origin(&self) -> [u8; 8] {
        self.shared.origin
    }

    /// Keys that are spoken of and whose names are not known yet.
    pub(super) fn nameless(&self) -> Vec<Key> {
        let state = self.lock();
        let answers = state.answers.values().filter(|answer| answer.names.is_none());
        let standings = state.standings.iter().filter(|(_, standing)| standing.names.is_none());
        answers.map(|answer| answer.key.clone()).chain(standings.map(|(key, _)| key.clone())).collect()
    }

    /// Hands a round out. What was said of an answer comes before its run's end, whatever round that is in.
    pub(super) fn publish(&self, round: &Round) {
        let mut guard = self.lock();
        let state = &mut *guard;
        let mut out = Vec::new();
        for answer in state.answers.values_mut().filter(|answer| answer.names.is_none()) {
            answer.names = round.names.get(&answer.key).cloned();
        }
        for item in &round.items {
            match &item.event().what {
                Happened::RunStarted { run } => {
                    state.begun.insert(RunId(run.id.clone()));
                }
                Happened::RunEnded { run } | Happened::RunQueued { run } => {
                    let run = RunId(run.id.clone());
                    let begun = state.begun.remove(&run);
                    let rest = state.answers.remove(&run).filter(|_| begun);
                    out.extend(rest.and_then(|mut answer| answer.next(&run)));
                }
                Happened::Hello
                | Happened::Resync { .. }
                | Happened::Heartbeat
                | Happened::ChannelAdded { .. }
                | Happened::PersonAdded { .. }
                | Happened::AgentAdded { .. }
                | Happened::AgentRemoved { .. }
                | Happened::MessageAdded { .. }
                | Happened::MessageEdited { .. }
                | Happened::MessageDeleted { .. }
                | Happened::RunStep { .. }
                | Happened::Permission { .. }
                | Happened::Answer { .. }
                | Happened::AgentState { .. }
                | Happened::Unknown => {}
            }
            state.head = item.n().unwrap_or(state.head);
            out.push(item.clone());
        }
        let begun = &state.begun;
        out.extend(
            state
                .answers
                .iter_mut()
                .filter(|(run, _)| begun.contains(*run))
                .filter_map(|(run, answer)| answer.next(run)),
        );
        for (key, standing) in &mut state.standings {
            if standing.names.is_none() {
                standing.names = round.names.get(key).cloned();
            }
            out.extend(standing.next(key));
        }
        state.standings.retain(|_, standing| !standing.is_over());
        state.subscribers.retain(|one| !one.queue.is_closed() && out.iter().all(|item| one.offer(item)));
    }

    /// Entries went before they could be handed out: every reader must look afresh.
    pub(super) fn skip_to(&self, head: u64) {
        let mut state = self.lock();
        state.head = head;
        for one in state.subscribers.drain(..) {
            one.slow.store(true, Ordering::Relaxed);
        }
    }

    /// Ends all readers.
    pub(super) fn end(&self) {
        self.lock().subscribers.clear();
    }

    pub(super) fn subscribe(&self, principal: &Principal, channel: Option<&ChannelId>) -> Subscription {
        let (sender, queue) = mpsc::channel(QUEUE_MAX);
        let slow = Arc::new(AtomicBool::new(false));
        let mut state = self.lock();
        let answers = state.answers.iter().filter_map(|(run, answer)| answer.so_far(run));
        let standings = state.standings.iter().filter_map(|(key, standing)| standing.last(key));
        let live = standings.chain(answers).filter(|item| wants(item, principal, channel)).collect();
        let head = state.head;
        if !state.closing {
            let (principal, channel) = (principal.clone(), channel.cloned());
            state.subscribers.push(Subscriber { queue: sender, principal, channel, slow: slow.clone() });
        }
        Subscription { queue, head, live, slow }
    }

    /// Which part of the log there is.
    pub(super) async fn span(&self) -> Result<LogSpan, ApiError> {
        self.take_turn(|store, _| Ok(store.log_span()?)).await
    }

    /// The next entries after a number, rendered; `None` if some of them are not kept any more.
    pub(super) async fn page(&self, after: u64) -> Result<Option<Vec<Arc<Item>>>, ApiError> {
        self.take_turn(move |store, origin| page(store, origin, after)).await
    }

    /// As [`Self::page`], with the names of keys; not held up by readers.
    pub(super) async fn read_round(
        &self,
        after: u64,
        keys: Vec<Key>,
    ) -> Result<(Option<Round>, LogSpan), ApiError> {
        let origin = self.shared.origin;
        let read = move |store: &dyn Read| {
            let items = page(store, origin, after)?;
            let mut renderer = Renderer::new(store, origin);
            let mut names = BTreeMap::new();
            for key in keys {
                let channel = renderer.name(&key.channel)?;
                let agent = store.binding(&key.binding)?.spec.handle;
                names.insert(key, Names { channel, agent });
            }
            Ok((items.map(|items| Round { items, names }), store.log_span()?))
        };
        self.shared.readers.read(read).await
    }

    async fn take_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Read, [u8; 8]) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let stopped = |_| ApiError::new(Code::ShuttingDown, "the server has stopped");
        let _turn = self.shared.reading.acquire().await.map_err(stopped)?;
        let origin = self.shared.origin;
        self.shared.readers.read(move |store| work(store, origin)).await
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a reader gets an event: it may see it, and asked for its channel.
pub(super) fn wants(item: &Item, principal: &Principal, channel: Option<&ChannelId>) -> bool {
    let here = channel.is_none() || item.channel().is_none() || item.channel() == channel;
    here && may_see(item, principal)
}

fn page(store: &dyn Read, origin: [u8; 8], after: u64) -> Result<Option<Vec<Arc<Item>>>, ApiError> {
    let entries = store.log(after, PAGE)?;
    if entries.first().is_some_and(|first| first.n != after + 1) {
        return Ok(None);
    }
    let mut renderer = Renderer::new(store, origin);
    entries.into_iter().map(|entry| renderer.item(entry)).collect::<Result<_, _>>().map(Some)
}
