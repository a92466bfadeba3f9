//! Events of one process on their way out.

use std::collections::VecDeque;

use delivery::model::{Epoch, Key};
use tokio::sync::mpsc;

use crate::message::{Event, EventKind};

/// Keeps events in order until the channel takes them, so that a full channel stops the reading of the agent but
/// neither its deadlines nor its end.
#[derive(Debug)]
pub(crate) struct Outlet {
    name: (Key, Epoch),
    events: mpsc::Sender<Event>,
    waiting: VecDeque<EventKind>,
}

impl Outlet {
    /// For the process of this name.
    pub(crate) fn new(name: (Key, Epoch), events: mpsc::Sender<Event>) -> Self {
        Self { name, events, waiting: VecDeque::new() }
    }

    /// Whether everything was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds an event.
    pub(crate) fn push(&mut self, kind: EventKind) {
        self.waiting.push_back(kind);
    }

    /// Sends one event. Dropping the future loses nothing.
    pub(crate) async fn send(&mut self) {
        let permit = self.events.reserve().await;
        let Some(kind) = self.waiting.pop_front() else { return };
        let (key, epoch) = self.name.clone();
        match permit {
            Ok(permit) => permit.send(Event { key, epoch, kind }),
            // Nobody listens any more: the server is going down.
            Err(_) => self.waiting.clear(),
        }
    }

    /// Sends all.
    pub(crate) async fn flush(&mut self) {
        while !self.is_empty() {
            self.send().await;
        }
    }
}
