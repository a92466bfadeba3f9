//! The service: the engine where delivery, storage and agents meet, and the HTTP API around it.

pub mod backup;
mod clock;
mod doctor;
pub mod engine;
pub mod error;
mod events;
mod health;
mod html;
mod http;
mod mcp;
mod metrics;
pub mod network;
mod preset;
mod project;
mod rate;
mod reach;
pub mod rights;
mod secret;
mod serve;
pub mod settings;
mod shell;
mod spool;
mod start;
mod telemetry;
mod transfer;
mod view;
mod web;
pub mod wire;

pub use doctor::Doctor;
pub use http::openapi;
pub use rate::Rate;
pub use serve::{Ready, SERVER_FILE, ServeError, TOKEN_FILE, serve};
pub use storage::in_use;
