//! Why a run still waits, in words.

use delivery::Timestamp;
use delivery::residency::State;
use storage::{Channel, HoldReason, Read, Run, RunStatus};

use crate::engine::{Board, CRASHES_MAX, TRIES_MAX, seconds};
use crate::error::ApiError;

/// Why a run of this channel waits; `None` if it does not. What a person can change comes first.
pub(super) fn why(
    store: &dyn Read,
    run: &Run,
    channel: &Channel,
    board: &Board,
) -> Result<Option<String>, ApiError> {
    if let Some(cards) = board.asking.get(&run.id) {
        let ids: Vec<&str> = cards.iter().map(|id| id.0.as_str()).collect();
        return Ok(Some(format!("waiting for permission: {}", ids.join(", "))));
    }
    if run.status != RunStatus::Queued {
        return Ok(None);
    }
    if let Some(since) = store.paused_at()? {
        return Ok(Some(format!("all agents are paused since {since}")));
    }
    if let Some(since) = channel.paused_at {
        return Ok(Some(format!("the channel's agents are paused since {since}")));
    }
    if let Some(hold) = store.hold(&run.key.binding)? {
        return Ok(Some(match hold.why {
            HoldReason::Stopped => format!("held since {} was stopped", hold.run),
            HoldReason::Crashed => {
                format!(
                    "held since its agent's process failed {CRASHES_MAX} times in a row, last in {}",
                    hold.run
                )
            }
        }));
    }
    if let Some(again) = &run.again {
        let (left, next) = (left(again.at, board), run.tries + 1);
        return Ok(Some(format!("tries again in {left} ({next} of {TRIES_MAX}) after {}", again.why)));
    }
    Ok(board.runs(&run.key).first().map(|first| match board.backoff(&run.key) {
        _ if *first != run.id => format!("behind {first}"),
        Some(until) => format!("its agent's process failed; the next starts in {}", left(until, board)),
        None => at_the_front(board.state(&run.key)).to_owned(),
    }))
}

fn left(until: Timestamp, board: &Board) -> String {
    seconds(u64::try_from(until.ms.saturating_sub(board.at.ms)).unwrap_or(0))
}

fn at_the_front(state: State) -> &'static str {
    match state {
        State::WaitingForPlace => "waiting for a place in the pool",
        State::Starting => "its agent is starting",
        State::Ending => "its agent's last process is ending",
        State::Absent | State::Idle | State::Busy => "about to begin",
    }
}
