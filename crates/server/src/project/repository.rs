//! A repository as Highwater's own git sees it: its objects and references, with a configuration of Highwater's.
//!
//! Git runs programs that a repository's own configuration names: hooks, filters, file system monitors, drivers, and
//! what later versions add. So Highwater's git never reads that. It gets a common folder (`GIT_COMMON_DIR`) of ours, the
//! *side*: a configuration that Highwater wrote, beside links to the objects and references of the repository. What a
//! configuration could name is not switched off one by one; there is none.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::git::{Fault, Git};
use super::worktree::is_folder;

/// What the side shares with the repository.
const SHARED: [&str; 7] =
    ["objects", "refs", "packed-refs", "reftable", "shallow", "worktrees", "info/exclude"];

/// What a repository is taken as from its own configuration: how its objects and references are kept, and what its file
/// system can do. Everything else stays there.
const TAKEN: &str =
    r"^(extensions\.(objectformat|refstorage)|core\.(filemode|symlinks|ignorecase|precomposeunicode))$";

/// A git repository with a working tree and a commit.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    /// Its top folder.
    pub(super) top: PathBuf,
    /// The `.git` folder of that top folder.
    pub(super) git_dir: PathBuf,
    /// What all worktrees of it share.
    pub(super) common: PathBuf,
    /// Highwater's side of it.
    pub(super) side: PathBuf,
    /// The server's `PATH`.
    path: String,
}

impl Repository {
    /// The repository whose top folder this is. The error says why there is none that can be used, and what to do.
    pub(super) async fn open(folder: &Path, data: &Path, path: &str) -> Result<Self, Fault> {
        let Place { top, git_dir, common } = Place::find(folder, data)?;
        let name: String = hex(&Sha256::digest(common.as_os_str().as_encoded_bytes())[..8]);
        let repository =
            Self { top, git_dir, side: data.join("projects").join(name), common, path: path.to_owned() };
        repository.make_side().await?;
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        if !repository.git().holds(&head).await? {
            return Err(Fault(format!(
                "the repository {} has no commit yet: make one, since a worktree begins at a commit",
                repository.top.display()
            )));
        }
        Ok(repository)
    }

    /// Git on the repository.
    pub(super) fn git(&self) -> Git {
        self.bare_git().with("GIT_DIR", &self.git_dir).with("GIT_COMMON_DIR", &self.side)
    }

    /// Git on one of its worktrees, by its name.
    pub(super) fn git_in(&self, name: &str, worktree: &Path) -> Git {
        let git = self.bare_git().with("GIT_DIR", &self.entry(name)).with("GIT_COMMON_DIR", &self.side);
        Git { cwd: worktree.to_owned(), ..git.with("GIT_WORK_TREE", worktree) }
    }

    /// What the repository keeps about one of its worktrees.
    pub(super) fn entry(&self, name: &str) -> PathBuf {
        self.common.join("worktrees").join(name)
    }

    fn bare_git(&self) -> Git {
        Git {
            path: self.path.clone(),
            home: self.side.join("home"),
            env: Vec::new(),
            cwd: self.side.join("home"),
        }
    }

    /// Makes the side, or brings it up to date.
    async fn make_side(&self) -> Result<(), Fault> {
        for folder in [self.side.join("home"), self.side.join("info")] {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&folder)
                .map_err(Fault::io("make", &folder))?;
        }
        let worktrees = self.common.join("worktrees");
        match fs::create_dir(&worktrees) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(Fault::io("make", &worktrees)(error));
            }
            Ok(()) | Err(_) => {}
        }
        for name in SHARED {
            share(&self.common.join(name), &self.side.join(name))?;
        }
        let config = config_text(&self.taken().await?)?;
        let file = self.side.join("config");
        if fs::read_to_string(&file).ok().as_deref() != Some(&config) {
            replace(&file, &config)?;
        }
        Ok(())
    }

    /// [`TAKEN`] of the repository's own configuration, read as a file, without what it includes.
    async fn taken(&self) -> Result<Vec<(String, String)>, Fault> {
        let file = self.common.join("config");
        let Some(file) = file.to_str().filter(|_| file.exists()) else { return Ok(Vec::new()) };
        let git = self.bare_git().with("GIT_DIR", &self.side.join("none"));
        let listed = ["config", "--file", file, "--no-includes", "--list", "-z"];
        git.ask(&listed).await.map_err(|fault| {
            Fault(format!("the configuration of {} cannot be read: {fault}", self.top.display()))
        })?;
        let asked = ["config", "--file", file, "--no-includes", "-z", "--get-regexp", TAKEN];
        let said = git.begin(&asked, 64 * 1024).await?.out;
        let said = String::from_utf8_lossy(&said).into_owned();
        let pairs = said.split('\0').filter(|entry| !entry.is_empty());
        Ok(pairs
            .map(|entry| {
                let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
                (key.to_owned(), value.to_owned())
            })
            .collect())
    }
}

/// The side's configuration.
fn config_text(taken: &[(String, String)]) -> Result<String, Fault> {
    let mut config = "# Highwater's own; made anew when it is changed.\n[core]\n\tbare = false\n\
                      \tlogAllRefUpdates = false\n"
        .to_owned();
    let mut version = 0;
    let mut extensions = String::new();
    // The last of several counts.
    let taken: BTreeMap<&str, String> =
        taken.iter().map(|(key, value)| (key.as_str(), value.to_lowercase())).collect();
    for (key, value) in taken {
        match (key, value.as_str()) {
            ("extensions.objectformat", "sha1" | "sha256")
            | ("extensions.refstorage", "files" | "reftable") => {
                version = 1;
                let name = key.trim_start_matches("extensions.");
                extensions.push_str(&format!("\t{name} = {value}\n"));
            }
            ("extensions.objectformat" | "extensions.refstorage", _) => {
                return Err(Fault(format!("the repository's {key} = {value} is not known to Highwater")));
            }
            (key, value) => {
                let name = key.trim_start_matches("core.");
                let on = matches!(value, "true" | "yes" | "on" | "1" | "");
                config.push_str(&format!("\t{name} = {on}\n"));
            }
        }
    }
    config.push_str(&format!("\trepositoryFormatVersion = {version}\n"));
    if !extensions.is_empty() {
        config.push_str(&format!("[extensions]\n{extensions}"));
    }
    Ok(config)
}

/// Links to what the repository has, or may have later.
fn share(theirs: &Path, ours: &Path) -> Result<(), Fault> {
    if fs::read_link(ours).is_ok_and(|target| target == theirs) {
        return Ok(());
    }
    match symlink(theirs, ours) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(Fault::io("make", ours)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes a small file whole or not at all, in place of whatever has its name: a link there is replaced, not followed.
pub(super) fn replace(file: &Path, text: &str) -> Result<(), Fault> {
    static DRAFTS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = DRAFTS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let draft = file.with_file_name(format!("{name}.highwater-{}-{number}", std::process::id()));
    let mut options = fs::OpenOptions::new();
    let written = options
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(&draft)
        .and_then(|mut opened| opened.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&draft, file));
    written.map_err(|error| {
        let _ = fs::remove_file(&draft);
        Fault::io("write", file)(error)
    })
}

/// Where a repository is.
struct Place {
    top: PathBuf,
    git_dir: PathBuf,
    common: PathBuf,
}

impl Place {
    /// Looks at the folder by hand: git's own search reads the repository's configuration.
    fn find(folder: &Path, data: &Path) -> Result<Self, Fault> {
        let top = fs::canonicalize(folder).map_err(Fault::io("find the project's folder", folder))?;
        if top.starts_with(data) {
            return Err(Fault(format!(
                "{} lies in Highwater's data folder; a project lies elsewhere",
                top.display()
            )));
        }
        let dot_git = top.join(".git");
        let kind = fs::symlink_metadata(&dot_git).map(|found| found.file_type());
        let git_dir = match kind {
            Ok(kind) if kind.is_dir() => dot_git,
            Ok(kind) if kind.is_file() => linked(&top, &dot_git)?,
            Ok(_) => {
                return Err(Fault(format!(
                    "{} is neither a folder nor a file; Highwater does not follow links there",
                    dot_git.display()
                )));
            }
            Err(_) => return Err(no_repository(&top)),
        };
        let common = match fs::read_to_string(git_dir.join("commondir")) {
            Ok(text) => {
                let folder = git_dir.join(text.trim_end_matches('\n'));
                fs::canonicalize(&folder).map_err(Fault::io("find", &folder))?
            }
            Err(_) => git_dir.clone(),
        };
        if common.starts_with(data) {
            return Err(Fault(format!("{} lies in Highwater's data folder", common.display())));
        }
        check_real(&common)?;
        Ok(Self { top, git_dir, common })
    }
}

/// The git folder of a linked worktree, which must say that it is this one's.
fn linked(top: &Path, dot_git: &Path) -> Result<PathBuf, Fault> {
    let text = fs::read_to_string(dot_git).map_err(Fault::io("read", dot_git))?;
    let named = text.strip_prefix("gitdir: ").map(|path| top.join(path.trim_end_matches('\n')));
    let found = named.and_then(|path| fs::canonicalize(path).ok());
    let says = found.as_ref().and_then(|path| fs::read_to_string(path.join("gitdir")).ok());
    let leads_back = says
        .is_some_and(|back| fs::canonicalize(back.trim_end_matches('\n')).is_ok_and(|back| back == dot_git));
    match found {
        Some(git_dir) if leads_back => Ok(git_dir),
        Some(_) | None => Err(Fault(format!(
            "{} leads to a repository that does not know of it (a submodule does, too): give the top folder of a \
             repository of its own",
            dot_git.display()
        ))),
    }
}

/// Why there is no repository at a folder, and what to do.
fn no_repository(top: &Path) -> Fault {
    let shown = top.display();
    if ["HEAD", "objects", "refs"].iter().all(|name| top.join(name).exists()) {
        return Fault(format!("{shown} is a bare repository: give a clone of it that has its files"));
    }
    match top.ancestors().skip(1).find(|folder| folder.join(".git").exists()) {
        Some(of) => Fault(format!("{shown} lies in the repository {}: give that folder", of.display())),
        None => Fault(format!("{shown} is no git repository: make one there with git init and a commit")),
    }
}

/// Refuses a repository whose parts lead elsewhere: what is written to it shall be in it.
fn check_real(common: &Path) -> Result<(), Fault> {
    let refused = |path: &Path, what: &str| {
        Err(Fault(format!("{} is no {what}; Highwater does not follow links there", path.display())))
    };
    for name in ["", "objects", "refs"] {
        let path = common.join(name);
        if !is_folder(&path) {
            return refused(&path, "folder");
        }
    }
    for name in ["worktrees", "refs/heads", "refs/heads/highwater", "reftable"] {
        let path = common.join(name);
        if path.is_symlink() {
            return refused(&path, "folder");
        }
    }
    for name in ["config", "packed-refs", "shallow"] {
        let path = common.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            return refused(&path, "file");
        }
    }
    Ok(())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
