//! Reads transcripts: messages as JSON Lines, and Highwater's own export. What cannot be used is left out and told.

mod export;
mod lines;
mod plain;

use std::fmt;
use std::io::{self, BufRead};

use thiserror::Error;

use crate::channel::Channel;
use crate::scenario::Answers;
use lines::{Line, Lines};

pub use lines::{LINE_BYTES_MAX, Skipped, Why};

/// A transcript that was read.
#[derive(Debug)]
pub struct Transcript {
    /// What it was.
    pub format: Format,
    /// The channels in which an agent was addressed.
    pub channels: Vec<Channel>,
    /// What was left out, by the reason, each with the first line that it happened to.
    pub skipped: Vec<Skipped>,
    /// Lines of the file.
    pub lines: u64,
}

/// The form of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A message a line.
    Plain,
    /// Made by `highwater export`.
    Export,
}

/// How a transcript is read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Handles, without `@`, of the agents that are played. An export names its own.
    pub agents: Vec<String>,
    /// The seed of answers that are made where the transcript has none.
    pub seed: u64,
}

/// Why nothing of a transcript can be played.
#[derive(Debug, Error)]
pub enum Error {
    /// The file could not be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is encoded as something else.
    #[error("it is UTF-16; a transcript is UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)")]
    Utf16,
    /// Most of it is something else.
    #[error("this is no transcript: {lines} of its {of} lines cannot be used, the first one because {why}")]
    Foreign {
        /// How many lines cannot be used.
        lines: u64,
        /// How many there are.
        of: u64,
        /// What is wrong with the first of them.
        why: Why,
    },
    /// An export of a version that is not known.
    #[error("the export has version {0} of its format, and this Highwater reads version {known}", known = export::VERSION)]
    Version(u64),
    /// There are messages, but no turn would be played.
    #[error("none of its {messages} messages addresses {agents}")]
    NoMention {
        /// How many messages were read.
        messages: usize,
        /// Who was looked for.
        agents: String,
    },
}

/// An error with the line at which it was found, if it was found at one.
#[derive(Debug)]
pub struct ErrorAt {
    /// Counted from 1.
    pub line: Option<u64>,
    /// What is wrong.
    pub error: Error,
}

impl fmt::Display for ErrorAt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(out)
    }
}

impl std::error::Error for ErrorAt {}

impl From<io::Error> for ErrorAt {
    fn from(error: io::Error) -> Self {
        Self { line: None, error: Error::Io(error) }
    }
}

/// Reads a transcript, line by line: memory is needed for the messages that are kept, not for the file.
///
/// # Errors
///
/// If nothing of it can be played. Lines that cannot be used are no error, as long as they are not the most.
pub fn read(from: impl BufRead, reading: &Reading) -> Result<Transcript, ErrorAt> {
    let mut lines = Lines::new(from);
    let mut first = lines.next_line()?;
    while let Some(Line::Bad) = first {
        first = lines.next_line()?;
    }
    let at = |line, error| ErrorAt { line: Some(line), error };
    if lines.is_utf16() {
        return Err(at(1, Error::Utf16));
    }
    let Some(Line::Good(text)) = first else {
        return Err(match lines.foreign() {
            Some((line, error)) => at(line, error),
            None => at(1, Error::Empty),
        });
    };
    let (format, mut channels) = match export::version(&text) {
        Some(export::VERSION) => (Format::Export, export::read(&mut lines)?),
        Some(version) => return Err(at(lines.number(), Error::Version(version))),
        None => (Format::Plain, vec![plain::read(&text, &mut lines, reading)?]),
    };
    if let Some((line, error)) = lines.foreign() {
        return Err(at(line, error));
    }
    let messages = channels.iter().map(Channel::len).sum();
    channels.retain(|channel| !channel.mentions().is_empty());
    if channels.is_empty() {
        let agents = match format {
            Format::Plain => {
                reading.agents.iter().map(|agent| format!("@{agent}")).collect::<Vec<_>>().join(", ")
            }
            Format::Export => "an agent in a channel".to_owned(),
        };
        return Err(ErrorAt { line: None, error: Error::NoMention { messages, agents } });
    }
    let mut answers = Answers::new(reading.seed);
    channels.iter_mut().for_each(|channel| answers.fill(channel));
    Ok(Transcript { format, channels, lines: lines.number(), skipped: lines.into_skipped() })
}

#[cfg(test)]
mod tests;
