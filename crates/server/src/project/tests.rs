//! Real repositories, friendly and hostile, and Highwater's own git on them.

mod activity;
mod copies;
mod hostile;
mod names;
mod repositories;
mod world;
