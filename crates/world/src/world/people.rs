//! What people do, and what comes late.

use agents::{Begun, Event, EventKind, Fault, Started, Stop, Turn};
use delivery::model::{MessageId, NativeId, RunId};
use server::engine::{Answer, Input, LimitsChange, Pausing, Post, Request};

use super::World;
use crate::dice::Dice;
use crate::setup::{self, HANDLES, PEOPLE};
use crate::texts;

/// Posts that may come again.
const POSTED_MAX: usize = 6;

/// Whom a post addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Nobody,
    Agents,
}

impl World {
    pub(super) fn ask(&mut self, kind: &'static str, request: Request) {
        self.tally.count(kind);
        self.note(|| {
            if let Request::Post(post) = &request {
                return said(post);
            }
            super::act::brief(&[Input::Request(request.clone())])
        });
        self.batch.push(Input::Request(request));
    }

    /// One of many posts that all go to the place that the seed gives.
    pub(super) fn flood(&mut self, dice: &mut Dice, seed: u64) {
        let mut place = Dice::new(seed);
        self.post_to(&mut place, dice, Address::Nobody);
    }

    pub(super) fn post(&mut self, dice: &mut Dice, address: Address) {
        let mut place = Dice::new(dice.next());
        self.post_to(&mut place, dice, address);
    }

    /// A post whose place is drawn from one, and all else from the other.
    fn post_to(&mut self, place_dice: &mut Dice, dice: &mut Dice, address: Address) {
        let thread = if place_dice.percent(40) { self.some_root(place_dice) } else { None };
        let Some(place) = place_dice.pick(&self.setup.channels).cloned() else { return };
        let of_thread = thread.as_ref().and_then(|root| self.model.chat.line(root)).map(|line| &line.channel);
        let room = of_thread.and_then(|id| self.model.chat.rooms.get(id)).map(|room| room.name.clone());
        // A thread elsewhere would only be refused; now and then it may.
        let channel = match room {
            Some(name) if place_dice.percent(95) => name,
            Some(_) | None => place.name,
        };
        let author = dice.weighed(&[(5, PEOPLE[0].0), (4, PEOPLE[1].0), (2, PEOPLE[2].0)]);
        let text = match address {
            Address::Nobody => texts::body(dice),
            Address::Agents => {
                let count = dice.weighed(&[(7, 1), (2, 2), (1, 4)]);
                let handles: Vec<String> =
                    (0..count).map(|_| HANDLES[dice.index(HANDLES.len())].to_owned()).collect();
                texts::mentioning(dice, &handles)
            }
        };
        let client_id = dice.percent(50).then(|| {
            self.clients += 1;
            format!("c-{}", self.clients)
        });
        let post = Post { channel, author: author.to_owned(), text, thread, client_id };
        if post.client_id.is_some() {
            self.posted.push_back(post.clone());
            if self.posted.len() > POSTED_MAX {
                self.posted.pop_front();
            }
        }
        let kind = if address == Address::Agents { "mentions" } else { "posts" };
        self.ask(kind, Request::Post(Box::new(post)));
    }

    /// One of few threads, so that some become long; sometimes what is no root.
    fn some_root(&self, dice: &mut Dice) -> Option<MessageId> {
        if dice.percent(15) {
            return self.some_message(dice);
        }
        let roots: Vec<MessageId> =
            self.model.chat.lines.iter().filter_map(|line| line.thread.clone()).rev().take(12).collect();
        if !roots.is_empty() && dice.percent(75) {
            return dice.pick(&roots).cloned();
        }
        self.some_message(dice)
    }

    /// The same post comes once more, or another one under its id.
    pub(super) fn post_again(&mut self, dice: &mut Dice) {
        let posted: Vec<Post> = self.posted.iter().cloned().collect();
        let Some(mut post) = dice.pick(&posted).cloned() else { return };
        match dice.below(10) {
            0 => post.text.push_str(" (other)"),
            1 => post.thread = None,
            _ => {}
        }
        self.ask("posts again", Request::Post(Box::new(post)));
    }

    pub(super) fn edit(&mut self, dice: &mut Dice) {
        let Some(message) = self.some_message(dice) else { return };
        let text = format!("{} (edited)", texts::body(dice));
        self.ask("edits", Request::Edit { message, text });
    }

    pub(super) fn delete(&mut self, dice: &mut Dice) {
        let Some(message) = self.some_message(dice) else { return };
        self.ask("deletions", Request::Delete { message });
    }

    pub(super) fn cancel(&mut self, dice: &mut Dice) {
        let running: Vec<RunId> = self
            .model
            .processes
            .keys()
            .filter_map(|key| self.model.turn(key))
            .map(|turn| turn.run.clone())
            .collect();
        let run = if dice.percent(50) { dice.pick(&running).cloned() } else { self.some_run(dice) };
        let Some(run) = run else { return };
        self.ask("cancels", Request::Cancel { run });
    }

    pub(super) fn retry(&mut self, dice: &mut Dice) {
        let Some(run) = self.some_run(dice) else { return };
        self.ask("retries", Request::Retry { run });
    }

    fn some_run(&self, dice: &mut Dice) -> Option<RunId> {
        let runs: Vec<RunId> = self.model.runs.iter().rev().take(8).map(|run| run.id.clone()).collect();
        dice.pick(&runs).cloned()
    }

    /// Somebody answers a card, or answers it once more.
    pub(super) fn answer(&mut self, dice: &mut Dice) {
        let waiting: Vec<_> = self.model.waiting_cards().map(|card| card.id.clone()).collect();
        let all: Vec<_> = self.model.cards.iter().rev().take(3).map(|card| card.id.clone()).collect();
        let from = if waiting.is_empty() || dice.percent(15) { &all } else { &waiting };
        let people: Vec<_> = self.model.chat.ids.values().cloned().collect();
        let (Some(permission), Some(person)) = (dice.pick(from).cloned(), dice.pick(&people).cloned()) else {
            return;
        };
        let option = dice.weighed(&[(4, 1), (4, 2), (1, 3), (1, 0)]);
        self.ask("answers to cards", Request::Answer(Answer { permission, option, person }));
    }

    /// A channel and a handle; not one of a direct conversation.
    fn some_agent(&self, dice: &mut Dice) -> Option<(String, String)> {
        let places: Vec<_> = self.setup.channels.iter().filter(|place| place.direct.is_none()).collect();
        let place = dice.pick(&places)?;
        Some((place.name.clone(), HANDLES[dice.index(HANDLES.len())].to_owned()))
    }

    pub(super) fn fresh(&mut self, dice: &mut Dice) {
        let Some((channel, handle)) = self.some_agent(dice) else { return };
        self.ask("fresh starts", Request::Fresh { channel, handle });
    }

    /// Somebody lets go on what is held; now and then what is not.
    pub(super) fn resume(&mut self, dice: &mut Dice) {
        let held: Vec<RunId> = self.held().collect();
        let run = if dice.percent(90) { dice.pick(&held).cloned() } else { self.some_run(dice) };
        if let Some(run) = run {
            self.ask("resumes", Request::Resume { run });
        }
    }

    /// The next run of each key that is held.
    pub(super) fn held(&self) -> impl Iterator<Item = RunId> {
        self.model.bars.holds.keys().filter_map(|key| self.model.queue(key).next()).cloned()
    }

    /// An agent gets limits of its own, or those of the settings, from its next process on.
    pub(super) fn limit(&mut self, dice: &mut Dice) {
        let Some((channel, handle)) = self.some_agent(dice) else { return };
        let limits = setup::limits(dice);
        let change = LimitsChange {
            inactivity_ms: Some(limits.inactivity_ms),
            turn_ms: dice.percent(70).then_some(limits.turn_ms),
            memory_bytes: None,
        };
        self.ask("changes of limits", Request::ChangeLimits { channel, handle, change });
    }

    pub(super) fn pause(&mut self, dice: &mut Dice) {
        let place = dice.pick(&self.setup.channels).filter(|_| dice.percent(60));
        let (channel, by) = (place.map(|place| place.name.clone()), PEOPLE[0].0.to_owned());
        self.ask("pauses", Request::Pause { channel, by, pausing: Pausing::Pause });
    }

    /// Somebody ends one of the pauses that there are.
    pub(super) fn unpause(&mut self, dice: &mut Dice) {
        let pauses = self.pauses();
        let Some(channel) = dice.pick(&pauses).cloned() else { return };
        let by = PEOPLE[0].0.to_owned();
        self.ask("ends of pauses", Request::Pause { channel, by, pausing: Pausing::Resume });
    }

    /// What is paused: a channel by its name, or everything.
    pub(super) fn pauses(&self) -> Vec<Option<String>> {
        let bars = &self.model.bars;
        let named = bars.paused.iter().filter_map(|room| self.model.chat.rooms.get(room));
        bars.all_paused.then_some(None).into_iter().chain(named.map(|room| Some(room.name.clone()))).collect()
    }

    pub(super) fn remove(&mut self, dice: &mut Dice) {
        let Some((channel, handle)) = self.some_agent(dice) else { return };
        self.ask("removals", Request::RemoveAgent { channel, handle });
    }

    pub(super) fn add(&mut self, dice: &mut Dice) {
        let Some((channel, handle)) = self.some_agent(dice) else { return };
        let new = setup::binding(dice, &handle);
        self.ask("new agents", Request::AddAgent { channel, new: Box::new(new) });
    }

    /// An agent's program is taken away, or put back.
    pub(super) fn reach(&mut self, dice: &mut Dice) {
        let handle = HANDLES[dice.index(HANDLES.len())].to_owned();
        let mut missing = self.missing();
        if !missing.remove(&handle) {
            missing.insert(handle);
        }
        let now = missing.clone();
        drop(missing);
        self.model.missing = now;
        self.note(|| "a program comes or goes".to_owned());
    }

    /// Something of a process that is gone comes late: it changes nothing (5.7).
    pub(super) fn late(&mut self, dice: &mut Dice) {
        let Some((key, epoch, run)) = dice.pick(&self.graves).cloned() else { return };
        let now = self.model.turn(&key).map(|turn| turn.run.clone());
        let run = if dice.percent(50) { now } else { run };
        let run = run.unwrap_or_else(|| RunId("r1".to_owned()));
        let kind = match dice.below(4) {
            0 => EventKind::Started(Started {
                native: NativeId("s-late".to_owned()),
                begun: Begun::New,
                reloadable: true,
                system_prompt: false,
                steering: false,
                pid: 1,
                notices: Vec::new(),
            }),
            1 => EventKind::Exited { reason: Some("late".to_owned()) },
            2 => EventKind::TurnFailed { run, reason: "late".to_owned(), fault: Fault::Lost },
            _ => {
                let turn = Turn { stop: Stop::EndTurn, text: Some("late".to_owned()), usage: None };
                EventKind::TurnEnded { run, turn }
            }
        };
        self.tally.count("late events");
        self.note(|| format!("late of {} {}: {kind:?}", key.binding, epoch.0));
        self.batch.push(Input::Agent(Event { key, epoch, kind }));
    }
}

/// A post, with the beginning of its text.
fn said(post: &Post) -> String {
    let text: String = post.text.chars().take(60).collect();
    let Post { channel, author, thread, client_id, .. } = post;
    format!("{author} in {channel} {thread:?} ({client_id:?}): {text:?}")
}
