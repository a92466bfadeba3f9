//! The mark in the environment of an agent's tree, by which is found what outlived its holder.

use delivery::model::Epoch;

use crate::platform;

/// The variable that holds the mark; the agent, its holder and all that they start inherit it.
pub(crate) const VARIABLE: &str = "HIGHWATER_AGENT";

/// The mark of one process's tree: the server's mark, `:` and the epoch.
#[derive(Clone, Debug)]
pub(crate) struct Mark(String);

impl Mark {
    /// Of the process of this epoch.
    pub(crate) fn new(server: &str, epoch: Epoch) -> Self {
        Self(format!("{server}:{}", epoch.0))
    }

    /// The mark of an errand's tree.
    pub(crate) fn errand(server: &str, number: u64) -> Self {
        Self(format!("{server}:errand-{number}"))
    }

    /// As a variable of the environment.
    pub(crate) fn variable(&self) -> (String, String) {
        (VARIABLE.to_owned(), self.0.clone())
    }

    /// Kills what is left of the tree; for when its holder did not say that nothing is.
    pub(crate) async fn sweep(&self) {
        let own = self.0.clone();
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

/// Kills what is left of all agents that a server with this mark started; gives the number of processes. To be called
/// before the first start, while no other server has the mark. Blocks for two seconds at most.
///
/// A process is found by its environment: one that was started with another, overwrote it or took on rights of another
/// user escapes. On systems other than Linux nothing is found.
pub fn sweep(mark: &str) -> usize {
    platform::kill_marked(VARIABLE, |found| {
        let end = found.iter().rposition(|&byte| byte == b':');
        end.is_some_and(|end| &found[..end] == mark.as_bytes())
    })
}
