//! How runs wait for their turn, as values: to be tried again, for a person, for the end of a pause.

use delivery::Timestamp;
use delivery::model::RunId;
use serde::{Deserialize, Serialize};

/// The kind of the steps that tell by what a run was steered: JSON with the message's id as `message_id` and what was sent
/// as `text`, which goes when the message is deleted.
pub const STEER: &str = "steer";

/// A run that failed for a passing reason waits to be tried again by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// Not before this time.
    pub at: Timestamp,
    /// Why its last turn failed, for people.
    pub why: String,
}

/// A binding begins no run until a person lets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Why.
    pub why: HoldReason,
    /// The run since which it does not.
    pub run: RunId,
    /// When that was.
    pub since: Timestamp,
}

/// Why a binding is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// A person stopped the run.
    Stopped,
    /// Its process crashed too often in a row; the run is the last that it cost.
    Crashed,
}

/// Limits of a binding's own; `None`: that of the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnLimits {
    /// Milliseconds that its agent may give no sign of life in a turn.
    pub inactivity_ms: Option<u64>,
    /// Milliseconds that a turn of it may take.
    pub turn_ms: Option<u64>,
    /// Bytes of memory that its processes may have together.
    pub memory_bytes: Option<u64>,
}
