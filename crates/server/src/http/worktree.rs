//! Worktrees of agents: listing and removing.

use axum::extract::State;
use serde::Deserialize;
use storage::{Read, Worktree, WorktreeId};
use utoipa::IntoParams;

use super::identify::Who;
use super::{App, Json, Path, Query};
use crate::engine::ProjectAct;
use crate::error::{ApiError, Code};
use crate::project::{Fault, Standing};
use crate::{reach, rights, wire};

/// Which worktrees to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct WorktreesQuery {
    /// Name of the channel; all if absent.
    channel: Option<String>,
}

/// Lists worktrees
///
/// For owners. Those of agents that were removed too, while they are on the disk.
#[utoipa::path(get, path = "/worktrees", tag = "projects", operation_id = "list_worktrees", params(WorktreesQuery),
    responses((status = 200, description = "The worktrees", body = Vec<wire::Worktree>)))]
pub(super) async fn list(
    State(app): State<App>,
    who: Who,
    Query(query): Query<WorktreesQuery>,
) -> Result<Json<Vec<wire::Worktree>>, ApiError> {
    let read = move |store: &dyn Read| {
        reach::allowed(rights::may_manage_worktrees(&who.principal), "worktree", "")?;
        let only = match query.channel {
            Some(name) => Some(reach::channel(store, &who.principal, &name)?.id),
            None => None,
        };
        let mut found = Vec::new();
        for worktree in store.worktrees()? {
            let (channel, agent) = place(store, &worktree)?;
            if only.as_ref().is_none_or(|only| *only == channel.id) {
                found.push((worktree, channel.name, agent));
            }
        }
        Ok(found)
    };
    let mut shown = Vec::new();
    for (worktree, channel, agent) in app.readers.read(read).await? {
        let standing = app.start.projects.look(&worktree).await;
        shown.push(show(worktree, channel, agent, standing));
    }
    Ok(Json(shown))
}

/// How to remove a worktree.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveQuery {
    /// Also if it holds work that is nowhere else.
    #[serde(default)]
    force: bool,
}

/// Removes a worktree
///
/// For owners. One that holds work that is nowhere else is kept, unless `force` is given; the commits on its branch stay
/// there in any case. An agent that needs it again gets a new one.
#[utoipa::path(delete, path = "/worktrees/{worktree}", tag = "projects", operation_id = "remove_worktree", params(RemoveQuery),
    responses((status = 200, description = "The worktree as it was", body = wire::Worktree)))]
pub(super) async fn remove(
    State(app): State<App>,
    who: Who,
    Path(id): Path<String>,
    Query(query): Query<RemoveQuery>,
) -> Result<Json<wire::Worktree>, ApiError> {
    let (principal, id) = (who.principal.clone(), WorktreeId(id));
    let asked = id.clone();
    let read = move |store: &dyn Read| {
        reach::allowed(rights::may_manage_worktrees(&principal), "worktree", &asked.0)?;
        let there = store.worktrees()?.into_iter().find(|worktree| worktree.id == asked);
        let worktree =
            there.ok_or_else(|| ApiError::new(Code::NotFound, format!("no such worktree: {asked}")))?;
        let (channel, agent) = place(store, &worktree)?;
        Ok((worktree, channel.name, agent))
    };
    let (worktree, channel, agent) = app.readers.read(read).await?;
    let standing = app.start.projects.look(&worktree).await;
    if !query.force {
        let why = match &standing {
            Ok(standing) if standing.is_clean() => None,
            Ok(standing) => Some(held(*standing)),
            Err(Fault(why)) => Some(format!("it cannot be told what it holds: {why}")),
        };
        if let Some(why) = why {
            let told = format!("worktree {id} is kept, since {why}; remove it all the same with --force");
            return Err(ApiError::conflict(told));
        }
    }
    app.act_on_project(&who, ProjectAct::Retire { id: id.clone() }).await?;
    // Nothing works in it from here on; until here something may have.
    if !query.force && !app.start.projects.look(&worktree).await.is_ok_and(Standing::is_clean) {
        return Err(ApiError::conflict(format!(
            "worktree {id} is kept, since its agent has just worked in it"
        )));
    }
    let removed = app.start.projects.remove(&worktree).await;
    removed.map_err(|Fault(why)| {
        ApiError::new(Code::Internal, format!("worktree {id} is half removed: {why}"))
    })?;
    app.service.ask(crate::engine::Request::Project(Box::new(ProjectAct::Removed { id }))).await?;
    Ok(Json(show(worktree, channel, agent, standing)))
}

/// What keeps a worktree.
fn held(standing: Standing) -> String {
    match (standing.changed, standing.ahead) {
        (changed, 0) => format!("it holds changes that are not committed, in {changed} files"),
        (0, ahead) => format!("its branch holds {ahead} commits that are nowhere else"),
        (changed, ahead) => format!(
            "it holds changes that are not committed, in {changed} files, and its branch {ahead} commits that are \
             nowhere else"
        ),
    }
}

fn place(store: &dyn Read, worktree: &Worktree) -> Result<(storage::Channel, String), ApiError> {
    let binding = store.binding(&worktree.binding)?;
    Ok((store.channel_by_id(&binding.spec.channel)?, binding.spec.handle))
}

fn show(
    worktree: Worktree,
    channel: String,
    agent: String,
    standing: Result<Standing, Fault>,
) -> wire::Worktree {
    let (standing, fault) = match standing {
        Ok(standing) => (standing, None),
        Err(Fault(why)) => (Standing::default(), Some(why)),
    };
    let (path, branch) = worktree.made.map(|made| (made.path, made.branch)).unwrap_or_default();
    wire::Worktree {
        id: worktree.id.0,
        channel,
        agent,
        project: worktree.project,
        path,
        branch,
        used: worktree.retired_at.is_none(),
        there: standing.there,
        changed: standing.changed,
        ahead: standing.ahead,
        bytes: standing.bytes,
        fault,
    }
}
