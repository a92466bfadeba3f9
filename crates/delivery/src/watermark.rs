//! What one native session has been given of one channel or thread (section 5).

use serde::{Deserialize, Serialize};

use crate::model::{MessageId, NativeId};
use crate::time::Timestamp;

/// Ids that a watermark keeps at most, the newest of them (5.1).
pub const IDS_MAX: usize = 200;

/// The record of 5.1, per (binding, channel, thread).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watermark {
    /// The native session that it was made for; it counts for no other (5.2).
    pub native: NativeId,
    /// Lean: the newest time that stood there at delivery. Base: the time of the newest line shown.
    pub last_at: Timestamp,
    /// The highest event number that stood there at delivery; `None` after an import, then time decides.
    #[serde(default)]
    pub last_seq: Option<u64>,
    /// Ids shown or as good as shown, oldest telling first, at most [`IDS_MAX`].
    pub ids: Vec<MessageId>,
    /// Messages of queued runs that were left out of the block (4.5), in channel order.
    #[serde(default)]
    pub waiting: Vec<MessageId>,
}

/// The watermark, if it was made for the session that will answer now (5.2); else there is none.
pub fn watermark_for<'a>(watermark: Option<&'a Watermark>, native: &NativeId) -> Option<&'a Watermark> {
    watermark.filter(|mark| mark.native == *native)
}
