//! The part of a store's contract that is about moving channels between servers.

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId, RunId};

use crate::Error;
use crate::record::*;

/// What can be asked about the past of a channel beyond what the service itself asks.
pub trait ReadTransfer: Send {
    /// Names that a person had before.
    fn former_names(&self, person: &PersonId) -> Result<Vec<String>, Error>;
    /// All bindings that a channel ever had, oldest first.
    fn bindings_ever(&self, channel: &ChannelId) -> Result<Vec<Binding>, Error>;
    /// The people who wrote in a channel.
    fn authors(&self, channel: &ChannelId) -> Result<Vec<PersonId>, Error>;
    /// At most `limit` runs of a channel that were made after this one, oldest first, without what was staged.
    fn runs_after(&self, channel: &ChannelId, after: Option<&RunId>, limit: usize)
    -> Result<Vec<Run>, Error>;
}

/// What can be brought along from another server. Each call is atomic by itself. Nothing of it starts
/// anything. `at` is the time of the import.
pub trait StoreTransfer: ReadTransfer {
    /// Makes a person without any credential, unless there is one of that name. Former names that are free become
    /// theirs.
    fn bring_person(&mut self, new: &BroughtPerson, at: Timestamp) -> Result<(PersonId, Brought), Error>;
    /// Makes a channel. One of that name in which nothing ever happened becomes it, and keeps its members and agents;
    /// any other is [`Error::Exists`].
    fn bring_channel(&mut self, new: &BroughtChannel, at: Timestamp) -> Result<ChannelId, Error>;
    /// Makes a person a member, or what they are said to be if they are one.
    fn bring_member(&mut self, new: &BroughtMember, at: Timestamp) -> Result<(), Error>;
    /// Makes an agent a former member of a channel, whose command is not known; or finds it among the members.
    fn bring_agent(&mut self, new: &BroughtAgent) -> Result<BindingId, Error>;
    /// Appends an event. One that is not the channel's next, or not later than the one before, is
    /// [`Error::Conflict`].
    fn bring_event(&mut self, new: &BroughtEvent) -> Result<(), Error>;
    /// Adds a run that has ended.
    fn bring_run(&mut self, new: &BroughtRun) -> Result<RunId, Error>;
}
