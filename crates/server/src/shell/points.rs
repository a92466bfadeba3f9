//! Named points at which a debug build kills itself when a test says so; a release build has none.

use super::Job;

/// What a killed server has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// What somebody asked is in the transaction, which has not committed.
    Inserted,
    /// An agent has its prompt, which is not stored yet.
    Prompted,
    /// An agent answered; reply, end of run and watermark are in the transaction, which has not committed.
    Answered,
    /// A batch has committed; nobody was told.
    Committed,
    /// Whoever asked was told; what follows for agents was not done.
    Told,
}

/// Before the commit of these.
pub(super) fn inserted(jobs: &[Job]) {
    let mut points: Vec<Point> = jobs.iter().filter_map(before_commit).collect();
    points.dedup();
    points.into_iter().for_each(|point| reach(point, 1));
}

fn before_commit(job: &Job) -> Option<Point> {
    match job {
        Job::Asked(_) => Some(Point::Inserted),
        Job::Agent(event) => match event.kind {
            agents::EventKind::PromptWritten { .. } => Some(Point::Prompted),
            agents::EventKind::TurnEnded { .. } => Some(Point::Answered),
            agents::EventKind::Started(_)
            | agents::EventKind::ReloadFailed { .. }
            | agents::EventKind::Update { .. }
            | agents::EventKind::PermissionAsked { .. }
            | agents::EventKind::PermissionClosed { .. }
            | agents::EventKind::Steered { .. }
            | agents::EventKind::TurnFailed { .. }
            | agents::EventKind::TreeLost
            | agents::EventKind::Exited { .. } => None,
        },
        Job::Woke | Job::Tick => None,
    }
}

/// Ends the process as a power cut would, where `HIGHWATER_DIE_AT` is this point and how often it has to be reached:
/// `Committed:3`. A batch of no inputs reaches none.
#[cfg(debug_assertions)]
pub(super) fn reach(point: Point, inputs: u32) {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static PLAN: LazyLock<Option<(String, AtomicU64)>> = LazyLock::new(|| {
        let plan = std::env::var("HIGHWATER_DIE_AT").ok()?;
        let (name, count) = plan.split_once(':')?;
        Some((name.to_owned(), AtomicU64::new(count.parse().ok()?)))
    });
    let Some((name, left)) = &*PLAN else { return };
    if inputs > 0 && *name == format!("{point:?}") && left.fetch_sub(1, Ordering::Relaxed) == 1 {
        // Its end is on its way when this returns, if it returns.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Nothing ends here.
#[cfg(not(debug_assertions))]
pub(super) const fn reach(_: Point, _: u32) {}
