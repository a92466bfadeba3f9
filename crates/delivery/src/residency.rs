//! Which agent processes are alive (section 6): one per (channel, binding), a bounded pool, idle ends,
//! the least recently used idle one makes room.

use std::collections::BTreeMap;

use crate::faults::{Rule, broken};
use crate::model::{Epoch, Key};
use crate::time::Moment;
use crate::turn::Lease;

use line::{Line, Ticket, Wish};
use process::{Phase, Process};

mod line;
mod process;

/// Grants that a key without a place lets pass. A resident process whose key is wanted again is not idle (6.4)
/// and keeps its place; without a bound, a pool of busy keys would never let another one in.
pub const GRANTS_WAITED_MAX: u64 = 16;

/// Settings of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Processes alive at most, those that start or end counted.
    pub processes_max: usize,
    /// Idle milliseconds after which a process ends.
    pub idle_ms: u64,
}

/// What becomes of a process when its turn has ended. Of two wishes the one that stands later here counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum After {
    /// It stays for the next turn.
    Keep,
    /// It ends; its session is reloaded for the next turn (session policy `saved`).
    Save,
    /// It ends (session policy `fresh`, or a session that is not to be gone on with).
    End,
    /// It is ending by itself, or gone: all that is left to come is its [`Event::Exited`].
    Gone,
}

/// What happened. Events with an epoch that is not the key's present one change nothing (5.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A run of this key is the next: it wants a turn. Wanted twice is wanted once; wanted while it has a turn
    /// is a wish for another. Told before the commands after [`Event::TurnEnded`] are taken, it keeps the
    /// process from making room for another key.
    Wanted(Key),
    /// It no longer does (cancelled before it got one).
    Unwanted(Key),
    /// The process runs and has a session.
    Started {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// Whether it reloaded an exact saved session.
        restored: bool,
    },
    /// The prompt of the granted turn was written: from now on the session has had a turn.
    Prompted {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
    },
    /// The granted turn is over, or was never begun.
    TurnEnded {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// What becomes of the process.
        after: After,
    },
    /// The process is gone, or could not be started. If it was starting or in a turn, its key's wish is gone
    /// too, so that a command that cannot start is not started for ever: whoever sends this decides whether to
    /// want again. If it was ending or idle, the wish stays.
    Exited {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
    },
    /// Next turn is a new native session (6.7): an idle or starting process ends now, a busy one when its turn
    /// has ended.
    Fresh(Key),
    /// The binding is gone: its process ends now, busy or not; nothing is wanted any more.
    Removed(Key),
    /// No new work: idle and starting processes end now, busy ones when their turn has ended.
    Shutdown,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Start a process and a session under this epoch.
    Start {
        /// Key.
        key: Key,
        /// A new epoch, higher than all before.
        epoch: Epoch,
    },
    /// The key has its turn: send the prompt.
    Grant {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// Cold, restored or warm.
        lease: Lease,
    },
    /// End the process politely: its stdin is closed, then signals.
    End {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// Why, for the log and the board.
        why: EndReason,
    },
}

/// Why a process is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Idle for longer than the limit.
    Idle,
    /// Another key needed its place.
    Evicted,
    /// Session policy `saved`: no process stays between turns.
    Saved,
    /// Start fresh, or session policy `fresh`, or unfit after a failure.
    Fresh,
    /// The binding was removed.
    Removed,
    /// The server stops.
    Shutdown,
}

/// How a key's process stands, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No process, none wanted.
    Absent,
    /// A turn is wanted but the pool is full.
    WaitingForPlace,
    /// Starting.
    Starting,
    /// Alive without a turn.
    Idle,
    /// In a turn.
    Busy,
    /// Ending.
    Ending,
}

/// The pool. Keys without a process and without a wish take no memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    pool: Pool,
    next_epoch: Epoch,
    /// Never more than `processes_max`.
    processes: BTreeMap<Key, Process>,
    /// Turns that are wanted and not granted, also those whose key has a process.
    line: Line,
    /// How many turns were granted.
    grants: u64,
    doors: Doors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doors {
    Open,
    Closed,
}

impl Residency {
    /// An empty pool; the first process gets `first_epoch`, which must be above all that were ever used.
    pub fn new(pool: Pool, first_epoch: Epoch) -> Self {
        Self {
            pool,
            next_epoch: first_epoch,
            processes: BTreeMap::new(),
            line: Line::default(),
            grants: 0,
            doors: Doors::Open,
        }
    }

    /// Takes an event in.
    pub fn handle(&mut self, event: Event, now: Moment) {
        match event {
            Event::Wanted(key) => match self.doors {
                Doors::Open => self.line.join(key, self.grants),
                Doors::Closed => {}
            },
            Event::Unwanted(key) => self.line.leave(&key),
            Event::Started { key, epoch, restored } => self.started(&key, epoch, restored, now),
            Event::Prompted { key, epoch } => self.prompted(&key, epoch),
            Event::TurnEnded { key, epoch, after } => self.turn_ended(&key, epoch, after, now),
            Event::Exited { key, epoch } => self.exited(&key, epoch),
            Event::Fresh(key) => self.fresh(&key),
            Event::Removed(key) => self.removed(&key),
            Event::Shutdown => self.shutdown(),
        }
    }

    /// Does what is due at `now`; too early is harmless.
    pub fn handle_timeout(&mut self, now: Moment) {
        for (key, process) in &mut self.processes {
            let due = process.idle_until(self.pool.idle_ms).is_some_and(|due| due <= now);
            if due && self.line.ticket(key).is_none() && !broken(Rule::IdleEnds) {
                process.phase = Phase::Doomed(EndReason::Idle);
            }
        }
    }

    /// The next thing to do, until there is none.
    pub fn next_command(&mut self) -> Option<Command> {
        // Ends come first, because a place that becomes free needs no eviction; grants come before starts and
        // evictions, because a process whose key is wanted must not be taken for an idle one.
        self.end().or_else(|| self.grant()).or_else(|| self.start()).or_else(|| self.evict())
    }

    /// When [`Self::handle_timeout`] is due next.
    pub fn next_timeout(&self) -> Option<Moment> {
        let unwanted = self.processes.iter().filter(|(key, _)| self.line.ticket(key).is_none());
        unwanted.filter_map(|(_, process)| process.idle_until(self.pool.idle_ms)).min()
    }

    /// How a key stands.
    pub fn state(&self, key: &Key) -> State {
        match self.processes.get(key).map(|process| process.phase) {
            Some(Phase::Starting) => State::Starting,
            Some(Phase::Idle { .. }) => State::Idle,
            Some(Phase::Busy { .. }) => State::Busy,
            Some(Phase::Doomed(_) | Phase::Ending) => State::Ending,
            None if self.line.ticket(key).is_some() => State::WaitingForPlace,
            None => State::Absent,
        }
    }

    /// Whether nothing is alive, starting or ending.
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }

    /// How many keys have a process or want a turn.
    pub fn keys(&self) -> usize {
        let unplaced = self.line.iter().filter(|(_, wish)| !self.processes.contains_key(&wish.key));
        self.processes.len() + unplaced.count()
    }

    fn process(&mut self, key: &Key, epoch: Epoch) -> Option<&mut Process> {
        self.processes.get_mut(key).filter(|process| process.epoch == epoch)
    }

    fn started(&mut self, key: &Key, epoch: Epoch, restored: bool, now: Moment) {
        let Some(process) = self.process(key, epoch) else { return };
        match process.phase {
            Phase::Starting => {
                process.phase = Phase::Idle { since: now };
                process.lease = if restored { Lease::Restored } else { Lease::Cold };
            }
            Phase::Idle { .. } | Phase::Busy { .. } | Phase::Doomed(_) | Phase::Ending => {}
        }
    }

    fn prompted(&mut self, key: &Key, epoch: Epoch) {
        let Some(process) = self.process(key, epoch) else { return };
        match process.phase {
            Phase::Busy { .. } => process.lease = Lease::Warm,
            Phase::Starting | Phase::Idle { .. } | Phase::Doomed(_) | Phase::Ending => {}
        }
    }

    fn turn_ended(&mut self, key: &Key, epoch: Epoch, after: After, now: Moment) {
        let doors = self.doors;
        let Some(process) = self.process(key, epoch) else { return };
        let Phase::Busy { after: asked } = process.phase else { return };
        process.phase = match (doors, asked.max(after)) {
            (_, After::Gone) => Phase::Ending,
            (Doors::Closed, _) => Phase::Doomed(EndReason::Shutdown),
            (Doors::Open, After::Keep) => Phase::Idle { since: now },
            (Doors::Open, After::Save) => Phase::Doomed(EndReason::Saved),
            (Doors::Open, After::End) => Phase::Doomed(EndReason::Fresh),
        };
    }

    fn exited(&mut self, key: &Key, epoch: Epoch) {
        let Some(process) = self.process(key, epoch) else { return };
        let phase = process.phase;
        if matches!(phase, Phase::Idle { .. }) && broken(Rule::DeadIsGone) {
            return;
        }
        self.processes.remove(key);
        match phase {
            Phase::Starting | Phase::Busy { .. } => self.line.leave(key),
            Phase::Idle { .. } | Phase::Doomed(_) | Phase::Ending => {}
        }
    }

    fn fresh(&mut self, key: &Key) {
        let Some(process) = self.processes.get_mut(key) else { return };
        match &mut process.phase {
            Phase::Starting | Phase::Idle { .. } => process.phase = Phase::Doomed(EndReason::Fresh),
            Phase::Busy { .. } if broken(Rule::FreshAfterTurn) => {}
            Phase::Busy { after } => *after = After::End,
            Phase::Doomed(_) | Phase::Ending => {}
        }
    }

    fn removed(&mut self, key: &Key) {
        self.line.leave(key);
        let Some(process) = self.processes.get_mut(key) else { return };
        match process.phase {
            Phase::Starting | Phase::Idle { .. } | Phase::Busy { .. } => {
                process.phase = Phase::Doomed(EndReason::Removed);
            }
            Phase::Doomed(_) | Phase::Ending => {}
        }
    }

    fn shutdown(&mut self) {
        self.doors = Doors::Closed;
        self.line = Line::default();
        for process in self.processes.values_mut() {
            match process.phase {
                Phase::Idle { .. } if broken(Rule::StopEndsAll) => {}
                Phase::Starting | Phase::Idle { .. } => process.phase = Phase::Doomed(EndReason::Shutdown),
                Phase::Busy { .. } | Phase::Doomed(_) | Phase::Ending => {}
            }
        }
    }

    /// Ends a process that was doomed.
    fn end(&mut self) -> Option<Command> {
        self.processes.iter_mut().find_map(|(key, process)| {
            let Phase::Doomed(why) = process.phase else { return None };
            process.phase = Phase::Ending;
            Some(Command::End { key: key.clone(), epoch: process.epoch, why })
        })
    }

    /// Grants the oldest wish whose process is idle; one that is younger than an overdue wish gives way.
    fn grant(&mut self) -> Option<Command> {
        let overdue = self.overdue();
        let idle = self.processes.iter().filter(|(_, process)| matches!(process.phase, Phase::Idle { .. }));
        let wished = idle.filter_map(|(key, _)| self.line.ticket(key).map(|ticket| (ticket, key)));
        let (_, key) = wished.filter(|(ticket, _)| overdue.is_none_or(|old| *ticket < old)).min()?;
        let key = key.clone();
        let process = self.processes.get_mut(&key)?;
        process.phase = Phase::Busy { after: After::Keep };
        let (epoch, lease) = (process.epoch, process.lease);
        self.line.leave(&key);
        self.grants += 1;
        Some(Command::Grant { key, epoch, lease })
    }

    /// Starts a process for the oldest wish that has none, if there is a place.
    fn start(&mut self) -> Option<Command> {
        if self.processes.len() >= self.pool.processes_max + usize::from(broken(Rule::PoolSize)) {
            return None;
        }
        let (_, wish) = self.line.iter().find(|(_, wish)| !self.processes.contains_key(&wish.key))?;
        let key = wish.key.clone();
        let epoch = self.next_epoch;
        self.next_epoch = Epoch(epoch.0 + 1);
        let process = Process { epoch, phase: Phase::Starting, lease: Lease::Cold };
        self.processes.insert(key.clone(), process);
        Some(Command::Start { key, epoch })
    }

    /// Ends the least recently used idle process, if more keys wait for a place than places become free.
    fn evict(&mut self) -> Option<Command> {
        let serving = self.processes.iter().filter(|(_, process)| process.serves());
        let waiting = self.line.len() - serving.filter(|(key, _)| self.line.ticket(key).is_some()).count();
        if waiting <= self.ending() {
            return None;
        }
        let line = &self.line;
        let idle = self.processes.iter_mut().filter_map(|(key, process)| match process.phase {
            Phase::Idle { since } => Some((line.ticket(key).is_some(), since, process.epoch, key, process)),
            Phase::Starting | Phase::Busy { .. } | Phase::Doomed(_) | Phase::Ending => None,
        });
        // A wanted process stands here only if it gives way to an overdue wish: the last resort.
        let order =
            |since: Moment| if broken(Rule::LeastRecentlyUsed) { u64::MAX - since.ms } else { since.ms };
        let (_, _, epoch, key, process) =
            idle.min_by_key(|(wanted, since, epoch, _, _)| (*wanted, order(*since), *epoch))?;
        process.phase = Phase::Ending;
        Some(Command::End { key: key.clone(), epoch, why: EndReason::Evicted })
    }

    /// The oldest wish without a place, if it has waited too long and no place becomes free.
    fn overdue(&self) -> Option<Ticket> {
        let full = self.processes.len() >= self.pool.processes_max && self.ending() == 0;
        let (ticket, wish) = self.line.iter().find(|(_, wish)| !self.has_place(&wish.key))?;
        (full && self.waited(wish) >= GRANTS_WAITED_MAX).then_some(ticket)
    }

    fn waited(&self, wish: &Wish) -> u64 {
        self.grants - wish.grants_before
    }

    /// Whether a key has a process that it may get a turn of.
    fn has_place(&self, key: &Key) -> bool {
        self.processes.get(key).is_some_and(Process::serves)
    }

    /// How many places become free.
    fn ending(&self) -> usize {
        self.processes.values().filter(|process| !process.serves()).count()
    }
}

#[cfg(test)]
mod tests;
