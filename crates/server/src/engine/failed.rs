//! Turns that failed: which are tried again by themselves, and what else comes of them.

use agents::{Fault, Passing};
use delivery::faults::{Rule, broken};
use delivery::model::{Key, RunId};
use delivery::queue;
use delivery::residency::{self, After};
use delivery::turn::Told;
use serde_json::json;
use storage::{Again, Binding, Ending, Run, RunStatus, Store};

use super::agent::change_told;
use super::hold::Wait;
use super::run::{MESSAGE_DELETED, read_told, say, tell_end};
use super::{Engine, LiveTurn, Now, host, saved};
use crate::error::ApiError;

/// Turns of one run at most, while they fail for passing reasons.
pub(crate) const TRIES_MAX: u32 = 3;
/// Milliseconds before the second try and before the third, where the provider names no time: rate limits are mostly
/// counted by the minute.
const WAITS_MS: [u64; 2] = [10_000, 60_000];
/// Milliseconds that a provider is waited for at most: who has to wait longer should know it at once.
pub(super) const WAIT_MAX_MS: u64 = 10 * 60_000;

impl Engine {
    /// Ends a turn that failed, and its run with it, unless that is tried again by itself: when the agent had not yet
    /// done anything and the reason passes, or when its prompt was never written.
    pub(super) fn turn_failed(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &RunId,
        (reason, fault): (&str, Fault),
        now: Now,
    ) -> Result<(), ApiError> {
        self.touched = true;
        let Some(turn) = self.turn_of(key, run) else { return Ok(()) };
        turn.fault = Some(fault);
        let turn = turn.clone();
        let (cancelling, acted) = (turn.cancelling, turn.acted && !broken(Rule::ActedIsNotTriedAgain));
        let run = store.run(run)?;
        let is_gone = store.message(&run.message)?.row.deleted_seq.is_some();
        let mut reason = reason.to_owned();
        match fault {
            _ if broken(Rule::PassingIsTriedAgain) && fault != Fault::Lost => {}
            Fault::Passing { kind, retry_after_ms } if !acted && !cancelling && !is_gone => {
                match wait_ms(run.tries, retry_after_ms) {
                    Ok(wait_ms) => return self.try_again(store, &run, kind, wait_ms, now),
                    Err(why) => reason.push_str(&why),
                }
            }
            Fault::Lost if !self.may_have_begun(&turn) => {
                self.begin_again(store, &run, now)?;
                // What was deleted before it was shown is never shown (4.9).
                return match is_gone {
                    true => self.cancel_queued(store, &run, MESSAGE_DELETED, now),
                    false => Ok(()),
                };
            }
            Fault::Passing { .. } | Fault::Lost | Fault::Invalid | Fault::Other => {}
        }
        if fault == Fault::Lost && self.live.get(key).is_some_and(|live| live.ending.is_none()) {
            saved::crashed(store, key)?;
        }
        let status = if cancelling { RunStatus::Cancelled } else { RunStatus::Failed };
        tell_end(store, &run, status, &reason, now)?;
        let after = match fault {
            Fault::Lost => After::Gone,
            Fault::Passing { .. } | Fault::Invalid | Fault::Other => {
                self.after(key, &store.binding(&key.binding)?)
            }
        };
        let ending = Ending { status, error: Some(reason), told: None };
        self.settle(store, key, &ending, after, now)?;
        match (status, fault) {
            (RunStatus::Failed, Fault::Invalid) => self.replace_if_poisoned(store, key, &run, now),
            (RunStatus::Failed, Fault::Lost) => self.crashed(store, &run, now),
            (_, Fault::Passing { .. } | Fault::Invalid | Fault::Lost | Fault::Other) => Ok(()),
        }
    }

    /// Whether a turn whose process is gone is not begun again: its prompt may have been read, or was lost once before.
    fn may_have_begun(&self, turn: &LiveTurn) -> bool {
        let written = turn.written && !broken(Rule::WrittenFails);
        written || turn.cancelling || self.tried.contains(&turn.run) || broken(Rule::UnwrittenIsTriedAgain)
    }

    /// Has a run wait until it is tried again. The agent may have kept its prompt: the next one is full again.
    fn try_again(
        &mut self,
        store: &mut dyn Store,
        run: &Run,
        kind: Passing,
        wait_ms: u64,
        now: Now,
    ) -> Result<(), ApiError> {
        let why = kind.words().to_owned();
        let text = format!("{why}; tries again in {} ({} of {TRIES_MAX})", seconds(wait_ms), run.tries + 2);
        let at = now.wall.after(wait_ms);
        if !broken(Rule::TriedAgainIsWhole) {
            change_told(store, &run.key, Told::failed)?;
        }
        self.end_steers(store, &run.key, now)?;
        if let Some(turn) = self.turn_of(&run.key, &run.id).cloned() {
            self.account(store, &run.key, &turn, now)?;
        }
        store.wait_run(&run.id, &Again { at, why }, now.wall)?;
        store.add_run_event(&run.id, "notice", &json!({ "text": text }).to_string(), now.wall)?;
        let after = self.after(&run.key, &store.binding(&run.key.binding)?);
        self.return_run(run, after, now);
        self.wait(&run.key, Wait { until: now.mono.after(wait_ms), run: Some(run.id.clone()) });
        Ok(())
    }

    /// Has a run begin again whose prompt was never written, once.
    fn begin_again(&mut self, store: &mut dyn Store, run: &Run, now: Now) -> Result<(), ApiError> {
        self.end_steers(store, &run.key, now)?;
        store.unstage(&run.id, now.wall)?;
        self.tried.insert(run.id.clone());
        self.return_run(run, After::Gone, now);
        Ok(())
    }

    /// Takes a run out of its turn, to the front of its key's queue.
    fn return_run(&mut self, run: &Run, after: After, now: Now) {
        self.touched = true;
        let key = run.key.clone();
        let Some(live) = self.live.get_mut(&key) else { return };
        live.turn = None;
        let epoch = live.epoch;
        self.queue.handle(queue::Event::Returned { key: key.clone(), run: run.id.clone() });
        self.residency.handle(residency::Event::TurnEnded { key, epoch, after }, now.mono);
    }

    /// Replaces a session in which something is so wrong that the provider takes no request of it.
    fn replace_if_poisoned(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &Run,
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(session) = store.session(key)? else { return Ok(()) };
        if !read_told(&session.told).is_poisoned() || broken(Rule::PoisonedIsReplaced) {
            return Ok(());
        }
        let binding: Binding = store.binding(&key.binding)?;
        let text = format!(
            "@{} begins a new session with its next turn: the provider refused the last requests of this one as \
             invalid, so that something in it is to blame. What it remembered is gone",
            binding.spec.handle
        );
        say(store, run, host(), text, now)?;
        store.end_session(key, "the provider refused its requests as invalid", now.wall)?;
        self.residency.handle(residency::Event::Fresh(key.clone()), now.mono);
        Ok(())
    }
}

/// How long a run waits that had so many failed tries before this one; else why it waits no more, to be said.
fn wait_ms(tries: u32, retry_after_ms: Option<u64>) -> Result<u64, String> {
    let tries = if broken(Rule::TriesEnd) { 0 } else { tries };
    let usual = usize::try_from(tries).ok().and_then(|tries| WAITS_MS.get(tries).copied());
    let Some(usual) = usual else { return Err(format!(" (tried {TRIES_MAX} times)")) };
    match retry_after_ms {
        Some(asked) if asked > WAIT_MAX_MS && !broken(Rule::LongWaitsFail) => Err(format!(
            " (the provider asks to wait {}, which is longer than the limit of {})",
            seconds(asked),
            seconds(WAIT_MAX_MS)
        )),
        Some(asked) if !broken(Rule::RetryAfterIsKept) => Ok(asked),
        Some(_) | None => Ok(usual),
    }
}

/// A span in words.
pub(crate) fn seconds(ms: u64) -> String {
    match ms.div_ceil(1_000) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3_600)),
    }
}
