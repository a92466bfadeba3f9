//! Records of the processes that run, by which the next start of a server that was killed finds what it left (6.8).
//!
//! One file for each, written before the agent runs and taken away when nothing is left of its tree. They are not
//! flushed to the disk: what ends the system ends the processes.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use delivery::model::Epoch;
use serde::{Deserialize, Serialize};

use crate::platform::{self, Name};

/// The record of one process's tree.
#[derive(Debug)]
pub(crate) struct Record {
    file: PathBuf,
    entry: Entry,
}

/// What stands in a record.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// The start of the system that the names are good for.
    boot: String,
    /// The holder, and what it started.
    roots: BTreeSet<Name>,
    /// The control group that the tree is in, if it has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<PathBuf>,
}

impl Record {
    /// Records the holder of this epoch, in place of one that had the epoch before; `None` where processes have no
    /// names.
    pub(crate) fn write(folder: &Path, epoch: Epoch, holder: u32) -> io::Result<Option<Self>> {
        let (Some(boot), Some(name)) = (platform::boot(), platform::name_of(holder)) else { return Ok(None) };
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let file = folder.join(format!("{}.json", epoch.0));
        let record = Self { file, entry: Entry { boot, roots: BTreeSet::from([name]), group: None } };
        record.store()?;
        Ok(Some(record))
    }

    /// Adds what the holder started. A failure loses nothing that the holder does not end itself.
    pub(crate) fn add(&mut self, name: Name) {
        self.entry.roots.insert(name);
        if let Err(error) = self.store() {
            tracing::warn!(%error, "the process of an agent could not be added to its record");
        }
    }

    /// Adds the control group that the tree is in, before anything starts in it.
    pub(crate) fn put_in(&mut self, group: &Path) -> io::Result<()> {
        self.entry.group = Some(group.to_owned());
        self.store()
    }

    /// Takes the record away: nothing is left of the tree.
    pub(crate) fn close(self) {
        if let Err(error) = fs::remove_file(&self.file) {
            tracing::warn!(%error, file = %self.file.display(), "the record of an agent's process stays");
        }
    }

    /// Whole or not at all.
    fn store(&self) -> io::Result<()> {
        let draft = self.file.with_extension("new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(&serde_json::to_vec(&self.entry)?)?;
        fs::rename(&draft, &self.file)
    }
}

/// Kills what is left of the recorded trees and takes the records away; gives the number of processes.
pub(crate) fn sweep(folder: &Path) -> usize {
    let Ok(files) = fs::read_dir(folder) else { return 0 };
    let files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    let boot = platform::boot();
    let entries = files.iter().filter_map(|file| serde_json::from_slice::<Entry>(&fs::read(file).ok()?).ok());
    let entries: Vec<Entry> = entries.filter(|entry| Some(&entry.boot) == boot.as_ref()).collect();
    let roots = entries.iter().flat_map(|entry| entry.roots.iter().copied());
    let killed = platform::kill_named(&roots.collect());
    let groups = entries.iter().filter_map(|entry| entry.group.as_deref());
    let killed = killed + groups.map(platform::sweep_group).sum::<usize>();
    for file in files {
        if let Err(error) = fs::remove_file(&file) {
            tracing::warn!(%error, file = %file.display(), "the record of an agent's process stays");
        }
    }
    killed
}
