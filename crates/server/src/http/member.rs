//! The people of a channel: listing, joining, inviting, leaving; and changing the channel itself.

use axum::extract::{Path, State};
use storage::Read;

use super::admin::unexpected;
use super::identify::Who;
use super::{App, Json};
use crate::engine::{Act, ChannelChanges, Reply, Request};
use crate::error::ApiError;
use crate::wire;
use crate::{reach, view};

pub(super) async fn list(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
) -> Result<Json<Vec<wire::Member>>, ApiError> {
    let members = app.readers.read(move |store| reach::members(store, &who.principal, &channel)).await?;
    Ok(Json(members.into_iter().map(view::member).collect()))
}

/// Joins, or makes somebody else join.
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

/// Leaves, or makes somebody else leave.
pub(super) async fn remove(
    State(app): State<App>,
    who: Who,
    Path((channel, person)): Path<(String, String)>,
) -> Result<Json<wire::Done>, ApiError> {
    app.ask(&who, Request::Act(Box::new(Act::RemoveMember { channel, person }))).await?;
    Ok(Json(wire::Done {}))
}

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
