//! The people of a channel: listing, joining, inviting, leaving; and changing the channel itself.

use axum::extract::State;
use storage::Read;

use super::admin::unexpected;
use super::identify::Who;
use super::{App, Json, Path};
use crate::engine::{Act, ChannelChanges, Reply, Request};
use crate::error::ApiError;
use crate::wire;
use crate::{reach, view};

/// Lists the people of a channel
#[utoipa::path(get, path = "/channels/{channel}/members", tag = "channels", operation_id = "list_members",
    responses((status = 200, description = "Its people", body = Vec<wire::Member>)))]
pub(super) async fn list(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
) -> Result<Json<Vec<wire::Member>>, ApiError> {
    let members = app.readers.read(move |store| reach::members(store, &who.principal, &channel)).await?;
    Ok(Json(members.into_iter().map(view::member).collect()))
}

/// Joins a channel, or makes somebody else join
///
/// Oneself: any channel that one may read. Somebody else: for its members and for owners, not for guests.
#[utoipa::path(put, path = "/channels/{channel}/members/{person}", tag = "channels", operation_id = "add_member",
    responses((status = 200, description = "The member", body = wire::Member)))]
pub(super) async fn add(
    State(app): State<App>,
    who: Who,
    Path((channel, person)): Path<(String, String)>,
) -> Result<Json<wire::Member>, ApiError> {
    let act = Act::AddMember { channel, person: person.clone() };
    let Reply::Channel(channel) = app.ask(&who, Request::Act(Box::new(act))).await? else {
        return Err(unexpected());
    };
    let read = move |store: &dyn Read| {
        let member = store.members(&channel.id)?.into_iter().find(|member| member.person.name == person);
        member.ok_or_else(|| ApiError::conflict(format!("{person} has left again")))
    };
    Ok(Json(view::member(app.readers.read(read).await?)))
}

/// Leaves a channel, or makes somebody else leave
///
/// Somebody else: for its managers and for owners.
#[utoipa::path(delete, path = "/channels/{channel}/members/{person}", tag = "channels", operation_id = "remove_member",
    responses((status = 200, description = "Done", body = wire::Done)))]
pub(super) async fn remove(
    State(app): State<App>,
    who: Who,
    Path((channel, person)): Path<(String, String)>,
) -> Result<Json<wire::Done>, ApiError> {
    app.ask(&who, Request::Act(Box::new(Act::RemoveMember { channel, person }))).await?;
    Ok(Json(wire::Done {}))
}

/// Changes a channel
///
/// Its topic: for its members and for owners. Its name, who may find it, and whether it is archived: for its
/// managers and for owners.
#[utoipa::path(patch, path = "/channels/{channel}", tag = "channels", operation_id = "change_channel",
    responses((status = 200, description = "The channel as it is now", body = wire::Channel)))]
pub(super) async fn change(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
    Json(change): Json<wire::ChangeChannel>,
) -> Result<Json<wire::Channel>, ApiError> {
    let wire::ChangeChannel { name, topic, access, archived } = change;
    let changes = ChannelChanges { name, topic, access, archived };
    if changes == ChannelChanges::default() {
        return Err(ApiError::invalid("name what is to change: name, topic, access or archived"));
    }
    let act = Act::ChangeChannel { channel, changes };
    let Reply::Channel(channel) = app.ask(&who, Request::Act(Box::new(act))).await? else {
        return Err(unexpected());
    };
    app.show_channel(&who, channel).await
}
