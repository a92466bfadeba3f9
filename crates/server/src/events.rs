//! Live events: the log of what changed, rendered once and handed to everybody who follows it, and what is told
//! only to those who look on: answers while they are written, and how agents stand.

mod cursor;
mod follower;
mod hub;
mod item;
mod live;
mod round;

pub(crate) use self::cursor::Cursor;
pub(crate) use self::follower::{Follower, Wish};
pub(crate) use self::hub::Hub;
pub(crate) use self::item::{Form, Item};
pub(crate) use self::round::spawn;

/// Who reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Principal {
    /// The owner of the workspace.
    Owner,
}

/// Whether a reader may see an event. Everything that is sent to a reader, live or out of the log, is asked about
/// here, and nowhere else.
pub(crate) fn may_see(_event: &Item, principal: &Principal) -> bool {
    match principal {
        Principal::Owner => true,
    }
}

#[cfg(test)]
mod tests;
