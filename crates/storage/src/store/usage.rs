//! The part of a store's contract that is about what turns took, and what may be spent.

use delivery::Timestamp;
use delivery::model::{NativeId, RunId};

use crate::Error;
use crate::record::*;

/// What can be asked about what turns took.
pub trait ReadUsage: Send {
    /// The turns of a run, in order, with what they took.
    fn turns(&self, run: &RunId) -> Result<Vec<Turned>, Error>;
    /// The newest turns of a session before those of a run, at most `limit`, newest first.
    fn turns_before(&self, native: &NativeId, run: &RunId, limit: usize) -> Result<Vec<Turned>, Error>;
    /// Usage, added up; what was used last comes first. A sum without a turn is none.
    fn usage(&self, query: &UsageQuery<'_>) -> Result<Vec<UsageSum>, Error>;
    /// How far a session's own counts were taken in; nothing of one that is unknown.
    fn session_marks(&self, native: &NativeId) -> Result<SessionMarks, Error>;
    /// All spending limits of channels and bindings that are there: that of all agents first.
    fn spending_limits(&self) -> Result<Vec<SpendingLimit>, Error>;
}

/// What can be changed about what turns took. Each call is atomic by itself.
pub trait StoreUsage: ReadUsage {
    /// A turn of a run, which is staged, has ended. The run's usage is that of all its turns.
    fn add_turn(&mut self, run: &RunId, took: &TurnUsage, at: Timestamp) -> Result<(), Error>;
    /// Something else is known now of what the newest turn of a run took. A change adds the entry of the log that tells
    /// of it.
    fn set_turn(&mut self, run: &RunId, took: &TurnUsage, at: Timestamp) -> Result<(), Error>;
    /// How far a session's own counts were taken in; an unknown session stays unknown.
    fn set_session_marks(&mut self, native: &NativeId, marks: &SessionMarks) -> Result<(), Error>;
    /// Sets a spending limit; nothing at all takes it away.
    fn set_spending_limit(&mut self, of: &LimitOf, most: &Spending) -> Result<(), Error>;
}
