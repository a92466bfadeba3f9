//! Runs: how they begin to wait, and how they end, visibly and once.

use delivery::Timestamp;
use delivery::model::{Key, MessageId, RunId};
use storage::RunStatus;

use super::failed::Doomed;
use super::session::How;
use super::{Cancel, Model, Phase, Run, Seen, Turn};
use crate::breach::Checked;

impl Model {
    pub(super) fn add_run(
        &mut self,
        key: Key,
        message: &MessageId,
        retry_of: Option<&RunId>,
    ) -> Checked<RunId> {
        let id = RunId(format!("r{}", self.runs.len() + 1));
        let thread = self.chat.known(message)?.thread.clone();
        self.queues.entry(key.clone()).or_default().push_back(id.clone());
        self.runs.push(Run {
            id: id.clone(),
            key,
            message: message.clone(),
            thread,
            status: RunStatus::Queued,
            retry_of: retry_of.cloned(),
            began: false,
            lost: false,
            tries: 0,
            again: None,
        });
        Ok(id)
    }

    /// A run ends with a notice where its mention was.
    pub(super) fn end_run(&mut self, id: &RunId, status: RunStatus, seen: &mut Seen) -> Checked {
        self.tell_end(id, status, None, seen)?;
        let key = self.known_run(id)?.key;
        self.close_run(id, status)?;
        self.drop_empty_hold(&key);
        Ok(())
    }

    /// A run has ended: its key is free for the next.
    pub(super) fn close_run(&mut self, id: &RunId, status: RunStatus) -> Checked {
        let run = self.run_mut(id)?;
        run.status = status;
        run.again = None;
        let key = run.key.clone();
        self.end_cards(id, status);
        self.bars.run_ended(&key, id);
        if let Some(queue) = self.queues.get_mut(&key) {
            queue.retain(|waiting| waiting != id);
            if queue.is_empty() {
                self.queues.remove(&key);
            }
        }
        Ok(())
    }

    /// The notice of an end, with the reason that is known here.
    pub(super) fn tell_end(
        &mut self,
        id: &RunId,
        status: RunStatus,
        reason: Option<&str>,
        seen: &mut Seen,
    ) -> Checked {
        self.tell_end_with(id, status, &reason.into_iter().collect::<Vec<_>>(), seen)
    }

    /// The same with several things that it must say.
    pub(super) fn tell_end_with(
        &mut self,
        id: &RunId,
        status: RunStatus,
        reasons: &[&str],
        seen: &mut Seen,
    ) -> Checked {
        let run = self.known_run(id)?;
        let handle = format!("@{}", self.chat.spec(&run.key)?.handle);
        let thread = self.live_thread(&run)?;
        let message = run.message.to_string();
        let mut says = vec![handle.as_str()];
        match status {
            RunStatus::Failed => says.extend(["could not answer", message.as_str()]),
            RunStatus::Cancelled => says.extend([id.as_str(), "was cancelled"]),
            RunStatus::Declined => says.extend(["declined", message.as_str()]),
            RunStatus::Succeeded | RunStatus::Queued | RunStatus::Running => {}
        }
        says.extend(reasons);
        let place = (&run.key.channel, thread.as_ref());
        self.chat.expect_notice(&mut seen.events, seen.now.wall, place, &says)
    }

    /// Where a run speaks: in its thread, unless the root was deleted since.
    pub(super) fn live_thread(&self, run: &Run) -> Checked<Option<MessageId>> {
        let Some(root) = &run.thread else { return Ok(None) };
        let deleted = self.chat.known(root)?.deleted.is_some();
        Ok((!deleted).then(|| root.clone()))
    }

    /// The turn of a key is over: showings and watermark count if it ended well (5.4).
    pub(super) fn settle(&mut self, key: &Key, status: RunStatus, after: Doomed, seen: &mut Seen) -> Checked {
        let Some(process) = self.processes.get_mut(key) else { return Ok(()) };
        let Phase::Busy(turn) = &process.phase else { return Ok(()) };
        let turn = (**turn).clone();
        process.phase = match after {
            Doomed::ByPolicy => Phase::Idle { since: seen.now.mono },
            Doomed::Gone => Phase::Ending,
        };
        if after == Doomed::ByPolicy {
            self.doom_after(key, &turn)?;
        }
        let counts = match status {
            RunStatus::Succeeded | RunStatus::Declined => true,
            RunStatus::Failed | RunStatus::Cancelled | RunStatus::Queued | RunStatus::Running => false,
        };
        self.keep(key, &turn, counts, seen.now.wall)?;
        self.close_run(&turn.run, status)?;
        self.tell_hold(key, &turn, seen)
    }

    fn keep(&mut self, key: &Key, turn: &Turn, counts: bool, wall: Timestamp) -> Checked {
        let keeps_pages = self.keeps_pages(key)?;
        let Some(session) = self.session_mut(key) else { return Ok(()) };
        for shown in session.shown.iter_mut().filter(|shown| shown.run == turn.run) {
            shown.committed = counts;
        }
        session.turn_at = Some(wall);
        if !counts {
            session.told.failed();
            return Ok(());
        }
        if let Some(telling) = &turn.telling {
            session.told.committed(telling, turn.answer_bytes);
        }
        if let Some((framing, compactions)) = &turn.framing {
            session.told.framed(framing, *compactions);
        }
        session.told.answered();
        let given = turn.shown.iter().filter(|(_, _, how)| *how != How::Change);
        session.known.extend(given.map(|(id, ..)| id.clone()));
        if let Some(after) = &turn.after {
            session.places.insert(turn.place.clone(), after.clone());
        }
        // A direct conversation has no watermarks.
        if keeps_pages && turn.telling.is_some() {
            // In the order of the channel, which is that of the ids' numbers within a place.
            let mut pages: Vec<_> = turn.fetched.iter().collect();
            pages.sort_by_key(|(id, ..)| id.as_str()[1..].parse::<u64>().unwrap_or(0));
            for (id, _, places) in pages {
                for place in places {
                    session.places.entry(place.clone()).or_default().fetch(std::slice::from_ref(id));
                }
            }
        }
        session.known.extend(turn.fetched.iter().map(|(id, ..)| id.clone()));
        Ok(())
    }

    pub(super) fn ask_to_cancel(&mut self, key: &Key) {
        if let Some(turn) = self.turn_mut(key)
            && turn.cancel == Cancel::Not
        {
            turn.cancel = Cancel::Asked;
            let run = turn.run.clone();
            self.end_cards(&run, RunStatus::Cancelled);
        }
    }
}
