//! The lines of a file, and a list of those that could not be used.

use std::fmt;
use std::io::{self, BufRead, Read as _};

use super::Error;

/// Bytes of a line at most: far more than any message; the server's own limit of an export.
pub const LINE_BYTES_MAX: u64 = 1024 * 1024;

/// Why a line is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is longer than [`LINE_BYTES_MAX`].
    TooLong,
    /// It is not UTF-8, from this column on.
    NotUtf8 {
        /// In bytes, from 1.
        column: usize,
    },
    /// It is not JSON, or the JSON ends too early.
    NotJson {
        /// In bytes, from 1.
        column: usize,
    },
    /// It is JSON, but no message.
    NoMessage(String),
    /// It hangs in a thread whose root does not stand above it.
    NoRoot,
    /// The channel is full.
    Full,
    /// It is a notice of the host's: no agent is told of it.
    Notice,
    /// It was deleted.
    Deleted,
    /// It belongs to a direct conversation, where every message is a turn and nothing is context.
    Direct,
    /// The export ends without its last line.
    NotWhole,
}

impl Why {
    /// Whether it says that the file is something else than it should be.
    fn is_foreign(&self) -> bool {
        match self {
            Self::TooLong | Self::NotUtf8 { .. } | Self::NotJson { .. } | Self::NoMessage(_) => true,
            Self::NoRoot | Self::Full | Self::Notice | Self::Deleted | Self::Direct | Self::NotWhole => false,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(out, "it is longer than {} KiB", LINE_BYTES_MAX / 1024),
            Self::NotUtf8 { column } => write!(out, "it is not UTF-8 (column {column})"),
            Self::NotJson { column } => write!(out, "it is not JSON, or broken off (column {column})"),
            Self::NoMessage(what) => write!(out, "it is no message: {what}"),
            Self::NoRoot => out.write_str("the root of its thread does not stand above it"),
            Self::Full => out.write_str("a channel cannot have more messages"),
            Self::Notice => out.write_str("notices are not told to agents"),
            Self::Deleted => out.write_str("the message was deleted"),
            Self::Direct => out.write_str("it is of a direct conversation, which has no context"),
            Self::NotWhole => out.write_str("the export ends before its last line: it is not whole"),
        }
    }
}

/// Lines that are not used, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The first of them, counted from 1.
    pub line: u64,
    /// Why that one is not used; the others for a reason of the same kind.
    pub why: Why,
    /// How many.
    pub lines: u64,
    /// How long they are together.
    pub bytes: u64,
}

/// A line, or that there was one which cannot be used.
pub(super) enum Line {
    Good(String),
    Bad,
}

/// Reads lines, and keeps account of those that are not used.
pub(super) struct Lines<R> {
    from: R,
    number: u64,
    bytes: u64,
    is_utf16: bool,
    skipped: Vec<Skipped>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, number: 0, bytes: 0, is_utf16: false, skipped: Vec::new() }
    }

    /// The next line that is not blank, without its break; `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            let mut line = Vec::new();
            let read = (&mut self.from).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.bytes = line.len() as u64;
            if self.number == 1 {
                self.is_utf16 = line.starts_with(&[0xFF, 0xFE]) || line.starts_with(&[0xFE, 0xFF]);
                // A mark of the order of bytes that some editors write.
                if line.starts_with(&[0xEF, 0xBB, 0xBF]) {
                    line.drain(..3);
                }
            }
            if line.last() != Some(&b'\n') && self.bytes > LINE_BYTES_MAX {
                self.bytes += self.skip_rest()?;
                self.skip(Why::TooLong);
                return Ok(Some(Line::Bad));
            }
            match String::from_utf8(line) {
                Ok(line) if line.trim().is_empty() => {}
                Ok(mut line) => {
                    line.truncate(line.trim_end().len());
                    return Ok(Some(Line::Good(line)));
                }
                Err(error) => {
                    self.skip(Why::NotUtf8 { column: error.utf8_error().valid_up_to() + 1 });
                    return Ok(Some(Line::Bad));
                }
            }
        }
    }

    /// The number of the line that was read last.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn is_utf16(&self) -> bool {
        self.is_utf16
    }

    /// Notes that the line that was read last is not used.
    pub(super) fn skip(&mut self, why: Why) {
        let (line, bytes) = (self.number, self.bytes);
        self.skip_at(line, bytes, why);
    }

    /// Notes that a line which was read before is not used after all.
    pub(super) fn skip_at(&mut self, line: u64, bytes: u64, why: Why) {
        let kind = std::mem::discriminant(&why);
        match self.skipped.iter_mut().find(|skipped| std::mem::discriminant(&skipped.why) == kind) {
            Some(skipped) => {
                skipped.lines += 1;
                skipped.bytes += bytes;
            }
            None => self.skipped.push(Skipped { line, why, lines: 1, bytes }),
        }
    }

    /// What is wrong with a file most of whose lines are no messages.
    pub(super) fn foreign(&self) -> Option<(u64, Error)> {
        let foreign = || self.skipped.iter().filter(|skipped| skipped.why.is_foreign());
        let lines = foreign().map(|skipped| skipped.lines).sum();
        let first = foreign().min_by_key(|skipped| skipped.line)?;
        let error = Error::Foreign { lines, of: self.number, why: first.why.clone() };
        (lines * 2 > self.number).then_some((first.line, error))
    }

    /// What was not used, in the order of the file.
    pub(super) fn into_skipped(mut self) -> Vec<Skipped> {
        self.skipped.sort_by_key(|skipped| skipped.line);
        self.skipped
    }

    /// Reads on to the end of a line, keeping nothing of it; how long that was.
    fn skip_rest(&mut self) -> io::Result<u64> {
        let mut bytes = 0;
        loop {
            let buffer = self.from.fill_buf()?;
            let (used, ends) = match buffer.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (buffer.len(), buffer.is_empty()),
            };
            self.from.consume(used);
            bytes += used as u64;
            if ends {
                return Ok(bytes);
            }
        }
    }
}

/// What is wrong with a line that is no record of the expected kind.
pub(super) fn why(error: &serde_json::Error) -> Why {
    match error.classify() {
        serde_json::error::Category::Data => {
            let told = error.to_string();
            // The place is told as one of a file of one line.
            Why::NoMessage(told.rsplit_once(" at line ").map_or(told.as_str(), |(what, _)| what).to_owned())
        }
        serde_json::error::Category::Syntax
        | serde_json::error::Category::Eof
        | serde_json::error::Category::Io => Why::NotJson { column: error.column() },
    }
}
