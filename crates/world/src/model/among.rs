//! Agents among themselves (2.7): whom a message of an agent calls.

use delivery::AuthorKind;
use delivery::model::{Key, MessageId, RunId};
use storage::RunStatus;

use super::{Model, Run, Seen};
use crate::breach::{Breach, Checked};

/// Turns of agents in a row until a person writes.
const TURNS_MAX: usize = 4;

impl Model {
    /// Calls agents by a message that was written in a run; the runs that come of it.
    pub(super) fn call(
        &mut self,
        run: &Run,
        message: &MessageId,
        named: Vec<String>,
        seen: &mut Seen,
    ) -> Checked<Vec<RunId>> {
        let channel = run.key.channel.clone();
        let mut named = self.within_recipients(&channel, message, named, seen)?;
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let room = self.room(run, message)?;
        if named.len() > room {
            let rest = named.split_off(room);
            let rest: Vec<&str> = rest.iter().map(String::as_str).chain(["turns in a row"]).collect();
            self.notice_beside(message, &rest, seen)?;
        }
        let head = self.head(run)?;
        let role = self.chat.people.get(&head).copied();
        let role = role.ok_or_else(|| Breach::new("model", format!("no person {head}")))?;
        let keys: Vec<Key> = named.iter().filter_map(|handle| self.chat.agent(&channel, handle)).collect();
        self.address(message, keys, role, seen)
    }

    /// How many more turns agents may take: in the place since a person wrote there, and along the chain of calls since
    /// a person wrote anywhere in the channel.
    fn room(&self, run: &Run, message: &MessageId) -> Checked<usize> {
        let line = self.chat.known(message)?;
        let there = |at: &MessageId| {
            self.chat.line(at).filter(|at| at.channel == line.channel && at.thread == line.thread)
        };
        let people = self.chat.lines.iter().filter(|at| at.kind == AuthorKind::User);
        let here = people.clone().filter(|at| there(&at.id).is_some()).map(|at| at.seq).max().unwrap_or(0);
        let anywhere = people.filter(|at| at.channel == line.channel).map(|at| at.seq).max().unwrap_or(0);
        let counts = |run: &&Run| {
            let never_began = !run.began && run.status.ended();
            let since = there(&run.message).is_some_and(|at| at.seq >= here);
            run.retry_of.is_none() && since && !(never_began && run.status != RunStatus::Queued)
        };
        let turns = self.runs.iter().filter(counts).count();
        if self.chain(run, anywhere)? >= TURNS_MAX {
            return Ok(0);
        }
        Ok(TURNS_MAX.saturating_sub(turns))
    }

    fn chain(&self, run: &Run, newest_of_people: u64) -> Checked<usize> {
        let mut turns = 1;
        let mut line = self.chat.known(&run.message)?;
        while line.kind == AuthorKind::Agent && line.seq > newest_of_people {
            let Some(caller) = line.run.as_ref().and_then(|id| self.run(id)) else { break };
            turns += 1;
            line = self.chat.known(&caller.message)?;
        }
        Ok(turns)
    }

    /// The person at the head of a chain of calls.
    fn head(&self, run: &Run) -> Checked<String> {
        let mut line = self.chat.known(&run.message)?;
        while line.kind != AuthorKind::User {
            let caller = line.run.as_ref().and_then(|id| self.run(id));
            let caller = caller.ok_or_else(|| Breach::new("model", "a chain without a head"))?;
            line = self.chat.known(&caller.message)?;
        }
        Ok(line.author.clone())
    }
}
