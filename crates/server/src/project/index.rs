//! A worktree's index, changed in a copy of Highwater's.
//!
//! Git writes an index where a link leads that has its name, and the agent may put such links into its entry of the
//! repository. So git works on a copy in the data folder, which then takes the place of whatever is there.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::git::{Fault, Git};
use super::repository::Repository;

/// A copy of a worktree's index.
pub(super) struct Index {
    copy: PathBuf,
    place: PathBuf,
    /// Git on the worktree, with the copy.
    pub(super) git: Git,
}

impl Index {
    /// Copies the index of a worktree.
    pub(super) fn take(repository: &Repository, name: &str, worktree: &Path) -> Result<Self, Fault> {
        let place = repository.entry(name).join("index");
        let copy = repository.side.join(format!("index-{name}"));
        let found = fs::symlink_metadata(&place).map_err(Fault::io("find", &place))?;
        if !found.is_file() {
            return Err(Fault(format!(
                "{} is no file; Highwater does not follow links there",
                place.display()
            )));
        }
        // What stands in it is judged by its time against those of the files.
        let at = found.modified().map_err(Fault::io("look at", &place))?;
        let mut bytes = Vec::new();
        let mut options = fs::OpenOptions::new();
        options.read(true).custom_flags(NO_LINKS);
        let read = options.open(&place).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(Fault::io("read", &place))?;
        let _ = fs::remove_file(&copy);
        write(&copy, &bytes)?;
        let kept = fs::File::options().write(true).open(&copy).and_then(|file| file.set_modified(at));
        kept.map_err(Fault::io("write", &copy))?;
        let git = repository.git_in(name, worktree).with("GIT_INDEX_FILE", &copy);
        Ok(Self { copy, place, git })
    }

    /// Puts the copy in the index's place.
    pub(super) fn put(self) -> Result<(), Fault> {
        let bytes = fs::read(&self.copy).map_err(Fault::io("read", &self.copy))?;
        let draft = self.place.with_file_name("index.highwater");
        let _ = fs::remove_file(&draft);
        write(&draft, &bytes)?;
        fs::rename(&draft, &self.place).map_err(Fault::io("write", &self.place))?;
        fs::remove_file(&self.copy).map_err(Fault::io("remove", &self.copy))
    }
}

/// Opening fails at a link.
pub(super) const NO_LINKS: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let mut options = fs::OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o644).open(path);
    opened.and_then(|mut file| file.write_all(bytes)).map_err(Fault::io("write", path))
}
