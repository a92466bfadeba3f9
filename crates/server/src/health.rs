//! Whether the server does its work: the engine answers, the database is read and written.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::shell::{Readers, Service};
use crate::wire::{Healthz, Works};

/// How long each part may take to answer before it counts as failing.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long an answer is given again: anybody may ask, and a look costs a write.
const KEPT: Duration = Duration::from_secs(2);

/// Looks at the server, seldom enough that asking costs nobody anything. Clones share it.
#[derive(Clone)]
pub(crate) struct Health {
    service: Service,
    readers: Readers,
    last: Arc<Mutex<Option<(Instant, Healthz)>>>,
}

impl Health {
    pub(crate) fn new(service: Service, readers: Readers) -> Self {
        Self { service, readers, last: Arc::default() }
    }

    /// How it stands now, or stood a moment ago.
    pub(crate) async fn look(&self) -> Healthz {
        // Who comes while somebody looks waits for what they see.
        let mut last = self.last.lock().await;
        if let Some((at, seen)) = *last
            && at.elapsed() < KEPT
        {
            return seen;
        }
        let seen = self.see().await;
        let before = last.map_or(Works::Ok, |(_, before)| before.status);
        match (before, seen.status) {
            (Works::Ok, Works::Failing) => {
                let Healthz { engine, read, write, .. } = seen;
                tracing::error!(?engine, ?read, ?write, "the server does not do its work");
            }
            (Works::Failing, Works::Ok) => tracing::warn!("the server does its work again"),
            (Works::Ok, Works::Ok) | (Works::Failing, Works::Failing) => {}
        }
        *last = Some((Instant::now(), seen));
        seen
    }

    async fn see(&self) -> Healthz {
        let read = self.readers.read(|store| Ok(store.max_epoch()?));
        let (written, read) =
            tokio::join!(timeout(PATIENCE, self.service.try_write()), timeout(PATIENCE, read));
        let written = written.ok().and_then(Result::ok);
        Healthz::new(written.is_some(), matches!(read, Ok(Ok(_))), matches!(written, Some(Ok(()))))
    }
}
