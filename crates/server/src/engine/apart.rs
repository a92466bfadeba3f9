//! One of several steps that share a transaction: what it may undo by itself.

use storage::Store;

use super::{Engine, Input, Now, Reply};
use crate::error::{ApiError, Code};

impl Engine {
    /// A step in a savepoint of its own. An error that left memory as it was undoes the step alone, and is the inner
    /// result; one that did not, or that the store itself made, undoes the transaction, and is the outer one: then memory
    /// is put back too, by a clone from before the first step of the transaction.
    pub fn step_apart(
        &mut self,
        tx: &mut dyn Store,
        input: &Input,
        now: Now,
    ) -> Result<Result<Reply, ApiError>, storage::Error> {
        let mut refused: Option<ApiError> = None;
        let stepped = storage::atomically(tx, |tx| {
            self.step(tx, input.clone(), now).map_err(|error| {
                let failure = match error.code {
                    Code::StorageFull => storage::Error::DiskFull,
                    Code::NotFound
                    | Code::Exists
                    | Code::Conflict
                    | Code::AlreadyDecided
                    | Code::Invalid
                    | Code::Unauthorized
                    | Code::Forbidden
                    | Code::RateLimited
                    | Code::TooLarge
                    | Code::ShuttingDown
                    | Code::Internal => storage::Error::Unusable(error.message.clone()),
                };
                refused = Some(error);
                failure
            })
        });
        match (stepped, refused) {
            (Ok(reply), _) => Ok(Ok(reply)),
            (Err(_), Some(error)) if !self.touched() && !error.is_storage_failure() => Ok(Err(error)),
            (Err(failure), _) => Err(failure),
        }
    }
}
