//! The provider over HTTP, as agents meet it.

#![expect(clippy::unwrap_used, reason = "tests; clippy excepts only functions that it sees to be some")]

mod anthropic;
mod cases;
mod gemini;
mod openai;
mod world;
