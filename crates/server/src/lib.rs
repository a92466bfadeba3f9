//! The service: the engine where delivery, storage and agents meet, and the HTTP API around it.

pub mod engine;
pub mod error;
mod events;
mod html;
mod http;
mod mcp;
mod preset;
mod serve;
pub mod settings;
mod shell;
mod start;
mod view;
pub mod wire;

pub use serve::{SERVER_FILE, ServeError, TOKEN_FILE, serve};
pub use storage::in_use;
