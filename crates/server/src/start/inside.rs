//! Whether what a request touches lies in its agent's own working folder. Whatever is not surely inside is outside.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agents::Touches;
use storage::Binding;

use super::StartAgents;

/// Bytes of a path at most; nothing longer can be one.
const PATH_BYTES_MAX: usize = 4_096;

impl StartAgents {
    /// Whether a request names paths, and all that it names, and all else in it that could be a path, lies in the folder
    /// that the binding's agent works in, links followed. What a tool does inside, as following links while it searches,
    /// is not seen.
    pub(crate) fn contains(&self, binding: &Binding, touches: &Touches) -> bool {
        let Ok(folder) = self.folder(binding).canonicalize() else { return false };
        let Touches { paths, words } = touches;
        !paths.is_empty() && paths.iter().chain(words).all(|text| is_inside(&folder, text))
    }
}

fn is_inside(folder: &Path, text: &str) -> bool {
    // A tool may take away what stands around it.
    let text = text.trim();
    is_plain(text) && real(&folder.join(text)).is_some_and(|real| real.starts_with(folder))
}

/// Whether a text means itself, if it is a path: nothing in it is expanded, resolved later or cut out by a tool.
fn is_plain(text: &str) -> bool {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| text.starts_with(prefix));
    if text.len() > PATH_BYTES_MAX
        || text.contains('\0')
        || begins(&["~", "$", "file:"])
        || text.contains("${")
    {
        return false;
    }
    if !text.contains('/') {
        return text != "..";
    }
    if text.contains("..") || text.contains(['{', '[', '(', '\\', '$']) {
        return false;
    }
    // Within a text, a slash begins no path of its own: `--file=/etc`, `a:/etc`, `-f /etc`.
    let before = |c: char| c.is_alphanumeric() || "._-*?".contains(c);
    text.match_indices('/').all(|(at, _)| text[..at].chars().next_back().is_none_or(before))
}

/// The path with all links followed. Where it does not exist (yet), what does of it; a link that leads nowhere has none.
fn real(path: &Path) -> Option<PathBuf> {
    let mut missing: Vec<OsString> = Vec::new();
    let mut there = path;
    loop {
        match there.canonicalize() {
            Ok(real) => return Some(missing.into_iter().rev().fold(real, |path, name| path.join(name))),
            Err(error) if error.kind() != ErrorKind::NotFound => return None,
            Err(_) if there.symlink_metadata().is_ok() => return None,
            Err(_) => {
                missing.push(there.file_name()?.to_owned());
                there = there.parent()?;
            }
        }
    }
}

#[cfg(test)]
mod tests;
