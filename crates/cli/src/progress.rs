//! What is going on while runs are waited for: a line on standard error, if that is a terminal.

use std::fmt::Write;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use server::wire::Run;

use crate::display;

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(120);

/// The line; it goes away when this is dropped.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins, if somebody can see it.
    pub(crate) fn start() -> Self {
        if !io::stderr().is_terminal() {
            return Self { bar: None };
        }
        let style = ProgressStyle::default_spinner().with_key(
            "seconds",
            |state: &ProgressState, out: &mut dyn Write| {
                // A line on a terminal: there is nobody to tell that it could not be written.
                let _ = write!(out, "{} s", state.elapsed().as_secs());
            },
        );
        let style = style.clone().template("{spinner} {msg} · {seconds}").unwrap_or(style);
        let bar = ProgressBar::new_spinner().with_style(style);
        bar.enable_steady_tick(TICK);
        Self { bar: Some(bar) }
    }

    /// Whether somebody sees it.
    pub(crate) fn is_seen(&self) -> bool {
        self.bar.is_some()
    }

    /// Tells how these runs stand.
    pub(crate) fn show(&self, runs: &[Run]) {
        if let Some(bar) = &self.bar {
            bar.set_message(describe(runs));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The runs that have not ended, in words.
fn describe(runs: &[Run]) -> String {
    let open = runs.iter().filter_map(|run| {
        let agent = display::line(&run.agent);
        match (run.status.as_str(), &run.waiting) {
            ("queued", Some(why)) => Some(format!("@{agent} is queued: {}", display::line(why))),
            ("queued", None) => Some(format!("@{agent} is queued")),
            ("running", _) => Some(format!("@{agent} is working")),
            _ => None,
        }
    });
    open.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
