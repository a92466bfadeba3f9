//! The real scripted agent behind a real holder: what each behaviour of an agent leads to.

mod hiding;
mod memory;
mod misbehaviour;
mod trees;
mod turns;
mod world;
