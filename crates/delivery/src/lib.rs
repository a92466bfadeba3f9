//! Who hears what, in which words, and which agent must be awake to hear it.
//!
//! Pure: no clock, no I/O, no async, no randomness. Values go in, text and commands come out.

pub mod answer;
pub mod channel_delivery;
pub mod clean;
pub mod faults;
pub mod mention;
pub mod model;
pub mod payload;
pub mod prose;
pub mod queue;
pub mod residency;
pub mod steer;
pub mod time;
pub mod tool_result;
pub mod turn;
pub mod watermark;

pub use model::{Author, AuthorKind, Limits, Policy, Row};
pub use time::{Moment, Timestamp};
pub use watermark::Watermark;
