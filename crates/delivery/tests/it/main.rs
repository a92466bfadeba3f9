//! The published cases, and properties of blocks and of whole histories.

#![expect(clippy::unwrap_used, reason = "the whole crate is a test: a panic is its failure")]

mod block;
mod cases;
mod forgery;
mod history;
