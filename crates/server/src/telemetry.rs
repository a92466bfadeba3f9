//! Tells a collector of OpenTelemetry about runs: one span each, by the conventions for generative AI.
//!
//! It follows the log beside the engine and waits for nobody: what cannot be sent in time is dropped and counted in the
//! server's own log. Nothing of what was said goes out, nor any name that people chose but agents' handles.

mod otlp;
mod send;
mod span;

use std::time::Duration;

use delivery::model::RunId;
use storage::{Change, Read};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::ApiError;
use crate::shell::Readers;
pub use otlp::Otlp;
use span::Span;

/// How long what a run took may still become known after its end: transcripts are read a moment later.
const SETTLES_AFTER: Duration = Duration::from_secs(2);
/// How long a collector has for a batch.
const SEND_LIMIT: Duration = Duration::from_secs(10);
/// Entries of the log that are looked at at once.
const ENTRIES_MAX: usize = 1_000;
/// Runs that are brought along with an import ended long ago, elsewhere.
const AGE_MS_MAX: i64 = 60 * 60 * 1_000;

/// Follows the runs that end from now on, until the server stops.
pub(crate) fn spawn(
    readers: Readers,
    ended: watch::Receiver<u64>,
    endpoint: Otlp,
    now_ms: impl Fn() -> i64 + Send + Sync + 'static,
) -> Result<JoinHandle<()>, ApiError> {
    let head = readers.read_now(|store| Ok(store.log_span()?.head))?;
    Ok(tokio::spawn(follow(readers, ended, endpoint, head, now_ms)))
}

async fn follow(
    readers: Readers,
    mut ended: watch::Receiver<u64>,
    endpoint: Otlp,
    mut seen: u64,
    now_ms: impl Fn() -> i64,
) {
    // The sender goes with the engine: then the last runs are told of, without waiting for more about them.
    loop {
        let goes_on = ended.changed().await.is_ok() && settles(&mut ended).await;
        loop {
            let (after, now) = (seen, now_ms());
            let Ok(Batch { spans, last }) = readers.read(move |store| batch(store, after, now)).await else {
                break;
            };
            if last == seen {
                break;
            }
            seen = last;
            tell(&endpoint, &spans).await;
        }
        if !goes_on {
            return;
        }
    }
}

/// Waits until more may be known of a run that has ended; whether the engine goes on.
async fn settles(ended: &mut watch::Receiver<u64>) -> bool {
    let gone = async { while ended.changed().await.is_ok() {} };
    timeout(SETTLES_AFTER, gone).await.is_err()
}

async fn tell(endpoint: &Otlp, spans: &[Span]) {
    if spans.is_empty() {
        return;
    }
    let sent = timeout(SEND_LIMIT, send::post(endpoint, &span::request(spans))).await;
    let why = match sent {
        Ok(Ok(())) => return,
        Ok(Err(why)) => why,
        Err(_) => "it took too long".to_owned(),
    };
    tracing::warn!(runs = spans.len(), why, "a collector of OpenTelemetry was not told of runs");
}

struct Batch {
    spans: Vec<Span>,
    /// The newest entry that was looked at.
    last: u64,
}

/// The runs that ended behind this entry of the log.
fn batch(store: &dyn Read, after: u64, now_ms: i64) -> Result<Batch, ApiError> {
    let origin = store.log_span()?.origin;
    let entries = store.log(after, ENTRIES_MAX)?;
    let last = entries.last().map_or(after, |entry| entry.n);
    let ended = entries.into_iter().filter_map(|entry| {
        let Change::RunEnded(run) = entry.change else { return None };
        (now_ms.saturating_sub(entry.at.ms) < AGE_MS_MAX).then_some(run)
    });
    let ended: Vec<RunId> = ended.collect();
    let spans = ended.iter().map(|run| span::of_run(store, run, origin)).collect::<Result<Vec<_>, _>>()?;
    Ok(Batch { spans: spans.into_iter().flatten().collect(), last })
}

#[cfg(test)]
mod tests;
