//! An emulated model provider on loopback: it speaks the APIs that agents use, answers from a script, keeps every request whole,
//! and bills each by the documented rules of prompt caching.
//!
//! It stands in for the real one where the question is what an agent sends and what of that a cache would know: tests, and
//! `highwater measure`. No model thinks here, no key is needed, and nothing leaves the machine.

mod anthropic;
mod asked;
mod clock;
mod gemini;
mod ledger;
mod models;
mod openai;
mod prompt;
mod raw;
mod script;
mod server;
mod stream;
mod wiring;

pub use clock::Passing;
pub use ledger::{Api, Ended, Kept, Stray};
pub use models::Counting;
pub use prompt::{Piece, Prefix, Role, Told};
pub use script::{Answer, End, Failure, Part, Rule, Saying, Script, Turn, When};
pub use server::{Provider, Settings};
pub use wiring::{Wiring, wiring};
