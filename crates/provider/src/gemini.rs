//! Gemini's `generateContent`, whole and streamed, as far as agents use it.
//!
//! Sources: Google's API reference and its guides to function calling and thought signatures, read in November 2026.

mod reply;
mod request;

pub(crate) use reply::{refusal, say};
pub(crate) use request::read;
