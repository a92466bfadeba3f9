//! The user turn of a mention (2.3), and how full it must be for what the session was told before (3.6).

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::faults::{Rule, broken};
use crate::model::Policy;
use crate::payload::{self, Payload};
use crate::prose::{MENTIONED, REMINDER, channel_task_brief};

/// Bytes of turns after which an agent that reports no use is told in full again: by then it may have compacted.
const UNREPORTED_BYTES_MAX: u64 = 64 * 1024;

/// What a live session was told in committed turns, and when it must be told in full again (3.6).
/// Stored with the session; a session that was begun starts from the default, one that was reloaded from
/// [`Told::reloaded`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    /// The last committed payload, without its text; `None`: the next turn is full.
    pub payload: Option<Payload>,
    /// Fingerprint of the brief that was told.
    pub brief: Option<String>,
    /// Highest `usage_update.used` since the session began or compacted, in tokens.
    pub used: Option<u64>,
    /// Bytes of turns since the last full one; they decide for agents that report no use.
    pub turn_bytes: u64,
    /// How often the session compacted.
    pub compactions: u64,
    /// Fingerprint of the framing that the session's history holds for certain; `None` when it may hold none.
    pub framing: Option<String>,
    /// Turns in a row in which its process went away by itself.
    pub crashes: u32,
    /// How many turns failed because the provider took the request for invalid, since one did not fail.
    pub refused: u32,
}

/// Turns refused as invalid after which what is invalid must be in the session itself: the first may have been the fault
/// of its own message.
const REFUSED_MAX: u32 = 2;

impl Told {
    /// The agent reported how full its context is; a fall by a tenth means that it compacted. Falls in small
    /// steps add up.
    pub fn used(&mut self, used: u64) {
        let high = self.used.unwrap_or(used).max(used);
        if u128::from(used) * 10 <= u128::from(high) * 9 && used < high {
            self.compacted();
            self.used = Some(used);
        } else {
            self.used = Some(high);
        }
    }

    /// The agent said that it compacted: what its history holds verbatim is not known any more.
    pub fn compacted(&mut self) {
        self.payload = None;
        self.framing = None;
        self.compactions = self.compactions.saturating_add(1);
    }

    /// A turn did not succeed.
    pub fn failed(&mut self) {
        if !broken(Rule::WholeAfterFailure) {
            self.payload = None;
        }
    }

    /// A new process reloaded the session: it has its history, but the next turn is full (3.6).
    pub fn reloaded(&mut self) {
        if !broken(Rule::WholeAfterReload) {
            self.payload = None;
        }
    }

    /// A turn was committed that began with this framing. If the session compacted since the turn was put together,
    /// nothing is certain: `compactions` is what it was then.
    pub fn framed(&mut self, framing: &str, compactions: u64) {
        self.framing = (compactions == self.compactions).then(|| fingerprint(framing));
    }

    /// Whether the session's history holds this very framing (3.4).
    pub fn holds(&self, framing: &str) -> bool {
        self.framing.as_ref() == Some(&fingerprint(framing)) && !broken(Rule::HeldFramingIsNotSent)
    }

    /// The process went away by itself in a turn; how often that happened in a row.
    pub fn crashed(&mut self) -> u32 {
        self.crashes = self.crashes.saturating_add(1);
        self.crashes
    }

    /// A turn was answered.
    pub fn answered(&mut self) {
        self.crashes = 0;
        self.refused = 0;
    }

    /// A turn failed, since the provider took the request for invalid.
    pub fn refused(&mut self) {
        self.failed();
        self.refused = self.refused.saturating_add(1);
    }

    /// Whether something in the session makes every turn of it fail: only a new one helps.
    pub fn is_poisoned(&self) -> bool {
        self.refused >= REFUSED_MAX
    }

    /// A turn was committed, answered in `answer_bytes` bytes. If the session compacted since the turn was put
    /// together, the next one is full all the same.
    pub fn committed(&mut self, telling: Telling, answer_bytes: u64) {
        self.payload = telling.payload.filter(|_| telling.compactions == self.compactions);
        self.brief = Some(BRIEF.clone());
        self.turn_bytes = if telling.full {
            0
        } else {
            self.turn_bytes.saturating_add(telling.bytes).saturating_add(answer_bytes)
        };
    }

    /// The payload that the session can be told the difference to; `None` when it must be told in full.
    fn payload_to_build_on(&self) -> Option<&Payload> {
        let knows_brief = self.brief.as_deref() == Some(BRIEF.as_str());
        let may_have_compacted = self.used.is_none() && self.turn_bytes >= UNREPORTED_BYTES_MAX;
        self.payload.as_ref().filter(|_| knows_brief && !may_have_compacted)
    }
}

/// The parts of a mention's user turn.
#[derive(Clone, Debug)]
pub struct Mention<'a> {
    /// Delivery policy.
    pub policy: Policy,
    /// Facts.
    pub payload: &'a Payload,
    /// What the session was told before.
    pub told: &'a Told,
    /// Whether the brief stands in the session's system prompt (3.6); counts under `lean` alone.
    pub brief_in_system: bool,
    /// The context block, if there is one.
    pub block: Option<&'a str>,
}

/// A user turn, and what comes of it once it is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserTurn {
    /// The exact text (2.3).
    pub text: String,
    /// For [`Told::committed`].
    pub telling: Telling,
}

/// What a user turn tells its session. Small: it can be kept with the run until that ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telling {
    /// Whether the payload was told in full, and the brief where it is in the turn.
    pub full: bool,
    /// Bytes of the user turn.
    pub bytes: u64,
    /// What later payloads can build on, without its text: that is never left out, and a copy would outlive the
    /// message. `None` under `base` and `window`, where nothing builds on what was told.
    payload: Option<Payload>,
    compactions: u64,
}

/// Puts a mention's user turn together: payload and brief in full, or what changed and the reminder (3.6).
pub fn user_turn(mention: &Mention<'_>) -> UserTurn {
    let lean = match mention.policy {
        Policy::Lean => true,
        Policy::Base | Policy::Window => false,
    };
    let told = mention.told.payload_to_build_on().filter(|_| lean);
    let reminds = lean && (told.is_some() || mention.brief_in_system) && !broken(Rule::BriefOnce);
    let brief = if reminds { REMINDER } else { channel_task_brief() };
    let payload = payload::render(mention.payload, mention.policy, told);
    let mut text = format!("{MENTIONED}\n\n{payload}\n\n---\n{brief}");
    if let Some(block) = mention.block {
        text.push_str("\n\n");
        text.push_str(block);
    }
    let telling = Telling {
        full: told.is_none(),
        bytes: text.len() as u64,
        payload: lean.then(|| Payload { text: String::new(), ..mention.payload.clone() }),
        compactions: mention.told.compactions,
    };
    UserTurn { text, telling }
}

/// The fingerprint of the brief that is told now.
static BRIEF: LazyLock<String> = LazyLock::new(|| fingerprint(channel_task_brief()));

/// Tells one brief from another (FNV-1a, 64 bits).
fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests;
