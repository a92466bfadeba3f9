//! `render`: the context block, what it showed, and the watermark after it (sections 4 and 5).

use serde::{Deserialize, Serialize};

use crate::model::{Limits, MessageId, NativeId, Policy, Row};
use crate::watermark::Watermark;

/// All that decides a context block. The same shape as `case` in `cases/delivery.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The binding's delivery policy.
    pub policy: Policy,
    /// What stands in the channel (or thread, root first) at delivery, oldest first, notices and deleted
    /// messages too. A caller may leave out rows that cannot matter: see [`Case::earlier`].
    pub rows: Vec<Row>,
    /// Lean with a watermark: how many rows past the mark the caller left out because they are older than
    /// all of `rows` that are past the mark, and that would count as new lines. They are counted in N.
    #[serde(default)]
    pub earlier: u64,
    /// The addressed message.
    pub addressed: MessageId,
    /// The native session that will answer.
    pub native: NativeId,
    /// The stored watermark of this channel or thread, of whichever session.
    pub watermark: Option<Watermark>,
    /// Whether the binding keeps a session (5.3).
    pub keeps_session: bool,
    /// Messages of queued runs of the same key.
    pub pending: Vec<MessageId>,
    /// Whether the mention stands in a thread; then the first row is the root.
    pub in_thread: bool,
    /// In a thread: whether this native session was given the root before, or wrote it (4.10).
    #[serde(default)]
    pub root_given: bool,
    /// Limits of section 4.
    #[serde(default)]
    pub limits: Limits,
}

/// A context block and what comes of it once it is delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// The block without a final line break; `None` when there is nothing to tell.
    pub block: Option<String>,
    /// Ids of the lines, in their order.
    pub shown: Vec<MessageId>,
    /// How many new messages the limit left out (N of 4.6); 0 for a snapshot.
    pub omitted: u64,
    /// The watermark to commit when the turn succeeds; `None` when the binding keeps none.
    pub watermark: Option<Watermark>,
}

/// Renders the context block of a mention. Never fails: rows that make no sense are left out.
pub fn render(case: &Case) -> Rendered {
    let _ = case;
    unimplemented!()
}
