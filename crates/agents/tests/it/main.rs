//! The real scripted agent behind a real holder: what each behaviour of an agent leads to.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by it as tests do")]

mod before;
mod errands;
mod hiding;
mod limits;
mod memory;
mod misbehaviour;
mod probe;
mod prying;
mod records;
mod reloads;
mod steering;
mod trees;
mod turns;
mod wake;
mod world;
