//! What comes before the start of a process.

use super::{Before, Spec};

impl Spec {
    /// The wait of a reload, then the work.
    pub(crate) fn first(&self) -> Option<Before> {
        let wait = self.reload.as_ref().map(|reload| reload.wait).filter(|wait| !wait.is_zero());
        let waits = wait.map(|wait| {
            Before::new(move || async move {
                tokio::time::sleep(wait).await;
                Ok(())
            })
        });
        match (waits, self.before.clone()) {
            (Some(waits), Some(work)) => Some(waits.then(work)),
            (waits, work) => waits.or(work),
        }
    }
}
