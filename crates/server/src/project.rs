//! Projects (8): the git repository of a channel, the worktrees of its agents, and what of it is trusted.

mod activity;
mod agent_files;
mod copies;
mod git;
mod index;
mod listing;
mod prepare;
mod repository;
mod set_up;
mod worktree;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agents::{Before, Spec};
use storage::Worktree;

pub(crate) use self::git::Fault;
pub(crate) use self::listing::Listed;
use self::repository::Repository;
pub(crate) use self::worktree::Standing;
use crate::engine::Workplace;
use crate::shell::outside::Asker;

#[cfg(test)]
mod tests;

/// What is done with projects on the disk.
#[derive(Clone, Debug)]
pub(crate) struct Projects {
    /// The data folder, absolute.
    pub(crate) data: PathBuf,
    /// The server's `PATH`, on which git is found.
    pub(crate) path: String,
    /// Program and arguments of the holder, under which set-up lines run.
    pub(crate) holder: Arc<[String]>,
}

impl Projects {
    /// For a data folder, by a server with this environment and holder.
    pub(crate) fn new(data: &Path, env: &[(String, String)], holder: &[String]) -> Self {
        let path = env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        Self { data: data.to_owned(), path: path.unwrap_or_default(), holder: holder.into() }
    }

    /// The repository whose top folder this is, absolute and without links. The error says what to do.
    pub(crate) async fn check(&self, folder: &Path) -> Result<String, Fault> {
        let top = self.repository(folder).await?.top;
        let text = top.to_str().map(str::to_owned);
        text.ok_or_else(|| Fault(format!("the path {} is not UTF-8, which is not supported", top.display())))
    }

    /// What gets a workplace ready before its agent starts, which this spec says how to do.
    pub(crate) fn before(&self, workplace: Workplace, spec: Spec, asker: Asker) -> Before {
        let projects = self.clone();
        Before::new(move || {
            let (projects, workplace) = (projects.clone(), workplace.clone());
            let (spec, asker) = (spec.clone(), asker.clone());
            async move { projects.prepare(workplace, spec, asker).await }
        })
    }

    /// How a worktree stands; one that was never made is not there.
    pub(crate) async fn look(&self, worktree: &Worktree) -> Result<Standing, Fault> {
        let Some(made) = &worktree.made else { return Ok(Standing::default()) };
        let repository = self.repository(Path::new(&worktree.project)).await?;
        worktree::look(&repository, made).await
    }

    /// Removes a worktree from the disk, whatever is in it.
    pub(crate) async fn remove(&self, worktree: &Worktree) -> Result<(), Fault> {
        let aside = self.aside_of(worktree);
        if worktree::is_folder(&aside) {
            worktree::remove_all(&aside)?;
        }
        let Some(made) = &worktree.made else { return Ok(()) };
        match self.repository(Path::new(&worktree.project)).await {
            Ok(repository) => worktree::remove(&repository, made).await,
            // A repository that is gone knows nothing to be forgotten.
            Err(_) if !Path::new(&worktree.project).exists() && Path::new(&made.path).exists() => {
                worktree::remove_all(Path::new(&made.path))
            }
            Err(_) if !Path::new(&worktree.project).exists() => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// Where a worktree is: in its agent's own folder, which is all that the agent sees of the data folder.
    pub(crate) fn path_of(&self, worktree: &Worktree) -> PathBuf {
        let number = worktree.id.0.trim_start_matches('w');
        self.data.join("agents").join(worktree.binding.as_str()).join(format!("worktree-{number}"))
    }

    /// Where is what was withheld of a worktree and git does not have.
    fn aside_of(&self, worktree: &Worktree) -> PathBuf {
        self.data.join("withheld").join(&worktree.id.0)
    }

    async fn repository(&self, folder: &Path) -> Result<Repository, Fault> {
        Repository::open(folder, &self.data, &self.path).await
    }
}
