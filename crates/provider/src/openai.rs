//! OpenAI's Responses API, as far as agents use it.
//!
//! Sources: OpenAI's API reference and its guide to prompt caching, read in November 2026.

mod reply;
mod request;

pub(crate) use reply::{refusal, say};
pub(crate) use request::read;
