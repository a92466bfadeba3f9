//! Live events: the log of what changed, rendered once and handed to everybody who follows it, and what is told
//! only to those who look on: answers while they are written, and how agents stand.

mod cursor;
mod follower;
mod hub;
mod item;
mod live;
mod round;
mod sight;

pub(crate) use self::cursor::Cursor;
pub(crate) use self::follower::{Follower, Wish};
pub(crate) use self::hub::Hub;
pub(crate) use self::item::{Form, Item};
pub(crate) use self::round::spawn;
pub(crate) use self::sight::Watcher;

#[cfg(test)]
pub(crate) mod tests;
