//! Processes and turns (section 6): which commands are allowed, and which must have been given by now.

use std::collections::BTreeSet;

use delivery::Moment;
use delivery::model::{Epoch, Key, RunId};
use delivery::turn::Lease;
use server::engine::Command;

use super::agent::system_prompt;
use super::card::Told;
use super::{Cancel, Doom, Doors, Model, Phase, Process, Seen, Wish};
use crate::breach::{Breach, Checked, ensure};
use crate::setup::IDLE_MS;

/// Turns that a key without a place lets pass before keys with one must make room.
const GRANTS_WAITED_MAX: u64 = 16;

impl Process {
    /// Whether its key may get a turn of it, now or later.
    pub(super) fn serves(&self) -> bool {
        match self.phase {
            Phase::Starting | Phase::Idle { .. } | Phase::Busy(_) => true,
            Phase::Ending => false,
        }
    }
}

impl Model {
    /// Each command must be allowed when it comes; afterwards nothing that must be done may be left.
    pub(super) fn pumped(&mut self, seen: &mut Seen) -> Checked {
        self.wish();
        while let Some(command) = seen.commands.pop_front() {
            match command {
                Command::Start { key, epoch, binding, system_prompt: system, reload, workplace } => {
                    ensure!(workplace.is_none(), "8", "{key:?} starts in a worktree of no project");
                    self.started_by(&key, epoch)?;
                    let (native, due) = match self.due_reload(&key, seen.now.wall)? {
                        Some((native, system)) => (Some(native), system),
                        None => (None, system_prompt(self.chat.spec(&key)?)),
                    };
                    let reloads = reload.as_ref().map(|reload| reload.native.clone());
                    ensure!(reloads == native, "6.5", "{key:?} reloads {reloads:?} instead of {native:?}");
                    ensure!(system == due && binding.id == key.binding, "3.4", "a wrong start of {key:?}");
                    let spec = self.chat.spec(&key)?;
                    ensure!(
                        binding.spec == *spec,
                        "6.9",
                        "{key:?} starts as {:?}, not {spec:?}",
                        binding.spec
                    );
                    reload.iter().try_for_each(|reload| self.check_reload(&key, reload))?;
                }
                Command::Prompt { key, epoch, run, text } => {
                    self.prompted(&key, epoch, &run, &text)?;
                    self.wishes.retain(|wish| wish.key != key);
                    self.grants += 1;
                }
                Command::Cancel { key, epoch, run } => {
                    let asked =
                        self.turn(&key).is_some_and(|turn| turn.cancel == Cancel::Asked && turn.run == run);
                    let is_now = self.processes.get(&key).is_some_and(|process| process.epoch == epoch);
                    ensure!(asked && is_now, "6.9", "{run} of {key:?} is cancelled, which nobody asked for");
                    if let Some(turn) = self.turn_mut(&key) {
                        turn.cancel = Cancel::Told;
                    }
                }
                Command::Steer { .. } => return Err(Breach::new("model", "no agent here can be steered")),
                Command::End { key, epoch } => self.ended_by(&key, epoch)?,
                Command::Answer { key, epoch, run, ask, choice } => {
                    let told = Told { key, run, ask, choice };
                    let at = self.told.iter().position(|due| *due == told);
                    let is_now = self.processes.get(&told.key).is_some_and(|process| process.epoch == epoch);
                    match at.filter(|_| is_now) {
                        Some(at) => drop(self.told.remove(at)),
                        None => {
                            return Err(Breach::new(
                                "6.10",
                                format!("{told:?} is told, which nobody decided"),
                            ));
                        }
                    }
                }
                Command::Prove { key, epoch } => {
                    let due = self.proofs.remove(&key);
                    ensure!(
                        due == Some(epoch),
                        "6.4",
                        "{epoch:?} of {key:?} is asked to prove that it lives"
                    );
                }
                Command::Tidy(worktree) => {
                    return Err(Breach::new("8", format!("there is no worktree {worktree:?}")));
                }
                Command::Stream { .. } | Command::ReadTranscript { .. } | Command::RunsEnded => {}
            }
        }
        ensure!(self.told.is_empty(), "6.10", "these are not told: {:?}", self.told);
        ensure!(self.proofs.is_empty(), "6.4", "these prove nothing: {:?}", self.proofs);
        self.wish();
        self.nothing_left()
    }

    /// Keys that want a turn: they have a run that has none.
    pub(super) fn wants(&self, key: &Key) -> bool {
        self.doors == Doors::Open
            && self.queues.contains_key(key)
            && self.turn(key).is_none()
            && !self.bars.keep(key)
    }

    /// The run of a key that has a turn, or gets the next one as soon as it can.
    pub(super) fn next_run(&self, key: &Key) -> Option<&RunId> {
        self.queue(key).next().filter(|_| self.turn(key).is_some() || !self.bars.keep(key))
    }

    /// Processes that were idle for long enough, and not wanted then, end.
    pub(super) fn idle_due(&mut self, now: Moment) {
        let due = self.idle().filter(|(key, since)| since.after(IDLE_MS) <= now && !self.wants(key));
        let due: Vec<Key> = due.map(|(key, _)| key.clone()).collect();
        due.iter().for_each(|key| self.doom(key, Doom::Idle));
    }

    fn wish(&mut self) {
        let mut wishes = std::mem::take(&mut self.wishes);
        wishes.retain(|wish| self.wants(&wish.key));
        for key in self.queues.keys().filter(|key| self.wants(key)) {
            if !wishes.iter().any(|wish| wish.key == *key) {
                wishes.push(Wish { key: key.clone(), grants_before: self.grants });
            }
        }
        self.wishes = wishes;
    }

    fn started_by(&mut self, key: &Key, epoch: Epoch) -> Checked {
        ensure!(self.wants(key), "6.1", "a process of {key:?} starts, which wants none");
        ensure!(!self.processes.contains_key(key), "6.1", "{key:?} gets a second process");
        ensure!(self.processes.len() < self.pool, "6.1", "{key:?} gets a process past the pool");
        ensure!(epoch > self.last_epoch, "5.7", "{epoch:?} comes after {:?}", self.last_epoch);
        self.last_epoch = epoch;
        let process = Process {
            epoch,
            phase: Phase::Starting,
            native: None,
            lease: Lease::Cold,
            on_its_word: None,
            lost_session: false,
            doom: None,
        };
        self.processes.insert(key.clone(), process);
        Ok(())
    }

    fn ended_by(&mut self, key: &Key, epoch: Epoch) -> Checked {
        let Some(process) = self.processes.get(key).filter(|process| process.epoch == epoch) else {
            return Err(Breach::new("6.1", format!("{epoch:?} of {key:?} ends, which is not there")));
        };
        let idle_since = match process.phase {
            Phase::Idle { since } => Some(since),
            Phase::Starting => None,
            Phase::Busy(_) | Phase::Ending => {
                return Err(Breach::new("6.4", format!("{key:?} ends, which is {process:?}")));
            }
        };
        if process.doom.is_none() {
            let Some(since) = idle_since else {
                return Err(Breach::new("6.4", format!("{key:?} ends while it starts")));
            };
            ensure!(self.may_evict(key, since), "6.3", "{key:?} ends, idle since {since:?}");
        }
        if let Some(process) = self.processes.get_mut(key) {
            process.phase = Phase::Ending;
        }
        Ok(())
    }

    /// Only for a key that waits and gets no other place; the least recently used first.
    fn may_evict(&self, key: &Key, since: Moment) -> bool {
        let is_needed = self.waiting().len() > self.ending() && self.processes.len() >= self.pool;
        let is_oldest = self.idle().all(|(other, at)| self.wants(other) || at >= since);
        is_needed && (self.is_overdue() || (!self.wants(key) && is_oldest))
    }

    fn idle(&self) -> impl Iterator<Item = (&Key, Moment)> {
        self.processes.iter().filter_map(|(key, process)| match process.phase {
            Phase::Idle { since } => Some((key, since)),
            Phase::Starting | Phase::Busy(_) | Phase::Ending => None,
        })
    }

    fn ending(&self) -> usize {
        self.processes.values().filter(|process| !process.serves()).count()
    }

    /// Keys that want a turn and have no process for it.
    fn waiting(&self) -> BTreeSet<&Key> {
        let has_place = |key: &Key| self.processes.get(key).is_some_and(Process::serves);
        self.queues.keys().filter(|key| self.wants(key) && !has_place(key)).collect()
    }

    /// Whether a key without a place has waited so long that others must give way.
    fn is_overdue(&self) -> bool {
        let waiting = self.waiting();
        let is_late = |wish: &&Wish| self.grants - wish.grants_before >= GRANTS_WAITED_MAX;
        self.wishes.iter().filter(is_late).any(|wish| waiting.contains(&wish.key))
    }

    /// What is due at once has been done.
    fn nothing_left(&self) -> Checked {
        let waiting = self.waiting();
        for (key, process) in &self.processes {
            match (&process.phase, process.doom) {
                (Phase::Busy(turn), Some(Doom::Removed)) => {
                    return Err(Breach::new("6.1", format!("{key:?} is removed and still has {turn:?}")));
                }
                (Phase::Busy(turn), _) => {
                    ensure!(turn.cancel != Cancel::Asked, "6.9", "{key:?} is not told to cancel");
                }
                (Phase::Idle { since }, Some(Doom::Idle)) => {
                    return Err(Breach::new("6.1", format!("{key:?} lives on, idle since {since:?}")));
                }
                (Phase::Starting | Phase::Idle { .. }, Some(why)) => {
                    return Err(Breach::new("6.7", format!("{key:?} lives on, though: {why:?}")));
                }
                (Phase::Idle { .. }, None) => {
                    let wanted = self.wants(key);
                    ensure!(!wanted || self.is_overdue(), "6.2", "{key:?} is idle and has a run that waits");
                    let must_go =
                        !wanted && waiting.len() > self.ending() && self.processes.len() >= self.pool;
                    ensure!(!must_go, "6.3", "{key:?} is idle while {waiting:?} wait for a place");
                }
                (Phase::Starting, None) | (Phase::Ending, _) => {}
            }
        }
        let free = self.pool - self.processes.len();
        let startable = waiting.iter().filter(|key| !self.processes.contains_key(**key));
        ensure!(free == 0 || startable.count() == 0, "6.1", "{waiting:?} wait while {free} places are free");
        Ok(())
    }

    /// When a tick is due: when the first idle process has been so for long enough.
    pub(crate) fn next_timeout(&self) -> Option<Moment> {
        let idle = self.idle().filter(|(key, _)| !self.wants(key));
        idle.map(|(_, since)| since.after(IDLE_MS)).chain(self.next_card()).chain(self.bars.next()).min()
    }
}
