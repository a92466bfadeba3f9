//! What comes before the start of an agent that works on a project: its worktree, without what nobody trusts.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use agents::Spec;
use storage::{AgentFile, MadeWorktree, Project};

use super::git::Fault;
use super::index::Index;
use super::repository::Repository;
use super::{Projects, agent_files, copies, worktree};
use crate::engine::{Origin, Prepared, ProjectAct, Request, Workplace};
use crate::shell::outside::Asker;

impl Projects {
    /// Gets a workplace ready, and tells the engine what it is before anything runs in it. The error is for people.
    pub(super) async fn prepare(
        &self,
        mut workplace: Workplace,
        spec: Spec,
        asker: Asker,
    ) -> Result<(), String> {
        let folder = workplace.project.spec.folder.clone();
        let told = async {
            let repository = self.repository(Path::new(&workplace.project.spec.folder)).await?;
            let (made, origin) = self.make(&repository, &workplace).await?;
            tell(&asker, ProjectAct::Made { id: workplace.worktree.id.clone(), made: made.clone() }).await?;
            let copied = match origin {
                Origin::There => Vec::new(),
                Origin::Made | Origin::MadeAgain => {
                    self.copy(&repository, &mut workplace, &made, &asker).await?
                }
            };
            let withheld = self.withhold(&repository, &workplace, &made).await?;
            let set_up = self.set_up(&workplace, origin, &spec).await;
            let (key, id) = (workplace.key.clone(), workplace.worktree.id.clone());
            let prepared = Prepared { key, id, made, origin, copied, withheld, set_up };
            tell(&asker, ProjectAct::Prepared(Box::new(prepared))).await
        };
        told.await.map_err(|fault: Fault| {
            format!("the agent's worktree of {folder} could not be got ready: {fault}")
        })
    }

    /// The worktree: where it was, or made.
    async fn make(
        &self,
        repository: &Repository,
        workplace: &Workplace,
    ) -> Result<(MadeWorktree, Origin), Fault> {
        let path = self.path_of(&workplace.worktree);
        if let Some(made) = &workplace.worktree.made {
            // The data folder may have moved.
            let made = MadeWorktree { path: path.display().to_string(), ..made.clone() };
            if fs::symlink_metadata(&path).is_err() {
                return Ok((worktree::make_again(repository, &made).await?, Origin::MadeAgain));
            }
            worktree::tie(repository, &made)?;
            return Ok((made, Origin::There));
        }
        if let Some(parent) = path.parent() {
            let mut folders = fs::DirBuilder::new();
            folders.recursive(true).mode(0o700).create(parent).map_err(Fault::io("make", parent))?;
        }
        if fs::symlink_metadata(&path).is_ok()
            && let Some(made) = worktree::take_over(repository, &path).await?
        {
            return Ok((made, Origin::There));
        }
        Ok((worktree::make(repository, &path, &workplace.branch).await?, Origin::Made))
    }

    /// Copies the files that an owner named into a new worktree. What agents load of them is trusted by that: it is the
    /// owner's own.
    async fn copy(
        &self,
        repository: &Repository,
        workplace: &mut Workplace,
        made: &MadeWorktree,
        asker: &Asker,
    ) -> Result<Vec<String>, Fault> {
        let (top, data) = (repository.top.clone(), self.data.clone());
        let patterns = workplace.project.spec.copies.clone();
        let paths = blocking(move || copies::find(&top, &data, &patterns)).await?;
        let folder = Path::new(&made.path);
        let git = repository.git_in(&made.name, folder);
        let copied = copies::copy(&git, &repository.top, folder, paths).await?;
        let mut files = Vec::new();
        for path in copied.iter().filter(|path| agent_files::counts(path)) {
            files.push(agent_files::describe(folder, Path::new(path))?);
        }
        if !files.is_empty() {
            let trusted = &mut workplace.project.trusted;
            trusted.extend(files.iter().cloned());
            trusted.sort();
            tell(asker, ProjectAct::Copied { channel: workplace.key.channel.clone(), files }).await?;
        }
        Ok(copied)
    }

    /// Takes what is not trusted out of the worktree; gives what that is.
    async fn withhold(
        &self,
        repository: &Repository,
        workplace: &Workplace,
        made: &MadeWorktree,
    ) -> Result<Vec<AgentFile>, Fault> {
        let folder = PathBuf::from(&made.path);
        let index = Index::take(repository, &made.name, &folder)?;
        let aside = self.aside_of(&workplace.worktree);
        agent_files::give_back(&index.git, &folder, &aside).await?;
        let (project, there) = (workplace.project.clone(), folder.clone());
        let untrusted = blocking(move || untrusted(&project, &there)).await?;
        agent_files::withhold(&index.git, &folder, &aside, &untrusted).await?;
        index.put()?;
        Ok(untrusted)
    }
}

/// The files of a folder that agents load something from and nobody trusts in the form that they have.
fn untrusted(project: &Project, folder: &Path) -> Result<Vec<AgentFile>, Fault> {
    let mut files = agent_files::find(folder)?;
    let trusted = |file: &AgentFile| {
        project.trusted.binary_search(file).is_ok() && agent_files::can_be_trusted(folder, file)
    };
    files.retain(|file| !trusted(file));
    Ok(files)
}

/// Tells the engine; what it is told is durable then.
async fn tell(asker: &Asker, act: ProjectAct) -> Result<(), Fault> {
    let told = asker.ask(Request::Project(Box::new(act))).await;
    told.map(drop).map_err(|error| Fault(error.message))
}

/// Does what takes long where that holds nobody up.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Fault(format!("looking through the project failed: {error}")))?
}
