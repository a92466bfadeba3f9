//! The queue per key: one run at a time for each (channel, binding), the others wait in order (2.6), as long as nothing
//! bars their key.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::faults::{Rule, broken};
use crate::model::{BindingId, ChannelId, Key, RunId};

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
    /// A run that was begun has no turn: it is the first that waits again, and its key is free.
    Returned {
        /// Its key.
        key: Key,
        /// The run.
        run: RunId,
    },
    /// The key begins nothing while it has this bar, with runs or without. What was begun goes on.
    Barred {
        /// The key.
        key: Key,
        /// Why.
        bar: Bar,
    },
    /// This bar is gone.
    Unbarred {
        /// The key.
        key: Key,
        /// Which.
        bar: Bar,
    },
    /// No key of this part begins anything, those that come later neither.
    Paused(Part),
    /// The pause of exactly this part is over.
    Resumed(Part),
}

/// Why a key begins nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bar {
    /// A person has to let it go on.
    Held,
    /// Its time has not come.
    Waits,
}

/// What a pause is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All keys.
    Everything,
    /// The keys of a channel.
    Channel(ChannelId),
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

/// All queues. Keys without a run and without a bar take no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Never holds a line without a run.
    lines: BTreeMap<Key, Line>,
    /// Every run of `lines`, and whose it is.
    runs: BTreeMap<RunId, Key>,
    /// Keys whose next run may begin, in the order in which they became free.
    free: BTreeMap<Ticket, Key>,
    next_ticket: Ticket,
    /// Never holds a key without a bar.
    bars: BTreeMap<Key, BTreeSet<Bar>>,
    pauses: BTreeSet<Part>,
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
    /// No run was begun; the key stands in `free` under this ticket, unless it is barred.
    Free(Ticket),
    /// This run was begun and has not ended.
    Taken(RunId),
}

impl Queue {
    /// Takes an event in. Events that make no sense (an unknown run, one twice) change nothing.
    pub fn handle(&mut self, event: Event) {
        match event {
            Event::Queued { key, run } => self.queued(&key, run),
            Event::Ended { key, run } => self.ended(&key, &run),
            Event::Returned { key, run } => self.returned(&key, run),
            Event::Barred { key, bar } => {
                self.bars.entry(key.clone()).or_default().insert(bar);
                self.sort_in(&key);
            }
            Event::Unbarred { key, bar } => self.unbarred(&key, bar),
            Event::Paused(part) => {
                self.pauses.insert(part.clone());
                self.sort_in_all(&part);
            }
            Event::Resumed(part) => {
                self.pauses.retain(|pause| *pause != part && !broken(Rule::PausesAreApart));
                self.sort_in_all(&part);
            }
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

    /// Whether a key begins nothing: it is barred, or paused.
    pub fn is_barred(&self, key: &Key) -> bool {
        let paused = self.pauses.contains(&Part::Everything)
            || self.pauses.contains(&Part::Channel(key.channel.clone()));
        self.bars.contains_key(key) || (paused && !broken(Rule::PauseHolds))
    }

    /// The keys with runs of a part.
    pub fn keys_of(&self, part: &Part) -> Vec<Key> {
        match part {
            Part::Everything => self.lines.keys().cloned().collect(),
            Part::Channel(channel) => {
                let first = Key { channel: channel.clone(), binding: BindingId(String::new()) };
                let lines = self.lines.range(first..).map(|(key, _)| key);
                lines.take_while(|key| key.channel == *channel).cloned().collect()
            }
        }
    }

    /// How many keys have a run.
    pub fn keys(&self) -> usize {
        self.lines.len()
    }

    /// How many keys have a bar of their own.
    pub fn barred(&self) -> usize {
        self.bars.len()
    }

    fn queued(&mut self, key: &Key, run: RunId) {
        if self.runs.contains_key(&run) {
            return;
        }
        self.runs.insert(run.clone(), key.clone());
        if let Some(line) = self.lines.get_mut(key) {
            line.waiting.push_back(run);
        } else {
            let head = self.freed();
            self.lines.insert(key.clone(), Line { head, waiting: VecDeque::from([run]) });
            self.sort_in(key);
        }
    }

    fn ended(&mut self, key: &Key, run: &RunId) {
        if self.runs.get(run) != Some(key) {
            return;
        }
        self.runs.remove(run);
        let Some(mut line) = self.lines.remove(key) else { return };
        if line.head == Head::Taken(run.clone()) {
            line.head = self.freed();
        } else {
            line.waiting.retain(|waiting| waiting != run);
        }
        match line.head {
            Head::Free(ticket) if line.waiting.is_empty() => {
                self.free.remove(&ticket);
            }
            Head::Free(_) | Head::Taken(_) => {
                self.lines.insert(key.clone(), line);
                self.sort_in(key);
            }
        }
    }

    fn returned(&mut self, key: &Key, run: RunId) {
        let head = self.freed();
        let Some(line) = self.lines.get_mut(key) else { return };
        if line.head == Head::Taken(run.clone()) {
            line.head = head;
            line.waiting.push_front(run);
            self.sort_in(key);
        }
    }

    fn unbarred(&mut self, key: &Key, bar: Bar) {
        let Some(bars) = self.bars.get_mut(key) else { return };
        bars.remove(&bar);
        if bars.is_empty() {
            self.bars.remove(key);
            self.sort_in(key);
        }
    }

    /// The last place among those that may begin.
    fn freed(&mut self) -> Head {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        Head::Free(ticket)
    }

    fn sort_in_all(&mut self, part: &Part) {
        self.keys_of(part).iter().for_each(|key| self.sort_in(key));
    }

    /// Puts a key among those that may begin if it may, at the place of its ticket, and takes it out if not.
    fn sort_in(&mut self, key: &Key) {
        let Some(Line { head: Head::Free(ticket), .. }) = self.lines.get(key) else { return };
        let ticket = *ticket;
        if self.is_barred(key) {
            self.free.remove(&ticket);
        } else {
            self.free.insert(ticket, key.clone());
        }
    }
}

#[cfg(test)]
mod tests;
