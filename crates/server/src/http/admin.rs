//! Channels, agents, presets.

use axum::extract::State;
use serde::Deserialize;
use storage::{Access, Binding, Channel, EnvVar, NewBinding, NewProject, OwnLimits, Read};
use utoipa::IntoParams;

use super::identify::Who;
use super::{App, Json, Path, Query};
use crate::engine::{BindingChange, Board, LimitsChange, ProjectAct, Reply, Request};
use crate::error::{ApiError, Code};
use crate::wire;
use crate::{preset, reach, rights, view};

/// Tells that the server is there
///
/// Its name and version.
#[utoipa::path(get, path = "/health", tag = "server", operation_id = "health",
    responses((status = 200, description = "Name and version", body = wire::Health)))]
pub(super) async fn health() -> Json<wire::Health> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Json(wire::Health { name: "highwater".to_owned(), version })
}

/// Lists channels
///
/// All that whoever asks may read, by name, each with its agents.
#[utoipa::path(get, path = "/channels", tag = "channels", operation_id = "list_channels",
    responses((status = 200, description = "The channels", body = Vec<wire::Channel>)))]
pub(super) async fn channels(State(app): State<App>, who: Who) -> Result<Json<Vec<wire::Channel>>, ApiError> {
    let board = app.board().await?;
    let start = app.start.clone();
    let read = move |store: &dyn Read| {
        let channels = reach::channels(store, &who.principal)?;
        let show = |channel| view::channel(store, &who.principal, channel, &board, &start);
        channels.into_iter().map(show).collect()
    };
    Ok(Json(app.readers.read(read).await?))
}

/// Shows a channel
#[utoipa::path(get, path = "/channels/{channel}", tag = "channels", operation_id = "show_channel",
    responses((status = 200, description = "The channel", body = wire::Channel)))]
pub(super) async fn channel(
    State(app): State<App>,
    who: Who,
    Path(name): Path<String>,
) -> Result<Json<wire::Channel>, ApiError> {
    let principal = who.principal.clone();
    let channel = app.readers.read(move |store| reach::channel(store, &principal, &name)).await?;
    app.show_channel(&who, channel).await
}

/// Makes a channel
///
/// Whoever makes it manages it. Guests make none. One with a project is for owners to make.
#[utoipa::path(post, path = "/channels", tag = "channels", operation_id = "add_channel",
    responses((status = 200, description = "The new channel", body = wire::Channel)))]
pub(super) async fn add_channel(
    State(app): State<App>,
    who: Who,
    Json(new): Json<wire::AddChannel>,
) -> Result<Json<wire::Channel>, ApiError> {
    let project = match new.project {
        Some(folder) => {
            // Before anything is looked at that only owners may know of: which folders there are.
            reach::allowed(rights::may_manage_worktrees(&who.principal), "channel", &new.name)?;
            Some(app.check_project(&folder).await?)
        }
        None => None,
    };
    let request = Request::AddChannel {
        name: new.name,
        direct: new.direct,
        access: new.access.unwrap_or(Access::Public),
        maker: Some(who.principal.person.clone()),
    };
    let Reply::Channel(channel) = app.ask(&who, request).await? else {
        return Err(unexpected());
    };
    if let Some(folder) = project {
        let new = NewProject { folder, setup: None, copies: Vec::new() };
        app.act_on_project(&who, ProjectAct::Set { channel: channel.name.clone(), new }).await?;
    }
    app.show_channel(&who, channel).await
}

/// Which agents to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentsQuery {
    /// Name of the channel; all that may be read if absent.
    channel: Option<String>,
}

/// Lists agents
///
/// Those of one channel, or of all that whoever asks may read. How an agent is started is shown to owners alone.
#[utoipa::path(get, path = "/agents", tag = "agents", operation_id = "list_agents", params(AgentsQuery),
    responses((status = 200, description = "The agents", body = Vec<wire::Agent>)))]
pub(super) async fn agents(
    State(app): State<App>,
    who: Who,
    Query(query): Query<AgentsQuery>,
) -> Result<Json<Vec<wire::Agent>>, ApiError> {
    let board = app.board().await?;
    let start = app.start.clone();
    let read = move |store: &dyn Read| {
        let who = &who.principal;
        let channels = match query.channel {
            Some(name) => vec![reach::channel(store, who, &name)?],
            None => reach::channels(store, who)?,
        };
        let within = |binding: &Binding| channels.iter().any(|channel| channel.id == binding.spec.channel);
        let bindings = store.bindings(None)?.into_iter().filter(within);
        bindings.map(|binding| view::agent(store, who, binding, &board, &start)).collect()
    };
    Ok(Json(app.readers.read(read).await?))
}

/// Adds an agent to a channel
///
/// For owners: its command runs with the rights of the user whose server this is.
#[utoipa::path(post, path = "/channels/{channel}/agents", tag = "agents", operation_id = "add_agent",
    responses((status = 200, description = "The agent", body = wire::Agent)))]
pub(super) async fn add_agent(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
    Json(new): Json<wire::AddAgent>,
) -> Result<Json<wire::Agent>, ApiError> {
    // Before anything is looked at that only owners may know of: which folders there are.
    let (principal, name) = (who.principal.clone(), channel.clone());
    let right = move |store: &dyn Read| reach::channel_for(store, &principal, &name, rights::may_add_agent);
    app.readers.read(right).await?;
    let preset::Chosen { preset, profile, command } = preset::resolve(&new, &app.start.guide)?;
    app.start.check_folder(new.cwd.as_deref())?;
    let new = NewBinding {
        channel: "".into(),
        handle: new.handle,
        preset,
        profile,
        command,
        delivery: new.delivery,
        session: new.session,
        when_cold: new.when_cold,
        supervised: new.supervised,
        env: env(new.env),
        model: new.model,
        cwd: new.cwd,
        instructions: new.instructions.filter(|text| !text.trim().is_empty()),
        addressed_by: new.addressed_by,
        permissions: new.permissions.into(),
        limits: OwnLimits {
            inactivity_ms: new.inactivity_limit_ms,
            turn_ms: new.turn_limit_ms,
            memory_bytes: new.memory_limit_bytes,
        },
    };
    app.binding(&who, Request::AddAgent { channel, new: Box::new(new) }).await
}

/// Takes an agent out of a channel
///
/// For owners. Its process ends, and runs that wait for it are cancelled.
#[utoipa::path(delete, path = "/channels/{channel}/agents/{handle}", tag = "agents", operation_id = "remove_agent",
    responses((status = 200, description = "The agent as it was", body = wire::Agent)))]
pub(super) async fn remove_agent(
    State(app): State<App>,
    who: Who,
    Path((channel, handle)): Path<(String, String)>,
) -> Result<Json<wire::Agent>, ApiError> {
    app.binding(&who, Request::RemoveAgent { channel, handle }).await
}

/// Changes an agent's own limits
///
/// For owners. They hold from its next process on; one that is alive keeps those that it started with.
#[utoipa::path(patch, path = "/channels/{channel}/agents/{handle}/limits", tag = "agents",
    operation_id = "change_limits", responses((status = 200, description = "The agent", body = wire::Agent)))]
pub(super) async fn change_limits(
    State(app): State<App>,
    who: Who,
    Path((channel, handle)): Path<(String, String)>,
    Json(change): Json<wire::ChangeLimits>,
) -> Result<Json<wire::Agent>, ApiError> {
    let own = |limit: Option<u64>| limit.map(|limit| Some(limit).filter(|limit| *limit > 0));
    let change = LimitsChange {
        inactivity_ms: own(change.inactivity_limit_ms),
        turn_ms: own(change.turn_limit_ms),
        memory_bytes: own(change.memory_limit_bytes),
    };
    app.binding(&who, Request::ChangeLimits { channel, handle, change }).await
}

fn env(variables: Vec<wire::EnvVar>) -> Vec<EnvVar> {
    variables.into_iter().map(|var| EnvVar { name: var.name, value: var.value }).collect()
}

/// Changes what an agent was given when it was added
///
/// Profile, model, instructions and delivery hold from a new session on, which the next turn begins; the rest from the
/// next process on.
#[utoipa::path(patch, path = "/channels/{channel}/agents/{handle}", tag = "agents", operation_id = "change_agent",
    responses((status = 200, description = "The agent", body = wire::Agent)))]
pub(super) async fn change_agent(
    State(app): State<App>,
    who: Who,
    Path((channel, handle)): Path<(String, String)>,
    Json(change): Json<wire::ChangeAgent>,
) -> Result<Json<wire::Agent>, ApiError> {
    let text = |text: Option<String>| text.map(|text| Some(text).filter(|text| !text.is_empty()));
    let change = BindingChange {
        profile: change.profile,
        delivery: change.delivery,
        session: change.session,
        when_cold: change.when_cold,
        addressed_by: change.addressed_by,
        model: text(change.model),
        instructions: text(change.instructions),
        env: env(change.env),
        unset: change.unset_env,
    };
    app.binding(&who, Request::ChangeAgent { channel, handle, change: Box::new(change) }).await
}

/// Gives an agent a new session
///
/// The next turn begins it, and knows nothing of the session before.
#[utoipa::path(post, path = "/channels/{channel}/agents/{handle}/fresh", tag = "agents", operation_id = "start_fresh",
    responses((status = 200, description = "The agent", body = wire::Agent)))]
pub(super) async fn fresh(
    State(app): State<App>,
    who: Who,
    Path((channel, handle)): Path<(String, String)>,
) -> Result<Json<wire::Agent>, ApiError> {
    app.binding(&who, Request::Fresh { channel, handle }).await
}

/// Lists the agents that Highwater knows how to start
///
/// For owners.
#[utoipa::path(get, path = "/presets", tag = "agents", operation_id = "list_presets",
    responses((status = 200, description = "The presets", body = Vec<wire::Preset>)))]
pub(super) async fn presets(State(app): State<App>, who: Who) -> Result<Json<Vec<wire::Preset>>, ApiError> {
    reach::allowed(rights::may_see_agent_setup(&who.principal), "preset", "")?;
    let found = |command: &[String]| app.start.finds(command);
    let presets = preset::presets(&app.start.guide).into_iter().map(|preset| wire::Preset {
        name: preset.name.to_owned(),
        profiles: preset.profiles.to_vec(),
        title: preset.title.to_owned(),
        found: found(&preset.command),
        install: preset.install.map(str::to_owned),
        command: preset.command,
    });
    Ok(Json(presets.collect()))
}

impl App {
    /// How processes and queues stand.
    pub(super) async fn board(&self) -> Result<Board, ApiError> {
        self.service.board().await
    }

    pub(super) async fn show_channel(
        &self,
        who: &Who,
        channel: Channel,
    ) -> Result<Json<wire::Channel>, ApiError> {
        let board = self.board().await?;
        let (start, who) = (self.start.clone(), who.principal.clone());
        let read = move |store: &dyn Read| view::channel(store, &who, channel, &board, &start);
        Ok(Json(self.readers.read(read).await?))
    }

    /// Asks for something that answers with a binding, and shows it.
    pub(super) async fn binding(&self, who: &Who, request: Request) -> Result<Json<wire::Agent>, ApiError> {
        let Reply::Binding(binding) = self.ask(who, request).await? else { return Err(unexpected()) };
        let board = self.board().await?;
        let (start, who) = (self.start.clone(), who.principal.clone());
        let read = move |store: &dyn Read| view::agent(store, &who, *binding, &board, &start);
        Ok(Json(self.readers.read(read).await?))
    }
}

/// The engine answered something else than was asked: a fault of ours.
pub(super) fn unexpected() -> ApiError {
    tracing::error!("the engine answered something else than was asked");
    ApiError::new(Code::Internal, "a fault of the server; its log says more")
}
