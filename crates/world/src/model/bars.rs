//! What keeps a key from beginning runs (2.6, 6.9): a person's stop, processes that fail in a row, a time that has not
//! come, a pause.

use std::collections::{BTreeMap, BTreeSet};

use delivery::Moment;
use delivery::model::{ChannelId, Key, RunId};
use server::engine::{Now, Pausing, Reply};
use storage::{HoldReason, RunStatus};

use super::{Doors, Model, Run, Seen, Turn, expect_done, expect_refusal};
use crate::breach::{Breach, Checked};

/// Processes of a key that may fail in a row, and the milliseconds before the next one starts.
const BACKOFF_MS: [u64; 2] = [1_000, 5_000];
/// Milliseconds after which a failed process is forgotten.
const FORGOTTEN_MS: u64 = 10 * 60_000;
/// Milliseconds that a provider is waited for at most.
pub(super) const WAIT_MAX_MS: u64 = 10 * 60_000;

/// All that keeps keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bars {
    /// Why, and by which run. They outlive the server.
    pub(crate) holds: BTreeMap<Key, (HoldReason, RunId)>,
    /// Until when, and the run that is tried again then; without one, a process failed.
    pub(super) waits: BTreeMap<Key, (Moment, Option<RunId>)>,
    /// How many processes failed in a row, the last of them when.
    pub(super) crashes: BTreeMap<Key, (usize, Moment)>,
    pub(crate) all_paused: bool,
    pub(crate) paused: BTreeSet<ChannelId>,
}

impl Bars {
    /// Whether a key begins nothing.
    pub(super) fn keep(&self, key: &Key) -> bool {
        self.holds.contains_key(key)
            || self.waits.contains_key(key)
            || self.all_paused
            || self.paused.contains(&key.channel)
    }

    /// What time does to them.
    pub(super) fn due(&mut self, now: Moment) {
        self.waits.retain(|_, (until, _)| *until > now);
        self.crashes.retain(|_, (_, last)| now.ms - last.ms < FORGOTTEN_MS);
    }

    /// When a wait is over.
    pub(crate) fn next(&self) -> Option<Moment> {
        self.waits.values().map(|(until, _)| *until).min()
    }

    /// A person wants the agent to work. Only a provider's time to wait stays.
    pub(super) fn let_go(&mut self, key: &Key) {
        self.holds.remove(key);
        self.crashes.remove(key);
        if self.waits.get(key).is_some_and(|(_, run)| run.is_none()) {
            self.waits.remove(key);
        }
    }

    /// A run has ended: nothing waits to try it again.
    pub(super) fn run_ended(&mut self, key: &Key, id: &RunId) {
        if self.waits.get(key).is_some_and(|(_, run)| run.as_ref() == Some(id)) {
            self.waits.remove(key);
        }
    }
}

impl Model {
    /// Whether a new server holds what the last one held; its own waits are those of runs alone.
    pub(super) fn bars_restarted(&mut self, now: Now) {
        self.bars.crashes.clear();
        self.bars.waits.clear();
        for run in self.runs.iter().filter(|run| run.status == RunStatus::Queued) {
            let Some(again) = run.again else { continue };
            let left = u64::try_from(again.ms.saturating_sub(now.wall.ms)).unwrap_or(0).min(WAIT_MAX_MS);
            self.bars.waits.insert(run.key.clone(), (now.mono.after(left), Some(run.id.clone())));
        }
        let held: Vec<Key> = self.bars.holds.keys().cloned().collect();
        held.iter().for_each(|key| self.drop_empty_hold(key));
    }

    pub(super) fn let_work(&mut self, key: &Key) {
        self.bars.let_go(key);
        if let Some(turn) = self.turn_mut(key) {
            turn.stopped = false;
        }
    }

    /// A person stops a turn: what waits behind it, or comes by itself until it ends, is held.
    pub(super) fn hold_stopped(&mut self, run: &Run) {
        let waits = self.queue(&run.key).nth(1).is_some();
        if waits {
            let hold = (HoldReason::Stopped, run.id.clone());
            self.bars.holds.entry(run.key.clone()).or_insert(hold);
        } else if let Some(turn) = self.turn_mut(&run.key) {
            turn.stopped = true;
        }
    }

    /// A turn that a person stopped has ended: it is said what waits by that, if anything does.
    pub(super) fn tell_hold(&mut self, key: &Key, turn: &Turn, seen: &mut Seen) -> Checked {
        let waiting: Vec<RunId> = self.queue(key).cloned().collect();
        if turn.stopped && !waiting.is_empty() {
            self.bars.holds.entry(key.clone()).or_insert((HoldReason::Stopped, turn.run.clone()));
        }
        if self.bars.holds.get(key) != Some(&(HoldReason::Stopped, turn.run.clone())) {
            return Ok(());
        }
        if waiting.is_empty() {
            self.drop_empty_hold(key);
            return Ok(());
        }
        let says = ["begins nothing more since", turn.run.as_str()];
        let says: Vec<&str> = says.into_iter().chain(waiting.iter().map(RunId::as_str)).collect();
        self.say_of(&turn.run, &says, seen)
    }

    /// A stop that holds nothing any more is over.
    pub(super) fn drop_empty_hold(&mut self, key: &Key) {
        let is_stop = matches!(self.bars.holds.get(key), Some((HoldReason::Stopped, _)));
        if is_stop && !self.queues.contains_key(key) {
            self.bars.holds.remove(key);
        }
    }

    /// A process failed in a turn of this run, or did not start for it.
    pub(super) fn process_failed(&mut self, key: &Key, run: &RunId, seen: &mut Seen) -> Checked {
        let now = seen.now.mono;
        let before = self.bars.crashes.get(key).map_or(0, |(count, _)| *count);
        self.bars.crashes.insert(key.clone(), (before + 1, now));
        if let Some(ms) = BACKOFF_MS.get(before) {
            self.bars.waits.insert(key.clone(), (now.after(*ms), None));
            return Ok(());
        }
        self.bars.holds.insert(key.clone(), (HoldReason::Crashed, run.clone()));
        let waiting: Vec<RunId> = self.queue(key).cloned().collect();
        let count = format!("failed {} times in a row", before + 1);
        let says: Vec<&str> =
            [count.as_str(), "needs a person"].into_iter().chain(waiting.iter().map(RunId::as_str)).collect();
        self.say_of(run, &says, seen)
    }

    /// Lets the runs go on that are held.
    pub(super) fn resume(&mut self, id: &RunId, seen: &Seen) -> Checked {
        let run = self.known_run(id)?;
        let is_held = run.status == RunStatus::Queued && self.bars.holds.contains_key(&run.key);
        if self.doors == Doors::Closed || !is_held {
            return expect_refusal(seen, "a resume of what is not held");
        }
        expect_done(seen, "a resume")?;
        self.let_work(&run.key);
        Ok(())
    }

    /// Agents begin nothing, or may again; each channel concerned is told once.
    pub(super) fn pause(
        &mut self,
        channel: Option<&str>,
        by: &str,
        pausing: Pausing,
        seen: &mut Seen,
    ) -> Checked {
        let room = channel.and_then(|name| self.chat.room_named(name)).cloned();
        let pauses = pausing == Pausing::Pause;
        let (changes, told) = match &room {
            Some(room) => {
                let changes = self.bars.paused.contains(room) != pauses;
                match pauses {
                    true => drop(self.bars.paused.insert(room.clone())),
                    false => drop(self.bars.paused.remove(room)),
                }
                (changes, vec![room.clone()])
            }
            None => {
                let changes = self.bars.all_paused != pauses;
                self.bars.all_paused = pauses;
                let rooms = self.chat.rooms.keys();
                (changes, rooms.filter(|room| self.chat.agents(room).next().is_some()).cloned().collect())
            }
        };
        match (&seen.reply, &room) {
            (Ok(Reply::Channel(is)), Some(room)) if is.id == *room => {}
            (Ok(Reply::Done), None) => {}
            (other, _) => return Err(Breach::new("6.9", format!("a pause is answered by {other:?}"))),
        }
        for room in told.iter().filter(|_| changes) {
            let says = [by, if pauses { "paused" } else { "go on" }];
            self.chat.expect_notice(&mut seen.events, seen.now.wall, (room, None), &says)?;
        }
        Ok(())
    }

    /// A notice about a run, where its mention was.
    pub(super) fn say_of(&mut self, id: &RunId, says: &[&str], seen: &mut Seen) -> Checked {
        let run = self.known_run(id)?;
        let handle = format!("@{}", self.chat.spec(&run.key)?.handle);
        let thread = self.live_thread(&run)?;
        let says: Vec<&str> = [handle.as_str()].into_iter().chain(says.iter().copied()).collect();
        self.chat.expect_notice(&mut seen.events, seen.now.wall, (&run.key.channel, thread.as_ref()), &says)
    }
}
