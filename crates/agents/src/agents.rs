//! All agent processes: carries out commands, one task per process.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use delivery::model::{Epoch, Key, RunId};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;
use tokio_util::task::TaskTracker;

use crate::mark::Mark;
use crate::memory::{Scale, measure};
use crate::message::{Command, Event, Spec};
use crate::process::{self, Order};
use crate::session::{PENDING_MAX, STEERS_MAX};

/// Commands that wait for one process. A key has one turn at a time, so there are a prompt, its cancel, an end, and as
/// many answers as permissions may wait and messages as may steer it; a process that lets more pile up is given up.
/// However often a turn is cancelled, one of the cancels waits.
const ORDERS_MAX: usize = 16 + PENDING_MAX + STEERS_MAX;

/// The agent processes. Dropping it ends them all.
#[derive(Debug)]
pub struct Agents {
    holder: Arc<[String]>,
    records: Arc<Path>,
    events: mpsc::Sender<Event>,
    live: Arc<Mutex<Live>>,
    /// Wakes [`measure`], which sleeps while nothing lives.
    started: Arc<Notify>,
    measurer: AbortHandle,
    tasks: TaskTracker,
    runtime: Handle,
}

/// The processes, by name.
pub(crate) type Live = BTreeMap<(Key, Epoch), Way>;

/// The way to a process.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) orders: mpsc::Sender<Order>,
    /// What its tree weighs.
    pub(crate) scale: Scale,
    /// The run that was cancelled last, until a prompt of it comes.
    cancelled: Option<RunId>,
}

impl Way {
    /// Whether an order would change nothing: its turn is being cancelled already.
    fn is_spare(&mut self, order: &Order) -> bool {
        match order {
            Order::Cancel(run) if self.cancelled.as_ref() == Some(run) => return true,
            Order::Cancel(run) => self.cancelled = Some(run.clone()),
            // One that came before its prompt hit nothing.
            Order::Prompt { run, .. } if self.cancelled.as_ref() == Some(run) => self.cancelled = None,
            Order::Prompt { .. }
            | Order::Answer { .. }
            | Order::Steer { .. }
            | Order::Prove
            | Order::TooLarge
            | Order::End => {}
        }
        false
    }
}

impl Agents {
    /// None yet. `holder` is the program that ends trees and its arguments before `-- COMMAND`; `records` is the folder
    /// in which those that run are recorded for [`sweep`](crate::sweep); `events` tells what happens: while it is
    /// full, nothing more is read of the agents. To be called within a runtime.
    pub fn new(holder: Vec<String>, records: &Path, events: mpsc::Sender<Event>) -> Self {
        let (live, started) = (Arc::default(), Arc::new(Notify::new()));
        let measurer = tokio::spawn(measure(Arc::clone(&live), Arc::clone(&started))).abort_handle();
        Self {
            holder: holder.into(),
            records: records.into(),
            events,
            live,
            started,
            measurer,
            tasks: TaskTracker::new(),
            runtime: Handle::current(),
        }
    }

    /// Carries out a command; never waits.
    pub fn carry_out(&self, command: Command) {
        match command {
            Command::Start { key, epoch, spec } => self.start(key, epoch, *spec),
            Command::Prompt { key, epoch, run, text } => self.order(key, epoch, Order::Prompt { run, text }),
            Command::Cancel { key, epoch, run } => self.order(key, epoch, Order::Cancel(run)),
            Command::Answer { key, epoch, run, ask, choice } => {
                self.order(key, epoch, Order::Answer { run, ask, choice });
            }
            Command::Steer { key, epoch, run, message, text } => {
                self.order(key, epoch, Order::Steer { run, message, text });
            }
            Command::Prove { key, epoch } => self.order(key, epoch, Order::Prove),
            Command::End { key, epoch } => self.order(key, epoch, Order::End),
        }
    }

    /// Bytes of memory that each key's tree had at the last look, which is some seconds old.
    pub fn memory(&self) -> BTreeMap<Key, u64> {
        let live = lock(&self.live);
        live.iter().filter_map(|((key, _), way)| Some((key.clone(), way.scale.bytes?))).collect()
    }

    /// Waits until all processes are gone and all their events were taken. Ends none by itself.
    pub async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }

    fn start(&self, key: Key, epoch: Epoch, mut spec: Spec) {
        let mark = Mark::new(&spec.mark, &self.records, epoch);
        spec.env.push(mark.variable());
        let name = (key, epoch);
        let (orders, waiting) = mpsc::channel(ORDERS_MAX);
        {
            let mut live = lock(&self.live);
            if live.contains_key(&name) {
                tracing::error!(?name, "a process of this key and epoch runs already");
                return;
            }
            live.insert(name.clone(), Way { orders, scale: Scale::default(), cancelled: None });
        }
        let (holder, live) = (Arc::clone(&self.holder), Arc::clone(&self.live));
        let outlet = process::Outlet::new(name.clone(), self.events.clone());
        let task = async move {
            let runs = |holder, limit| {
                if let Some(way) = lock(&live).get_mut(&name) {
                    way.scale.holder = Some(holder);
                    way.scale.limit = limit;
                }
            };
            process::run(&holder, &spec, mark, waiting, outlet, runs).await;
            lock(&live).remove(&name);
        };
        self.tasks.spawn_on(task, &self.runtime);
        self.started.notify_one();
    }

    fn order(&self, key: Key, epoch: Epoch, order: Order) {
        let name = (key, epoch);
        let mut live = lock(&self.live);
        let Some(way) = live.get_mut(&name) else {
            tracing::debug!(?name, "a command for a process that is gone");
            return;
        };
        if !way.is_spare(&order) && way.orders.try_send(order).is_err() {
            // Its queue ends with that, which the process takes for an `End`.
            live.remove(&name);
        }
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        // The tasks share the map: without this their queues would stay open.
        lock(&self.live).clear();
        self.measurer.abort();
    }
}

pub(crate) fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}
