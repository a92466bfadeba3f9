//! The computer was asleep: whatever lived then proves that it still does, before its next turn.

use delivery::faults::{Rule, broken};

use super::{Command, Engine};

impl Engine {
    /// Asks all that live without a turn. A turn in flight has limits of its own, and its answer is a proof.
    pub(super) fn woke(&mut self) {
        if broken(Rule::SleepersProve) {
            return;
        }
        let idle = self.live.iter().filter(|(_, live)| {
            live.started && live.ending.is_none() && live.turn.as_ref().is_none_or(|turn| !turn.written)
        });
        let asked = idle.map(|(key, live)| Command::Prove { key: key.clone(), epoch: live.epoch });
        self.out.extend(asked);
    }
}
