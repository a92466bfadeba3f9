//! The part of a store's contract that is about how runs wait.

use delivery::Timestamp;
use delivery::model::{BindingId, Key, RunId};

use crate::Error;
use crate::record::*;

/// What can be asked about how runs wait.
pub trait ReadLife: Send {
    /// Why a binding begins no run, if it is held.
    fn hold(&self, binding: &BindingId) -> Result<Option<Hold>, Error>;
    /// All that are held and were not removed.
    fn holds(&self) -> Result<Vec<(Key, Hold)>, Error>;
    /// Since when all agents are paused; `None` if they are not.
    fn paused_at(&self) -> Result<Option<Timestamp>, Error>;
}

/// What can be changed about how runs wait. Each call is atomic by itself, and a change adds the entry of the log that
/// tells of it.
pub trait StoreLife: ReadLife {
    /// Takes back what was staged for a run whose turn failed for a passing reason: it is `Queued` again, has one more
    /// failed try, and waits.
    fn wait_run(&mut self, run: &RunId, again: &Again, at: Timestamp) -> Result<(), Error>;
    /// Holds a binding, or with `None` lets it go on.
    fn set_hold(&mut self, key: &Key, hold: Option<&Hold>, at: Timestamp) -> Result<(), Error>;
    /// Pauses all agents as of a time, or with `None` ends that.
    fn set_paused(&mut self, since: Option<Timestamp>, at: Timestamp) -> Result<(), Error>;
    /// Gives a binding these limits of its own; they hold for processes that start from now on.
    fn set_limits(&mut self, id: &BindingId, limits: &OwnLimits, at: Timestamp) -> Result<Binding, Error>;
    /// Gives a binding the profile, policies, environment, model, instructions and those who may address it of this spec;
    /// nothing else of the spec counts. They hold for processes that start from now on.
    fn set_spec(&mut self, id: &BindingId, spec: &NewBinding, at: Timestamp) -> Result<Binding, Error>;
}
