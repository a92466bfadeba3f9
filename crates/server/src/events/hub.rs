//! The hub: what happened goes in once, and out to each reader's bounded queue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use delivery::model::{ChannelId, Key, RunId};
use storage::{LogSpan, Read};
use tokio::sync::{Notify, Semaphore, mpsc};

use super::Item;
use super::follower::Wish;
use super::item::{Effect, Renderer};
use super::live::{Answer, Names, Standing};
use super::sight::{Look, Looker, Sight, Watcher, may_see};
use crate::engine::{Doing, Piece};
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
    /// The newest of those that may have changed what readers see.
    sights: u64,
    subscribers: Vec<Subscriber>,
    answers: BTreeMap<RunId, Answer>,
    /// Runs whose start was handed out, but not their end: pieces of their answers are told between the two.
    begun: BTreeSet<RunId>,
    standings: BTreeMap<Key, Standing>,
    closing: bool,
}

impl State {
    /// Takes note of a run that begins or ends. What was said of its answer comes before its end.
    fn follow(&mut self, what: &Happened) -> Option<Arc<Item>> {
        match what {
            Happened::RunStarted { run } => {
                self.begun.insert(RunId(run.id.clone()));
                None
            }
            Happened::RunEnded { run } | Happened::RunQueued { run } => {
                let run = RunId(run.id.clone());
                // A run whose start is in the same round may have begun to answer already.
                match self.begun.remove(&run) {
                    true => self.answers.remove(&run).and_then(|mut answer| answer.next(&run)),
                    false => None,
                }
            }
            Happened::Hello
            | Happened::Resync { .. }
            | Happened::Heartbeat
            | Happened::ChannelAdded { .. }
            | Happened::ChannelChanged { .. }
            | Happened::ChannelClosed
            | Happened::MemberAdded { .. }
            | Happened::MemberRemoved { .. }
            | Happened::PersonAdded { .. }
            | Happened::PersonChanged { .. }
            | Happened::AgentAdded { .. }
            | Happened::AgentChanged { .. }
            | Happened::AgentRemoved { .. }
            | Happened::MessageAdded { .. }
            | Happened::MessageEdited { .. }
            | Happened::MessageDeleted { .. }
            | Happened::RunUsage { .. }
            | Happened::RunStep { .. }
            | Happened::Permission { .. }
            | Happened::PermissionAsked { .. }
            | Happened::PermissionDecided { .. }
            | Happened::PauseChanged { .. }
            | Happened::Answer { .. }
            | Happened::AgentState { .. }
            | Happened::Unknown => None,
        }
    }
}

struct Subscriber {
    queue: mpsc::Sender<Arc<Item>>,
    watcher: Watcher,
    sight: Sight,
    channel: Option<ChannelId>,
    ending: Arc<OnceLock<Ending>>,
}

/// Why the hub ended a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Its queue was full.
    Slow,
    /// Its watcher has another role.
    Changed,
    /// Its watcher may not read any more.
    Ended,
}

impl Subscriber {
    /// Hands an event out; whether the reader is still there and keeps up.
    fn offer(&self, item: &Arc<Item>) -> bool {
        if !wants(item, &self.sight, self.channel.as_ref()) {
            return true;
        }
        match self.queue.try_send(item.clone()) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.end(Ending::Slow);
                false
            }
            Err(mpsc::error::TrySendError::Closed(_)) => false,
        }
    }

    fn end(&self, ending: Ending) {
        // The first reason counts.
        let _ = self.ending.set(ending);
    }

    /// Takes in what the watcher sees now; whether they may go on.
    fn sees(&mut self, look: Look) -> bool {
        match look {
            Look::Sees(sight) => {
                self.sight = sight;
                return true;
            }
            Look::Changed => self.end(Ending::Changed),
            Look::Ended => self.end(Ending::Ended),
        }
        false
    }
}

/// A reader's end of its queue.
pub(super) struct Subscription {
    pub(super) queue: mpsc::Receiver<Arc<Item>>,
    /// The newest entry that was handed out before it joined.
    pub(super) head: u64,
    /// What is going on, for one who comes in the middle.
    pub(super) live: Vec<Arc<Item>>,
    ending: Arc<OnceLock<Ending>>,
}

impl Subscription {
    /// Why the queue ended, if the hub ended it for a reason of this reader's own.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.ending.get().copied()
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
            sights: span.head,
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

    /// How many readers follow.
    pub(crate) fn followers(&self) -> usize {
        self.lock().subscribers.iter().filter(|reader| !reader.queue.is_closed()).count()
    }

    /// A piece of a run's answer.
    pub(crate) fn stream(&self, key: Key, run: RunId, piece: &Piece) {
        self.lock().answers.entry(run).or_insert_with(|| Answer::new(key)).grow(piece);
    }

    /// Something was committed, and agents stand so now.
    pub(crate) fn committed(&self, activities: BTreeMap<Key, Doing>) {
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

    /// Hands a round out. What was said of an answer comes before its run's end, whatever round that is in. If the
    /// round changes what readers see, nothing is handed out before that was looked up: those of whom it was not are
    /// the error.
    pub(super) fn publish(&self, round: &Round) -> Result<(), Vec<Watcher>> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let changing = round.items.iter().filter(|item| item.effect() == Effect::Sights);
        let sights = changing.filter_map(|item| item.n()).max().unwrap_or(state.sights);
        let stale = state.subscribers.iter().filter(|one| one.sight.n < sights && !one.queue.is_closed());
        let stale: Vec<Watcher> = stale.map(|one| one.watcher.clone()).collect();
        if !stale.is_empty() {
            return Err(stale);
        }
        state.sights = sights;
        let mut out = Vec::new();
        for answer in state.answers.values_mut().filter(|answer| answer.names.is_none()) {
            answer.names = round.names.get(&answer.key).cloned();
        }
        for item in &round.items {
            out.extend(state.follow(&item.event().what));
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
        Ok(())
    }

    /// Looks up anew what these watchers see, and ends those who may not go on.
    pub(super) async fn look_again(&self, watchers: Vec<Watcher>) -> Result<(), ApiError> {
        let looks = move |store: &dyn Read| {
            let looker = Looker::new(store)?;
            let look = |watcher: Watcher| Ok((looker.look(&watcher)?, watcher));
            watchers.into_iter().map(look).collect::<Result<Vec<_>, ApiError>>()
        };
        let looks = self.shared.readers.read(looks).await?;
        self.lock().subscribers.retain_mut(|one| {
            match looks.iter().find(|(_, watcher)| *watcher == one.watcher) {
                Some((look, _)) => one.sees(look.clone()),
                None => true,
            }
        });
        Ok(())
    }

    /// What a watcher sees now.
    pub(super) async fn look(&self, watcher: Watcher) -> Result<Look, ApiError> {
        self.shared.readers.read(move |store| Looker::new(store)?.look(&watcher)).await
    }

    /// Entries went before they could be handed out: every reader must look afresh.
    pub(super) fn skip_to(&self, head: u64) {
        let mut state = self.lock();
        state.head = head;
        for one in state.subscribers.drain(..) {
            one.end(Ending::Slow);
        }
    }

    /// Ends all readers.
    pub(super) fn end(&self) {
        self.lock().subscribers.clear();
    }

    /// Joins a reader; `None` if what it sees was looked up too early.
    pub(super) fn subscribe(&self, wish: &Wish, sight: Sight) -> Option<Subscription> {
        let (sender, queue) = mpsc::channel(QUEUE_MAX);
        let ending = Arc::new(OnceLock::new());
        let mut state = self.lock();
        if sight.n < state.sights {
            return None;
        }
        let answers = state.answers.iter().filter_map(|(run, answer)| answer.so_far(run));
        let standings = state.standings.iter().filter_map(|(key, standing)| standing.last(key));
        let live =
            standings.chain(answers).filter(|item| wants(item, &sight, wish.channel.as_ref())).collect();
        let head = state.head;
        if !state.closing {
            let (watcher, channel) = (wish.watcher.clone(), wish.channel.clone());
            let ending = ending.clone();
            state.subscribers.push(Subscriber { queue: sender, watcher, sight, channel, ending });
        }
        Some(Subscription { queue, head, live, ending })
    }

    /// Which part of the log there is.
    pub(super) async fn span(&self) -> Result<LogSpan, ApiError> {
        self.take_turn(|store, _| Ok(store.log_span()?)).await
    }

    /// The next entries after a number, rendered (`None` if some of them are not kept any more), and what a watcher
    /// sees at that moment.
    pub(super) async fn page(
        &self,
        after: u64,
        watcher: Watcher,
    ) -> Result<(Option<Vec<Arc<Item>>>, Look), ApiError> {
        let read = move |store: &dyn Read, origin| {
            Ok((page(store, origin, after)?, Looker::new(store)?.look(&watcher)?))
        };
        self.take_turn(read).await
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
pub(super) fn wants(item: &Item, sight: &Sight, channel: Option<&ChannelId>) -> bool {
    let here = channel.is_none() || item.channel().is_none() || item.channel() == channel;
    here && may_see(item.audience(), sight)
}

fn page(store: &dyn Read, origin: [u8; 8], after: u64) -> Result<Option<Vec<Arc<Item>>>, ApiError> {
    let entries = store.log(after, PAGE)?;
    if entries.first().is_some_and(|first| first.n != after + 1) {
        return Ok(None);
    }
    let mut renderer = Renderer::new(store, origin);
    entries.into_iter().map(|entry| renderer.item(entry)).collect::<Result<_, _>>().map(Some)
}
