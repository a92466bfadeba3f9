//! Importing channels: history comes in, and nothing begins.

use storage::Store;

use super::{Engine, Now, Reply};
use crate::error::ApiError;
use crate::spool::Spool;
use crate::transfer::bring::bring;

impl Engine {
    /// All of the file in the step's own transaction. What comes has ended: memory stays as it is.
    pub(super) fn import(&self, store: &mut dyn Store, spool: &Spool, now: Now) -> Result<Reply, ApiError> {
        Ok(Reply::Brought(Box::new(bring(store, spool, now.wall)?)))
    }
}
