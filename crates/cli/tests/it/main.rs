//! The whole program, as people and scripts use it: real processes, a real database, a real agent program.

mod bad_input;
mod crashes;
mod first_steps;
mod outcomes;
mod processes;
mod server;
mod thirty_mentions;
