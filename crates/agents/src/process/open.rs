//! Starts an agent under its holder and waits until the holder says that it runs.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use delivery::model::Epoch;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::FORCE_LIMIT;
use super::bound::Bound;
use crate::hold::Plan;
use crate::lines::{Line, LineReader};
use crate::mark::Mark;
use crate::memory::amount;
use crate::message::{Hide, Sight, Spec};
use crate::platform::{self, Group, Name};
use crate::record::Record;
use crate::report::Report;
use crate::spawn::{self, Held};

/// How long the holder may take to start the agent; it has nothing else to do.
const HOLDER_LIMIT: Duration = Duration::from_secs(10);

/// What the holder waits for: it is recorded, so that whatever it starts will be found.
const GO: &[u8] = b"g";

/// An agent that runs under its holder.
#[derive(Debug)]
pub(super) struct Opened {
    /// The holder.
    pub(super) child: Child,
    /// Its id.
    pub(super) pid: u32,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
    /// What the holder tells.
    pub(super) reports: LineReader<OwnedReadHalf>,
    /// Dropped, it has the holder end the tree.
    pub(super) control: OwnedWriteHalf,
    /// To be closed when nothing is left of the tree.
    pub(super) record: Option<Record>,
    /// How much memory it may have.
    pub(super) bound: Option<Bound>,
    /// Whose processes the agent sees.
    pub(super) sight: Sight,
    /// Things to tell people.
    pub(super) notices: Vec<String>,
}

/// Starts the agent; the error is for people. What the system refuses is done without, and told.
pub(super) async fn open(holder: &Arc<[String]>, spec: &Spec, mark: &Mark) -> Result<Opened, String> {
    let (mut hide, mut sight) = (spec.hide.clone(), spec.sight);
    let mut notices = Vec::new();
    loop {
        let plan =
            Plan::new(&spec.command, hide.clone(), sight).ok_or_else(|| "its command is empty".to_owned())?;
        match attempt(holder, spec, mark, &plan).await {
            Ok(opened) => {
                notices.extend_from_slice(&opened.notices);
                return Ok(Opened { notices, sight, ..opened });
            }
            // A holder that failed half-way may stand in a namespace where the agent could not work: a new one.
            Err(NotOpened::Exposed(reason)) if hide.is_some() => {
                hide = None;
                notices.push(format!("the data folder could not be hidden from the agent: {reason}"));
            }
            Err(NotOpened::Together(reason)) if sight == Sight::Own => {
                sight = Sight::All;
                notices.push(format!("the agent could not be given processes of its own: {reason}"));
            }
            Err(NotOpened::Exposed(reason) | NotOpened::Together(reason) | NotOpened::Failed(reason)) => {
                return Err(reason);
            }
        }
    }
}

/// What the system allowed in a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Whose processes agents will see.
    pub sight: Sight,
    /// What agents will be told that it refused.
    pub notices: Vec<String>,
}

/// Starts a program that ends by itself as agents are started, and tells what the system refused.
pub async fn trial(holder: &[String], records: &Path, spec: &Spec) -> Trial {
    let mark = Mark::new(&spec.mark, &records.into(), Epoch(0));
    match open(&holder.into(), spec, &mark).await {
        Ok(opened) => {
            let Opened {
                mut child, pid, stdin, stdout, stderr, control, record, bound, notices, sight, ..
            } = opened;
            drop((stdin, stdout, stderr, control));
            gone(&mut child, pid, &mark).await;
            record.into_iter().for_each(Record::close);
            if let Some(bound) = bound {
                bound.close().await;
            }
            Trial { sight, notices }
        }
        Err(reason) => {
            Trial { sight: spec.sight, notices: vec![format!("agents cannot be started: {reason}")] }
        }
    }
}

/// Why the holder did not start the agent.
enum NotOpened {
    Exposed(String),
    Together(String),
    Failed(String),
}

async fn attempt(holder: &Arc<[String]>, spec: &Spec, mark: &Mark, plan: &Plan) -> Result<Opened, NotOpened> {
    let Begun { held, pid, mut record, bound, notices } =
        start(holder, spec, mark, plan).await.map_err(NotOpened::Failed)?;
    let Held { mut child, stdin, stdout, stderr, control } = held;
    let (reports, mut control) = control.into_split();
    let mut reports = LineReader::new(reports);
    // One that has ended already tells nothing more.
    let _ = control.write_all(GO).await;
    match first_report(&mut reports).await {
        Ok(agent) => {
            if let (Some(record), Some(agent)) = (&mut record, agent) {
                record.add(agent);
            }
            let sight = plan.sight;
            Ok(Opened { child, pid, stdin, stdout, stderr, reports, control, record, bound, sight, notices })
        }
        Err(why) => {
            drop((stdin, stdout, stderr, control));
            gone(&mut child, pid, mark).await;
            record.into_iter().for_each(Record::close);
            if let Some(bound) = bound {
                bound.close().await;
            }
            Err(why)
        }
    }
}

async fn first_report(reports: &mut LineReader<OwnedReadHalf>) -> Result<Option<Name>, NotOpened> {
    let line = match timeout(HOLDER_LIMIT, reports.next()).await {
        Ok(Ok(Line::Text(line))) => line,
        Ok(Ok(Line::TooLong | Line::End) | Err(_)) => {
            return Err(NotOpened::Failed("the holder ended without starting the agent".to_owned()));
        }
        Err(_) => return Err(NotOpened::Failed("the holder did not start the agent in time".to_owned())),
    };
    match Report::read(&line) {
        Some(Report::Started(agent)) => Ok(agent),
        Some(Report::Exposed(reason)) => Err(NotOpened::Exposed(reason)),
        Some(Report::Together(reason)) => Err(NotOpened::Together(reason)),
        Some(Report::Failed(reason)) => Err(NotOpened::Failed(reason)),
        Some(Report::Exited(_) | Report::Signaled(_) | Report::TreeGone) | None => {
            Err(NotOpened::Failed(format!("the holder is not this version's: {line}")))
        }
    }
}

/// Waits until a holder that was let go has ended, and ends it if it does not.
async fn gone(child: &mut Child, pid: u32, mark: &Mark) {
    if timeout(FORCE_LIMIT, child.wait()).await.is_err() {
        platform::kill_tree(pid);
        if let Err(error) = child.kill().await {
            tracing::warn!(%error, pid, "the holder could not be killed");
        }
        mark.sweep().await;
    }
}

/// A holder that waits for its word.
struct Begun {
    held: Held,
    pid: u32,
    record: Option<Record>,
    bound: Option<Bound>,
    /// Things to tell people.
    notices: Vec<String>,
}

/// Starts the holder, which waits, records and bounds it. On a thread of its own: making the folder or starting the
/// program can hang on a file system.
async fn start(holder: &Arc<[String]>, spec: &Spec, mark: &Mark, plan: &Plan) -> Result<Begun, String> {
    let (holder, spec, mark, plan) = (Arc::clone(holder), spec.clone(), mark.clone(), plan.clone());
    let started = tokio::task::spawn_blocking(move || {
        make_folders(&spec)?;
        let held = spawn::holder(&holder, &spec, &plan.words())
            .map_err(|error| format!("the holder {} could not be started: {error}", holder.join(" ")))?;
        let pid = held.child.id().ok_or_else(|| "the holder ended at once".to_owned())?;
        let not_recorded = |error| format!("its process could not be recorded: {error}");
        let mut record = mark.record(pid).map_err(not_recorded)?;
        let mut notices = Vec::new();
        let bound = spec.memory_max.map(|max| Bound::new(max, bounded(max, pid, &mut notices)));
        if let (Some(record), Some(group)) = (&mut record, bound.as_ref().and_then(Bound::group)) {
            record.put_in(group.folder()).map_err(not_recorded)?;
        }
        Ok(Begun { held, pid, record, bound, notices })
    });
    started.await.map_err(|error| format!("the holder could not be started: {error}"))?
}

/// The control group that the holder was put into; without one that is told.
fn bounded(max: u64, holder: u32, notices: &mut Vec<String>) -> Option<Group> {
    match Group::bound(max, holder) {
        Ok(group) => Some(group),
        Err(reason) => {
            notices.push(format!(
                "the system does not keep the agent to its memory limit of {}, so it is measured: {reason}",
                amount(max)
            ));
            None
        }
    }
}

/// Makes the agent's own folder, which is bound back over the hidden one and must be there for that, and the one that
/// it works in, which may be elsewhere.
fn make_folders(spec: &Spec) -> Result<(), String> {
    let failed = |folder: &Path| {
        let folder = folder.display().to_string();
        move |error| format!("the agent's folder {folder} could not be made: {error}")
    };
    if let Some(Hide { but, .. }) = &spec.hide {
        DirBuilder::new().recursive(true).mode(0o700).create(but).map_err(failed(but))?;
    }
    std::fs::create_dir_all(&spec.cwd).map_err(failed(&spec.cwd))
}
