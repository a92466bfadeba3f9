//! The exact text of a turn, from the lease and from what its session was given (section 3).

use std::collections::VecDeque;

use delivery::model::{Epoch, Key, MessageId, RunId, SessionPolicy};
use delivery::turn::Lease;
use delivery::{AuthorKind, Policy};
use storage::{NewBinding, RunStatus};

use super::agent::framing;
use super::deliver::{Turn as Ask, deliver};
use super::session::{How, Memory, Session, Shown, Telling};
use super::{Cancel, Model, Phase, Run, Turn, clean};
use crate::breach::{Breach, Checked, ensure};

/// What a turn must say, and what comes of it.
struct Due {
    text: String,
    telling: Option<Telling>,
    framing: Option<(String, u32)>,
    after: Option<Memory>,
    shown: Vec<(MessageId, u32, How)>,
}

impl Model {
    /// A prompt was sent: it must be the next of its key, to a process that may have it, with exactly the text that its
    /// session must be given now.
    pub(super) fn prompted(&mut self, key: &Key, epoch: Epoch, id: &RunId, text: &str) -> Checked {
        let due = self.queues.get(key).and_then(VecDeque::front).cloned();
        ensure!(due.as_ref() == Some(id), "2.6", "{id} has a turn of {key:?} where {due:?} is due");
        let Some(process) = self.processes.get(key) else {
            return Err(Breach::new("6.4", format!("{id} is sent to {key:?}, which has no process")));
        };
        let is_idle = matches!(process.phase, Phase::Idle { .. });
        ensure!(
            process.epoch == epoch && is_idle && process.doom.is_none(),
            "2.6",
            "{id} is sent to {epoch:?} of {key:?}, which is {process:?}"
        );
        let native = process.native.clone();
        let Some(session) = native.as_ref().and_then(|native| self.sessions.get(native)) else {
            return Err(Breach::new("6.2", format!("{id} is sent to {key:?} without a session")));
        };
        let run = self.known_run(id)?;
        let due = self.due(session, &run, process.lease)?;
        ensure!(text == due.text, "3", "{id} sends\n{text}\n--- where this is due:\n{}", due.text);
        self.begin_turn(key, run, due);
        Ok(())
    }

    fn due(&self, session: &Session, run: &Run, lease: Lease) -> Checked<Due> {
        let spec = self.chat.spec(&run.key)?;
        let own = framing(spec);
        // 3.4: as its system prompt, or in the history that was restored, it has it already.
        let has_it = session.system.is_some()
            || (lease == Lease::Restored && spec.delivery == Policy::Lean && session.told.holds(&own));
        let framing = (lease != Lease::Warm && !has_it).then_some(own);
        let is_direct = self.chat.rooms.get(&run.key.channel).is_some_and(|room| room.direct.is_some());
        let due = if is_direct { self.direct(run, lease)? } else { self.mention(session, run, spec)? };
        let text = match &framing {
            Some(framing) => format!("{framing}\n\n{}", due.text),
            None => due.text,
        };
        let compactions = session.told.compactions();
        Ok(Due { text, framing: framing.map(|framing| (framing, compactions)), ..due })
    }

    fn mention(&self, session: &Session, run: &Run, spec: &NewBinding) -> Checked<Due> {
        let pending = self.pending(&run.key);
        let delivery = deliver(
            &self.chat,
            session,
            &Ask {
                policy: spec.delivery,
                keeps: keeps_session(spec),
                channel: &run.key.channel,
                thread: &run.thread,
                addressed: &run.message,
                pending: &pending,
            },
        );
        let (text, telling) = self.user_turn(session, run, delivery.block.as_deref())?;
        Ok(Due { text, telling: Some(telling), framing: None, after: delivery.after, shown: delivery.shown })
    }

    /// The whole conversation to a new session, the newest message alone to one that knows the rest (3.3). None of these
    /// worlds says 50,000 tokens.
    fn direct(&self, run: &Run, lease: Lease) -> Checked<Due> {
        let newest = self.chat.known(&run.message)?;
        if lease != Lease::Cold && !newest.text.trim().is_empty() {
            let text = clean::text(&newest.text);
            return Ok(Due { text, telling: None, framing: None, after: None, shown: Vec::new() });
        }
        let pending = self.pending(&run.key);
        let (mut said, mut shown) = (Vec::new(), Vec::new());
        let place = self.chat.place(&run.key.channel, run.thread.as_ref());
        let before = place.filter(|line| {
            line.id != newest.id
                && !pending.contains(&line.id)
                && line.deleted.is_none()
                && lease == Lease::Cold
        });
        for line in before {
            let label = match line.kind {
                AuthorKind::User => "User",
                AuthorKind::Agent => "Assistant",
                AuthorKind::System => continue,
            };
            said.push(format!("{label}: {}", clean::body(&line.text)));
            shown.push((line.id.clone(), line.revision, How::Replay));
        }
        said.push(format!("User: {}", clean::body(&newest.text)));
        Ok(Due { text: said.join("\n"), telling: None, framing: None, after: None, shown })
    }

    /// Messages of the runs that wait behind the next of their key.
    fn pending(&self, key: &Key) -> Vec<MessageId> {
        let waiting = self.queue(key).skip(1);
        waiting.filter_map(|id| self.run(id)).map(|run| run.message.clone()).collect()
    }

    fn begin_turn(&mut self, key: &Key, run: Run, due: Due) {
        let lease = self.processes.get(key).map_or(Lease::Cold, |process| process.lease);
        let revision = self.chat.line(&run.message).map_or(1, |line| line.revision);
        let payload = (run.message.clone(), revision, How::Payload);
        let shown: Vec<_> = [payload].into_iter().chain(due.shown).collect();
        if let Some(session) = self.session_mut(key) {
            session.shown.extend(shown.iter().map(|(message, revision, how)| Shown {
                message: message.clone(),
                revision: *revision,
                run: run.id.clone(),
                how: *how,
                committed: false,
            }));
        }
        let turn = Turn {
            run: run.id.clone(),
            written: false,
            lease,
            doubted: false,
            framing: due.framing,
            cancel: Cancel::Not,
            declined: None,
            posts: 0,
            answer_bytes: 0,
            refusals: 0,
            acted: false,
            stopped: false,
            telling: due.telling,
            place: run.thread,
            after: due.after,
            shown,
            fetched: Vec::new(),
        };
        if let Some(process) = self.processes.get_mut(key) {
            process.phase = Phase::Busy(Box::new(turn));
            process.lease = Lease::Warm;
        }
        if let Ok(run) = self.run_mut(&run.id) {
            run.status = RunStatus::Running;
            run.began = true;
            run.again = None;
        }
    }
}

/// 5.3: base keeps a session when supervised and resident, or saved; lean when resident or saved.
pub(super) fn keeps_session(spec: &NewBinding) -> bool {
    match (spec.session, spec.delivery) {
        (SessionPolicy::Fresh, _) | (_, Policy::Window) => false,
        (SessionPolicy::Saved, Policy::Base | Policy::Lean) => true,
        (SessionPolicy::Resident, Policy::Base) => spec.supervised,
        (SessionPolicy::Resident, Policy::Lean) => true,
    }
}
