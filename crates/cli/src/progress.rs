//! What is going on while runs are waited for: a line on standard error, if that is a terminal, and a last word when
//! the wait is broken off.

use std::fmt::Write;
use std::io::{self, IsTerminal as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use server::wire::Run;

use crate::commands::run::has_ended;
use crate::display;
use crate::failure::Failure;
use crate::interrupt;

/// How often the line is drawn.
pub(crate) const TICK: Duration = Duration::from_millis(120);

/// The line; it goes away when this is dropped.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    open: Arc<Mutex<Vec<String>>>,
}

impl Progress {
    /// Begins, if somebody can see it.
    pub(crate) fn start() -> Self {
        if !io::stderr().is_terminal() {
            return Self { bar: None, open: Arc::default() };
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
        Self { bar: Some(bar), open: Arc::default() }
    }

    /// From now on Ctrl-C ends this process with words on the runs that go on.
    pub(crate) fn end_on_interrupt(&self) -> Result<(), Failure> {
        let (bar, open) = (self.bar.clone(), Arc::clone(&self.open));
        interrupt::end_with(move || {
            if let Some(bar) = &bar {
                bar.finish_and_clear();
            }
            for id in open.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                display::note(&going_on(id));
            }
        })
    }

    /// Tells this instead of runs.
    pub(crate) fn tell(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(display::line(text));
        }
    }

    /// Takes the line away, from any thread.
    pub(crate) fn clearing(&self) -> impl FnOnce() + Send + use<> {
        let bar = self.bar.clone();
        move || {
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        }
    }

    /// Whether somebody sees it.
    pub(crate) fn is_seen(&self) -> bool {
        self.bar.is_some()
    }

    /// Tells how these runs stand.
    pub(crate) fn show(&self, runs: &[Run]) {
        let open = runs.iter().filter(|run| !has_ended(run)).map(|run| run.id.clone());
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = open.collect();
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
        let id = display::line(&run.id);
        match (run.status.as_str(), &run.waiting) {
            ("queued", Some(why)) => Some(format!("{id}: @{agent} is queued, {}", display::line(why))),
            ("queued", None) => Some(format!("{id}: @{agent} is queued")),
            ("running", _) => Some(format!("{id}: @{agent} is working")),
            _ => None,
        }
    });
    open.collect::<Vec<_>>().join("; ")
}

/// What becomes of a run that is waited for no longer.
fn going_on(id: &str) -> String {
    display::line(&format!("{id} goes on; cancel it with: highwater run cancel {id}"))
}

#[cfg(test)]
mod tests;
