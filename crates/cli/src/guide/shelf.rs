//! The sessions that the guide keeps in the folder it works in, so that a later process can load them. What people
//! wrote is not among it: a deleted message must not live on there.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::session::Session;

/// Sessions kept at most; the oldest go.
const SESSIONS_MAX: usize = 64;

/// A folder of sessions.
#[derive(Debug)]
pub(super) struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    /// Below the folder that the guide works in.
    pub(super) fn at(folder: &Path) -> Self {
        Self { folder: folder.join(".highwater-guide") }
    }

    /// The session of this id, if it was kept.
    pub(super) fn load(&self, id: &str) -> Option<Session> {
        let kept = std::fs::read(self.file(id)?).ok()?;
        let mut session: Session = serde_json::from_slice(&kept).ok()?;
        session.reloaded = true;
        Some(session)
    }

    /// Keeps a session as it is.
    pub(super) fn keep(&self, id: &str, session: &Session) -> io::Result<()> {
        let Some(file) = self.file(id) else { return Ok(()) };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        if !file.exists() {
            self.make_room()?;
        }
        // Whole or not at all: the process may be ended at any moment.
        let new = file.with_extension("new");
        std::fs::write(&new, serde_json::to_vec(session)?)?;
        std::fs::rename(new, file)
    }

    fn make_room(&self) -> io::Result<()> {
        let mut kept = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            kept.push((entry.metadata()?.modified()?, entry.path()));
        }
        kept.sort();
        let over = (kept.len() + 1).saturating_sub(SESSIONS_MAX);
        kept[..over].iter().try_for_each(|(_, file)| std::fs::remove_file(file))
    }

    /// Where a session is kept; an id that is none of the guide's has no place.
    fn file(&self, id: &str) -> Option<PathBuf> {
        let plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        plain.then(|| self.folder.join(format!("{id}.json")))
    }
}

#[cfg(test)]
mod tests;
