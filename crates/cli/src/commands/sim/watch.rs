//! How far a simulation is, for whoever sees it, and that nothing half is left when it is broken off.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::requests::Partial;
use crate::failure::Failure;
use crate::interrupt;

/// Turns between two looks at the clock.
const TURNS: u64 = 64;

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(200);

/// A line on standard error while turns are played; it goes away when this is dropped.
pub(super) struct Watch {
    bar: Option<ProgressBar>,
    turns: AtomicU64,
}

impl Watch {
    /// Begins. Ctrl-C ends the process from now on, and takes this folder away before.
    pub(super) fn start(turns: usize, partial: Option<Partial>) -> Result<Self, Failure> {
        let bar = io::stderr().is_terminal().then(|| bar(turns));
        let clear = bar.clone();
        interrupt::end_with(move || {
            if let Some(bar) = clear {
                bar.finish_and_clear();
            }
            if let Some(partial) = partial {
                partial.remove_for_good();
            }
        })?;
        Ok(Self { bar, turns: AtomicU64::new(0) })
    }

    /// One turn more was played.
    pub(super) fn step(&self) {
        let turns = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(bar) = self.bar.as_ref().filter(|_| turns.is_multiple_of(TURNS)) {
            bar.set_position(turns);
        }
    }

    /// Takes the line away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.finish();
    }
}

fn bar(turns: usize) -> ProgressBar {
    let style = ProgressStyle::default_bar();
    let style =
        style.clone().template("{bar:30} {human_pos} of {human_len} turns, {eta} left").unwrap_or(style);
    let bar = ProgressBar::with_draw_target(Some(turns as u64), ProgressDrawTarget::stderr_with_hz(5));
    bar.set_style(style);
    bar.enable_steady_tick(TICK);
    bar
}
