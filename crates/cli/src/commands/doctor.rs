//! `highwater doctor`: looks at the machine, the agents of channels, and the agents that Highwater knows how to start.

mod local;
mod rehearsed;

use std::io;

use clap::Args;
use serde::Serialize;
use server::wire::{AgentFindings, Checkup, Examined, Finding, Level};

use super::Format;
use crate::client::{Call, Client};
use crate::commands::measure::Rehearsal;
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::progress::Progress;
pub(super) use local::Local;

/// Find out what is wrong: of this machine, of the agents in channels, and of those that can be added
///
/// Each agent that is installed is started and asked what it is, whether somebody is logged in, and what it can do. No
/// model is asked, nothing is spent, and no secret is read. The running server looks; if none runs, this command does,
/// in the surroundings that a server started here would have.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater doctor claude")]
pub(crate) struct Doctor {
    /// Presets to look at [default: all]
    #[arg(value_name = "PRESET")]
    presets: Vec<String>,
    /// Also try each agent that is installed on this machine at an emulated provider, with three mentions and a restart:
    /// whether its session is reloaded, and what of its requests a provider's cache would know. Takes about ten seconds an
    /// agent; no key is needed, nothing is spent, nothing stays
    #[arg(long = "try")]
    tries: bool,
    #[command(flatten)]
    format: Format,
}

/// All that was found.
#[derive(Debug, Serialize)]
struct Report {
    /// Whether a running server looked.
    server: bool,
    #[serde(flatten)]
    checkup: Checkup,
    presets: Vec<Examined>,
}

impl Doctor {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let looks = Looks::new(context)?;
        let progress = Progress::start();
        progress.tell("looking at the machine");
        let checkup = looks.checkup()?;
        let names = if self.presets.is_empty() { looks.presets()? } else { self.presets };
        let rehearsal = self.tries.then(|| Rehearsal::new(context.env())).transpose()?;
        let mut presets = Vec::new();
        for (number, name) in names.iter().enumerate() {
            progress.tell(&format!("starting {name} and asking it"));
            let mut examined = looks.examine(name)?;
            if let Some(rehearsal) = rehearsal.as_ref().filter(|_| examined.found) {
                progress.tell(&format!("trying {name} at an emulated provider"));
                let profile = examined.profiles.first().copied().unwrap_or_default();
                let rehearsed = rehearsal.of(number + 1, name, profile);
                examined.findings.extend(rehearsed.into_iter().flat_map(rehearsed::findings));
            }
            presets.push(examined);
        }
        drop(progress);
        let report = Report { server: matches!(looks, Looks::Server(_)), checkup, presets };
        self.format.print(&report, text)
    }
}

/// Who looks.
pub(super) enum Looks {
    /// The running server.
    Server(Client),
    /// This command, where no server runs.
    Local(Box<Local>),
}

impl Looks {
    /// The running server if there is one.
    pub(super) fn new(context: &Context) -> Result<Self, Failure> {
        match context.client() {
            Ok(client) => Ok(Self::Server(client)),
            Err(failure) if failure.kind() == Kind::NoServer => {
                Ok(Self::Local(Box::new(Local::new(context)?)))
            }
            Err(failure) => Err(failure),
        }
    }

    fn checkup(&self) -> Result<Checkup, Failure> {
        match self {
            Self::Server(client) => client.call(&Call::get(&["checkup"]).patient(local::PATIENCE)),
            Self::Local(local) => Ok(local.checkup()),
        }
    }

    fn presets(&self) -> Result<Vec<String>, Failure> {
        match self {
            Self::Server(client) => {
                let presets: Vec<server::wire::Preset> = client.call(&Call::get(&["presets"]))?;
                Ok(presets.into_iter().map(|preset| preset.name).collect())
            }
            Self::Local(local) => Ok(local.presets()),
        }
    }

    /// What a preset's agent tells when it is started and asked.
    pub(super) fn examine(&self, preset: &str) -> Result<Examined, Failure> {
        match self {
            Self::Server(client) => {
                client.call(&Call::post(&["presets", preset, "examine"]).patient(local::PATIENCE))
            }
            Self::Local(local) => local.examine(preset),
        }
    }
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    if !report.server {
        text.push_str("No server runs: looked in the surroundings that one started here would have.\n\n");
    }
    section(&mut text, "This machine", &report.checkup.machine);
    for AgentFindings { handle, channel, findings } in &report.checkup.agents {
        section(&mut text, &format!("@{handle} of {channel}"), findings);
    }
    for examined in &report.presets {
        section(&mut text, &format!("{}: {}", examined.preset, examined.title), &examined.findings);
    }
    text.push_str(&sum(report));
    text
}

fn section(text: &mut String, head: &str, findings: &[Finding]) {
    text.push_str(&display::line(head));
    text.push('\n');
    for finding in findings {
        text.push_str(&shown(finding));
    }
    text.push('\n');
}

/// A finding as lines, its remedy below it.
pub(super) fn shown(finding: &Finding) -> String {
    const INDENT: &str = "           ";
    let width = display::columns(io::stdout());
    let prose = |head: &str, text: &str, indent: &str| display::prose(head, text, indent, width) + "\n";
    let text = prose(&format!("  {:<8} ", word(finding.level)), &finding.text, INDENT);
    let remedy = finding.remedy.as_ref();
    let remedy = remedy.map(|remedy| prose(&format!("{INDENT}→ "), remedy, &format!("{INDENT}  ")));
    text + &remedy.unwrap_or_default()
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Ok => "ok",
        Level::Note => "note",
        Level::Warning => "warning",
        Level::Fault => "FAULT",
    }
}

fn sum(report: &Report) -> String {
    let agents = report.checkup.agents.iter().flat_map(|agent| &agent.findings);
    let presets = report.presets.iter().flat_map(|examined| &examined.findings);
    let all: Vec<&Finding> = report.checkup.machine.iter().chain(agents).chain(presets).collect();
    let count = |level: Level| all.iter().filter(|finding| finding.level == level).count();
    let said = |count: usize, one: &str| match count {
        0 => format!("no {one}"),
        1 => format!("1 {one}"),
        many => format!("{many} {one}s"),
    };
    format!("{}, {}\n", said(count(Level::Fault), "fault"), said(count(Level::Warning), "warning"))
}

#[cfg(test)]
mod tests;
