//! Orderly ends: a stop, and the calm in which everything must come to rest.

use std::collections::BTreeMap;

use delivery::Policy;
use delivery::model::{ChannelId, MessageId, RunId};
use server::engine::{Footprint, Pausing, Request};
use storage::{Read, ReadPermission};

use super::World;
use super::commit::Fate;
use crate::breach::{Checked, ensure};
use crate::dice::Dice;
use crate::model::session::{How, Session};
use crate::setup::IDLE_MS;

/// Rounds in which everything must be at rest: each lets every process do its next thing.
const ROUNDS_MAX: usize = 2_000;

impl World {
    /// The server stops: no new work, turns end or are cancelled, and no process is left (6.8).
    pub(super) fn stop(&mut self, dice: &mut Dice) -> Checked {
        self.tally.count("stops");
        self.ask("stops asked for", Request::Shutdown);
        self.flush(Fate::Committed)?;
        if dice.percent(50) {
            self.post(dice, super::people::Address::Agents);
            self.ask("turns cancelled", Request::CancelTurns);
            self.flush(Fate::Committed)?;
        }
        self.rest(dice)?;
        ensure!(self.agents.is_empty() && self.engine.is_empty(), "6.8", "{:?} outlive a stop", self.agents);
        self.restart()
    }

    /// Lets everybody finish what they do.
    fn rest(&mut self, dice: &mut Dice) -> Checked {
        for _ in 0..ROUNDS_MAX {
            let keys: Vec<_> =
                self.agents.iter().filter(|(_, agent)| agent.is_busy()).map(|(key, _)| key.clone()).collect();
            if keys.is_empty() && self.kept.is_empty() && self.batch.is_empty() {
                return Ok(());
            }
            for key in keys {
                let native = self.native_id(dice);
                let at = self.mono;
                let Some(agent) = self.agents.get_mut(&key) else { continue };
                let inputs = agent.finish(dice, at, native)?;
                self.note(|| format!("{}: {}", key.binding, super::act::brief(&inputs)));
                self.batch.extend(inputs);
            }
            self.bury();
            self.flush(Fate::Committed)?;
        }
        ensure!(false, "6.9", "there is no rest: {:?}", self.agents);
        Ok(())
    }

    /// The end of a world: every mention has its outcome, and after an idle time the engine holds nothing.
    pub(crate) fn calm(&mut self, dice: &mut Dice) -> Checked {
        self.flush(Fate::Committed)?;
        self.rest(dice)?;
        self.let_go_on(dice)?;
        let open: Vec<_> = self.model.runs.iter().filter(|run| !run.status.ended()).collect();
        ensure!(open.is_empty(), "2.5", "at rest, and these have no outcome: {open:?}");
        self.check_outcomes()?;
        self.pass(IDLE_MS)?;
        self.rest(dice)?;
        ensure!(self.agents.is_empty(), "6.1", "{:?} outlive the idle time", self.agents);
        let holds = self.footprint();
        // A key whose processes failed in a row waits for a person, also when no run of it does.
        let due = Footprint { barred: self.model.bars.holds.len(), ..Footprint::default() };
        ensure!(holds == due, "6.1", "at rest the engine holds {holds:?}, not {due:?}");
        self.check_history()?;
        self.check_showings()?;
        self.check_cards()?;
        for session in self.model.sessions.values() {
            let spec = self.model.chat.spec(&session.key)?;
            if spec.delivery == Policy::Lean {
                nothing_twice(session)?;
            }
        }
        self.restart()?;
        self.stop(dice)
    }

    /// Ends pauses, lets go on what is held, and waits for what waits, until no run is left.
    fn let_go_on(&mut self, dice: &mut Dice) -> Checked {
        for channel in self.pauses() {
            let by = crate::setup::PEOPLE[0].0.to_owned();
            self.ask("ends of pauses", Request::Pause { channel, by, pausing: Pausing::Resume });
            self.flush(Fate::Committed)?;
        }
        self.rest(dice)?;
        for _ in 0..ROUNDS_MAX {
            let held: Vec<RunId> = self.held().collect();
            let due = self.model.bars.next().map(|at| at.ms.saturating_sub(self.mono));
            if held.is_empty() && due.is_none() {
                return Ok(());
            }
            for run in held {
                self.ask("resumes", Request::Resume { run });
                self.flush(Fate::Committed)?;
            }
            self.pass(due.unwrap_or(0))?;
            self.rest(dice)?;
        }
        ensure!(false, "6.9", "what waits waits for ever: {:?}", self.model.bars);
        Ok(())
    }

    /// Each run says its outcome in the channel.
    fn check_outcomes(&self) -> Checked {
        let store = self.store()?;
        for run in &self.model.runs {
            let said = store.messages_of_run(&run.id)?;
            ensure!(!said.is_empty(), "2.5", "{} of {} ended without a word", run.id, run.message);
        }
        Ok(())
    }

    /// The channels are, message by message, what the model knows.
    fn check_history(&self) -> Checked {
        let store = self.store()?;
        let mut due: BTreeMap<ChannelId, Vec<(MessageId, String)>> = BTreeMap::new();
        for line in
            self.model.chat.lines.iter().filter(|line| line.thread.is_none() && line.deleted.is_none())
        {
            due.entry(line.channel.clone()).or_default().push((line.id.clone(), line.text.clone()));
        }
        for channel in self.model.chat.rooms.keys() {
            let stands = store.history(channel, None, None, usize::MAX)?;
            let stands: Vec<_> =
                stands.into_iter().map(|message| (message.row.id, message.row.text)).collect();
            let due = due.remove(channel).unwrap_or_default();
            ensure!(stands == due, "5.5", "{channel} has\n{stands:?}\n--- where this is due:\n{due:?}");
        }
        Ok(())
    }

    /// Each card has its one outcome.
    fn check_cards(&self) -> Checked {
        let store = self.store()?;
        for card in &self.model.cards {
            let decision = store.permission(&card.id)?.decision.map(|decision| decision.outcome);
            ensure!(
                decision.is_some() && decision == card.outcome,
                "6.10",
                "{} ended as {decision:?} instead of {:?}",
                card.id,
                card.outcome
            );
        }
        Ok(())
    }

    /// What was shown to each session, and whether it counts (5.6).
    fn check_showings(&self) -> Checked {
        let store = self.store()?;
        for session in self.model.sessions.values() {
            let stored = store.showings(&session.native)?;
            let mut is: Vec<_> = stored
                .into_iter()
                .map(|shown| (shown.run, shown.message, shown.revision, shown.committed))
                .collect();
            let mut due: Vec<_> = session
                .shown
                .iter()
                .map(|shown| (shown.run.clone(), shown.message.clone(), shown.revision, shown.committed))
                .collect();
            is.sort();
            due.sort();
            ensure!(
                is == due,
                "5.6",
                "{} was shown\n{is:?}\n--- where this is due:\n{due:?}",
                session.native
            );
        }
        Ok(())
    }
}

/// I4: in committed showings no message is new to a session twice. A page is what it asked for, and a mention that is
/// tried again by hand comes as a payload again.
fn nothing_twice(session: &Session) -> Checked {
    let committed = session.shown.iter().filter(|shown| shown.committed);
    let mut seen: BTreeMap<&MessageId, How> = BTreeMap::new();
    for shown in committed {
        let before = seen.get(&shown.message);
        match shown.how {
            How::Line | How::Replay => {
                ensure!(before.is_none(), "4.4", "{} is told {shown:?} after {before:?}", session.native);
                seen.insert(&shown.message, shown.how);
            }
            How::Payload | How::Fetched => {
                seen.entry(&shown.message).or_insert(shown.how);
            }
            How::Change => {
                ensure!(before.is_some(), "4.9", "{} is told a change of nothing: {shown:?}", session.native);
            }
        }
    }
    Ok(())
}
