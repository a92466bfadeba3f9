//! The part of a store's contract that is about permissions.

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId, RunId};

use crate::Error;
use crate::record::*;

/// What can be asked about permissions. Lists come oldest first unless said otherwise.
pub trait ReadPermission: Send {
    /// A card.
    fn permission(&self, id: &PermissionId) -> Result<Permission, Error>;
    /// The cards of a run.
    fn permissions_of_run(&self, run: &RunId) -> Result<Vec<Permission>, Error>;
    /// The newest `limit` cards of runs in these channels, newest first; of those that wait only, if `which` says so.
    fn permissions_in(
        &self,
        channels: &[ChannelId],
        which: Which,
        limit: usize,
    ) -> Result<Vec<Permission>, Error>;
    /// All cards that wait, wherever.
    fn pending_permissions(&self) -> Result<Vec<Permission>, Error>;
}

/// Which cards are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All.
    All,
    /// Those that wait for an answer.
    Pending,
}

/// What can be changed about permissions. Each call is atomic by itself, and a change adds the entry of the log that
/// tells of it.
pub trait StorePermission: ReadPermission {
    /// Puts up a card of a running run, which waits until a time.
    fn ask_permission(
        &mut self,
        run: &RunId,
        asked: &Asked,
        until: Timestamp,
        at: Timestamp,
    ) -> Result<Permission, Error>;
    /// Decides a card that waits. One that was decided stays as it is, and gives `false`: there is exactly one outcome.
    fn decide_permission(&mut self, id: &PermissionId, decision: &Decision) -> Result<bool, Error>;
    /// Decides a binding's requests by these rules from now on; cards that wait stay as they are.
    fn set_permission_rules(
        &mut self,
        id: &BindingId,
        rules: &PermissionRules,
        at: Timestamp,
    ) -> Result<Binding, Error>;
}
