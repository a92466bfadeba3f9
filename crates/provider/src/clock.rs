//! The provider's own time, in milliseconds since it started.

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use tokio::sync::watch;

/// How time passes for a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passing {
    /// By itself, and faster when it is told to jump.
    #[default]
    ByItself,
    /// By jumps alone: figures that depend on it are exact.
    ByHand,
}

pub(crate) struct Clock {
    /// None: it does not run.
    started: Option<Instant>,
    jumped_ms: watch::Sender<u64>,
}

impl Clock {
    pub(crate) fn new(passing: Passing) -> Clock {
        let started = match passing {
            Passing::ByItself => Some(Instant::now()),
            Passing::ByHand => None,
        };
        Clock { started, jumped_ms: watch::Sender::new(0) }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        let ran = self.started.map_or(Duration::ZERO, |started| started.elapsed());
        u64::try_from(ran.as_millis()).unwrap_or(u64::MAX).saturating_add(*self.jumped_ms.borrow())
    }

    pub(crate) fn jump(&self, by_ms: u64) {
        self.jumped_ms.send_modify(|jumped| *jumped = jumped.saturating_add(by_ms));
    }

    /// Until this time of it has come.
    pub(crate) async fn until(&self, due_ms: u64) {
        let mut jumps = self.jumped_ms.subscribe();
        loop {
            let left_ms = due_ms.saturating_sub(self.now_ms());
            if left_ms == 0 {
                return;
            }
            if self.started.is_some() {
                // Either ends it, and the time is looked at again.
                let _ = tokio::time::timeout(Duration::from_millis(left_ms), jumps.changed()).await;
            } else if jumps.changed().await.is_err() {
                return;
            }
        }
    }
}
