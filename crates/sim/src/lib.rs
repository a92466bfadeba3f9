//! Plays a channel and counts what each way of feeding an agent sends: made channels, transcripts, strategies, figures.
//!
//! What is sent is decided by `delivery`, by the same calls that the server makes; what it counts is `cost`'s. Nothing
//! here reads a clock or draws a number that no seed gave.

pub mod bill;
pub mod channel;
pub mod figures;
pub mod play;
pub mod report;
pub mod scenario;
pub mod strategy;
pub mod texts;
pub mod transcript;

mod random;
