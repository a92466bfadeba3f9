//! The mark of an agent's tree, in its environment and in the records, by which is found what outlived its holder.

use std::io;
use std::path::Path;
use std::sync::Arc;

use delivery::model::Epoch;

use crate::platform;
use crate::record::{self, Record};

/// The variable that holds the mark; the agent, its holder and all that they start inherit it.
pub(crate) const VARIABLE: &str = "HIGHWATER_AGENT";

/// By what one process's tree is found: the server's mark, `:` and the epoch in its environment, and a record.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    text: String,
    /// Where its holder is recorded, and under which epoch; an errand, which lives for a moment, has no record.
    recorded: Option<(Arc<Path>, Epoch)>,
}

impl Mark {
    /// Of the process of this epoch.
    pub(crate) fn new(server: &str, records: &Arc<Path>, epoch: Epoch) -> Self {
        Self { text: format!("{server}:{}", epoch.0), recorded: Some((Arc::clone(records), epoch)) }
    }

    /// Records its holder.
    pub(crate) fn record(&self, holder: u32) -> io::Result<Option<Record>> {
        let Some((records, epoch)) = &self.recorded else { return Ok(None) };
        Record::write(records, *epoch, holder)
    }

    /// The mark of an errand's tree.
    pub(crate) fn errand(server: &str, number: u64) -> Self {
        Self { text: format!("{server}:errand-{number}"), recorded: None }
    }

    /// As a variable of the environment.
    pub(crate) fn variable(&self) -> (String, String) {
        (VARIABLE.to_owned(), self.text.clone())
    }

    /// Kills what is left of the tree; for when its holder did not say that nothing is.
    pub(crate) async fn sweep(&self) {
        let own = self.text.clone();
        let swept = tokio::task::spawn_blocking(move || {
            platform::kill_marked(VARIABLE, |mark| mark == own.as_bytes())
        });
        match swept.await {
            Ok(0) => {}
            Ok(processes) => {
                tracing::warn!(processes, "processes of an agent outlived its holder and were killed")
            }
            Err(error) => tracing::warn!(%error, "what an agent left behind could not be looked for"),
        }
    }
}

/// Kills what is left of all agents that a server with this mark and this folder of records started; gives the number
/// of processes. To be called before the first start, while no other server has the mark. Blocks for some seconds at
/// most.
///
/// A process is found by its record or as the descendant of one that is (pid with start time, of this start of the system), or by its
/// environment: only one that was started with another environment, overwrote it or took on rights of another user, and whose
/// recorded ancestors have ended, escapes. On systems other than Linux nothing is found.
pub fn sweep(mark: &str, records: &Path) -> usize {
    let recorded = record::sweep(records);
    recorded
        + platform::kill_marked(VARIABLE, |found| {
            let end = found.iter().rposition(|&byte| byte == b':');
            end.is_some_and(|end| &found[..end] == mark.as_bytes())
        })
}
