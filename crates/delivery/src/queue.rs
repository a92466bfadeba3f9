//! The queue per key: one run at a time for each (channel, binding), the others wait in order (2.6).

use std::collections::{BTreeMap, VecDeque};

use crate::faults::{Rule, broken};
use crate::model::{Key, RunId};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A run was queued, behind those of its key.
    Queued {
        /// Its key.
        key: Key,
        /// The run.
        run: RunId,
    },
    /// A run ended, whether it ran or waited: its key is free if it was the one that ran.
    Ended {
        /// Its key.
        key: Key,
        /// The run.
        run: RunId,
    },
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// This run is the next of its key: get it a lease.
    Begin {
        /// Its key.
        key: Key,
        /// The run.
        run: RunId,
    },
}

/// All queues. Keys without a run take no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Never holds a line without a run.
    lines: BTreeMap<Key, Line>,
    /// Every run of `lines`, and whose it is.
    runs: BTreeMap<RunId, Key>,
    /// Keys whose next run may begin, in the order in which they became free.
    free: BTreeMap<Ticket, Key>,
    next_ticket: Ticket,
}

type Ticket = u64;

/// The runs of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    head: Head,
    waiting: VecDeque<RunId>,
}

/// Whether a key may begin a run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Head {
    /// No run was begun; the key stands in `free` under this ticket.
    Free(Ticket),
    /// This run was begun and has not ended.
    Taken(RunId),
}

impl Queue {
    /// Takes an event in. Events that make no sense (an unknown run, one twice) change nothing.
    pub fn handle(&mut self, event: Event) {
        match event {
            Event::Queued { key, run } => self.queued(key, run),
            Event::Ended { key, run } => self.ended(&key, &run),
        }
    }

    /// The next thing to do, until there is none.
    pub fn next_command(&mut self) -> Option<Command> {
        let (_, key) = self.free.pop_first()?;
        let line = self.lines.get_mut(&key)?;
        let run =
            if broken(Rule::TurnsInOrder) { line.waiting.pop_back()? } else { line.waiting.pop_front()? };
        line.head = Head::Taken(run.clone());
        Some(Command::Begin { key, run })
    }

    /// The run of a key that was begun and has not ended.
    pub fn current(&self, key: &Key) -> Option<&RunId> {
        match &self.lines.get(key)?.head {
            Head::Free(_) => None,
            Head::Taken(run) => Some(run),
        }
    }

    /// The runs of a key that wait behind the current one, in order.
    pub fn waiting(&self, key: &Key) -> Vec<RunId> {
        self.lines.get(key).map(|line| line.waiting.iter().cloned().collect()).unwrap_or_default()
    }

    /// How many keys have a run.
    pub fn keys(&self) -> usize {
        self.lines.len()
    }

    fn queued(&mut self, key: Key, run: RunId) {
        if self.runs.contains_key(&run) {
            return;
        }
        self.runs.insert(run.clone(), key.clone());
        if let Some(line) = self.lines.get_mut(&key) {
            line.waiting.push_back(run);
        } else {
            let head = self.freed(key.clone());
            self.lines.insert(key, Line { head, waiting: VecDeque::from([run]) });
        }
    }

    fn ended(&mut self, key: &Key, run: &RunId) {
        if self.runs.get(run) != Some(key) {
            return;
        }
        self.runs.remove(run);
        let Some(mut line) = self.lines.remove(key) else { return };
        if line.head == Head::Taken(run.clone()) {
            line.head = self.freed(key.clone());
        } else {
            line.waiting.retain(|waiting| waiting != run);
        }
        match line.head {
            Head::Free(ticket) if line.waiting.is_empty() => {
                self.free.remove(&ticket);
            }
            Head::Free(_) | Head::Taken(_) => {
                self.lines.insert(key.clone(), line);
            }
        }
    }

    /// Puts a key at the end of those that may begin.
    fn freed(&mut self, key: Key) -> Head {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.free.insert(ticket, key);
        Head::Free(ticket)
    }
}

#[cfg(test)]
mod tests;
