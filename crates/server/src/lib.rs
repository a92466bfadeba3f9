//! The service: the engine where delivery, storage and agents meet, and the HTTP API around it.

pub mod settings;
pub mod wire;
