//! Anthropic's Messages API, as far as agents use it.
//!
//! Sources: Anthropic's API reference and its guides to prompt caching, tool use and extended thinking, read in November 2026.

mod checks;
mod reply;
mod request;
mod signature;

pub(crate) use reply::{refusal, say};
pub(crate) use request::read;
