//! What is done outside the engine's thread for it, and told to it when it is done.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::Spec;
use agents::transcript::{self, Reading};
use delivery::Timestamp;
use delivery::model::{NativeId, RunId};
use storage::{TranscriptMark, Worktree};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::{Ask, Asked, stopped};
use crate::engine::{ProjectAct, Reply, Request, Transcript, Workplace};
use crate::error::ApiError;
use crate::project::{Fault, Projects};
use crate::start::StartAgents;

/// The way out, and back.
pub(super) struct Outside {
    asker: Asker,
    runtime: Handle,
}

impl Outside {
    /// Of an engine that takes these requests. To be called within the runtime in which things are done.
    pub(super) fn new(requests: &mpsc::Sender<Ask>) -> Self {
        Self { asker: Asker(requests.downgrade()), runtime: Handle::current() }
    }

    /// The spec of a process, with what gets its workplace ready first, if it has one.
    pub(super) fn at_work(&self, start: &StartAgents, spec: Spec, workplace: Option<Box<Workplace>>) -> Spec {
        match workplace {
            Some(workplace) => start.at_work(spec, *workplace, self.asker.clone()),
            None => spec,
        }
    }

    /// Reads what a session's transcript has behind a place, and tells it.
    pub(super) fn read_transcript(
        &self,
        projects: PathBuf,
        (run, native): (RunId, NativeId),
        from: TranscriptMark,
        until: Timestamp,
    ) {
        let asker = self.asker.clone();
        self.runtime.spawn(async move {
            // Without a transcript nothing is known; a server that stops is told nothing, and the next one reads again.
            let Some(Reading { models, cut, bytes, request }) =
                settled(&projects, &native, &from, until).await
            else {
                return;
            };
            let to = TranscriptMark { bytes, request };
            let read = Transcript { run, native, from, until, to, models, cut };
            if let Err(error) = asker.ask(Request::Transcript(Box::new(read))).await {
                tracing::debug!(code = error.code.as_str(), "what a transcript told was not kept");
            }
        });
    }

    /// Removes a worktree that nobody uses any more, if nothing is lost with it.
    pub(super) fn tidy(&self, start: &StartAgents, worktree: Worktree) {
        self.runtime.spawn(tidy(start.projects.clone(), worktree, self.asker.clone()));
    }
}

/// How often a transcript is looked at: Claude Code writes it in batches, some time after its turn.
const LOOK: Duration = Duration::from_millis(500);
/// Looks at most, from the end of the turn on.
const LOOKS_MAX: u32 = 12;

/// What a transcript tells when it tells something and has not grown since the look before, or at the last look.
async fn settled(
    projects: &Path,
    native: &NativeId,
    from: &TranscriptMark,
    until: Timestamp,
) -> Option<Reading> {
    let mut last: Option<Reading> = None;
    for _ in 0..LOOKS_MAX {
        tokio::time::sleep(LOOK).await;
        let (projects, native, from) = (projects.to_owned(), native.clone(), from.clone());
        let read =
            move || transcript::read(&projects, native.as_str(), from.bytes, from.request.as_deref(), until);
        let reading = tokio::task::spawn_blocking(read).await.ok()?;
        let tells = reading.as_ref().is_some_and(|reading| reading.cut > 0 || !reading.models.is_empty());
        if tells && reading == last {
            break;
        }
        last = reading.or(last);
    }
    last
}

/// A handle for work that the engine's thread began: it does not keep the thread.
#[derive(Clone)]
pub(crate) struct Asker(mpsc::WeakSender<Ask>);

impl Asker {
    /// As [`super::Service::ask`].
    pub(crate) async fn ask(&self, request: Request) -> Result<Reply, ApiError> {
        let requests = self.0.upgrade().ok_or_else(stopped)?;
        let (answer, answered) = oneshot::channel();
        requests.send(Ask::Request(Asked { request, answer })).await.map_err(|_| stopped())?;
        drop(requests);
        answered.await.map_err(|_| stopped())?
    }
}

async fn tidy(projects: Projects, worktree: Worktree, asker: Asker) {
    let tidied = async {
        if !projects.look(&worktree).await?.is_clean() {
            return Ok(());
        }
        projects.remove(&worktree).await?;
        let removed = ProjectAct::Removed { id: worktree.id.clone() };
        let told = asker.ask(Request::Project(Box::new(removed))).await;
        told.map(drop).map_err(|error| Fault(error.message))
    };
    if let Err(fault) = tidied.await {
        tracing::warn!(worktree = %worktree.id, %fault, "a worktree that is not needed any more is kept");
    }
}
