//! Messages put into the turn in flight (2.6).

use delivery::model::{MessageId, RunId};
use serde_json::value::RawValue;

use super::{Output, Phase, SHORT_CHARS_MAX, Session};
use crate::message::EventKind;
use crate::wire::{self, Failed, STEERING, Steer};

/// Messages that may wait at once until the agent says that its turn has them.
pub const STEERS_MAX: usize = 8;

impl Session {
    /// Puts a message into the turn of this run. It is no sign of life of the agent's, and moves none of its limits.
    pub(crate) fn steer(&mut self, run: &RunId, message: MessageId, text: &str) {
        let why = match &self.phase {
            Phase::Turn(turn) if turn.run != *run => "its turn had ended",
            Phase::Turn(turn) if turn.stopping.is_some() => "its turn is being stopped",
            Phase::Turn(turn) if turn.steers.len() >= STEERS_MAX => {
                "too many messages wait for the agent's word"
            }
            Phase::Turn(_) if !self.started.steering => "the agent does not let its turns be steered",
            Phase::Turn(_) => {
                let line = wire::request(self.last_id + 1, STEERING, &Steer::new(&self.native, text));
                let id = self.next_id();
                self.outputs.push_back(Output::Line(line));
                if let Some(reloading) = &mut self.reloading {
                    reloading.steer(text);
                }
                if let Phase::Turn(turn) = &mut self.phase {
                    turn.steers.push((id, message));
                }
                return;
            }
            Phase::Asked { .. } | Phase::Draining => "its turn had not begun",
            Phase::Idle => "its turn had ended",
            // The end of the turn, which was told, answers it.
            Phase::Over => return,
        };
        self.tell(EventKind::Steered { run: run.clone(), message, taken: Err(why.to_owned()) });
    }

    /// The agent says whether its turn has a message.
    pub(super) fn steered(&mut self, id: u64, answer: Result<&RawValue, Failed>) {
        let Phase::Turn(turn) = &mut self.phase else { return };
        let Some(at) = turn.steers.iter().position(|(waiting, _)| *waiting == id) else { return };
        let (run, (_, message)) = (turn.run.clone(), turn.steers.remove(at));
        let taken = match answer {
            Ok(answer) => wire::injected(answer),
            Err(error) => Err(format!("the agent answered with an error: {}", error.text)),
        };
        let taken = taken.map_err(|why| self.shown(&why, SHORT_CHARS_MAX));
        self.tell(EventKind::Steered { run, message, taken });
    }
}
