//! Files of a project from which agents load settings, hooks, plugins, tool servers, instructions or environment (8.2):
//! which they are, what they hold, and how they are withheld.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use storage::AgentFile;

use super::git::{Fault, Git};
use super::repository::hex;
use super::worktree::{is_folder, remove_all};

/// Names of folders all of whose files count, at any depth.
const FOLDERS: [&str; 13] = [
    ".agent",
    ".agents",
    ".amp",
    ".claude",
    ".claude-plugin",
    ".codex",
    ".continue",
    ".cursor",
    ".gemini",
    ".goose",
    ".kiro",
    ".opencode",
    ".qwen",
];

/// Names of files that count, in small letters, at any depth.
const FILES: [&str; 22] = [
    ".aider.conf.yml",
    ".clinerules",
    ".crush.json",
    ".cursorrules",
    ".env",
    ".envrc",
    ".goosehints",
    ".mcp.json",
    ".rules",
    ".windsurfrules",
    "agent.md",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "copilot-instructions.md",
    "crush.json",
    "crush.md",
    "gemini.md",
    "opencode.json",
    "opencode.jsonc",
    "qwen.md",
];

/// Beginnings of names of files that count: `.env.local` and kin.
const PREFIXES: [&str; 1] = [".env."];

/// Files and folders of a worktree that are looked at.
const SEEN_MAX: usize = 2_000_000;
/// Files that count at most: a project with more of them is none.
const FILES_MAX: usize = 10_000;
/// Bytes of such a file that are read; the rest of a longer one counts by its size.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Whether agents load something from a file at this path within a project. Case does not matter: there are file systems
/// for which it does not.
pub(super) fn counts(path: &str) -> bool {
    let path = path.to_lowercase();
    let mut names = path.split('/').rev();
    let file = names.next().unwrap_or_default();
    FILES.contains(&file)
        || PREFIXES.iter().any(|prefix| file.starts_with(prefix))
        || FOLDERS.contains(&file)
        || names.any(|name| FOLDERS.contains(&name))
}

/// The files of a folder that count, by path.
pub(super) fn find(folder: &Path) -> Result<Vec<AgentFile>, Fault> {
    let mut waiting = vec![PathBuf::new()];
    let mut found = BTreeSet::new();
    let mut seen = 0;
    while let Some(at) = waiting.pop() {
        let whole = folder.join(&at);
        for entry in fs::read_dir(&whole).map_err(Fault::io("look into", &whole))? {
            let entry = entry.map_err(Fault::io("look into", &whole))?;
            seen += 1;
            if seen > SEEN_MAX || found.len() > FILES_MAX {
                return Err(Fault::new("the project has too many files to be looked through"));
            }
            if at.as_os_str().is_empty() && entry.file_name() == ".git" {
                continue;
            }
            let path = at.join(entry.file_name());
            let kind = entry.file_type().map_err(Fault::io("look at", &path))?;
            if kind.is_dir() {
                waiting.push(path);
            } else if counts(&path.to_string_lossy()) {
                found.insert(describe(folder, &path)?);
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// A file with its hash. A link counts by where it leads and by what it leads to, if that is a file of the project.
pub(super) fn describe(folder: &Path, path: &Path) -> Result<AgentFile, Fault> {
    let whole = folder.join(path);
    let mut hash = Sha256::new();
    let found = fs::symlink_metadata(&whole).map_err(Fault::io("look at", &whole))?;
    if found.is_symlink() {
        let target = fs::read_link(&whole).map_err(Fault::io("read", &whole))?;
        hash.update(b"link\0");
        hash.update(target.as_os_str().as_encoded_bytes());
        hash.update(b"\0");
        let inside = fs::canonicalize(folder).map_err(Fault::io("find", folder))?;
        if let Some(real) = fs::canonicalize(&whole).ok().filter(|real| real.starts_with(&inside)) {
            hash_file(&real, &mut hash)?;
        }
    } else if found.is_file() {
        hash_file(&whole, &mut hash)?;
    }
    // A name that is not UTF-8 cannot be trusted by its text: it never matches what is stored.
    Ok(AgentFile { path: path.to_string_lossy().into_owned(), hash: hex(&hash.finalize()) })
}

fn hash_file(path: &Path, hash: &mut Sha256) -> Result<(), Fault> {
    use std::io::Read;
    let file = fs::File::open(path).map_err(Fault::io("read", path))?;
    let bytes = file.metadata().map_err(Fault::io("look at", path))?.len();
    let mut from = file.take(BYTES_MAX);
    let mut held = Vec::new();
    from.read_to_end(&mut held).map_err(Fault::io("read", path))?;
    hash.update(bytes.to_le_bytes());
    hash.update(&held);
    Ok(())
}

/// Whether a file can be trusted at all: what a link leads to outside the project, or to a folder, nobody listed.
pub(super) fn can_be_trusted(folder: &Path, file: &AgentFile) -> bool {
    let whole = folder.join(&file.path);
    let Ok(inside) = fs::canonicalize(folder) else { return false };
    fs::canonicalize(&whole).is_ok_and(|real| real.starts_with(&inside) && real.is_file())
}

/// Takes files out of a worktree. What git has as it is, is left to git, which is told not to miss it; anything else is
/// set aside, where [`give_back`] finds it.
pub(super) async fn withhold(
    git: &Git,
    folder: &Path,
    aside: &Path,
    files: &[AgentFile],
) -> Result<(), Fault> {
    if files.is_empty() {
        return Ok(());
    }
    let changed = git.ask(&["diff-files", "--name-only", "-z", "--ignore-submodules=all"]).await?;
    let changed: BTreeSet<String> = names(&changed);
    let tracked: BTreeSet<String> = names(&git.ask(&["ls-files", "-z"]).await?);
    let mut skipped = Vec::new();
    for file in files {
        let whole = folder.join(&file.path);
        if tracked.contains(&file.path) {
            skipped.push(file.path.as_str());
        }
        if tracked.contains(&file.path) && !changed.contains(&file.path) {
            fs::remove_file(&whole).map_err(Fault::io("withhold", &whole))?;
            remove_empty_parents(folder, &file.path);
            continue;
        }
        let place = aside.join(&file.path);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(Fault::io("make", parent))?;
        }
        fs::rename(&whole, &place).map_err(Fault::io("set aside", &whole))?;
        remove_empty_parents(folder, &file.path);
    }
    mark(git, "--skip-worktree", &skipped).await
}

/// A folder of which nothing is left goes too.
fn remove_empty_parents(folder: &Path, path: &str) {
    for parent in Path::new(path).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
        if fs::remove_dir(folder.join(parent)).is_err() {
            return;
        }
    }
}

/// Puts everything back that was withheld, as if nothing had been.
pub(super) async fn give_back(git: &Git, folder: &Path, aside: &Path) -> Result<(), Fault> {
    let marked = withheld(&git.ask(&["ls-files", "-t", "-z"]).await?);
    let marked: Vec<&str> = marked.iter().map(String::as_str).collect();
    mark(git, "--no-skip-worktree", &marked).await?;
    if is_folder(aside) && put_back(aside, folder)? == 0 {
        remove_all(aside)?;
    }
    // What is there again, changed, stays; git puts back what is missing.
    let missing: Vec<&str> =
        marked.into_iter().filter(|path| fs::symlink_metadata(folder.join(path)).is_err()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
    git.tell(&["checkout-index", "-u", "-z", "--stdin"], list).await?;
    Ok(())
}

/// The files that git keeps while they are withheld, out of its list of files with their states.
pub(super) fn withheld(listed: &[u8]) -> Vec<String> {
    let listed = names(listed);
    let marked = listed.iter().filter_map(|entry| entry.strip_prefix("S "));
    marked.filter(|path| counts(path)).map(str::to_owned).collect()
}

/// Moves what was set aside to where it was, unless something else is there now; gives how many stay aside.
fn put_back(aside: &Path, folder: &Path) -> Result<usize, Fault> {
    let mut waiting = vec![PathBuf::new()];
    let mut kept = 0;
    while let Some(at) = waiting.pop() {
        let from = aside.join(&at);
        for entry in fs::read_dir(&from).map_err(Fault::io("look into", &from))? {
            let entry = entry.map_err(Fault::io("look into", &from))?;
            let path = at.join(entry.file_name());
            let to = folder.join(&path);
            if is_folder(&entry.path()) {
                waiting.push(path);
            } else if fs::symlink_metadata(&to).is_ok() || !has_real_parents(folder, &path) {
                kept += 1;
            } else {
                if let Some(parent) = to.parent() {
                    fs::create_dir_all(parent).map_err(Fault::io("make", parent))?;
                }
                fs::rename(entry.path(), &to).map_err(Fault::io("put back", &to))?;
            }
        }
    }
    Ok(kept)
}

/// Whether no folder on the way to a path is a link.
pub(super) fn has_real_parents(folder: &Path, path: &Path) -> bool {
    let parents = path.ancestors().skip(1).map(|parent| folder.join(parent));
    parents.into_iter().all(|parent| fs::symlink_metadata(parent).map_or(true, |found| found.is_dir()))
}

async fn mark(git: &Git, how: &str, paths: &[&str]) -> Result<(), Fault> {
    if paths.is_empty() {
        return Ok(());
    }
    let list = paths.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
    git.tell(&["update-index", "-z", how, "--stdin"], list).await.map(drop)
}

/// The names in a list that ends each with NUL.
pub(super) fn names(list: &[u8]) -> BTreeSet<String> {
    let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}
