//! Wire types for threads.

use delivery::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::schema;

/// A thread, told by its replies; those that were deleted do not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Thread {
    /// The message that it hangs on.
    pub root_id: String,
    /// Number of that message in the channel's event sequence.
    pub root_seq: u64,
    /// When it was posted.
    #[schema(value_type = schema::Timestamp)]
    pub root_at: Timestamp,
    /// Whether it was deleted; its replies stay.
    pub root_deleted: bool,
    /// How many replies.
    pub replies: u64,
    /// Number of the newest in the channel's event sequence.
    pub last_seq: u64,
    /// When it was posted.
    #[schema(value_type = schema::Timestamp)]
    pub last_at: Timestamp,
}
