//! How runs end: visibly, once, and with their key free for the next.

use agents::Fault;
use delivery::faults::{Rule, broken};
use delivery::model::{AuthorKind, Key, MessageId, RunId};
use delivery::residency::{self, After};
use delivery::turn::Told;
use delivery::{Author, queue};
use storage::{CredentialKind, Ending, Message, NewMessage, Run, RunStatus, Store};

use super::post::{posted, refuse_archived};
use super::saved::let_go;
use super::tool::keep_fetched;
use super::{Command, Engine, Now, Reply, host};
use crate::error::ApiError;

/// Why sessions end with their server.
const RESTARTED: &str = "the server was restarted";

/// Why a run whose message is gone does not begin.
pub(super) const MESSAGE_DELETED: &str = "its message was deleted";

/// Why sessions end when a backup is restored.
const RESTORED_SESSION: &str = "the server was restored from a backup";

/// Why a run that waited when a backup was made does not begin: the server before may have had its turn since.
const RESTORED: &str = "it waited when the backup was made that this server was restored from; whether it was answered \
                        after that is not known";

impl Engine {
    /// Takes up the runs that the last server left (2.8), and its sessions. After a restore no run begins: it may have
    /// had its turn since the backup was made, and what an agent did once must not happen twice. No session goes on
    /// then, either: what it was told since is not known.
    pub(super) fn pick_up_runs(&mut self, store: &mut dyn Store, now: Now) -> Result<(), ApiError> {
        let restored = store.take_restored()?;
        if restored {
            end_links(store, now)?;
        }
        for run in store.open_runs()? {
            match run.status {
                RunStatus::Queued if restored => {
                    self.end_visibly(store, &run, RunStatus::Cancelled, RESTORED, now)?;
                }
                RunStatus::Queued if broken(Rule::QueuedIsPickedUp) => {}
                RunStatus::Running if broken(Rule::BegunIsNotBegunAgain) => {
                    store.unstage(&run.id, now.wall)?;
                    self.enqueue(&run);
                }
                RunStatus::Queued => self.enqueue(&run),
                RunStatus::Running => {
                    let reason =
                        "the server stopped while the agent was at work; what it did by then is done";
                    self.account_lost(store, &run, now)?;
                    self.end_visibly(store, &run, RunStatus::Failed, reason, now)?;
                }
                RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled | RunStatus::Declined => {}
            }
        }
        for binding in store.bindings(None)? {
            let key = super::request::key_of(&binding);
            match restored {
                true => store.end_session(&key, RESTORED_SESSION, now.wall)?,
                false => let_go(store, &key, None, RESTARTED, now)?,
            }
        }
        Ok(())
    }

    pub(super) fn cancel(&mut self, store: &mut dyn Store, id: &RunId, now: Now) -> Result<Reply, ApiError> {
        let run = store.run(id)?;
        match run.status {
            RunStatus::Queued => self.cancel_queued(store, &run, "by request", now)?,
            RunStatus::Running => {
                if !self.live.contains_key(&run.key) {
                    return Err(ApiError::conflict(format!("run {id} is ending")));
                }
                self.touched = true;
                self.cancel_turn(store, &run.key, now)?;
                self.hold_stopped(store, &run, now)?;
            }
            RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled | RunStatus::Declined => {
                return Err(ApiError::conflict(format!("run {id} has ended already")));
            }
        }
        Ok(Reply::Run(Box::new(store.run(id)?)))
    }

    /// Tells a process to cancel the turn that it has, if it has one and was not told before. What it asked people for
    /// ends at once: the cancel tells the agent.
    pub(super) fn cancel_turn(&mut self, store: &mut dyn Store, key: &Key, now: Now) -> Result<(), ApiError> {
        let Some(live) = self.live.get_mut(key) else { return Ok(()) };
        let Some(turn) = live.turn.as_mut().filter(|turn| !turn.cancelling) else { return Ok(()) };
        turn.cancelling = true;
        let run = turn.run.clone();
        self.out.push_back(Command::Cancel { key: key.clone(), epoch: live.epoch, run: run.clone() });
        self.end_permissions(store, &run, RunStatus::Cancelled, now)
    }

    /// Ends a run that never had a turn.
    pub(super) fn cancel_queued(
        &mut self,
        store: &mut dyn Store,
        run: &Run,
        reason: &str,
        now: Now,
    ) -> Result<(), ApiError> {
        self.end_visibly(store, run, RunStatus::Cancelled, reason, now)?;
        let was_current = self.queue.current(&run.key) == Some(&run.id);
        self.touched = true;
        self.forget(&run.id, queue::Event::Ended { key: run.key.clone(), run: run.id.clone() });
        if was_current {
            self.residency.handle(residency::Event::Unwanted(run.key.clone()), now.mono);
        }
        self.drop_empty_hold(store, &run.key, now)
    }

    /// Makes a new run for the message of one that failed or was cancelled.
    pub(super) fn retry(&mut self, store: &mut dyn Store, id: &RunId, now: Now) -> Result<Reply, ApiError> {
        let run = store.run(id)?;
        match run.status {
            RunStatus::Failed | RunStatus::Cancelled => {}
            RunStatus::Queued | RunStatus::Running => {
                return Err(ApiError::conflict(format!("run {id} has not ended yet")));
            }
            RunStatus::Succeeded | RunStatus::Declined => {
                return Err(ApiError::conflict(format!("run {id} was answered; post a new message instead")));
            }
        }
        if store.binding(&run.key.binding)?.removed_at.is_some() {
            return Err(ApiError::conflict(
                "its agent was removed from the channel; add it again and mention it",
            ));
        }
        if store.message(&run.message)?.row.deleted_seq.is_some() {
            return Err(ApiError::conflict(format!("its message {} was deleted", run.message)));
        }
        refuse_archived(&store.channel_by_id(&run.key.channel)?)?;
        let again = store.add_run(&run.key, &run.message, Some(id), now.wall)?;
        self.enqueue(&again);
        self.let_go(store, &run.key, now)?;
        Ok(Reply::Run(Box::new(again)))
    }

    /// Ends the turn that a key has and frees the key. What was told stays told only if `status` is a success.
    pub(super) fn settle(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        ending: &Ending,
        after: After,
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(turn) = self.live.get(key).and_then(|live| live.turn.clone()) else { return Ok(()) };
        let epoch = self.live[key].epoch;
        let told = self.told_after(store, key, &turn, ending.status)?;
        self.end_permissions(store, &turn.run, ending.status, now)?;
        self.end_steers(store, key, now)?;
        self.account(store, key, &turn, now)?;
        let counts = store.end_run(&turn.run, &Ending { told, ..ending.clone() }, now.wall)?;
        store.touch_session(key, now.wall)?;
        if counts {
            keep_fetched(store, key, &turn)?;
        }
        self.touched = true;
        self.tally.run_ended(ending.status);
        if let Some(live) = self.live.get_mut(key) {
            live.turn = None;
        }
        if ending.status != RunStatus::Failed || !broken(Rule::FailedFreesItsKey) {
            self.forget(&turn.run, queue::Event::Ended { key: key.clone(), run: turn.run.clone() });
        }
        self.residency.handle(residency::Event::TurnEnded { key: key.clone(), epoch, after }, now.mono);
        self.tell_hold(store, key, &turn, now)
    }

    fn told_after(
        &self,
        store: &dyn Store,
        key: &Key,
        turn: &super::LiveTurn,
        status: RunStatus,
    ) -> Result<Option<String>, ApiError> {
        let Some(session) = store.session(key)? else { return Ok(None) };
        let mut told = read_told(&session.told);
        match (status, turn.fault) {
            (RunStatus::Succeeded | RunStatus::Declined, _) => {
                if let Some(telling) = &turn.telling {
                    told.committed(telling.clone(), turn.answer_bytes);
                }
                if let Some((framing, compactions)) = &turn.framing {
                    told.framed(framing, *compactions);
                }
                told.answered();
            }
            (RunStatus::Failed, Some(Fault::Invalid)) => told.refused(),
            (RunStatus::Failed | RunStatus::Cancelled | RunStatus::Queued | RunStatus::Running, _) => {
                told.failed();
            }
        }
        Ok(Some(write_told(&told)))
    }

    /// Ends a run with a notice where its mention was.
    pub(super) fn end_visibly(
        &mut self,
        store: &mut dyn Store,
        run: &Run,
        status: RunStatus,
        reason: &str,
        now: Now,
    ) -> Result<(), ApiError> {
        let ending = Ending { status, error: Some(reason.to_owned()), told: None };
        self.end_permissions(store, &run.id, status, now)?;
        store.end_run(&run.id, &ending, now.wall)?;
        self.touched = true;
        self.tally.run_ended(status);
        tell_end(store, run, status, reason, now)
    }

    /// Drops what memory holds of a run that has ended, and wakes whoever waits for it.
    pub(super) fn forget(&mut self, run: &RunId, event: queue::Event) {
        if let Some((key, _)) = self.open.remove(run) {
            self.forget_wait(&key, run);
        }
        self.tried.remove(run);
        // Its message is there with the same commit: pieces of it would come too late.
        self.out.retain(|command| !matches!(command, Command::Stream { run: of, .. } if of == run));
        self.queue.handle(event);
        self.out.push_back(Command::RunsEnded);
    }
}

/// Posts the notice of a run's end where its mention was.
pub(super) fn tell_end(
    store: &mut dyn Store,
    run: &Run,
    status: RunStatus,
    reason: &str,
    now: Now,
) -> Result<(), ApiError> {
    let handle = store.binding(&run.key.binding)?.spec.handle;
    let id = &run.id;
    // What cannot be tried again is not offered.
    let again = store.binding(&run.key.binding)?.removed_at.is_none()
        && store.message(&run.message)?.row.deleted_seq.is_none();
    let retry = if again { format!(" (try again with: highwater run retry {id})") } else { String::new() };
    let text = match status {
        RunStatus::Failed => format!("@{handle} could not answer {}: {reason}{retry}", run.message),
        RunStatus::Cancelled => format!("run {id} of @{handle} was cancelled: {reason}{retry}"),
        RunStatus::Declined => format!("@{handle} declined {}: {reason}", run.message),
        RunStatus::Succeeded => format!("@{handle}: {reason}"),
        RunStatus::Queued | RunStatus::Running => format!("run {id} of @{handle}: {reason}"),
    };
    say(store, run, host(), text, now).map(|_| ())
}

/// Posts what a run says, where its mention was.
pub(super) fn say(
    store: &mut dyn Store,
    run: &Run,
    author: Author,
    text: String,
    now: Now,
) -> Result<Message, ApiError> {
    let native = match author.kind {
        AuthorKind::Agent => run.staged.as_ref().map(|staged| staged.native.clone()),
        AuthorKind::User | AuthorKind::System => None,
    };
    let new = NewMessage {
        channel: run.key.channel.clone(),
        thread: live_thread(store, run.thread.as_ref().filter(|_| !broken(Rule::RepliesInPlace)))?,
        author,
        native,
        run: Some(run.id.clone()),
        text,
        client_id: None,
    };
    Ok(posted(store.append(&new, now.wall)?))
}

/// The thread that a reply goes to: none if its root was deleted since, so that the reply is not lost.
fn live_thread(store: &dyn Store, thread: Option<&MessageId>) -> Result<Option<MessageId>, ApiError> {
    let Some(root) = thread else { return Ok(None) };
    let deleted = store.message(root)?.row.deleted_seq.is_some();
    Ok(if deleted { None } else { Some(root.clone()) })
}

/// What a session was told, out of the store. Unreadable means nothing, which makes the next turn a full one.
pub(super) fn read_told(json: &str) -> Told {
    serde_json::from_str(json).unwrap_or_default()
}

/// For the store.
pub(super) fn write_told(told: &Told) -> String {
    serde_json::to_string(told).unwrap_or_default()
}

/// A link is good once, and may have been used since the backup was made.
fn end_links(store: &mut dyn Store, now: Now) -> Result<(), ApiError> {
    for person in store.people()? {
        store.end_credentials(&person.id, &[CredentialKind::Link], now.wall)?;
    }
    Ok(())
}
