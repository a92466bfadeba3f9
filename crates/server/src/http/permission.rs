//! Permissions that agents ask for: listing, showing, answering, and the rules by which the rest is decided.

use axum::extract::State;
use delivery::model::ChannelId;
use serde::Deserialize;
use storage::{PermissionId, Read, Which};
use utoipa::IntoParams;

use super::admin::unexpected;
use super::identify::Who;
use super::message::page;
use super::{App, Json, Path, Query};
use crate::engine::{Answer, Reply, Request, RulesChange};
use crate::error::ApiError;
use crate::wire;
use crate::{reach, view};

/// Cards of a list at most: each may have 128 KiB of text.
const PERMISSIONS_MAX: usize = 200;

/// Which cards.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct PermissionsQuery {
    /// Name of the channel; all that may be read if absent.
    channel: Option<String>,
    /// True: those alone that wait for an answer.
    pending: Option<bool>,
    /// Cards at most.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<usize>,
}

/// Lists permission cards, newest first
#[utoipa::path(get, path = "/permissions", tag = "permissions", operation_id = "list_permissions",
    params(PermissionsQuery),
    responses((status = 200, description = "The cards", body = Vec<wire::Permission>)))]
pub(super) async fn list(
    State(app): State<App>,
    who: Who,
    Query(query): Query<PermissionsQuery>,
) -> Result<Json<Vec<wire::Permission>>, ApiError> {
    let limit = page(query.limit, PERMISSIONS_MAX)?;
    let which = if query.pending == Some(true) { Which::Pending } else { Which::All };
    let read = move |store: &dyn Read| {
        let channels = match query.channel {
            Some(name) => vec![reach::channel(store, &who.principal, &name)?],
            None => reach::channels(store, &who.principal)?,
        };
        let channels: Vec<ChannelId> = channels.into_iter().map(|channel| channel.id).collect();
        let cards = store.permissions_in(&channels, which, limit)?;
        cards.into_iter().map(|card| view::permission(store, card)).collect()
    };
    Ok(Json(app.readers.read(read).await?))
}

/// Shows a permission card
#[utoipa::path(get, path = "/permissions/{permission}", tag = "permissions", operation_id = "show_permission",
    responses((status = 200, description = "The card", body = wire::Permission)))]
pub(super) async fn show(
    State(app): State<App>,
    who: Who,
    Path(permission): Path<String>,
) -> Result<Json<wire::Permission>, ApiError> {
    let read = move |store: &dyn Read| {
        let card = reach::permission(store, &who.principal, &PermissionId(permission))?;
        view::permission(store, card)
    };
    Ok(Json(app.readers.read(read).await?))
}

/// Answers a permission card
///
/// For those whom the agent's `answered_by` names; options that outlast the request are for owners alone. The first answer
/// counts: a card that was decided before, also by time, is a conflict with the code `already_decided`.
#[utoipa::path(post, path = "/permissions/{permission}/answer", tag = "permissions",
    operation_id = "answer_permission",
    responses((status = 200, description = "The card", body = wire::Permission)))]
pub(super) async fn answer(
    State(app): State<App>,
    who: Who,
    Path(permission): Path<String>,
    Json(answer): Json<wire::AnswerPermission>,
) -> Result<Json<wire::Permission>, ApiError> {
    let person = who.principal.person.clone();
    let answer = Answer { permission: PermissionId(permission), option: answer.option, person };
    let Reply::Permission(card) = app.ask(&who, Request::Answer(answer)).await? else {
        return Err(unexpected());
    };
    let read = move |store: &dyn Read| view::permission(store, *card);
    let mut shown = app.readers.read(read).await?;
    // Who may answer may not therefore read.
    if !who.principal.scopes.has(wire::Scope::Read) {
        shown.details.clear();
        shown.title.clear();
    }
    Ok(Json(shown))
}

/// Changes by which rules an agent's permission requests are decided
///
/// For owners. Cards that wait stay as they are, but for who may answer them.
#[utoipa::path(patch, path = "/channels/{channel}/agents/{handle}/permissions", tag = "permissions",
    operation_id = "change_permission_rules",
    responses((status = 200, description = "The agent", body = wire::Agent)))]
pub(super) async fn change_rules(
    State(app): State<App>,
    who: Who,
    Path((channel, handle)): Path<(String, String)>,
    Json(change): Json<wire::ChangePermissionRules>,
) -> Result<Json<wire::Agent>, ApiError> {
    let wire::ChangePermissionRules { answered_by, limit_ms, tools } = change;
    let limit_ms = limit_ms.map(|ms| Some(ms).filter(|ms| *ms > 0));
    let tools = tools.into_iter().map(|(kind, rule)| (kind, rule.rule())).collect();
    let change = Box::new(RulesChange { answered_by, limit_ms, tools });
    app.binding(&who, Request::ChangeRules { channel, handle, change }).await
}
