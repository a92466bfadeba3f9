//! Runs agent processes and speaks the Agent Client Protocol with them. Carries out commands; decides nothing.

mod message;

pub use message::*;
