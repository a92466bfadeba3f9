//! Sessions that outlive their process (6.5, 6.6).

use agents::{Begun, Reload, Started};
use delivery::model::{Key, NativeId, SessionPolicy, WhenCold};
use delivery::turn::Lease;
use delivery::{Policy, Timestamp};
use storage::RunStatus;

use super::session::{Session, State};
use super::{Doom, Model, Phase, Run, Seen, number};
use crate::breach::{Breach, Checked, ensure};
use crate::setup::{COLD_MS, COLD_TOKENS};

/// Turns in a row in which the process goes away before the session is taken to be the reason.
const CRASHES_MAX: u32 = 2;

impl Model {
    /// The session of a key that goes on.
    pub(super) fn present(&self, key: &Key) -> Option<&Session> {
        self.sessions.values().find(|session| session.key == *key && session.state != State::Over)
    }

    pub(super) fn present_mut(&mut self, key: &Key) -> Option<&mut Session> {
        self.sessions.values_mut().find(|session| session.key == *key && session.state != State::Over)
    }

    /// What a new process must reload, with its system prompt; a session that it must not reload is over.
    pub(super) fn due_reload(
        &mut self,
        key: &Key,
        now: Timestamp,
    ) -> Checked<Option<(NativeId, Option<String>)>> {
        let Some(session) = self.present(key) else { return Ok(None) };
        let is_large = session.told.use_told().is_some_and(|used| used > COLD_TOKENS);
        let is_cold = session.turn_at.is_some_and(|at| now.ms.saturating_sub(at.ms) > COLD_MS);
        let is_left = is_large && is_cold && self.chat.spec(key)?.when_cold == WhenCold::Fresh;
        let goes_on = self.can_go_on(session)? && !is_left;
        let Some(session) = self.present_mut(key) else { return Ok(None) };
        if !goes_on {
            session.state = State::Over;
            return Ok(None);
        }
        Ok(Some((session.native.clone(), session.system.clone())))
    }

    /// What is told of a session, so that its reload can be proved, is true.
    pub(super) fn check_reload(&self, key: &Key, reload: &Reload) -> Checked {
        let Some(session) = self.present(key) else { return Ok(()) };
        let used = session.told.use_told();
        ensure!(reload.used == used, "6.6", "{} held {used:?}, not {:?}", reload.native, reload.used);
        let Some(end) = &reload.end else { return Ok(()) };
        let newest = session.shown.iter().map(|shown| &shown.run).max_by_key(|run| number(run));
        let is_its_end = |run: &Run| {
            let of_run =
                |line: &&super::chat::Line| line.run.as_ref() == Some(&run.id) && line.native.is_some();
            let said = self.chat.lines.iter().rev().find(of_run);
            run.status == RunStatus::Succeeded
                && end.prompt == format!("\"run_id\":\"{}\"", run.id)
                && said.is_some_and(|line| line.text.ends_with(&end.reply))
        };
        let holds = newest.and_then(|run| self.run(run)).is_some_and(is_its_end);
        ensure!(holds, "6.6", "the history of {} does not end with {end:?}", reload.native);
        Ok(())
    }

    /// Whether a session may be reloaded: it had a turn, nothing bars it, and its policy says so.
    fn can_go_on(&self, session: &Session) -> Checked<bool> {
        let spec = self.chat.spec(&session.key)?;
        let removed = self.chat.bindings.get(&session.key.binding).is_none_or(|bound| bound.removed);
        let reloads = match spec.session {
            SessionPolicy::Saved => true,
            SessionPolicy::Resident => spec.delivery == Policy::Lean,
            SessionPolicy::Fresh => false,
        };
        Ok(reloads && !removed && !session.barred && session.turn_at.is_some())
    }

    /// A process is gone: its session is saved if it can go on, and nobody wanted it to end.
    pub(super) fn let_go(&mut self, key: &Key, doom: Option<Doom>) -> Checked {
        let Some(session) = self.present(key) else { return Ok(()) };
        let asked = matches!(doom, Some(Doom::Fresh | Doom::Removed));
        let state = if self.can_go_on(session)? && !asked { State::Saved } else { State::Over };
        if let Some(session) = self.present_mut(key) {
            session.state = state;
        }
        Ok(())
    }

    /// The process of a key went away by itself in a turn: again and again, and its session is not reloaded.
    pub(super) fn crashed(&mut self, key: &Key) {
        if let Some(session) = self.present_mut(key)
            && session.told.crashed() >= CRASHES_MAX
        {
            session.barred = true;
        }
    }

    /// A fresh session is wanted: the present one does not go on, also over a restart.
    pub(super) fn bar_or_end(&mut self, key: &Key) {
        let lives = self.processes.contains_key(key);
        if let Some(session) = self.present_mut(key) {
            match lives {
                true => session.barred = true,
                false => session.state = State::Over,
            }
        }
    }

    /// A session begins, or a process has it again; what is ending gets no turn.
    pub(super) fn started(&mut self, key: &Key, started: &Started, seen: &Seen) -> Checked {
        let Some(process) = self.processes.get_mut(key) else { return Ok(()) };
        if !matches!(process.phase, Phase::Starting) {
            return Ok(());
        }
        process.phase = Phase::Idle { since: seen.now.mono };
        match started.begun {
            Begun::New => {
                process.lease = Lease::Cold;
                self.begun(key, started, seen)
            }
            Begun::Restored | Begun::Resumed => {
                process.lease = Lease::Restored;
                self.take_up(key, started)
            }
        }
    }

    fn take_up(&mut self, key: &Key, started: &Started) -> Checked {
        let saved = |session: &&mut Session| session.key == *key && session.state == State::Saved;
        let session = self.sessions.values_mut().find(saved);
        let (Some(session), Some(process)) = (session, self.processes.get_mut(key)) else {
            return Err(Breach::new("6.6", format!("{key:?} reloads what is not there")));
        };
        process.native = Some(session.native.clone());
        process.on_its_word = match started.begun {
            Begun::Resumed => session.told.use_told(),
            Begun::New | Begun::Restored => None,
        };
        session.state = State::Live;
        session.epoch = process.epoch;
        if !started.system_prompt {
            session.system = None;
        }
        session.told.reloaded();
        Ok(())
    }

    /// A session is lost, visibly, and its key begins anew (6.6).
    pub(super) fn reload_failed(&mut self, key: &Key, seen: &mut Seen) -> Checked {
        let Some(process) = self.processes.get_mut(key) else { return Ok(()) };
        if !matches!(process.phase, Phase::Starting) {
            return Ok(());
        }
        process.lost_session = true;
        if let Some(session) = self.present_mut(key) {
            session.state = State::Over;
        }
        self.expect_lost(key, seen)
    }

    /// How full a session is that was reloaded on the agent's word: far less than it held is another one.
    pub(super) fn doubt(&mut self, key: &Key, used: u64, seen: &mut Seen) -> Checked {
        let held = self.processes.get(key).and_then(|process| process.on_its_word);
        let (Some(held), Some(turn)) = (held, self.turn_mut(key)) else { return Ok(()) };
        if turn.lease != Lease::Restored || turn.doubted || used == 0 || used >= held / 2 {
            return Ok(());
        }
        turn.doubted = true;
        if let Some(session) = self.present_mut(key) {
            session.barred = true;
        }
        self.expect_lost(key, seen)
    }

    /// The notice that a session is lost stands where the key's run is, or in its channel.
    fn expect_lost(&mut self, key: &Key, seen: &mut Seen) -> Checked {
        let handle = format!("@{}", self.chat.spec(key)?.handle);
        let run = self.next_run(key).and_then(|run| self.run(run)).cloned();
        let thread = run.map(|run| self.live_thread(&run)).transpose()?.flatten();
        let says = [handle.as_str(), "begins anew"];
        self.chat.expect_notice(&mut seen.events, seen.now.wall, (&key.channel, thread.as_ref()), &says)
    }

    /// The stored session of the key of an agent's event is the model's.
    pub(super) fn compare_session(&self, key: &Key, stored: Option<&storage::Session>) -> Checked {
        let due = self.present(key);
        let due = due.map(|at| (&at.native, at.epoch, at.state == State::Saved, at.barred, &at.system));
        let is = stored
            .map(|at| (&at.native, at.epoch, at.saved_at.is_some(), at.unreloadable.is_some(), &at.system));
        ensure!(is == due, "6.5", "the session of {key:?} is {is:?} instead of {due:?}");
        Ok(())
    }
}
