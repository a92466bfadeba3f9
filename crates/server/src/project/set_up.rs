//! The set-up line of a project, run in a new worktree as its agent would run.

use std::time::Duration;

use agents::{Errand, Spec};

use super::Projects;
use crate::engine::{Origin, SetUp, SetUpEnd, Workplace};

/// How long it may take: time to fetch and build what a project needs. An agent's run waits for it.
const LIMIT: Duration = Duration::from_secs(600);
/// Bytes of the end of its output that are kept with the run: the last lines say what went wrong.
const OUTPUT_BYTES_MAX: usize = 16 * 1024;

impl Projects {
    /// Runs the set-up line of a trusted project where it has not worked yet.
    pub(super) async fn set_up(&self, workplace: &Workplace, origin: Origin, spec: &Spec) -> Option<SetUp> {
        let is_done = workplace.worktree.set_up_at.is_some() && origin == Origin::There;
        let line = workplace.project.spec.setup.clone().filter(|_| !is_done)?;
        workplace.project.trusted_at?;
        let command = ["/bin/sh", "-c", &line].map(str::to_owned).to_vec();
        let errand = Errand {
            spec: Spec { command, before: None, tools: None, ..spec.clone() },
            number: workplace.worktree.id.0.trim_start_matches('w').parse().unwrap_or_default(),
            limit: LIMIT,
            output_bytes_max: OUTPUT_BYTES_MAX,
        };
        let (end, output) = match errand.run(&self.holder).await {
            Ok(returned) => {
                let end = returned.status.map_or(SetUpEnd::TooLong(LIMIT), SetUpEnd::Exited);
                (end, returned.output)
            }
            Err(why) => (SetUpEnd::NotStarted(why), String::new()),
        };
        Some(SetUp { line, end, output })
    }
}
