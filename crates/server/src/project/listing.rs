//! The question of trust (8.2): which files of a project agents load something from, wherever a form of them is.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use storage::{AgentFile, MadeWorktree, Project, Worktree};

use super::git::{Fault, Git};
use super::prepare::blocking;
use super::repository::Repository;
use super::{Projects, agent_files, worktree};

/// How often links to links are followed within a project.
const LINKS_MAX: usize = 5;

/// A form of a file, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listed {
    /// The file.
    pub(crate) file: AgentFile,
    /// The worktree that has it so; `None`: the project's present commit, where new worktrees begin.
    pub(crate) at: Option<String>,
    /// Whether it can be trusted: nobody can say what a link out of the project leads to.
    pub(crate) can_be_trusted: bool,
}

impl Projects {
    /// The files of a project that agents load something from: of its present commit, and of these worktrees.
    pub(crate) async fn list(&self, project: &Project, worktrees: &[Worktree]) -> Result<Vec<Listed>, Fault> {
        let repository = self.repository(Path::new(&project.spec.folder)).await?;
        let mut listed = of_commit(&repository).await?;
        for worktree in worktrees.iter().filter(|worktree| worktree.project == project.spec.folder) {
            let Some(made) = &worktree.made else { continue };
            if worktree::is_folder(Path::new(&made.path)) {
                let aside = self.aside_of(worktree);
                listed.extend(of_worktree(&repository, made, &aside, &worktree.id.0).await?);
            }
        }
        listed.sort();
        listed.dedup();
        Ok(listed)
    }
}

async fn of_commit(repository: &Repository) -> Result<Vec<Listed>, Fault> {
    let stage = Stage::new(repository)?;
    let git = repository.git().with("GIT_INDEX_FILE", &stage.index()).with("GIT_WORK_TREE", &stage.files());
    let git = Git { cwd: stage.files(), ..git };
    git.ask(&["read-tree", "HEAD"]).await?;
    let paths = agent_files::names(&git.ask(&["ls-files", "-z"]).await?);
    let paths = paths.into_iter().filter(|path| agent_files::counts(path)).collect();
    stage.fill(&git, paths).await?;
    described(stage.files(), None).await
}

/// What is in the worktree, what was set aside, and what git keeps for it while it is withheld.
async fn of_worktree(
    repository: &Repository,
    made: &MadeWorktree,
    aside: &Path,
    id: &str,
) -> Result<Vec<Listed>, Fault> {
    let mut listed = described(PathBuf::from(&made.path), Some(id)).await?;
    if worktree::is_folder(aside) {
        listed.extend(described(aside.to_owned(), Some(id)).await?);
    }
    let stage = Stage::new(repository)?;
    let git = repository.git_in(&made.name, &stage.files());
    let paths = agent_files::withheld(&git.ask(&["ls-files", "-t", "-z"]).await?);
    stage.fill(&git, paths).await?;
    listed.extend(described(stage.files(), Some(id)).await?);
    Ok(listed)
}

async fn described(folder: PathBuf, at: Option<&str>) -> Result<Vec<Listed>, Fault> {
    let at = at.map(str::to_owned);
    blocking(move || {
        let files = agent_files::find(&folder)?.into_iter();
        Ok(files
            .map(|file| Listed {
                can_be_trusted: agent_files::can_be_trusted(&folder, &file),
                at: at.clone(),
                file,
            })
            .collect())
    })
    .await
}

/// A folder that files are put into to be looked at, and that goes with the value.
struct Stage(PathBuf);

impl Stage {
    fn new(repository: &Repository) -> Result<Self, Fault> {
        static STAGES: AtomicU64 = AtomicU64::new(0);
        let number = STAGES.fetch_add(1, Ordering::Relaxed);
        let stage = Self(repository.side.join(format!("stage-{}-{number}", std::process::id())));
        let mut folders = fs::DirBuilder::new();
        let made = folders.recursive(true).mode(0o700).create(stage.files());
        made.map_err(Fault::io("make", &stage.0))?;
        Ok(stage)
    }

    fn files(&self) -> PathBuf {
        self.0.join("files")
    }

    fn index(&self) -> PathBuf {
        self.0.join("index")
    }

    /// Puts files of an index there, and what links among them lead to.
    async fn fill(&self, git: &Git, paths: Vec<String>) -> Result<(), Fault> {
        let mut paths = paths;
        for _ in 0..LINKS_MAX {
            paths.retain(|path| fs::symlink_metadata(self.files().join(path)).is_err());
            if paths.is_empty() {
                return Ok(());
            }
            let list = paths.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
            // A target that git does not have is a link that leads nowhere.
            let checkout = ["checkout-index", "--ignore-skip-worktree-bits", "--quiet", "-z", "--stdin"];
            let _ = git.tell(&checkout, list).await;
            paths = paths.iter().filter_map(|path| self.target(path)).collect();
        }
        Ok(())
    }

    /// Where a link leads within the project.
    fn target(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.files().join(path)).ok()?;
        let mut whole = PathBuf::from(path);
        whole.pop();
        for part in target.components() {
            match part {
                Component::Normal(name) => whole.push(name),
                Component::CurDir => {}
                Component::ParentDir if whole.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        whole.to_str().map(str::to_owned)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Err(fault) = worktree::remove_all(&self.0) {
            tracing::warn!(%fault, "what was put aside to be looked at is left");
        }
    }
}
