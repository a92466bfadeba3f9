//! What text costs at a provider: token counts, prompt caching and prices, as values in and values out.
//!
//! The simulator, the emulated provider and the server share these rules. Nothing here reads a clock or a file: times are
//! arguments, in milliseconds since any moment that the caller keeps to; tables are data of this crate, each with its date and
//! its sources.

pub mod cache;
pub mod models;
pub mod price;
pub mod tokens;
