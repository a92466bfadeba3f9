//! Pauses: of all agents, and of a channel's.

use axum::extract::State;

use super::admin::unexpected;
use super::identify::Who;
use super::{App, Json, Path};
use crate::engine::{Pausing, Reply, Request};
use crate::error::ApiError;
use crate::wire;

/// Tells whether all agents are paused
#[utoipa::path(get, path = "/pause", tag = "agents", operation_id = "show_pause",
    responses((status = 200, description = "Since when they are, if they are", body = wire::Pause)))]
pub(super) async fn show(State(app): State<App>, who: Who) -> Result<Json<wire::Pause>, ApiError> {
    app.pause(who).await
}

/// Pauses all agents
///
/// For owners. Mentions wait, nothing begins; what runs goes on until it is done. Channels that were paused by themselves
/// stay so when this pause ends.
#[utoipa::path(post, path = "/pause", tag = "agents", operation_id = "pause_agents",
    responses((status = 200, description = "Since when they are", body = wire::Pause)))]
pub(super) async fn pause(State(app): State<App>, who: Who) -> Result<Json<wire::Pause>, ApiError> {
    app.change_pause(who, Pausing::Pause).await
}

/// Lets all agents go on
///
/// For owners.
#[utoipa::path(delete, path = "/pause", tag = "agents", operation_id = "resume_agents",
    responses((status = 200, description = "That they are not paused", body = wire::Pause)))]
pub(super) async fn resume(State(app): State<App>, who: Who) -> Result<Json<wire::Pause>, ApiError> {
    app.change_pause(who, Pausing::Resume).await
}

/// Pauses the agents of a channel
///
/// For its managers and owners. Mentions wait, nothing begins; what runs goes on until it is done.
#[utoipa::path(post, path = "/channels/{channel}/pause", tag = "channels", operation_id = "pause_channel",
    responses((status = 200, description = "The channel", body = wire::Channel)))]
pub(super) async fn pause_channel(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
) -> Result<Json<wire::Channel>, ApiError> {
    app.change_channel_pause(who, channel, Pausing::Pause).await
}

/// Lets the agents of a channel go on
///
/// For its managers and owners. While all agents are paused, they wait all the same.
#[utoipa::path(delete, path = "/channels/{channel}/pause", tag = "channels", operation_id = "resume_channel",
    responses((status = 200, description = "The channel", body = wire::Channel)))]
pub(super) async fn resume_channel(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
) -> Result<Json<wire::Channel>, ApiError> {
    app.change_channel_pause(who, channel, Pausing::Resume).await
}

impl App {
    async fn pause(&self, who: Who) -> Result<Json<wire::Pause>, ApiError> {
        crate::rights::may_follow(&who.principal)
            .map_err(|denial| crate::reach::denied(denial, "pause", ""))?;
        self.pause_now().await
    }

    async fn pause_now(&self) -> Result<Json<wire::Pause>, ApiError> {
        let paused_at = self.readers.read(|store| Ok(store.paused_at()?)).await?;
        Ok(Json(wire::Pause { paused_at }))
    }

    async fn change_pause(&self, who: Who, pausing: Pausing) -> Result<Json<wire::Pause>, ApiError> {
        let by = who.principal.name.clone();
        self.ask(&who, Request::Pause { channel: None, by, pausing }).await?;
        self.pause_now().await
    }

    async fn change_channel_pause(
        &self,
        who: Who,
        channel: String,
        pausing: Pausing,
    ) -> Result<Json<wire::Channel>, ApiError> {
        let by = who.principal.name.clone();
        let request = Request::Pause { channel: Some(channel), by, pausing };
        let Reply::Channel(channel) = self.ask(&who, request).await? else { return Err(unexpected()) };
        self.show_channel(&who, channel).await
    }
}
