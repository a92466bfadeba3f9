//! What people ask for, and what must come of it.

use std::collections::BTreeSet;

use delivery::AuthorKind;
use delivery::model::{ChannelId, Key, MessageId, RunId};
use server::engine::{LimitsChange, Post, Reply};
use storage::{AddressedBy, NewBinding, Role, RunStatus};

use super::chat::Wanted;
use super::{Doom, Doors, Model, Phase, Seen, expect_done, expect_refusal};
use crate::breach::{Breach, Checked, ensure};

impl Model {
    pub(super) fn post(&mut self, post: &Post, seen: &mut Seen) -> Checked {
        let Some(channel) = self.chat.room_named(&post.channel).cloned() else {
            return Err(Breach::new("model", "a post into no channel"));
        };
        if self.doors == Doors::Closed {
            return expect_refusal(seen, "a post to a server that stops");
        }
        let client = post.client_id.clone().map(|id| (post.author.clone(), id));
        if let Some((before, text)) = client.as_ref().and_then(|client| self.chat.posted.get(client)).cloned()
        {
            return self.posted_again(post, &channel, (&before, &text), seen);
        }
        if post.thread.as_ref().is_some_and(|root| !self.chat.takes_replies(&channel, root)) {
            return expect_refusal(seen, "a reply to what takes none");
        }
        expect_done(seen, "a post")?;
        let want = Wanted {
            channel: &channel,
            thread: post.thread.as_ref(),
            kind: AuthorKind::User,
            author: &post.author,
            native: None,
            run: None,
            text: &post.text,
        };
        let message = self.chat.expect(&mut seen.events, seen.now.wall, &want)?;
        if let Some(client) = client {
            self.chat.posted.insert(client, (message.clone(), post.text.clone()));
        }
        let role = self.role(&post.author)?;
        let named = match self.chat.rooms.get(&channel).and_then(|room| room.direct.clone()) {
            Some(handle) => vec![handle],
            None => self.within_recipients(&channel, &message, mentioned(&post.text), seen)?,
        };
        let keys: Vec<Key> = named.iter().filter_map(|handle| self.chat.agent(&channel, handle)).collect();
        let made = self.address(&message, keys, role, seen)?;
        let wanted: Vec<Key> =
            made.iter().filter_map(|run| self.run(run)).map(|run| run.key.clone()).collect();
        wanted.iter().for_each(|key| self.let_work(key));
        let told = match &seen.reply {
            Ok(Reply::Posted { message, runs }) => {
                (message.row.id.clone(), runs.iter().map(|run| run.id.clone()).collect())
            }
            other => return Err(Breach::new("2.1", format!("a post is answered by {other:?}"))),
        };
        ensure!(told == (message, made), "2.1", "a post is answered by {told:?}");
        Ok(())
    }

    /// The same author and id again is the same message, or refused.
    fn posted_again(
        &self,
        post: &Post,
        channel: &ChannelId,
        (before, text): (&MessageId, &str),
        seen: &Seen,
    ) -> Checked {
        let line = self.chat.known(before)?;
        let is_same_place = line.channel == *channel && line.thread == post.thread;
        let is_untouched = line.revision == 1 && line.deleted.is_none();
        if !is_same_place || (is_untouched && text != post.text) {
            return expect_refusal(seen, "another message under a client id");
        }
        match &seen.reply {
            Ok(Reply::Posted { message, .. }) if message.row.id == *before => Ok(()),
            other => Err(Breach::new("2.1", format!("posted again, {before} is answered by {other:?}"))),
        }
    }

    fn role(&self, person: &str) -> Checked<Role> {
        self.chat
            .people
            .get(person)
            .copied()
            .ok_or_else(|| Breach::new("model", format!("no person {person}")))
    }

    /// The first so many of the named agents of the channel; a notice names the rest.
    pub(super) fn within_recipients(
        &mut self,
        channel: &ChannelId,
        message: &MessageId,
        named: Vec<String>,
        seen: &mut Seen,
    ) -> Checked<Vec<String>> {
        let mut named: Vec<String> =
            named.into_iter().filter(|handle| self.chat.agent(channel, handle).is_some()).collect();
        if named.len() > self.recipients_max {
            let rest = named.split_off(self.recipients_max);
            let rest: Vec<&str> = rest.iter().map(String::as_str).chain(["not asked"]).collect();
            self.notice_beside(message, &rest, seen)?;
        }
        Ok(named)
    }

    pub(super) fn notice_beside(&mut self, message: &MessageId, says: &[&str], seen: &mut Seen) -> Checked {
        let line = self.chat.known(message)?.clone();
        self.chat.expect_notice(&mut seen.events, seen.now.wall, (&line.channel, line.thread.as_ref()), says)
    }

    /// Makes the runs of a message; who may not address an agent gets a notice (2.9).
    pub(super) fn address(
        &mut self,
        message: &MessageId,
        keys: Vec<Key>,
        role: Role,
        seen: &mut Seen,
    ) -> Checked<Vec<RunId>> {
        let mut allowed = Vec::new();
        for key in keys {
            let spec = self.chat.spec(&key)?;
            let may = match spec.addressed_by {
                AddressedBy::Everyone => true,
                AddressedBy::Members => role != Role::Guest,
                AddressedBy::Owners => role == Role::Owner,
            };
            let handle = spec.handle.clone();
            if may {
                allowed.push(key);
            } else {
                self.notice_beside(message, &[&format!("@{handle}"), "was not asked"], seen)?;
            }
        }
        allowed.into_iter().map(|key| self.add_run(key, message, None)).collect()
    }

    pub(super) fn edit(&mut self, id: &MessageId, text: &str, seen: &mut Seen) -> Checked {
        let line = self.chat.known(id)?;
        let may = self.doors == Doors::Open && line.kind != AuthorKind::System && line.deleted.is_none();
        if !may {
            return expect_refusal(seen, "an edit");
        }
        expect_done(seen, "an edit")?;
        self.chat.expect_change(&mut seen.events, seen.now.wall, id, Some(text))
    }

    /// Runs of it that wait are cancelled: what was deleted before it was shown is never shown (4.9).
    pub(super) fn delete(&mut self, id: &MessageId, seen: &mut Seen) -> Checked {
        let line = self.chat.known(id)?;
        if self.doors == Doors::Closed || line.kind == AuthorKind::System {
            return expect_refusal(seen, "a deletion");
        }
        expect_done(seen, "a deletion")?;
        if line.deleted.is_none() {
            self.chat.expect_change(&mut seen.events, seen.now.wall, id, None)?;
        }
        let waiting: Vec<RunId> = self
            .runs
            .iter()
            .filter(|run| run.message == *id && run.status == RunStatus::Queued)
            .map(|run| run.id.clone())
            .collect();
        for run in waiting {
            self.end_run(&run, RunStatus::Cancelled, seen)?;
        }
        Ok(())
    }

    pub(super) fn cancel(&mut self, id: &RunId, seen: &mut Seen) -> Checked {
        let run = self.known_run(id)?;
        match run.status {
            RunStatus::Queued => {
                expect_done(seen, "a cancel")?;
                self.end_run(id, RunStatus::Cancelled, seen)
            }
            RunStatus::Running => {
                expect_done(seen, "a cancel")?;
                self.ask_to_cancel(&run.key);
                self.hold_stopped(&run);
                Ok(())
            }
            RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled | RunStatus::Declined => {
                expect_refusal(seen, "the cancel of a run that has ended")
            }
        }
    }

    pub(super) fn retry(&mut self, id: &RunId, seen: &mut Seen) -> Checked {
        let run = self.known_run(id)?;
        let ended_badly = match run.status {
            RunStatus::Failed | RunStatus::Cancelled => true,
            RunStatus::Queued | RunStatus::Running | RunStatus::Succeeded | RunStatus::Declined => false,
        };
        let is_member = self.chat.bindings.get(&run.key.binding).is_some_and(|bound| !bound.removed);
        let stands = self.chat.known(&run.message)?.deleted.is_none();
        if self.doors == Doors::Closed || !ended_badly || !is_member || !stands {
            return expect_refusal(seen, "a retry");
        }
        expect_done(seen, "a retry")?;
        let key = run.key.clone();
        self.add_run(run.key, &run.message, Some(id))?;
        self.let_work(&key);
        Ok(())
    }

    pub(super) fn fresh(&mut self, channel: &str, handle: &str, seen: &Seen) -> Checked {
        let key = self.chat.room_named(channel).and_then(|channel| self.chat.agent(channel, handle));
        let Some(key) = key.filter(|_| self.doors == Doors::Open) else {
            return expect_refusal(seen, "a fresh start");
        };
        expect_done(seen, "a fresh start")?;
        self.bar_or_end(&key);
        self.doom(&key, Doom::Fresh);
        Ok(())
    }

    pub(super) fn change_limits(
        &mut self,
        channel: &str,
        handle: &str,
        change: LimitsChange,
        seen: &Seen,
    ) -> Checked {
        let key = self.chat.room_named(channel).and_then(|channel| self.chat.agent(channel, handle));
        let Some(key) = key.filter(|_| self.doors == Doors::Open) else {
            return expect_refusal(seen, "a change of limits");
        };
        expect_done(seen, "a change of limits")?;
        if let Some(bound) = self.chat.bindings.get_mut(&key.binding) {
            let limits = &mut bound.spec.limits;
            limits.inactivity_ms = change.inactivity_ms.unwrap_or(limits.inactivity_ms);
            limits.turn_ms = change.turn_ms.unwrap_or(limits.turn_ms);
        }
        Ok(())
    }

    pub(super) fn add_agent(&mut self, channel: &str, new: &NewBinding, seen: &Seen) -> Checked {
        let channel = self.chat.room_named(channel).cloned();
        let Some(channel) = channel.filter(|_| self.doors == Doors::Open) else {
            return expect_refusal(seen, "a new agent");
        };
        if self.chat.agent(&channel, &new.handle).is_some() {
            return expect_refusal(seen, "an agent that is there");
        }
        match &seen.reply {
            Ok(Reply::Binding(binding)) => {
                let is_new = !self.chat.bindings.contains_key(&binding.id);
                ensure!(is_new && binding.spec.handle == new.handle, "6.1", "{:?} is not new", binding.id);
                self.chat.add_binding(binding);
                Ok(())
            }
            other => Err(Breach::new("2", format!("adding an agent is answered by {other:?}"))),
        }
    }

    pub(super) fn remove_agent(&mut self, channel: &str, handle: &str, seen: &mut Seen) -> Checked {
        let key = self.chat.room_named(channel).and_then(|channel| self.chat.agent(channel, handle));
        let Some(key) = key.filter(|_| self.doors == Doors::Open) else {
            return expect_refusal(seen, "a removal");
        };
        expect_done(seen, "a removal")?;
        let runs: Vec<RunId> = self.queue(&key).cloned().collect();
        for run in runs {
            self.end_run(&run, RunStatus::Cancelled, seen)?;
        }
        self.let_work(&key);
        self.bars.waits.remove(&key);
        if let Some(bound) = self.chat.bindings.get_mut(&key.binding) {
            bound.removed = true;
        }
        if let Some(process) = self.processes.get_mut(&key)
            && matches!(process.phase, Phase::Busy(_))
        {
            process.phase = Phase::Idle { since: seen.now.mono };
        }
        if !self.processes.contains_key(&key) {
            self.let_go(&key, Some(Doom::Removed))?;
        }
        self.doom(&key, Doom::Removed);
        Ok(())
    }

    pub(super) fn stop(&mut self) {
        self.doors = Doors::Closed;
        let keys: Vec<Key> = self.processes.keys().cloned().collect();
        keys.iter().for_each(|key| self.doom(key, Doom::Stop));
    }

    /// The process of a key must end as soon as it has no turn.
    pub(super) fn doom(&mut self, key: &Key, why: Doom) {
        if let Some(process) = self.processes.get_mut(key) {
            process.doom = process.doom.max(Some(why));
        }
    }
}

/// The handles that a text mentions, each once, in order. The world writes a mention as a word of its own.
pub(super) fn mentioned(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let words = text.split_whitespace().filter_map(|word| word.strip_prefix('@'));
    words.filter(|handle| seen.insert(*handle)).map(str::to_owned).collect()
}

/// The handles that a text begins with; one that nobody has is plain text.
pub(super) fn leading(text: &str, is_known: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let words =
        text.split_whitespace().map_while(|word| word.strip_prefix('@').filter(|word| is_known(word)));
    words.filter(|handle| seen.insert(*handle)).collect()
}
