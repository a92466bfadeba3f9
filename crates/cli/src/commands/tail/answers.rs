//! Answers while they are written: a line on standard error, if that is a terminal.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use server::wire::Happened;

use crate::display;

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(120);
/// Characters of an answer's end that the line shows.
const END_CHARS: usize = 60;

/// The line, and the answers that it tells of. Clones share the line.
#[derive(Clone)]
pub(super) struct Answers {
    bar: Option<ProgressBar>,
    /// By run: the agent's handle and what it said by now.
    said: BTreeMap<String, (String, String)>,
}

impl Answers {
    /// Begins, if somebody can see it.
    pub(super) fn start() -> Self {
        let seen = io::stderr().is_terminal() && io::stdout().is_terminal();
        Self { bar: seen.then(ProgressBar::new_spinner), said: BTreeMap::new() }
    }

    /// Takes in what was said, or that it is over.
    pub(super) fn take_in(&mut self, what: &Happened) {
        match what {
            Happened::Answer { run_id, agent, from, text } => {
                let (_, said) =
                    self.said.entry(run_id.clone()).or_insert_with(|| (agent.clone(), String::new()));
                if *from == 0 {
                    said.clear();
                }
                said.push_str(text);
            }
            Happened::RunEnded { run } | Happened::RunQueued { run } => {
                self.said.remove(&run.id);
            }
            Happened::Hello
            | Happened::Resync { .. }
            | Happened::Heartbeat
            | Happened::ChannelAdded { .. }
            | Happened::ChannelChanged { .. }
            | Happened::ChannelClosed
            | Happened::MemberAdded { .. }
            | Happened::MemberRemoved { .. }
            | Happened::PersonAdded { .. }
            | Happened::PersonChanged { .. }
            | Happened::AgentAdded { .. }
            | Happened::AgentChanged { .. }
            | Happened::AgentRemoved { .. }
            | Happened::MessageAdded { .. }
            | Happened::MessageEdited { .. }
            | Happened::MessageDeleted { .. }
            | Happened::RunStarted { .. }
            | Happened::RunUsage { .. }
            | Happened::RunStep { .. }
            | Happened::Permission { .. }
            | Happened::PermissionAsked { .. }
            | Happened::PermissionDecided { .. }
            | Happened::PauseChanged { .. }
            | Happened::AgentState { .. }
            | Happened::Unknown => return,
        }
        self.draw();
    }

    /// Prints something above the line.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Forgets what was said: the connection over which it came is gone.
    pub(super) fn clear(&mut self) {
        self.said.clear();
        self.draw();
    }

    /// Takes the line away for good.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn draw(&self) {
        let Some(bar) = &self.bar else { return };
        let line = self.line();
        let style = ProgressStyle::default_spinner();
        let template = if line.is_empty() { "" } else { "{spinner} {wide_msg}" };
        bar.set_style(style.clone().template(template).unwrap_or(style));
        if line.is_empty() {
            bar.disable_steady_tick();
        } else {
            bar.enable_steady_tick(TICK);
        }
        bar.set_message(line);
    }

    /// The ends of all answers.
    fn line(&self) -> String {
        let end = |said: &str| {
            let start = said.char_indices().rev().nth(END_CHARS - 1).map_or(0, |(at, _)| at);
            let mark = if start > 0 { "…" } else { "" };
            format!("{mark}{}", display::line(&said[start..]))
        };
        let answers =
            self.said.values().map(|(agent, said)| format!("@{}: {}", display::line(agent), end(said)));
        answers.collect::<Vec<_>>().join("  ")
    }
}

#[cfg(test)]
mod tests;
