//! Text for terminals: untrusted text with its hidden characters shown, prose, times, tables, exact JSON.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::os::fd::AsFd;

use serde::Serialize;

use crate::failure::{Failure, Kind};

mod prose;
mod table;
mod time;

pub(crate) use prose::prose;
pub(crate) use table::table;
pub(crate) use time::{ago, now, span, time};

/// Text of several lines: every character that could steer a terminal or reorder what is read is shown as
/// `⟨U+001B⟩`; line breaks and tabs stay, CRLF becomes LF.
pub(crate) fn block(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' | '\t' => clean.push(c),
            _ => push_shown(&mut clean, c),
        }
    }
    clean
}

/// Text of one line: as [`block`], with each line break and tab as a space.
pub(crate) fn line(text: &str) -> String {
    block(text).replace(['\n', '\t'], " ")
}

/// A [`block`] whose lines but the first begin with `indent`, so that no text can pose as a line of ours; nothing is
/// wrapped.
pub(crate) fn indented(text: &str, indent: &str) -> String {
    block(text).replace('\n', &format!("\n{indent}"))
}

/// One line of JSON. What [`block`] would show is escaped, so that the value is exact and a terminal is safe.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    let compact = serde_json::to_string(value)
        .map_err(|error| Failure::new(Kind::Internal, format!("this cannot be written as JSON: {error}")))?;
    let mut escaped = String::with_capacity(compact.len() + 1);
    for c in compact.chars() {
        if hides(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped.push('\n');
    Ok(escaped)
}

/// The word that the API has for a value.
pub(crate) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Writes text to standard output. A reader that went away (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(Kind::Internal, format!("standard output: {error}"))),
    }
}

/// Writes a line beside the result to standard error.
pub(crate) fn note(text: &str) {
    // Nobody may be listening there; the result stands on standard output.
    let _ = writeln!(io::stderr().lock(), "{}", prose("", text, "  ", columns(io::stderr())));
}

/// Columns of the terminal that this leads to; `None` if it leads elsewhere: there nothing is cut or wrapped.
pub(crate) fn columns(out: impl AsFd) -> Option<usize> {
    terminal_size::terminal_size_of(out).map(|(width, _)| usize::from(width.0))
}

fn push_shown(clean: &mut String, c: char) {
    if hides(c) {
        let _ = write!(clean, "⟨U+{:04X}⟩", u32::from(c));
    } else {
        clean.push(c);
    }
}

/// Controls (category Cc), separators that some terminals break lines at, and marks that turn text around.
fn hides(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
