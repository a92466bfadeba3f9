//! Worktrees: made, found again, looked at, removed.

use std::fs;
use std::path::{Path, PathBuf};

use agents::program::{End, Finished};
use storage::MadeWorktree;

use super::git::{Fault, Git};
use super::prepare::blocking;
use super::repository::{Repository, replace};

/// Branches tried for a worktree whose own name is taken.
const BRANCHES_TRIED_MAX: u32 = 100;
/// Bytes of a list of changed files that are read: more of them than a person counts.
const CHANGES_BYTES_MAX: usize = 256 * 1024;
/// Files and folders of a worktree that are looked at for its size.
const SIZED_MAX: usize = 1_000_000;

/// How a worktree stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Whether it is on the disk.
    pub(crate) there: bool,
    /// Files that are changed and not committed.
    pub(crate) changed: u64,
    /// Commits that are on no other branch, here or elsewhere.
    pub(crate) ahead: u64,
    /// Bytes on the disk.
    pub(crate) bytes: u64,
}

impl Standing {
    /// Whether nothing is lost with it.
    pub(crate) fn is_clean(self) -> bool {
        self.changed == 0 && self.ahead == 0
    }
}

/// Makes a worktree at a path that is free, with a new branch at the repository's present commit.
pub(super) async fn make(repository: &Repository, path: &Path, branch: &str) -> Result<MadeWorktree, Fault> {
    let whole = text(path)?;
    let branch = free_branch(repository, branch).await?;
    check_branch_folder(repository, &branch)?;
    let add = ["worktree", "add", "--quiet", "--no-checkout", "-b", &branch, "--", whole, "HEAD"];
    repository.git().ask(&add).await?;
    let made = MadeWorktree { path: whole.to_owned(), name: name_of(repository, path)?, branch };
    let filled = fill(repository, &made).await;
    if let Err(fault) = filled {
        discard(repository, &made).await;
        return Err(fault);
    }
    Ok(made)
}

/// Makes a worktree again that is gone from the disk, on its branch if that is still there.
pub(super) async fn make_again(repository: &Repository, made: &MadeWorktree) -> Result<MadeWorktree, Fault> {
    let path = Path::new(&made.path);
    if entry_is_real(repository, &made.name) {
        let entry = repository.entry(&made.name);
        fs::remove_dir_all(&entry).map_err(Fault::io("remove", &entry))?;
    }
    if !has_branch(repository, &made.branch).await? {
        return make(repository, path, &made.branch).await;
    }
    let add = ["worktree", "add", "--quiet", "--no-checkout", "--", text(path)?, &made.branch];
    repository.git().ask(&add).await?;
    let made = MadeWorktree { name: name_of(repository, path)?, ..made.clone() };
    fill(repository, &made).await?;
    Ok(made)
}

/// Checks a worktree that is on the disk, and ties it and the repository to each other anew: either may have moved.
pub(super) fn tie(repository: &Repository, made: &MadeWorktree) -> Result<(), Fault> {
    let path = Path::new(&made.path);
    if !is_folder(path) || !entry_is_real(repository, &made.name) {
        return Err(Fault(format!(
            "the repository {} does not know the worktree {path} any more: look what is in it, and repair it with git \
             worktree repair, or remove it with highwater worktree remove",
            repository.top.display(),
            path = path.display()
        )));
    }
    let entry = repository.entry(&made.name);
    replace(&entry.join("gitdir"), &format!("{}\n", path.join(".git").display()))?;
    replace(&path.join(".git"), &format!("gitdir: {}\n", entry.display()))
}

/// How a worktree stands.
pub(super) async fn look(repository: &Repository, made: &MadeWorktree) -> Result<Standing, Fault> {
    let path = Path::new(&made.path);
    if !is_folder(path) {
        return Ok(Standing { ahead: ahead_of_branch(repository, made).await?, ..Standing::default() });
    }
    if !entry_is_real(repository, &made.name) {
        return Err(Fault(format!("the repository does not know the worktree {} any more", made.path)));
    }
    let git = repository.git_in(&made.name, path);
    let listed = git.begin(&STATUS, CHANGES_BYTES_MAX).await?;
    let changed = changed(&listed)
        .ok_or_else(|| Fault(format!("git cannot tell how the worktree {} stands", made.path)))?
        .len() as u64;
    let ahead = count_ahead(&git, made).await?.max(ahead_of_branch(repository, made).await?);
    let folder = path.to_owned();
    let bytes = blocking(move || Ok(size(&folder))).await?;
    Ok(Standing { there: true, changed, ahead, bytes })
}

/// Asks what is changed and not committed, as [`changed`] reads it.
pub(super) const STATUS: [&str; 5] =
    ["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all"];

/// The files that are changed, each with git's two letters before it; `None` if git did not tell.
pub(super) fn changed(listed: &Finished) -> Option<Vec<String>> {
    match listed.end {
        End::Exited(0) | End::TooMuch => {}
        End::Exited(_) | End::TooLong => return None,
    }
    let mut files = Vec::new();
    let mut entries = listed.out.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    while let Some(entry) = entries.next() {
        files.push(String::from_utf8_lossy(entry).into_owned());
        // A rename has its old name as an entry of its own.
        if entry.iter().take(2).any(|letter| matches!(letter, b'R' | b'C')) {
            entries.next();
        }
    }
    Some(files)
}

/// Commits of a worktree that are on no other branch than its own.
pub(super) async fn count_ahead(git: &Git, made: &MadeWorktree) -> Result<u64, Fault> {
    let own = format!("--exclude={}", made.branch);
    let beyond = ["rev-list", "--count", "HEAD", "--not", &own, "--branches", "--remotes"];
    count(&git.line(&beyond).await?)
}

/// Whether a worktree is on the disk and the repository knows it.
pub(super) fn is_there(repository: &Repository, made: &MadeWorktree) -> bool {
    is_folder(Path::new(&made.path)) && entry_is_real(repository, &made.name)
}

/// Removes a worktree from the disk and the repository, and its branch if that holds nothing of its own.
pub(super) async fn remove(repository: &Repository, made: &MadeWorktree) -> Result<(), Fault> {
    let path = Path::new(&made.path);
    if fs::symlink_metadata(path).is_ok() {
        let folder = path.to_owned();
        blocking(move || remove_all(&folder)).await?;
    }
    if entry_is_real(repository, &made.name) {
        let entry = repository.entry(&made.name);
        fs::remove_dir_all(&entry).map_err(Fault::io("remove", &entry))?;
    }
    if has_branch(repository, &made.branch).await? && ahead_of_branch(repository, made).await? == 0 {
        let branch = format!("refs/heads/{}", made.branch);
        repository.git().ask(&["update-ref", "-d", &branch]).await?;
    }
    Ok(())
}

/// Removes a folder with all that is in it, but nothing that links in it lead to.
pub(super) fn remove_all(path: &Path) -> Result<(), Fault> {
    let removed = match is_folder(path) {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    removed.map_err(Fault::io("remove", path))
}

/// Takes back what a making left that failed; what cannot be taken back is told by the next one.
async fn discard(repository: &Repository, made: &MadeWorktree) {
    if let Err(fault) = remove(repository, made).await {
        tracing::warn!(%fault, path = made.path, "a worktree that could not be made is still there in part");
    }
}

/// What stands where a worktree is to be made: one that is whole is taken over, since there may be work in it; one that a
/// killed server was making is taken back. Anything else is not ours.
pub(super) async fn take_over(repository: &Repository, path: &Path) -> Result<Option<MadeWorktree>, Fault> {
    if fs::remove_dir(path).is_ok() {
        return Ok(None);
    }
    let name = name_of(repository, path)
        .map_err(|_| Fault(format!("{} is in the way: look what it is, and remove it", path.display())))?;
    let entry = repository.entry(&name);
    let head = fs::read_to_string(entry.join("HEAD")).map_err(Fault::io("read", &entry.join("HEAD")))?;
    let branch = head.trim_end().strip_prefix("ref: refs/heads/").unwrap_or_default().to_owned();
    let made = MadeWorktree { path: text(path)?.to_owned(), branch, name };
    if entry.join("index").exists() {
        tie(repository, &made)?;
        return Ok(Some(made));
    }
    remove(repository, &made).await?;
    Ok(None)
}

/// Puts the files of its commit into a new worktree.
async fn fill(repository: &Repository, made: &MadeWorktree) -> Result<(), Fault> {
    tie(repository, made)?;
    let git = repository.git_in(&made.name, Path::new(&made.path));
    git.ask(&["read-tree", "--reset", "-u", "HEAD"]).await?;
    Ok(())
}

/// The name by which a repository knows a worktree that git has just made.
fn name_of(repository: &Repository, path: &Path) -> Result<String, Fault> {
    let file = path.join(".git");
    let text = fs::read_to_string(&file).map_err(Fault::io("read", &file))?;
    let entry = text.strip_prefix("gitdir: ").map(|entry| PathBuf::from(entry.trim_end_matches('\n')));
    let name = entry.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    match name {
        Some(name) if is_plain(name) && entry_is_real(repository, name) => Ok(name.to_owned()),
        Some(_) | None => {
            Err(Fault(format!("{} does not name a worktree of the repository", file.display())))
        }
    }
}

/// Whether a name is that of an entry, and nothing that leads elsewhere.
pub(super) fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.chars().all(plain) && !name.starts_with('.')
}

fn entry_is_real(repository: &Repository, name: &str) -> bool {
    is_plain(name) && is_folder(&repository.entry(name))
}

/// Whether this is a folder itself, and no link to one.
pub(super) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

async fn free_branch(repository: &Repository, wanted: &str) -> Result<String, Fault> {
    for number in 1..=BRANCHES_TRIED_MAX {
        let branch = if number == 1 { wanted.to_owned() } else { format!("{wanted}-{number}") };
        if !has_branch(repository, &branch).await? {
            return Ok(branch);
        }
    }
    Err(Fault(format!(
        "the repository has {BRANCHES_TRIED_MAX} branches {wanted}, {wanted}-2, … already: delete those that are done"
    )))
}

/// References are files of the repository: no link on the way to this one may lead out of it.
fn check_branch_folder(repository: &Repository, branch: &str) -> Result<(), Fault> {
    let heads = repository.common.join("refs/heads");
    match Path::new(branch).ancestors().map(|part| heads.join(part)).find(|path| path.is_symlink()) {
        Some(link) => {
            Err(Fault(format!("{} is a link; Highwater does not follow links there", link.display())))
        }
        None => Ok(()),
    }
}

async fn has_branch(repository: &Repository, branch: &str) -> Result<bool, Fault> {
    let whole = format!("refs/heads/{branch}");
    repository.git().holds(&["show-ref", "--verify", "--quiet", &whole]).await
}

/// Commits of a worktree's branch that are on no other.
async fn ahead_of_branch(repository: &Repository, made: &MadeWorktree) -> Result<u64, Fault> {
    if !has_branch(repository, &made.branch).await? {
        return Ok(0);
    }
    let whole = format!("refs/heads/{}", made.branch);
    let own = format!("--exclude={}", made.branch);
    let beyond = ["rev-list", "--count", &whole, "--not", &own, "--branches", "--remotes"];
    count(&repository.git().line(&beyond).await?)
}

fn count(text: &str) -> Result<u64, Fault> {
    text.trim().parse().map_err(|_| Fault(format!("git told {text:?} for a number")))
}

/// Bytes that a folder takes, links not followed; of its first [`SIZED_MAX`] files.
fn size(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut waiting = vec![folder.to_owned()];
    let (mut bytes, mut seen) = (0, 0);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > SIZED_MAX {
                return bytes;
            }
            let Ok(found) = entry.metadata() else { continue };
            bytes += found.blocks() * 512;
            if found.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    bytes
}

fn text(path: &Path) -> Result<&str, Fault> {
    path.to_str()
        .ok_or_else(|| Fault(format!("the path {} is not UTF-8, which is not supported", path.display())))
}
