//! The channels that are played: made, or read from a transcript.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use sim::channel::Channel;
use sim::report::grouped;
use sim::scenario::{self, BUILT_IN, Size};
use sim::texts::Brief;
use sim::transcript::{self, Reading, Skipped, Transcript};

use super::Sim;
use crate::display;
use crate::failure::{Failure, Kind};

/// Where channels come from.
pub(super) enum Source {
    Made { size: Size, seed: u64 },
    Transcript { file: PathBuf, reading: Reading },
}

impl Source {
    pub(super) fn of(sim: &Sim) -> Self {
        match &sim.transcript {
            Some(file) => {
                let mut agents = sim.agent.clone();
                if agents.is_empty() {
                    agents.push(scenario::AGENT.to_owned());
                }
                agents.dedup();
                Self::Transcript { file: file.clone(), reading: Reading { agents, seed: sim.seed } }
            }
            None => Self::Made { size: size(sim), seed: sim.seed },
        }
    }

    /// The channels, and the brief that goes with them: a transcript is played as this Highwater would, what is made as
    /// the published table was.
    pub(super) fn channels(&self) -> Result<(Vec<Channel>, Brief), Failure> {
        match self {
            Self::Made { size, seed } => {
                let channel = scenario::make(*size, *seed);
                let channel = channel.map_err(|error| Failure::new(Kind::Invalid, error.to_string()))?;
                Ok((vec![channel], Brief::Published))
            }
            Self::Transcript { file, reading } => {
                let transcript = read(file, reading)?;
                tell_skipped(file, &transcript);
                Ok((transcript.channels, Brief::Own))
            }
        }
    }
}

/// The size asked for; what is not said is in the built-in scenario's proportions.
fn size(sim: &Sim) -> Size {
    let residents = sim.residents.unwrap_or(BUILT_IN.residents);
    let (messages, mentions) = match (sim.messages, sim.mentions) {
        (None, None) => (BUILT_IN.messages, BUILT_IN.mentions),
        (Some(messages), None) => {
            let mentions = messages as u128 * BUILT_IN.mentions as u128 / BUILT_IN.messages as u128;
            (messages, usize::try_from(mentions).unwrap_or(messages).max(residents))
        }
        (None, Some(mentions)) => {
            (mentions.saturating_mul(BUILT_IN.messages).div_ceil(BUILT_IN.mentions), mentions)
        }
        (Some(messages), Some(mentions)) => (messages, mentions),
    };
    Size { messages, mentions, residents }
}

fn read(file: &Path, reading: &Reading) -> Result<Transcript, Failure> {
    let name = name(file);
    let read = if file == Path::new("-") {
        transcript::read(io::stdin().lock(), reading)
    } else {
        let opened = File::open(file).map_err(|error| {
            let kind = match error.kind() == io::ErrorKind::NotFound {
                true => Kind::NotFound,
                false => Kind::Invalid,
            };
            Failure::new(kind, format!("{name}: {error}"))
        })?;
        transcript::read(BufReader::new(opened), reading)
    };
    read.map_err(|error| {
        let place = error.line.map_or(name.clone(), |line| format!("{name}:{line}"));
        let failure = Failure::new(Kind::Invalid, format!("{place}: {error}"));
        match error.error {
            transcript::Error::NoMention { .. } => {
                failure.hint("--agent HANDLE names the agent that is played")
            }
            transcript::Error::Foreign { .. } => failure.hint(
                r#"each line is a message: {"author": "aiko", "text": "hi"}; docs/simulator.md has the rest"#,
            ),
            transcript::Error::Io(_)
            | transcript::Error::Empty
            | transcript::Error::Utf16
            | transcript::Error::Version(_) => failure,
        }
    })
}

/// Says what of a transcript is not played, beside the result.
fn tell_skipped(file: &Path, transcript: &Transcript) {
    for skipped in &transcript.skipped {
        display::note(&told(&name(file), skipped, transcript.lines));
    }
}

fn told(name: &str, skipped: &Skipped, of: u64) -> String {
    let Skipped { line, why, lines, bytes } = skipped;
    match (lines, bytes) {
        (_, 0) => format!("{name}:{line}: {why}"),
        (1, _) => format!("{name}:{line}: left out, since {why} ({} bytes)", grouped(*bytes)),
        _ => format!(
            "{name}:{line}: left out, since {why}; with it {} more of {} lines ({} bytes in all)",
            grouped(lines - 1),
            grouped(of),
            grouped(*bytes)
        ),
    }
}

fn name(file: &Path) -> String {
    if file == Path::new("-") {
        "standard input".to_owned()
    } else {
        display::line(&file.display().to_string())
    }
}
