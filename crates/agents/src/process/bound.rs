//! The limit of one process's memory: kept by the kernel where it does that, else by looking.

use super::Told;
use crate::memory::{Keeper, amount};
use crate::platform::Group;

/// A limit.
#[derive(Debug)]
pub(super) struct Bound {
    max: u64,
    /// The control group that keeps it, if one does.
    group: Option<Group>,
    /// How many processes the kernel had ended for it at the last look.
    seen: u64,
}

impl Bound {
    /// A limit that this group keeps, or that the server has to look after.
    pub(super) fn new(max: u64, group: Option<Group>) -> Self {
        Self { max, group, seen: 0 }
    }

    /// The control group that keeps it.
    pub(super) fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// The limit and who keeps it.
    pub(super) fn limit(&self) -> (u64, Keeper) {
        (self.max, if self.group.is_some() { Keeper::Kernel } else { Keeper::Server })
    }

    /// What became of the agent that had too much.
    pub(super) fn reason(&self) -> String {
        format!(
            "the agent was over its memory limit of {} and was ended: raise the limit, or give it less to do at a time",
            amount(self.max)
        )
    }

    /// The process is gone. If the kernel ended the agent itself for its memory, that is why; if another of its
    /// processes, since the last look, that is given.
    pub(super) fn over(&mut self, told: &Told, unfit: &mut Option<String>) -> Option<String> {
        let killed = told.status.is_none()
            && told.signal.is_none_or(|signal| signal == rustix::process::Signal::KILL.as_raw());
        if killed && self.group.as_ref().is_some_and(|group| group.kills() > 0) {
            unfit.get_or_insert_with(|| self.reason());
            return None;
        }
        self.news()
    }

    /// What became of a process of the agent's since the last look, if the kernel ended one.
    pub(super) fn news(&mut self) -> Option<String> {
        let kills = self.group.as_ref()?.kills();
        let is_news = kills > self.seen;
        self.seen = kills;
        is_news.then(|| {
            format!("a process of the agent was over its memory limit of {} and was ended", amount(self.max))
        })
    }

    /// Nothing is left in its group. On a thread of its own: the kernel may need a moment.
    pub(super) async fn close(self) {
        if let Some(group) = self.group
            && let Err(error) = tokio::task::spawn_blocking(move || group.remove()).await
        {
            tracing::warn!(%error, "an agent's control group stays");
        }
    }
}
