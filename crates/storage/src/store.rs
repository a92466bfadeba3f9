//! The contract of a store. Every backend passes the suite of `contract.rs`.

mod identity;
mod life;
mod permission;
mod project;
mod transfer;
mod usage;

use delivery::model::{BindingId, ChannelId, Epoch, Key, MessageId, NativeId, RunId};
use delivery::{Timestamp, Watermark};

pub use self::identity::{ReadIdentity, StoreIdentity};
pub use self::life::{ReadLife, StoreLife};
pub use self::permission::{ReadPermission, StorePermission, Which};
pub use self::project::{ReadProject, StoreProject};
pub use self::transfer::{ReadTransfer, StoreTransfer};
pub use self::usage::{ReadUsage, StoreUsage};
use crate::Error;
use crate::record::*;
use crate::{LogEntry, LogSpan};

/// What can be asked of a store. Lists come oldest first unless said otherwise.
pub trait Read: ReadIdentity + ReadLife + ReadPermission + ReadProject + ReadTransfer + ReadUsage {
    /// A channel by name.
    fn channel(&self, name: &str) -> Result<Channel, Error>;
    /// A channel by id.
    fn channel_by_id(&self, id: &ChannelId) -> Result<Channel, Error>;
    /// All channels, by name.
    fn channels(&self) -> Result<Vec<Channel>, Error>;
    /// A person by name.
    fn person(&self, name: &str) -> Result<Person, Error>;
    /// All people, by name.
    fn people(&self) -> Result<Vec<Person>, Error>;
    /// A binding by id, removed or not.
    fn binding(&self, id: &BindingId) -> Result<Binding, Error>;
    /// The bindings of a channel (of all with `None`) that were not removed, by handle.
    fn bindings(&self, channel: Option<&ChannelId>) -> Result<Vec<Binding>, Error>;
    /// A message by id, deleted or not.
    fn message(&self, id: &MessageId) -> Result<Message, Error>;
    /// At most `limit` messages of a channel's top level (of a thread: its root, then replies) with
    /// `seq` below that of `before`, the newest of them, oldest first. Deleted ones are left out; notices are in.
    fn history(
        &self,
        channel: &ChannelId,
        thread: Option<&MessageId>,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Vec<Message>, Error>;
    /// The threads of a channel that have a reply, those with the newest replies, at most `limit`, newest first.
    /// Deleted replies do not count; a thread whose root was deleted does. Notices are replies too.
    fn threads(&self, channel: &ChannelId, limit: usize) -> Result<Vec<Thread>, Error>;
    /// As [`Self::history`], without notices: the rows that agents are told of (4.1).
    fn rows(
        &self,
        channel: &ChannelId,
        thread: Option<&MessageId>,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Vec<Message>, Error>;
    /// The messages that a run posted (replies and notices); not those that steered it.
    fn messages_of_run(&self, run: &RunId) -> Result<Vec<Message>, Error>;
    /// Events of a channel after `seq`, at most `limit`.
    fn channel_events(
        &self,
        channel: &ChannelId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ChannelEvent>, Error>;
    /// Full-text search: messages that are not deleted, newest first. Every word of the query must occur as the
    /// beginning of a word, whatever its case and accents; a query without letters or digits finds nothing, and none
    /// is an error. Within one channel text is found by substring where no words are: in scripts written without
    /// spaces (CJK), and when the index finds nothing.
    fn search(&self, query: &str, channel: Option<&ChannelId>, limit: usize) -> Result<Vec<Message>, Error>;
    /// A run.
    fn run(&self, id: &RunId) -> Result<Run, Error>;
    /// The runs that a message made, in the order they were made.
    fn runs_of_message(&self, message: &MessageId) -> Result<Vec<Run>, Error>;
    /// The newest `limit` runs (of a channel), newest first, without what was sent: `sent`, `system` and `parts` of
    /// what was staged are empty.
    fn runs(&self, channel: Option<&ChannelId>, limit: usize) -> Result<Vec<Run>, Error>;
    /// All runs that have not ended, in the order they were made.
    fn open_runs(&self) -> Result<Vec<Run>, Error>;
    /// How far agents have gone on by themselves in a channel, or a thread of it (2.7).
    fn since_people(&self, channel: &ChannelId, thread: Option<&MessageId>) -> Result<SincePeople, Error>;
    /// Steps of a run.
    fn run_events(&self, run: &RunId) -> Result<Vec<RunEvent>, Error>;
    /// One step of a run.
    fn run_event(&self, run: &RunId, n: u64) -> Result<RunEvent, Error>;
    /// The session that a key has now: the newest one, if it has not ended.
    fn session(&self, key: &Key) -> Result<Option<Session>, Error>;
    /// The newest session of a key, ended or not.
    fn last_session(&self, key: &Key) -> Result<Option<Session>, Error>;
    /// Why the newest of a key's ended sessions ended; `None` if none has.
    fn last_end(&self, key: &Key) -> Result<Option<String>, Error>;
    /// The newest run whose turn was staged for a session, in the order that runs were made.
    fn newest_run(&self, native: &NativeId) -> Result<Option<RunId>, Error>;
    /// The highest epoch that was ever recorded; 0 if none.
    fn max_epoch(&self) -> Result<Epoch, Error>;
    /// The stored watermark of a channel or thread, of whichever session.
    fn watermark(
        &self,
        binding: &BindingId,
        channel: &ChannelId,
        thread: Option<&MessageId>,
    ) -> Result<Option<Watermark>, Error>;
    /// All watermarks, ordered by binding, channel, thread.
    fn watermarks(&self) -> Result<Vec<PlacedWatermark>, Error>;
    /// Whether a session was given a message in a committed turn (as a line or as the addressed one) or wrote it.
    fn given(&self, native: &NativeId, message: &MessageId) -> Result<bool, Error>;
    /// Showings of a session, in the order they were told: for each turn the addressed message, then the lines.
    fn showings(&self, native: &NativeId) -> Result<Vec<Showing>, Error>;
    /// The rows that a context block needs, such that `delivery::channel_delivery::render` gives what it would give
    /// for all rows of the place: with a watermark those past it (by seq, or by time for one without `last_seq`),
    /// those that wait, those told whose edit or deletion is past it; without one the newest. The session's own, the
    /// addressed, the pending and those of the newest events are among them; in a thread always the root, first.
    /// Never more than some hundreds: older new ones are counted in `earlier`.
    fn delivery_rows(&self, query: &DeliveryQuery<'_>) -> Result<DeliveryRows, Error>;
    /// Which part of the workspace's log there is.
    fn log_span(&self) -> Result<LogSpan, Error>;
    /// Entries of the workspace's log after number `after`, at most `limit`. If the first is not the next after it,
    /// those between were given up.
    fn log(&self, after: u64, limit: usize) -> Result<Vec<LogEntry>, Error>;
}

/// What can be changed in a store. Each call is atomic by itself; [`Store::atomic`] joins several. A call that changes
/// channels, people, bindings, messages or runs adds the entry of the log that tells of it.
pub trait Store:
    Read + StoreIdentity + StoreLife + StorePermission + StoreProject + StoreTransfer + StoreUsage
{
    /// Runs `work` in one durable transaction: all of it or nothing. Inside another one it is a savepoint: its
    /// failure undoes its own part alone. Durable when the outermost one has returned `Ok`.
    fn atomic(&mut self, work: &mut dyn FnMut(&mut dyn Store) -> Result<(), Error>) -> Result<(), Error>;

    /// Whether text was deleted whose old bytes may still stand in a file, since somebody reads an older state: the next
    /// [`Self::atomic`] tries again.
    fn is_scrub_due(&self) -> bool;

    /// Writes something that changes nothing, durably, to learn whether writing works.
    fn try_write(&mut self) -> Result<(), Error>;

    /// Makes a channel without members.
    fn add_channel(&mut self, name: &str, kind: ChannelKind<'_>, at: Timestamp) -> Result<Channel, Error>;
    /// Makes a person.
    fn add_person(&mut self, name: &str, role: Role, at: Timestamp) -> Result<Person, Error>;
    /// Makes a binding (and its agent, if the handle is new).
    fn add_binding(&mut self, new: &NewBinding, at: Timestamp) -> Result<Binding, Error>;
    /// Removes a binding; its handle may be bound again.
    fn remove_binding(&mut self, id: &BindingId, at: Timestamp) -> Result<(), Error>;

    /// Appends a message and its event. `created_at` is `at`, or one past the channel's newest if that is later.
    /// The thread's root must be a top-level message of the same channel that is not deleted.
    fn append(&mut self, new: &NewMessage, at: Timestamp) -> Result<Appended, Error>;
    /// Changes a message's text.
    fn edit(&mut self, id: &MessageId, text: &str, at: Timestamp) -> Result<Message, Error>;
    /// Deletes a message and scrubs its text everywhere: search, and the stored bytes of what was sent, where
    /// a mark stays in its place (8.3). Deleting twice changes nothing.
    fn delete(&mut self, id: &MessageId, at: Timestamp) -> Result<Message, Error>;

    /// Queues a run for a message.
    fn add_run(
        &mut self,
        key: &Key,
        message: &MessageId,
        retry_of: Option<&RunId>,
        at: Timestamp,
    ) -> Result<Run, Error>;
    /// Stages a run's turn: it is `Running` from now on. Staging a running run again replaces what was staged.
    fn stage(&mut self, run: &RunId, staged: &Staged, at: Timestamp) -> Result<(), Error>;
    /// Adds messages that the session of a running run fetched itself (7.7), each with the revision it got: showings
    /// that end as the run's own do. Those that the session was told before in that revision, or wrote, are passed
    /// over. `watermark_after` takes the place of the staged one.
    fn show_fetched(
        &mut self,
        run: &RunId,
        fetched: &[(MessageId, u32)],
        watermark_after: Option<&Watermark>,
    ) -> Result<(), Error>;
    /// Takes back what was staged for a run whose prompt was never written: it is `Queued` again.
    fn unstage(&mut self, run: &RunId, at: Timestamp) -> Result<(), Error>;
    /// Ends a run. `Succeeded` and `Declined` commit its showings and watermark if the key's lease still has
    /// the epoch that it was staged under, and give `true`; everything else discards them and gives `false`. A run
    /// that has ended is left as it is, and gives `false`.
    fn end_run(&mut self, run: &RunId, ending: &Ending, at: Timestamp) -> Result<bool, Error>;
    /// Adds a step to a run.
    fn add_run_event(
        &mut self,
        run: &RunId,
        kind: &str,
        body: &str,
        at: Timestamp,
    ) -> Result<RunEvent, Error>;

    /// Records that a lease rose to this epoch: whatever was staged under a lower one cannot commit any more. It
    /// never falls.
    fn raise_epoch(&mut self, key: &Key, epoch: Epoch, at: Timestamp) -> Result<(), Error>;
    /// A session began under this epoch, to which the lease rises; the key's session before it ends. The native id
    /// must be new to the whole store ([`Error::Exists`] otherwise): what a session was told is known by it.
    fn begin_session(
        &mut self,
        key: &Key,
        native: &NativeId,
        epoch: Epoch,
        system: Option<&str>,
        at: Timestamp,
    ) -> Result<Session, Error>;
    /// What the key's present session was told, as JSON.
    fn set_told(&mut self, key: &Key, told: &str) -> Result<(), Error>;
    /// The key's present session has a turn: it was given a prompt, or answered one.
    fn touch_session(&mut self, key: &Key, at: Timestamp) -> Result<(), Error>;
    /// The key's present session cannot, or must not, be reloaded; the first reason, for people, stays.
    fn bar_session(&mut self, key: &Key, why: &str) -> Result<(), Error>;
    /// The process of the key's present session is gone, but the session goes on; `why`, for people, says how it came
    /// to that. One that is saved already stays as it is.
    fn save_session(&mut self, key: &Key, why: &str, at: Timestamp) -> Result<(), Error>;
    /// A new process has the key's present session, which was saved, under this epoch, to which the lease rises.
    /// `system` is the text that it has as its system prompt now.
    fn reload_session(
        &mut self,
        key: &Key,
        epoch: Epoch,
        system: Option<&str>,
        at: Timestamp,
    ) -> Result<Session, Error>;
    /// The key's present session, if any, ends; `why` is for people.
    fn end_session(&mut self, key: &Key, why: &str, at: Timestamp) -> Result<(), Error>;

    /// Whether the store came out of a backup and was not started since; from now on it was. What stands open in it may
    /// have been done after the backup was made.
    fn take_restored(&mut self) -> Result<bool, Error>;

    /// Replaces the watermarks that are named; leaves others.
    fn import_watermarks(&mut self, watermarks: &[PlacedWatermark]) -> Result<(), Error>;

    /// Gives up the oldest entries of the log until the newest `keep` are left (one at the least): some thousands
    /// with each call, so that no call takes long.
    fn prune_log(&mut self, keep: u64) -> Result<(), Error>;
}
