//! What keeps a key from beginning runs: a person's stop, a process that fails again and again, a time that has not come.

use delivery::Moment;
use delivery::faults::{Rule, broken};
use delivery::model::{Key, RunId};
use delivery::queue::{self, Bar};
use storage::{Hold, HoldReason, Run, RunStatus, Store};

use super::failed::WAIT_MAX_MS;
use super::run::say;
use super::{Engine, LiveTurn, Now, Reply, host};
use crate::error::ApiError;

/// Processes of a key that may fail in a row before a person has to let it go on.
pub(crate) const CRASHES_MAX: u32 = 3;
/// Milliseconds before the next process starts, after the first and after the second that failed.
const BACKOFF_MS: [u64; 2] = [1_000, 5_000];
/// Milliseconds after which a process that failed is forgotten.
const CRASHES_KEPT_MS: u64 = 10 * 60_000;

/// A key whose time has not come.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    /// When it has.
    pub(super) until: Moment,
    /// The run that is tried again then; `None`: a process failed.
    pub(super) run: Option<RunId>,
}

/// Processes of a key that failed in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crashes {
    count: u32,
    last: Moment,
}

impl Engine {
    /// Takes up what the last server left: who is held, and until when runs wait.
    pub(super) fn pick_up_waits(&mut self, store: &mut dyn Store, now: Now) -> Result<(), ApiError> {
        for run in store.open_runs()? {
            let waits = run.status == RunStatus::Queued && !broken(Rule::WaitsOutliveServers);
            let Some(again) = run.again.filter(|_| waits) else { continue };
            // However the clock was set meanwhile, it is no longer than any wait may be.
            let left = u64::try_from(again.at.ms.saturating_sub(now.wall.ms)).unwrap_or(0).min(WAIT_MAX_MS);
            self.wait(&run.key, Wait { until: now.mono.after(left), run: Some(run.id) });
        }
        for (key, _) in store.holds()? {
            if !broken(Rule::HoldsOutliveServers) {
                self.queue.handle(queue::Event::Barred { key: key.clone(), bar: Bar::Held });
            }
            self.drop_empty_hold(store, &key, now)?;
        }
        Ok(())
    }

    /// Does what is due.
    pub(super) fn handle_waits(&mut self, now: Now) {
        let due: Vec<Key> = self
            .waits
            .iter()
            .filter(|(_, wait)| wait.until <= now.mono)
            .map(|(key, _)| key.clone())
            .collect();
        due.iter().for_each(|key| self.waited(key));
        self.crashes.retain(|_, crashes| now.mono.ms.saturating_sub(crashes.last.ms) < CRASHES_KEPT_MS);
    }

    /// When something is due.
    pub(super) fn next_wait(&self) -> Option<Moment> {
        self.waits.values().map(|wait| wait.until).min()
    }

    /// Has a key begin nothing until its time has come.
    pub(super) fn wait(&mut self, key: &Key, wait: Wait) {
        self.touched = true;
        self.waits.insert(key.clone(), wait);
        self.queue.handle(queue::Event::Barred { key: key.clone(), bar: Bar::Waits });
    }

    /// A key's time has come.
    fn waited(&mut self, key: &Key) {
        self.waits.remove(key);
        self.queue.handle(queue::Event::Unbarred { key: key.clone(), bar: Bar::Waits });
    }

    /// A run has ended: nothing waits to try it again.
    pub(super) fn forget_wait(&mut self, key: &Key, run: &RunId) {
        if self.waits.get(key).is_some_and(|wait| wait.run.as_ref() == Some(run)) {
            self.waited(key);
        }
    }

    /// A person stops a run that has a turn: what waits behind it does not begin by that.
    pub(super) fn hold_stopped(
        &mut self,
        store: &mut dyn Store,
        run: &Run,
        now: Now,
    ) -> Result<(), ApiError> {
        if broken(Rule::StopHolds) {
            return Ok(());
        }
        if self.queue.waiting(&run.key).is_empty() {
            if let Some(turn) = self.turn_of(&run.key, &run.id) {
                turn.stopped = true;
            }
            return Ok(());
        }
        match store.hold(&run.key.binding)? {
            Some(_) => Ok(()),
            None => self.hold(store, &run.key, HoldReason::Stopped, &run.id, now),
        }
    }

    fn hold(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        why: HoldReason,
        run: &RunId,
        now: Now,
    ) -> Result<(), ApiError> {
        self.touched = true;
        store.set_hold(key, Some(&Hold { why, run: run.clone(), since: now.wall }), now.wall)?;
        self.queue.handle(queue::Event::Barred { key: key.clone(), bar: Bar::Held });
        Ok(())
    }

    /// A turn has ended: if a person stopped it, says what waits by that; if nothing does, nothing is held.
    pub(super) fn tell_hold(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        turn: &LiveTurn,
        now: Now,
    ) -> Result<(), ApiError> {
        let (run, waiting) = (&turn.run, self.queue.waiting(key));
        if turn.stopped && !waiting.is_empty() && store.hold(&key.binding)?.is_none() {
            self.hold(store, key, HoldReason::Stopped, run, now)?;
        }
        let hold = store.hold(&key.binding)?;
        if hold.is_none_or(|hold| hold.why != HoldReason::Stopped || hold.run != *run) {
            return Ok(());
        }
        let Some(first) = waiting.first() else { return self.drop_empty_hold(store, key, now) };
        let text = format!(
            "@{} begins nothing more since {run} was stopped; held: {}. They go on with: highwater run resume {first}, or \
             when somebody mentions it again",
            store.binding(&key.binding)?.spec.handle,
            names(&waiting)
        );
        let run = store.run(run)?;
        if broken(Rule::HeldIsSaid) {
            return Ok(());
        }
        say(store, &run, host(), text, now).map(|_| ())
    }

    /// A stop holds what waits: when nothing does any more, it is over.
    pub(super) fn drop_empty_hold(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        now: Now,
    ) -> Result<(), ApiError> {
        if self.queue.current(key).is_some() || !self.queue.waiting(key).is_empty() {
            return Ok(());
        }
        match store.hold(&key.binding)?.map(|hold| hold.why) {
            Some(HoldReason::Stopped) => self.end_hold(store, key, now),
            Some(HoldReason::Crashed) | None => Ok(()),
        }
    }

    fn end_hold(&mut self, store: &mut dyn Store, key: &Key, now: Now) -> Result<(), ApiError> {
        self.touched = true;
        store.set_hold(key, None, now.wall)?;
        self.queue.handle(queue::Event::Unbarred { key: key.clone(), bar: Bar::Held });
        Ok(())
    }

    /// A person wants this key's agent to work: whatever was held goes on, and its process may fail anew. A provider's
    /// time to wait is not theirs to shorten.
    pub(super) fn let_go(&mut self, store: &mut dyn Store, key: &Key, now: Now) -> Result<(), ApiError> {
        if store.hold(&key.binding)?.is_some() && !broken(Rule::PersonLetsGo) {
            self.end_hold(store, key, now)?;
        }
        if self.crashes.remove(key).is_some() {
            self.touched = true;
        }
        if let Some(turn) =
            self.live.get_mut(key).and_then(|live| live.turn.as_mut()).filter(|turn| turn.stopped)
        {
            self.touched = true;
            turn.stopped = false;
        }
        if self.waits.get(key).is_some_and(|wait| wait.run.is_none()) {
            self.touched = true;
            self.waited(key);
        }
        Ok(())
    }

    /// Forgets all that keeps a key whose binding is removed.
    pub(super) fn drop_bars(&mut self, store: &mut dyn Store, key: &Key, now: Now) -> Result<(), ApiError> {
        self.let_go(store, key, now)?;
        self.waited(key);
        Ok(())
    }

    /// Lets the runs go on that are held.
    pub(super) fn resume(&mut self, store: &mut dyn Store, id: &RunId, now: Now) -> Result<Reply, ApiError> {
        let run = store.run(id)?;
        let held = store.hold(&run.key.binding)?.is_some();
        if run.status != RunStatus::Queued || !held {
            return Err(ApiError::conflict(format!("run {id} is not held, so there is nothing to resume")));
        }
        self.let_go(store, &run.key, now)?;
        Ok(Reply::Run(Box::new(store.run(id)?)))
    }

    /// A process failed in a turn of this run, or did not start for it: the next start waits a while, and when it fails
    /// again and again, for a person.
    pub(super) fn crashed(&mut self, store: &mut dyn Store, run: &Run, now: Now) -> Result<(), ApiError> {
        self.touched = true;
        let key = &run.key;
        let new = Crashes { count: 0, last: now.mono };
        let crashes = self.crashes.entry(key.clone()).or_insert(new);
        *crashes = Crashes { count: crashes.count + 1, last: now.mono };
        let count = crashes.count;
        if broken(Rule::FailedProcessesWait) {
            return Ok(());
        }
        let failed = if broken(Rule::CrashLoopsEnd) { 1 } else { count };
        if let Some(ms) = BACKOFF_MS.get(usize::try_from(failed).unwrap_or(usize::MAX).saturating_sub(1)) {
            self.wait(key, Wait { until: now.mono.after(*ms), run: None });
            return Ok(());
        }
        self.hold(store, key, HoldReason::Crashed, &run.id, now)?;
        let waiting = self.queue.waiting(key);
        let waits = match waiting.first() {
            Some(first) => {
                format!("; held: {} (highwater run resume {first} lets them go on, too)", names(&waiting))
            }
            None => String::new(),
        };
        let text = format!(
            "@{}'s process failed {count} times in a row. It needs a person: it begins nothing until somebody mentions it \
             again{waits}",
            store.binding(&key.binding)?.spec.handle,
        );
        say(store, run, host(), text, now).map(|_| ())
    }
}

fn names(runs: &[RunId]) -> String {
    runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ")
}
