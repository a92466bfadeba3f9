//! Why a command failed: a kind, which decides the exit code, a message, and hints at what to do.

use std::io::{self, Write};
use std::process::ExitCode;

use server::wire::ErrorBody;

use crate::display;

/// Exit codes, as `--help` tells them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  internal or unexpected error
  2  wrong usage
  3  not found
  4  exists already, or does not fit the present state
  5  invalid input or configuration
  6  no server runs, or it cannot be reached
  7  not authorized
  8  the storage is full
  9  with --wait: a run failed or was cancelled
  130  with --wait: Ctrl-C; the run goes on";

/// Kinds of failure. Wrong usage is clap's: exit code 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nobody foresaw it.
    Internal,
    /// Something that was named does not exist.
    NotFound,
    /// It exists already, or the present state does not allow it.
    Conflict,
    /// Input or configuration that makes no sense.
    Invalid,
    /// No server is running.
    NoServer,
    /// A server should be running, but the connection failed, it is stopping, or asks for patience: a later try may
    /// succeed.
    Unreachable,
    /// The token is missing, wrong or not enough.
    Denied,
    /// No space is left.
    StorageFull,
    /// A run that was waited for failed or was cancelled.
    RunFailed,
}

impl Kind {
    /// The kind of an error of the server, by its stable code, else by its status.
    pub(crate) fn of_answer(code: &str, status: u16) -> Self {
        match code {
            "not_found" => Self::NotFound,
            "exists" | "conflict" | "already_decided" => Self::Conflict,
            "invalid" | "too_large" => Self::Invalid,
            "unauthorized" | "forbidden" => Self::Denied,
            "storage_full" => Self::StorageFull,
            "shutting_down" | "rate_limited" => Self::Unreachable,
            "internal" => Self::Internal,
            _ => match status {
                404 => Self::NotFound,
                409 => Self::Conflict,
                400 | 413 | 415 | 422 => Self::Invalid,
                401 | 403 => Self::Denied,
                507 => Self::StorageFull,
                429 | 503 => Self::Unreachable,
                _ => Self::Internal,
            },
        }
    }

    /// The exit code, as [`EXIT_CODES`] tells.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Invalid => 5,
            Self::NoServer | Self::Unreachable => 6,
            Self::Denied => 7,
            Self::StorageFull => 8,
            Self::RunFailed => 9,
        }
    }

    /// [`Self::code`] for `main`.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}

/// A failure with at least one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    kind: Kind,
    messages: Vec<String>,
    hints: Vec<String>,
}

impl Failure {
    /// A failure without hints.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, messages: vec![message.into()], hints: Vec::new() }
    }

    /// An error answer of the server. For something that does not exist, the hint says how to look for it.
    pub(crate) fn of_answer(error: &ErrorBody, status: u16) -> Self {
        let failure = Self::new(Kind::of_answer(&error.code, status), error.message.clone());
        match look_for(&error.message) {
            Some(hint) => failure.hint_if(Kind::NotFound, hint),
            None => failure,
        }
    }

    /// The same with one more hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same with a hint if it is of this kind.
    pub(crate) fn hint_if(self, kind: Kind, hint: &str) -> Self {
        if self.kind == kind { self.hint(hint) } else { self }
    }

    /// Both as one, of the first's kind.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.messages.extend(other.messages);
        self.hints.extend(other.hints);
        self
    }

    /// What failed.
    pub(crate) fn message(&self) -> String {
        self.messages.join("; ")
    }

    /// What to do about it, if that is known.
    pub(crate) fn remedy(&self) -> Option<String> {
        (!self.hints.is_empty()).then(|| self.hints.join("; "))
    }

    /// Its kind.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Writes `error: …` and `hint: …` lines for a terminal of this width; what hides in them is shown.
    pub(crate) fn print(&self, out: &mut impl Write, width: Option<usize>) -> io::Result<()> {
        for (word, texts) in [("error", &self.messages), ("hint", &self.hints)] {
            for text in texts {
                writeln!(out, "{}", display::prose(&format!("{word}: "), text.trim_end(), "  ", width))?;
            }
        }
        Ok(())
    }
}

/// How to look for a thing of the kind that the server did not find, by the beginning of what it says.
fn look_for(message: &str) -> Option<&'static str> {
    let hints = [
        ("no such token", "highwater token list shows all tokens that hold"),
        ("no such channel", "highwater channel list shows all channels"),
        ("no such person", "highwater person list shows all people"),
        ("no such message", "highwater history CHANNEL shows the messages of a channel"),
        ("no such run", "highwater run list shows the newest runs"),
        ("no agent", "highwater agent list shows all agents"),
        ("no preset", "highwater agent presets shows all presets"),
    ];
    hints.into_iter().find(|(beginning, _)| message.starts_with(beginning)).map(|(_, hint)| hint)
}

#[cfg(test)]
mod tests;
