//! Every request as a file: all of its blocks, each with its exact text and its tokens, so that anyone can count again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use delivery::turn::Lease;
use serde::Serialize;
use sim::play::{Block, Turn};

use super::provider::Counting;
use crate::failure::{Failure, Kind};

/// A request.
#[derive(Serialize)]
struct Request<'a> {
    strategy: &'static str,
    turn: usize,
    mention: usize,
    agent: &'a str,
    /// What its tokens are tokens of, if that is public.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'a str>,
    blocks: Vec<&'a Block>,
    tokens: u64,
}

/// The folder that has the requests until all are there, for whoever has to take it away.
#[derive(Clone)]
pub(super) struct Partial {
    folder: PathBuf,
    /// Held while something in the folder changes.
    changing: Arc<Mutex<()>>,
}

impl Partial {
    /// Takes the folder away. Whoever would write into it afterwards waits, until the process ends.
    pub(super) fn remove_for_good(&self) {
        std::mem::forget(self.changing.lock().unwrap_or_else(PoisonError::into_inner));
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Writes requests into a folder beside the one that was asked for, which gets its name when all are there.
pub(super) struct Requests {
    folder: PathBuf,
    partial: Partial,
    encoding: Option<&'static str>,
    /// The blocks of each agent's session so far.
    sessions: BTreeMap<String, Vec<Block>>,
    files: u64,
}

impl Requests {
    pub(super) fn new(folder: &Path, counting: &Counting) -> Result<Self, Failure> {
        let is_free = match fs::read_dir(folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_free {
            let message = format!("{} is there already, and not an empty folder", folder.display());
            return Err(Failure::new(Kind::Conflict, message).hint("--requests makes a new folder"));
        }
        let mut partial = folder.as_os_str().to_owned();
        partial.push(format!(".partial-{}", std::process::id()));
        let partial = Partial { folder: PathBuf::from(partial), changing: Arc::default() };
        fs::create_dir_all(&partial.folder).map_err(|error| failed(&partial.folder, &error))?;
        let (folder, encoding) = (folder.to_owned(), counting.encoding);
        Ok(Self { folder, partial, encoding, sessions: BTreeMap::new(), files: 0 })
    }

    /// The folder that has them until all are there.
    pub(super) fn partial(&self) -> Partial {
        self.partial.clone()
    }

    /// Another strategy or channel: nothing of the sessions before counts any more.
    pub(super) fn begin(&mut self) {
        self.sessions.clear();
    }

    /// Writes the request of a turn; so many mentions stand in channels before its own.
    pub(super) fn write(&mut self, turn: &Turn<'_>, before: usize) -> Result<(), Failure> {
        let session = self.sessions.entry(turn.agent.to_owned()).or_default();
        match turn.lease {
            Lease::Cold | Lease::Restored => session.clear(),
            Lease::Warm => {}
        }
        session.extend(turn.blocks.iter().cloned());
        let mention = before + turn.number;
        let request = Request {
            strategy: turn.strategy.name(),
            turn: turn.turn,
            mention,
            agent: turn.agent,
            encoding: self.encoding,
            blocks: turn.front.iter().chain(session.iter()).collect(),
            tokens: turn.tokens,
        };
        let file = self.partial.folder.join(format!("{}-{mention:05}.json", turn.strategy.name()));
        let changing = self.partial.changing.lock();
        write_json(&file, &request).map_err(|error| failed(&file, &error))?;
        drop(changing);
        session.push(turn.reply.clone());
        self.files += 1;
        Ok(())
    }

    /// Gives the folder its name; how many files are in it.
    pub(super) fn finish(self) -> Result<u64, Failure> {
        let changing = self.partial.changing.lock();
        fs::rename(&self.partial.folder, &self.folder).map_err(|error| failed(&self.folder, &error))?;
        drop(changing);
        Ok(self.files)
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        // After `finish` it is not there any more; else this is what an error leaves.
        let _changing = self.partial.changing.lock();
        let _ = fs::remove_dir_all(&self.partial.folder);
    }
}

fn write_json(file: &Path, request: &Request<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    serde_json::to_writer(&mut out, request)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    let kind = if error.kind() == io::ErrorKind::StorageFull { Kind::StorageFull } else { Kind::Invalid };
    Failure::new(kind, format!("{}: {error}", path.display()))
}
