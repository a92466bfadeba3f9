//! The published cases, and properties of whole histories.

mod cases;
