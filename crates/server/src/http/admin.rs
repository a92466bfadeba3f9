//! Channels, people, agents, presets.

use axum::extract::{Path, State};
use serde::Deserialize;
use storage::{Channel, EnvVar, NewBinding, Read};

use super::{App, Json, Query};
use crate::engine::{Board, Reply, Request};
use crate::error::{ApiError, Code};
use crate::preset;
use crate::view;
use crate::wire;

pub(super) async fn health() -> Json<wire::Health> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Json(wire::Health { name: "highwater".to_owned(), version })
}

pub(super) async fn channels(State(app): State<App>) -> Result<Json<Vec<wire::Channel>>, ApiError> {
    let board = app.board().await?;
    let start = app.start.clone();
    let read = move |store: &dyn Read| {
        store.channels()?.into_iter().map(|channel| view::channel(store, channel, &board, &start)).collect()
    };
    Ok(Json(app.readers.read(read).await?))
}

pub(super) async fn channel(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Json<wire::Channel>, ApiError> {
    let channel = app.readers.read(move |store| Ok(store.channel(&name)?)).await?;
    app.show_channel(channel).await
}

pub(super) async fn add_channel(
    State(app): State<App>,
    Json(new): Json<wire::AddChannel>,
) -> Result<Json<wire::Channel>, ApiError> {
    let Reply::Channel(channel) =
        app.service.ask(Request::AddChannel { name: new.name, direct: new.direct }).await?
    else {
        return Err(unexpected());
    };
    app.show_channel(channel).await
}

pub(super) async fn people(State(app): State<App>) -> Result<Json<Vec<wire::Person>>, ApiError> {
    let people = app.readers.read(|store| Ok(store.people()?)).await?;
    Ok(Json(people.into_iter().map(view::person).collect()))
}

pub(super) async fn add_person(
    State(app): State<App>,
    Json(new): Json<wire::AddPerson>,
) -> Result<Json<wire::Person>, ApiError> {
    let Reply::Person(person) = app.service.ask(Request::AddPerson { name: new.name }).await? else {
        return Err(unexpected());
    };
    Ok(Json(view::person(person)))
}

/// Which agents to list.
#[derive(Deserialize)]
pub(super) struct AgentsQuery {
    channel: Option<String>,
}

pub(super) async fn agents(
    State(app): State<App>,
    Query(query): Query<AgentsQuery>,
) -> Result<Json<Vec<wire::Agent>>, ApiError> {
    let board = app.board().await?;
    let start = app.start.clone();
    let read = move |store: &dyn Read| {
        let channel = query.channel.map(|name| store.channel(&name)).transpose()?;
        let bindings = store.bindings(channel.as_ref().map(|channel| &channel.id))?;
        bindings.into_iter().map(|binding| view::agent(store, binding, &board, &start)).collect()
    };
    Ok(Json(app.readers.read(read).await?))
}

pub(super) async fn add_agent(
    State(app): State<App>,
    Path(channel): Path<String>,
    Json(new): Json<wire::AddAgent>,
) -> Result<Json<wire::Agent>, ApiError> {
    let (preset, command) = preset::resolve(&new, &app.start.guide)?;
    app.start.check_folder(new.cwd.as_deref())?;
    let env = new.env.into_iter().map(|var| EnvVar { name: var.name, value: var.value }).collect();
    let new = NewBinding {
        channel: "".into(),
        handle: new.handle,
        preset,
        command,
        delivery: new.delivery,
        session: new.session,
        supervised: new.supervised,
        env,
        model: new.model,
        cwd: new.cwd,
        instructions: new.instructions.filter(|text| !text.trim().is_empty()),
    };
    app.binding(Request::AddAgent { channel, new: Box::new(new) }).await
}

pub(super) async fn remove_agent(
    State(app): State<App>,
    Path((channel, handle)): Path<(String, String)>,
) -> Result<Json<wire::Agent>, ApiError> {
    app.binding(Request::RemoveAgent { channel, handle }).await
}

pub(super) async fn fresh(
    State(app): State<App>,
    Path((channel, handle)): Path<(String, String)>,
) -> Result<Json<wire::Agent>, ApiError> {
    app.binding(Request::Fresh { channel, handle }).await
}

pub(super) async fn presets(State(app): State<App>) -> Json<Vec<wire::Preset>> {
    let found = |command: &[String]| app.start.finds(command);
    let presets = preset::presets(&app.start.guide).into_iter().map(|preset| wire::Preset {
        name: preset.name.to_owned(),
        title: preset.title.to_owned(),
        found: found(&preset.command),
        install: preset.install.map(str::to_owned),
        command: preset.command,
    });
    Json(presets.collect())
}

impl App {
    /// How processes and queues stand.
    pub(super) async fn board(&self) -> Result<Board, ApiError> {
        self.service.board().await
    }

    async fn show_channel(&self, channel: Channel) -> Result<Json<wire::Channel>, ApiError> {
        let board = self.board().await?;
        let start = self.start.clone();
        let read = move |store: &dyn Read| view::channel(store, channel, &board, &start);
        Ok(Json(self.readers.read(read).await?))
    }

    /// Asks for something that answers with a binding, and shows it.
    async fn binding(&self, request: Request) -> Result<Json<wire::Agent>, ApiError> {
        let Reply::Binding(binding) = self.service.ask(request).await? else { return Err(unexpected()) };
        let board = self.board().await?;
        let start = self.start.clone();
        let read = move |store: &dyn Read| view::agent(store, *binding, &board, &start);
        Ok(Json(self.readers.read(read).await?))
    }
}

/// The engine answered something else than was asked: a fault of ours.
pub(super) fn unexpected() -> ApiError {
    tracing::error!("the engine answered something else than was asked");
    ApiError::new(Code::Internal, "a fault of the server; its log says more")
}
