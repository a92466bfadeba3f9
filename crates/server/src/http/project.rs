//! Projects of channels: setting, showing, trusting.

use std::path::Path as FilePath;

use axum::extract::State;
use sha2::{Digest, Sha256};
use storage::{AgentFile, NewProject, Project, Read, Worktree};

use super::identify::Who;
use super::{App, Json, Path};
use crate::engine::{ProjectAct, Request};
use crate::error::{ApiError, Code};
use crate::project::{Fault, Listed};
use crate::{reach, rights, wire};

/// Bytes of a fingerprint: nobody finds a second set of files for 64 bits.
const FINGERPRINT_BYTES: usize = 8;

/// Shows the project of a channel
///
/// For owners. With the files from which agents load settings, commands, instructions or environment.
#[utoipa::path(get, path = "/channels/{channel}/project", tag = "projects", operation_id = "show_project",
    responses((status = 200, description = "The project", body = wire::Project)))]
pub(super) async fn show(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
) -> Result<Json<wire::Project>, ApiError> {
    app.project(&who, channel).await
}

/// Gives a channel a project
///
/// For owners. Each of the channel's agents then works in a git worktree of its own, on a branch of its own. Another
/// folder than before begins untrusted.
#[utoipa::path(put, path = "/channels/{channel}/project", tag = "projects", operation_id = "set_project",
    responses((status = 200, description = "The project", body = wire::Project)))]
pub(super) async fn set(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
    Json(new): Json<wire::SetProject>,
) -> Result<Json<wire::Project>, ApiError> {
    // Before anything is looked at that only owners may know of: which folders there are.
    app.may_set_project(&who, &channel).await?;
    let folder = app.check_project(&new.folder).await?;
    let new = NewProject { folder, setup: new.setup, copies: new.copies };
    app.act_on_project(&who, ProjectAct::Set { channel: channel.clone(), new }).await?;
    app.project(&who, channel).await
}

/// Takes a channel's project away
///
/// For owners. Worktrees stay until they are removed.
#[utoipa::path(delete, path = "/channels/{channel}/project", tag = "projects", operation_id = "remove_project",
    responses((status = 200, description = "Done", body = wire::Done)))]
pub(super) async fn remove(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
) -> Result<Json<wire::Done>, ApiError> {
    app.act_on_project(&who, ProjectAct::Unset { channel }).await?;
    Ok(Json(wire::Done {}))
}

/// Trusts a project
///
/// For owners. Its agents get these files from now on, in the form that they have; a file that changes is withheld again
/// until it is trusted.
#[utoipa::path(put, path = "/channels/{channel}/project/trust", tag = "projects", operation_id = "trust_project",
    responses((status = 200, description = "The project", body = wire::Project)))]
pub(super) async fn trust(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
    Json(trust): Json<wire::TrustProject>,
) -> Result<Json<wire::Project>, ApiError> {
    let files = trust.files.into_iter().map(|file| AgentFile { path: file.path, hash: file.hash }).collect();
    app.act_on_project(&who, ProjectAct::Trust { channel: channel.clone(), files }).await?;
    app.project(&who, channel).await
}

/// Takes trust in a project back
///
/// For owners. All of its files from which agents load something are withheld from then on.
#[utoipa::path(delete, path = "/channels/{channel}/project/trust", tag = "projects", operation_id = "distrust_project",
    responses((status = 200, description = "The project", body = wire::Project)))]
pub(super) async fn distrust(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
) -> Result<Json<wire::Project>, ApiError> {
    app.act_on_project(&who, ProjectAct::Distrust { channel: channel.clone() }).await?;
    app.project(&who, channel).await
}

impl App {
    /// Refuses whoever may not give this channel a project.
    pub(super) async fn may_set_project(&self, who: &Who, channel: &str) -> Result<(), ApiError> {
        let (principal, name) = (who.principal.clone(), channel.to_owned());
        let right =
            move |store: &dyn Read| reach::channel_for(store, &principal, &name, rights::may_set_project);
        self.readers.read(right).await.map(drop)
    }

    /// The top folder of a project, if there can be one.
    pub(super) async fn check_project(&self, folder: &str) -> Result<String, ApiError> {
        if !folder.starts_with('/') || folder.contains('\0') {
            return Err(ApiError::invalid(format!(
                "the project's folder must be an absolute path; {folder:?} is not"
            )));
        }
        self.start.projects.check(FilePath::new(folder)).await.map_err(|Fault(why)| ApiError::invalid(why))
    }

    pub(super) async fn act_on_project(&self, who: &Who, act: ProjectAct) -> Result<(), ApiError> {
        self.ask(who, Request::Project(Box::new(act))).await.map(drop)
    }

    async fn project(&self, who: &Who, channel: String) -> Result<Json<wire::Project>, ApiError> {
        let (principal, name) = (who.principal.clone(), channel.clone());
        let read = move |store: &dyn Read| {
            let channel = reach::channel_for(store, &principal, &name, rights::may_set_project)?;
            let project = store.project(&channel.id)?;
            let project = project.ok_or_else(|| {
                let told = format!(
                    "channel {name} has no project; give it one with: highwater project set {name} DIR"
                );
                ApiError::new(Code::NotFound, told)
            })?;
            let mut worktrees = store.worktrees()?;
            worktrees.retain(|worktree| {
                store.binding(&worktree.binding).is_ok_and(|binding| binding.spec.channel == channel.id)
            });
            Ok((project, worktrees))
        };
        let (project, worktrees) = self.readers.read(read).await?;
        let listed = self.start.projects.list(&project, &worktrees).await;
        Ok(Json(shown(channel, project, &worktrees, listed)))
    }
}

fn shown(
    channel: String,
    project: Project,
    worktrees: &[Worktree],
    listed: Result<Vec<Listed>, Fault>,
) -> wire::Project {
    let (listed, fault) = match listed {
        Ok(listed) => (listed, None),
        Err(Fault(why)) => (Vec::new(), Some(why)),
    };
    // What a worktree that nobody uses has is no question any more.
    let used = |id: &String| worktrees.iter().any(|at| at.id.0 == *id && at.retired_at.is_none());
    let listed = listed.into_iter().filter(|listed| listed.at.as_ref().is_none_or(used));
    let files = listed.map(|Listed { file, at, can_be_trusted }| wire::ProjectFile {
        trusted: can_be_trusted && project.trusted.binary_search(&file).is_ok(),
        path: file.path,
        hash: file.hash,
        worktree: at,
        can_be_trusted,
    });
    let files: Vec<wire::ProjectFile> = files.collect();
    wire::Project {
        channel,
        fingerprint: fingerprint(&files),
        files,
        fault,
        folder: project.spec.folder,
        setup: project.spec.setup,
        copies: project.spec.copies,
        set_at: project.set_at,
        trusted_at: project.trusted_at,
    }
}

/// Tells files in the form that they have from any others.
fn fingerprint(files: &[wire::ProjectFile]) -> String {
    let mut hash = Sha256::new();
    for file in files {
        hash.update(file.path.as_bytes());
        hash.update([0]);
        hash.update(file.hash.as_bytes());
    }
    hash.finalize()[..FINGERPRINT_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}
