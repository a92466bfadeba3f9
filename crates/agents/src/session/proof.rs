//! An agent proves that it is alive, after the computer had slept: it answers a question that it need not understand.

use std::time::Duration;

use delivery::model::RunId;
use serde_json::json;
use tokio::time::Instant;

use super::start::Asked;
use super::{Output, Phase, Session};
use crate::fault::Fault;
use crate::message::EventKind;
use crate::wire;

/// What is asked. No agent knows it, and each one has to answer what it does not know with an error. The underscore
/// keeps it apart from all that the protocol will ever have.
const METHOD: &str = "_highwater/alive";

/// How long the answer may take: agents answer at once, but a computer that has just woken has much to do.
const LIMIT: Duration = Duration::from_secs(10);

impl Session {
    /// Asks an idle agent for a sign of life; without one it is unfit, and a prompt that came meanwhile was not written.
    /// A turn in flight has its own limits, and its end is a sign of life; so has a start.
    pub(crate) fn prove(&mut self, now: Instant) {
        match &self.phase {
            Phase::Idle => {
                let id = self.next_id();
                self.outputs.push_back(Output::Line(wire::request(id, METHOD, &json!({}))));
                self.phase = Phase::Asked { asked: Asked::Alive, id, until: now + self.proof_limit() };
            }
            Phase::Asked { .. } | Phase::Draining | Phase::Turn(_) | Phase::Over => {}
        }
    }

    /// It answered, whatever it was.
    pub(super) fn proved(&mut self, now: Instant) {
        self.phase = Phase::Idle;
        if let Some((run, text)) = self.held.take() {
            self.prompt(run, &text, now);
        }
    }

    /// Why one that did not is unfit.
    pub(super) fn no_proof(&self) -> String {
        format!(
            "the agent gave no sign of life within {} after the computer had slept",
            super::turn::seconds(self.proof_limit())
        )
    }

    /// Takes back a prompt that waits for the proof.
    pub(super) fn cancel_held(&mut self, run: &RunId) {
        if let Some((run, _)) = self.held.take_if(|(held, _)| held == run) {
            let reason = "cancelled".to_owned();
            self.tell(EventKind::TurnFailed { run, reason, fault: Fault::Other });
        }
    }

    fn proof_limit(&self) -> Duration {
        self.limits.start.min(LIMIT)
    }
}
