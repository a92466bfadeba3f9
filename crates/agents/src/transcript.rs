//! Reads what a session took out of the transcript that its agent keeps.
//!
//! It is another program's file: it may be missing, huge, damaged or still being written, and what stands in it may be
//! wrong. Nothing of it is believed but numbers, and no more of it is read at once than a bound.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use delivery::Timestamp;
use rustix::fs::OFlags;
use serde::Deserialize;

use crate::message::ModelUsage;

/// Bytes that are read at once at most: a long turn with whole files in it has a few.
const READ_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a line that is looked at: one with numbers has a few thousand, with its text.
const LINE_BYTES_MAX: usize = 4 << 20;
/// Folders that are looked through for a session's.
const FOLDERS_MAX: usize = 20_000;
/// Bytes of a request's or a model's name.
const NAME_BYTES_MAX: usize = 200;

/// What stands behind a place in a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Tokens by model.
    pub models: Vec<ModelUsage>,
    /// Requests that were broken off before anything was told of them.
    pub cut: u32,
    /// Bytes in front of the place that it was read up to.
    pub bytes: u64,
    /// The last request in front of it.
    pub request: Option<String>,
}

/// Reads the transcript of a session of Claude Code that stands in a folder of `projects`, from `bytes` on; what is told of
/// `request` there was read before. `None`: there is none, or it cannot be read.
///
/// A file that is shorter than `bytes`, or longer by more than a bound, tells nothing, and is read from its end on.
///
/// Rows of after `until` belong to another turn: the place that was read up to stands in front of them.
pub fn read(
    projects: &Path,
    native: &str,
    bytes: u64,
    request: Option<&str>,
    until: Timestamp,
) -> Option<Reading> {
    let mut file = open(&find(projects, native)?).ok()?;
    let size = file.metadata().ok()?.len();
    let known = || request.map(str::to_owned);
    if size < bytes || size - bytes > READ_BYTES_MAX {
        return Some(Reading { bytes: size, request: known(), ..Reading::default() });
    }
    file.seek(SeekFrom::Start(bytes)).ok()?;
    let mut tally = Tally { before: known(), until: Some(until), ..Tally::default() };
    let read = lines(BufReader::new(file), size - bytes, |line| tally.take(line)).ok()?;
    Some(tally.reading(bytes + read))
}

/// The one file of that name that stands in a folder of `projects`.
fn find(projects: &Path, native: &str) -> Option<PathBuf> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if native.is_empty() || native.len() > NAME_BYTES_MAX || !native.bytes().all(plain) {
        return None;
    }
    let name = format!("{native}.jsonl");
    let folders = fs::read_dir(projects).ok()?.take(FOLDERS_MAX).flatten();
    let mut files = folders.map(|folder| folder.path().join(&name));
    files.find(|file| fs::symlink_metadata(file).is_ok_and(|found| found.is_file()))
}

/// A regular file; never one that makes who opens it wait.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no file")) }
}

/// Hands out each whole line of the next `bytes_max` bytes that is not too long, until one is not taken; how many bytes those
/// that were and what was passed over have. A line that has no end yet is left.
fn lines(
    mut from: impl BufRead,
    bytes_max: u64,
    mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<u64> {
    let (mut whole, mut seen) = (0, 0_u64);
    let mut line = Vec::new();
    while seen < bytes_max {
        let read = from.fill_buf()?;
        if read.is_empty() {
            break;
        }
        let most = usize::try_from(bytes_max - seen).unwrap_or(usize::MAX).min(read.len());
        let read = &read[..most];
        let end = read.iter().position(|byte| *byte == b'\n');
        let part = &read[..end.unwrap_or(read.len())];
        let room = (LINE_BYTES_MAX + 1).saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(end.is_some());
        from.consume(used);
        seen += used as u64;
        if end.is_some() {
            if line.len() <= LINE_BYTES_MAX && take(&line).is_break() {
                break;
            }
            line.clear();
            whole = seen;
        }
    }
    Ok(whole)
}

/// A row, as far as it is looked at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(rename = "type")]
    kind: String,
    request_id: Option<String>,
    subtype: Option<String>,
    timestamp: Option<String>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    model: Option<String>,
    usage: Option<Counts>,
}

#[derive(Clone, Copy, Deserialize)]
struct Counts {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

/// What Claude Code writes in the place of a model for words of its own.
const SYNTHETIC: &str = "<synthetic>";

/// What was told so far.
#[derive(Default)]
struct Tally {
    /// The last request of the reading before.
    before: Option<String>,
    /// When the turn ended.
    until: Option<Timestamp>,
    /// Requests in order, each with its model; a request is told once for each part of its answer, the last time whole.
    requests: Vec<(String, String, Counts)>,
    /// Whether a request began of which nothing was told yet.
    waits: bool,
    cut: u32,
}

impl Tally {
    /// Takes a line, unless it is of a later turn.
    fn take(&mut self, line: &[u8]) -> ControlFlow<()> {
        // What is no row of the kind that is known is passed over.
        let Ok(row) = serde_json::from_slice::<Row>(line) else { return ControlFlow::Continue(()) };
        let at: Option<Timestamp> = row.timestamp.as_ref().and_then(|at| at.parse().ok());
        if at.zip(self.until).is_some_and(|(at, until)| at > until) {
            return ControlFlow::Break(());
        }
        match row.kind.as_str() {
            "api-request" => self.begins(),
            "assistant" => self.answered(row),
            // It failed, and is not billed.
            "system" if row.subtype.as_deref() == Some("api_error") => self.waits = false,
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begins(&mut self) {
        self.cut += u32::from(self.waits);
        self.waits = true;
    }

    fn answered(&mut self, row: Row) {
        let Some(Message { id, model: Some(model), usage: Some(counts) }) = row.message else { return };
        let Some(name) = row.request_id.or(id) else { return };
        if model == SYNTHETIC || model.len() > NAME_BYTES_MAX || name.len() > NAME_BYTES_MAX {
            return;
        }
        self.waits = false;
        if self.before.as_ref() == Some(&name) {
            return;
        }
        match self.requests.iter_mut().rev().find(|(told, _, _)| *told == name) {
            Some(told) => told.2 = counts,
            None => self.requests.push((name, model, counts)),
        }
    }

    fn reading(self, bytes: u64) -> Reading {
        let request = self.requests.last().map(|(name, _, _)| name.clone()).or(self.before);
        let mut models: BTreeMap<String, ModelUsage> = BTreeMap::new();
        for (_, model, counts) in self.requests {
            let sum =
                models.entry(model.clone()).or_insert_with(|| ModelUsage { model, ..ModelUsage::default() });
            sum.input = sum.input.saturating_add(counts.input_tokens);
            sum.output = sum.output.saturating_add(counts.output_tokens);
            add(&mut sum.cached_read, counts.cache_read_input_tokens);
            add(&mut sum.cached_write, counts.cache_creation_input_tokens);
        }
        let cut = self.cut.saturating_add(u32::from(self.waits));
        Reading { models: models.into_values().collect(), cut, bytes, request }
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

#[cfg(test)]
mod tests;
