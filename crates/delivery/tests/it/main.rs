//! The published cases, and properties of blocks and of whole histories.

mod block;
mod cases;
mod forgery;
mod history;
