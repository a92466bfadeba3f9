//! Runs agent processes and speaks the Agent Client Protocol with them. Carries out commands; decides nothing.
//!
//! Per process: `process` is its task, `session` the conversation as a state machine without I/O, `wire` the
//! JSON-RPC lines, `lines` the bounded reader. `spawn` starts programs; `hold` is the holder between server and
//! agent, which ends whole process trees; `platform` hides what differs between systems. `transcript` reads what agents write of
//! their sessions.

mod agents;
pub mod environment;
mod fault;
pub mod hold;
mod lines;
mod mark;
mod memory;
mod message;
mod platform;
mod process;
pub mod program;
mod record;
mod redact;
mod report;
mod service;
mod session;
mod spawn;
mod tail;
pub mod transcript;
mod version;
mod wire;

pub use agents::Agents;
pub use fault::{Fault, Passing};
pub use mark::sweep;
pub use memory::amount;
pub use message::*;
pub use platform::{runs_as_root, shield};
pub use process::{Errand, Returned};
pub use process::{Login, LoginBy, Modes, Probe, Refused, Seen};
pub use process::{Trial, trial};
pub use redact::Secrets;
pub use service::Service;
pub use session::STEERS_MAX;
pub use spawn::attend;
pub use version::Versions;
