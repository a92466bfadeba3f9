//! What people type: message texts, handles, names, files, with clear words for what is wrong.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::config::{parse_amount, parse_duration};
use crate::failure::{Failure, Kind};

/// Bytes that a message or a file of instructions holds at most.
pub(crate) const TEXT_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of JSON that are read at most: far above any real watermark file or case, far below the memory.
const JSON_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The text of a message: the argument itself, or standard input for `-` (one final line break is dropped).
pub(crate) fn message(argument: &OsStr) -> Result<String, Failure> {
    if argument != "-" {
        return utf8("the text", argument.as_encoded_bytes().to_vec());
    }
    let bytes = bounded("standard input", io::stdin().lock(), TEXT_BYTES_MAX)?;
    let mut text = utf8("standard input", bytes)?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// A file of at most 64 KiB of UTF-8.
pub(crate) fn small_file(path: &Path) -> Result<String, Failure> {
    let name = path.display().to_string();
    utf8(&name, bounded(&name, open(path)?, TEXT_BYTES_MAX)?)
}

/// JSON from a file, or from standard input for `-`.
pub(crate) fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let (name, bytes) = if path == Path::new("-") {
        let name = "standard input".to_owned();
        let bytes = bounded(&name, io::stdin().lock(), JSON_BYTES_MAX)?;
        (name, bytes)
    } else {
        let name = path.display().to_string();
        let bytes = bounded(&name, open(path)?, JSON_BYTES_MAX)?;
        (name, bytes)
    };
    serde_json::from_slice(&bytes).map_err(|error| Failure::new(Kind::Invalid, format!("{name}: {error}")))
}

/// Text out of bytes; tells where they are no UTF-8.
pub(crate) fn utf8(name: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(at).copied().unwrap_or_default();
        Failure::new(Kind::Invalid, format!("{name} is not UTF-8: byte 0x{byte:02X} at offset {at}"))
    })
}

/// A handle without its `@`, for clap.
pub(crate) fn handle(text: &str) -> Result<String, String> {
    name(text.strip_prefix('@').unwrap_or(text))
}

/// Anything but nothing, for clap.
pub(crate) fn name(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}

/// An agent's command: a program that is named by a relative path is the one below `base`, wherever the agent works.
pub(crate) fn command(mut words: Vec<String>, base: &Path) -> Result<Vec<String>, Failure> {
    if let Some(program) = words.first_mut().filter(|program| program.contains('/')) {
        *program = path_text(&plain(&base.join(&*program)))?;
    }
    Ok(words)
}

/// A folder that must exist, as text; a relative one starts from `base`.
pub(crate) fn folder(path: &Path, base: &Path) -> Result<String, Failure> {
    let whole = plain(&base.join(path));
    // Only the file system knows where `..` leads to.
    let climbs = whole.components().any(|part| part == Component::ParentDir);
    let whole = if climbs { whole.canonicalize().unwrap_or(whole) } else { whole };
    match whole.is_dir() {
        true => path_text(&whole),
        false => Err(Failure::new(Kind::Invalid, format!("there is no folder {}", whole.display()))),
    }
}

/// A path without its `.` and its doubled slashes.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

/// A span of time such as `30d`, for clap.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let span = parse_duration(text).filter(|span| span.as_secs() > 0);
    span.ok_or_else(|| "must be a time such as 90s, 12h or 30d".to_owned())
}

/// A path as text, since paths travel as JSON.
pub(crate) fn path_text(path: &Path) -> Result<String, Failure> {
    utf8(&path.display().to_string(), OsString::from(path).into_encoded_bytes())
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| {
        let kind = match error.kind() == io::ErrorKind::NotFound {
            true => Kind::NotFound,
            false => Kind::Invalid,
        };
        Failure::new(kind, format!("{}: {error}", path.display()))
    })
}

fn bounded(name: &str, from: impl Read, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = from.take(bytes_max + 1).read_to_end(&mut bytes);
    let read = read.map_err(|error| Failure::new(Kind::Invalid, format!("{name}: {error}")))?;
    if u64::try_from(read).is_ok_and(|read| read > bytes_max) {
        return Err(Failure::new(Kind::Invalid, format!("{name} has more than {bytes_max} bytes")));
    }
    Ok(bytes)
}

/// An amount of memory such as `2GiB`.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    parse_amount(text).ok_or_else(|| "not an amount of memory such as 2GiB or 512MiB".to_owned())
}

#[cfg(test)]
mod tests;
