//! Ignored files of the project's own folder that are copied into new worktrees: `.env` and kin.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::agent_files::{self, has_real_parents};
use super::git::{Fault, Git};
use super::index::NO_LINKS;
use super::worktree::is_folder;

/// Files that are copied at most.
const FILES_MAX: usize = 1_000;
/// Bytes that they may have together: settings and small data, not what a set-up line can make.
const BYTES_MAX: u64 = 100 * 1024 * 1024;
/// Files and folders that are looked at.
const SEEN_MAX: usize = 200_000;

/// The files within a folder that one of these patterns names and that are no links: paths relative to it. `*` and `?`
/// stand for characters of one name, `**` for any number of folders. The data folder may lie within the project; nothing in
/// it is named.
pub(super) fn find(folder: &Path, data: &Path, patterns: &[String]) -> Result<Vec<String>, Fault> {
    let mut search = Search { folder, data, seen: 0, found: BTreeSet::new() };
    for pattern in patterns {
        let parts: Vec<&str> = pattern.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        search.enter(Path::new(""), &parts)?;
    }
    Ok(search.found.into_iter().collect())
}

struct Search<'a> {
    folder: &'a Path,
    data: &'a Path,
    seen: usize,
    found: BTreeSet<String>,
}

impl Search<'_> {
    /// Looks for what the rest of a pattern names below a folder.
    fn enter(&mut self, at: &Path, parts: &[&str]) -> Result<(), Fault> {
        let Some((part, rest)) = parts.split_first() else { return Ok(()) };
        if self.folder.join(at) == self.data {
            return Ok(());
        }
        if *part == ".." {
            return Ok(());
        }
        if !part.contains(['*', '?']) {
            return self.reach(&at.join(part), rest);
        }
        if *part == "**" {
            self.enter(at, rest)?;
        }
        let whole = self.folder.join(at);
        for entry in fs::read_dir(&whole).into_iter().flatten().flatten() {
            self.seen += 1;
            if self.seen > SEEN_MAX {
                return Err(Fault::new("there are too many files to look for those that are to be copied"));
            }
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| *name != ".git") else { continue };
            let path = at.join(name);
            match *part {
                "**" if is_folder(&self.folder.join(&path)) => self.enter(&path, parts)?,
                "**" => {}
                part if matches(part, name) => self.reach(&path, rest)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes what stands at a path, or goes on below it.
    fn reach(&mut self, path: &Path, rest: &[&str]) -> Result<(), Fault> {
        let Ok(found) = fs::symlink_metadata(self.folder.join(path)) else { return Ok(()) };
        if found.is_dir() && path.file_name().is_some_and(|name| name != ".git") {
            return self.enter(path, rest);
        }
        if found.is_file() && rest.is_empty() {
            self.found.extend(path.to_str().map(str::to_owned));
        }
        Ok(())
    }
}

/// Whether a name fits a pattern of `*`, `?` and plain characters.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    // Where the last `*` stands, and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            Some(_) | None => {
                let Some((before, taken)) = star else { return false };
                star = Some((before, taken + 1));
                at = before + 1;
                in_name = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

/// Copies those of the files that git ignores in the worktree and that are not there yet; gives which.
pub(super) async fn copy(
    git: &Git,
    from: &Path,
    worktree: &Path,
    paths: Vec<String>,
) -> Result<Vec<String>, Fault> {
    // Git refuses to say anything of what stands behind a link.
    let paths: Vec<String> =
        paths.into_iter().filter(|path| has_real_parents(worktree, Path::new(path))).collect();
    if paths.is_empty() {
        return Ok(paths);
    }
    let list = paths.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
    let ignored = git.say(&["check-ignore", "-z", "--stdin"], list).await?;
    let ignored = agent_files::names(&ignored);
    let mut copied = Vec::new();
    let mut bytes = 0;
    for path in paths.into_iter().filter(|path| ignored.contains(path)) {
        if copied.len() == FILES_MAX {
            return Err(Fault(format!("more than {FILES_MAX} files are to be copied into a new worktree")));
        }
        if fs::symlink_metadata(worktree.join(&path)).is_ok() {
            continue;
        }
        bytes += copy_file(&from.join(&path), &worktree.join(&path), BYTES_MAX - bytes)?;
        copied.push(path);
    }
    Ok(copied)
}

fn copy_file(from: &Path, to: &Path, bytes_max: u64) -> Result<u64, Fault> {
    let mut options = fs::OpenOptions::new();
    let file = options.read(true).custom_flags(NO_LINKS).open(from).map_err(Fault::io("read", from))?;
    let found = file.metadata().map_err(Fault::io("look at", from))?;
    if found.len() > bytes_max {
        return Err(Fault(format!(
            "the files that are to be copied have more than {BYTES_MAX} bytes together"
        )));
    }
    if let Some(parent) = to.parent() {
        let mut folders = fs::DirBuilder::new();
        folders.recursive(true).mode(0o755).create(parent).map_err(Fault::io("make", parent))?;
    }
    let mode = found.permissions().mode() & 0o700;
    let mut options = fs::OpenOptions::new();
    let mut copy = options.write(true).create_new(true).mode(mode).open(to).map_err(Fault::io("make", to))?;
    std::io::copy(&mut file.take(bytes_max), &mut copy).map_err(Fault::io("copy", from))
}
