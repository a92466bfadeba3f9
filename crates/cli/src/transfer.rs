//! Long work on large files: a line of progress on standard error, if that is a terminal, and files that get their name
//! when they are whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};

use crate::client::cannot_write;
use crate::failure::{Failure, Kind};
use crate::interrupt;

/// A line that tells how many bytes are done; it goes away when this is dropped.
#[derive(Clone)]
pub(crate) struct Bytes {
    bar: Option<ProgressBar>,
}

impl Bytes {
    /// Begins, if somebody can see it.
    pub(crate) fn start(what: &'static str) -> Self {
        if !io::stderr().is_terminal() {
            return Self { bar: None };
        }
        let style = ProgressStyle::default_spinner();
        let style = style.clone().template("{spinner} {msg} · {bytes} · {elapsed}").unwrap_or(style);
        let bar = ProgressBar::new_spinner().with_style(style).with_message(what);
        bar.enable_steady_tick(crate::progress::TICK);
        Self { bar: Some(bar) }
    }

    /// Tells how far it is; of how many bytes, if that is known.
    pub(crate) fn show(&self, done: u64, total: Option<u64>) {
        let Some(bar) = &self.bar else { return };
        if let Some(total) = total.filter(|total| *total > 0 && bar.length() != Some(*total)) {
            let style = ProgressStyle::default_bar();
            let style = style
                .clone()
                .template("{spinner} {msg} [{bar:30}] {bytes} of {total_bytes} · {elapsed}")
                .unwrap_or(style);
            bar.set_style(style);
            bar.set_length(total);
        }
        bar.set_position(done);
    }

    /// Tells that what was sent is being worked on.
    pub(crate) fn say(&self, what: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_message(what);
        }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A file that is written beside its place, readable by its owner alone, and gets its name when it is whole.
pub(crate) struct Draft {
    path: PathBuf,
    draft: PathBuf,
    overwrite: Overwrite,
}

/// What becomes of a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    Never,
    Always,
}

impl Overwrite {
    /// As the flag of that name says.
    pub(crate) fn of_flag(given: bool) -> Self {
        if given { Self::Always } else { Self::Never }
    }
}

impl Draft {
    /// Begins; also Ctrl-C leaves nothing of it.
    pub(crate) fn new(path: &Path, overwrite: Overwrite) -> Result<(Self, File), Failure> {
        let (path, draft) = (path.to_owned(), server::backup::draft(path));
        let begun = Self { path, draft, overwrite };
        begun.refuse()?;
        remove_on_interrupt(&begun.draft)?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&begun.draft);
        let file = file.map_err(|error| {
            Failure::new(Kind::Invalid, format!("cannot write {}: {error}", begun.draft.display()))
        })?;
        Ok((begun, file))
    }

    /// It is whole.
    pub(crate) fn keep(self, file: &File) -> Result<(), Failure> {
        self.refuse()?;
        file.sync_all()
            .and_then(|()| fs::rename(&self.draft, &self.path))
            .map_err(|error| cannot_write(&error))
    }

    fn refuse(&self) -> Result<(), Failure> {
        match self.overwrite {
            Overwrite::Never if self.path.symlink_metadata().is_ok() => Err(present(&self.path)),
            Overwrite::Never | Overwrite::Always => Ok(()),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After it was kept there is none.
        let _ = fs::remove_file(&self.draft);
    }
}

/// A file is there already.
pub(crate) fn present(path: &Path) -> Failure {
    Failure::new(Kind::Conflict, format!("{} exists already", path.display()))
        .hint("choose another name, or replace it with --overwrite")
}

/// From now on Ctrl-C ends this process without leaving this file.
pub(crate) fn remove_on_interrupt(draft: &Path) -> Result<(), Failure> {
    let draft = draft.to_owned();
    interrupt::end_with(move || {
        let _ = fs::remove_file(draft);
    })
}

#[cfg(test)]
mod tests;
