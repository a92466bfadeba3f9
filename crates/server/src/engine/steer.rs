//! Steering: a message that a person puts into a running turn (2.6). It is an ordinary message of the channel; what the
//! turn surely has counts as shown when the run does, what it may not have is told like any other.

use agents::STEERS_MAX;
use delivery::model::{AuthorKind, Key, MessageId, RunId};
use delivery::{Author, steer};
use serde_json::json;
use storage::{Access, Appended, Binding, Channel, Message, NewMessage, Person, PersonId, Rank, Run, STEER};
use storage::{RunStatus, Store};

use super::post::{allowed, check_client_id, check_text, notice, refuse_archived};
use super::tool::one_line;
use super::{Command, Engine, LiveTurn, Now, Reply};
use crate::error::ApiError;

/// Messages by which one turn may be steered: each is kept with its run.
const STEERS_OF_TURN_MAX: u32 = 100;

/// A message that a person wants in a running turn.
#[derive(Clone, Debug)]
pub struct Steer {
    /// The run.
    pub run: RunId,
    /// Person's name.
    pub author: String,
    /// Text as given.
    pub text: String,
    /// The client's own id for it.
    pub client_id: Option<String>,
}

/// How a turn is steered.
#[derive(Clone, Debug, Default)]
pub(super) struct Steering {
    /// Messages of which the agent has not said yet whether its turn has them.
    waiting: Vec<MessageId>,
    /// Messages so far.
    count: u32,
    /// Who steered it: what it begins from then on, each of them must be allowed to.
    by: Vec<PersonId>,
}

impl Engine {
    pub(super) fn steer(
        &mut self,
        store: &mut dyn Store,
        steer: &Steer,
        now: Now,
    ) -> Result<Reply, ApiError> {
        check_text(&steer.text)?;
        check_client_id(steer.client_id.as_deref())?;
        let run = store.run(&steer.run)?;
        let channel = store.channel_by_id(&run.key.channel)?;
        refuse_archived(&channel)?;
        let author = store.person(&steer.author)?;
        let new = NewMessage {
            channel: channel.id.clone(),
            thread: run.thread.clone(),
            author: Author { kind: AuthorKind::User, name: author.name.clone() },
            native: None,
            run: Some(run.id.clone()),
            text: steer.text.clone(),
            client_id: steer.client_id.clone(),
        };
        let message = match store.append(&new, now.wall)? {
            Appended::New(message) => message,
            Appended::Before(message) if is_other(&message, &new) => {
                return Err(ApiError::conflict(format!(
                    "this client id was used for another message, {}; use a new one",
                    message.row.id
                )));
            }
            Appended::Before(message) => return Ok(Reply::Message(Box::new(message))),
        };
        if channel.access == Access::Public {
            store.add_membership(&channel.id, &author.id, Rank::Member, now.wall)?;
        }
        self.put_in(store, &run, &channel, &author, &message, now)?;
        Ok(Reply::Message(Box::new(message)))
    }

    /// Sends a message to the turn of its run, if that can be steered.
    fn put_in(
        &mut self,
        store: &mut dyn Store,
        run: &Run,
        channel: &Channel,
        author: &Person,
        message: &Message,
        now: Now,
    ) -> Result<(), ApiError> {
        let binding = store.binding(&run.key.binding)?;
        let text = match channel.direct {
            Some(_) => steer::of_direct(&message.row),
            None => steer::of_mention(&run.id, &message.row),
        };
        let steering = self.steerable(run, &binding)?;
        steering.waiting.push(message.row.id.clone());
        steering.count += 1;
        if !steering.by.contains(&author.id) {
            steering.by.push(author.id.clone());
        }
        self.touched = true;
        let step = json!({ "message_id": message.row.id, "author": author.name, "text": text });
        store.add_run_event(&run.id, STEER, &step.to_string(), now.wall)?;
        self.tally.posts += 1;
        if let Some(live) = self.live.get(&run.key) {
            let (key, epoch) = (run.key.clone(), live.epoch);
            let (run, message) = (run.id.clone(), message.row.id.clone());
            self.out.push_back(Command::Steer { key, epoch, run, message, text });
        }
        Ok(())
    }

    /// How a run's turn is steered; if it cannot be, an error that says what to do instead.
    fn steerable(&mut self, run: &Run, binding: &Binding) -> Result<&mut Steering, ApiError> {
        let (id, handle) = (&run.id, &binding.spec.handle);
        match run.status {
            RunStatus::Running => {}
            RunStatus::Queued => {
                return Err(ApiError::conflict(format!(
                    "run {id} has not begun, so there is nothing to steer; edit its message {}, or post another: @{handle} \
                     reads both when it begins",
                    run.message
                )));
            }
            RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled | RunStatus::Declined => {
                return Err(ApiError::conflict(format!(
                    "run {id} has ended; mention @{handle} again instead"
                )));
            }
        }
        let ending = || ApiError::conflict(format!("run {id} is ending; mention @{handle} again instead"));
        let live = self.live.get_mut(&run.key).filter(|live| live.ending.is_none()).ok_or_else(ending)?;
        let can = live.steering;
        let turn =
            live.turn.as_mut().filter(|turn| turn.run == *id && !turn.cancelling).ok_or_else(ending)?;
        if !can {
            return Err(ApiError::conflict(format!(
                "@{handle} cannot be steered: its program does not offer that. Mention it instead, and the message gets the \
                 next turn; or stop this one: highwater run cancel {id}"
            )));
        }
        if turn.steering.waiting.len() >= STEERS_MAX {
            return Err(ApiError::conflict(format!(
                "{STEERS_MAX} messages wait for @{handle} to take them in already; wait, or post an ordinary message"
            )));
        }
        if turn.steering.count >= STEERS_OF_TURN_MAX {
            return Err(ApiError::conflict(format!(
                "run {id} was steered {STEERS_OF_TURN_MAX} times, which is the limit; post an ordinary message"
            )));
        }
        Ok(&mut turn.steering)
    }

    /// Whether a key has a turn that can be steered.
    pub(super) fn is_steerable(&self, key: &Key) -> bool {
        self.live.get(key).is_some_and(|live| {
            live.steering && live.ending.is_none() && live.turn.as_ref().is_some_and(|turn| !turn.cancelling)
        })
    }

    /// The agent says whether its turn has a message. It counts as shown from then on, when the run does.
    pub(super) fn steered(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &RunId,
        message: &MessageId,
        taken: Result<(), String>,
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(turn) = self.turn_of(key, run) else { return Ok(()) };
        let Some(at) = turn.steering.waiting.iter().position(|waiting| waiting == message) else {
            return Ok(());
        };
        turn.steering.waiting.remove(at);
        self.touched = true;
        match taken {
            Ok(()) => {
                let step = json!({ "message_id": message, "outcome": "injected" });
                store.add_run_event(run, "steered", &step.to_string(), now.wall)?;
                let message = store.message(message)?;
                self.show_steer(store, key, message)
            }
            Err(why) => self.not_taken(store, key, run, message, &why, now),
        }
    }

    /// A turn ends: what it was not surely steered by is told otherwise.
    pub(super) fn end_steers(&mut self, store: &mut dyn Store, key: &Key, now: Now) -> Result<(), ApiError> {
        let Some(turn) = self.live.get_mut(key).and_then(|live| live.turn.as_mut()) else { return Ok(()) };
        let (run, waiting) = (turn.run.clone(), std::mem::take(&mut turn.steering.waiting));
        for message in waiting {
            self.not_taken(store, key, &run, &message, "its turn ended first", now)?;
        }
        Ok(())
    }

    /// Says that a turn does not surely have a message. In a direct conversation, where no other message brings it along,
    /// it gets a run of its own.
    fn not_taken(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &RunId,
        message: &MessageId,
        why: &str,
        now: Now,
    ) -> Result<(), ApiError> {
        let step = json!({ "message_id": message, "outcome": "not_taken", "why": why });
        store.add_run_event(run, "steered", &step.to_string(), now.wall)?;
        let message = store.message(message)?;
        let binding = store.binding(&key.binding)?;
        if message.row.deleted_seq.is_some() || binding.removed_at.is_some() {
            return Ok(());
        }
        let channel = store.channel_by_id(&key.channel)?;
        let next = match channel.direct {
            Some(_) if channel.archived_at.is_none() => {
                let run = store.add_run(key, &message.row.id, None, now.wall)?;
                self.enqueue(&run);
                "it gets a turn of its own"
            }
            Some(_) | None => "it comes with the next turn, when somebody mentions it",
        };
        let text =
            format!("@{} did not take in {}: {}; {next}", binding.spec.handle, message.row.id, one_line(why));
        notice(store, &message, text, now)
    }

    /// Those of the called that all who steered a run may address: what it begins has the rights of none of them alone.
    pub(super) fn allowed_by_steerers(
        &mut self,
        store: &mut dyn Store,
        run: &Run,
        message: &Message,
        mut called: Vec<Binding>,
        now: Now,
    ) -> Result<Vec<Binding>, ApiError> {
        let turn: Option<&mut LiveTurn> = self.turn_of(&run.key, &run.id);
        for id in turn.map(|turn| turn.steering.by.clone()).unwrap_or_default() {
            let person = store.person_by_id(&id)?;
            called = allowed(store, &person, message, called, now)?;
        }
        Ok(called)
    }
}

/// Whether a message that was posted under the same client id is not this one.
fn is_other(message: &Message, new: &NewMessage) -> bool {
    let untouched = message.revision == 1 && message.row.deleted_seq.is_none();
    message.run != new.run || (untouched && message.row.text != new.text)
}
