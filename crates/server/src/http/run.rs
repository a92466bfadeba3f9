//! Runs: listing, showing, cancelling, trying again.

use axum::extract::{Path, State};
use delivery::model::{ChannelId, RunId};
use serde::Deserialize;
use storage::{Read, Run};

use super::admin::unexpected;
use super::identify::Who;
use super::message::page;
use super::{App, Json, Query};
use crate::engine::{Reply, Request};
use crate::error::ApiError;
use crate::wire;
use crate::{reach, view};

/// Runs of a list at most; they come without what was sent.
const RUNS_MAX: usize = 10_000;

/// Which runs.
#[derive(Deserialize)]
pub(super) struct RunsQuery {
    channel: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn list(
    State(app): State<App>,
    who: Who,
    Query(query): Query<RunsQuery>,
) -> Result<Json<Vec<wire::Run>>, ApiError> {
    let limit = page(query.limit, RUNS_MAX)?;
    let board = app.board().await?;
    let read = move |store: &dyn Read| {
        let channels = match query.channel {
            Some(name) => vec![reach::channel(store, &who.principal, &name)?],
            None => reach::channels(store, &who.principal)?,
        };
        let channels: Vec<ChannelId> = channels.into_iter().map(|channel| channel.id).collect();
        let runs = store.runs_in(&channels, limit)?;
        runs.into_iter().map(|run| view::run(store, run, &board)).collect()
    };
    Ok(Json(app.readers.read(read).await?))
}

pub(super) async fn show(
    State(app): State<App>,
    who: Who,
    Path(run): Path<String>,
) -> Result<Json<wire::Run>, ApiError> {
    let run = app.readers.read(move |store| reach::run(store, &who.principal, &RunId(run))).await?;
    app.show_run(run).await
}

pub(super) async fn cancel(
    State(app): State<App>,
    who: Who,
    Path(run): Path<String>,
) -> Result<Json<wire::Run>, ApiError> {
    app.change_run(&who, Request::Cancel { run: RunId(run) }).await
}

pub(super) async fn retry(
    State(app): State<App>,
    who: Who,
    Path(run): Path<String>,
) -> Result<Json<wire::Run>, ApiError> {
    app.change_run(&who, Request::Retry { run: RunId(run) }).await
}

impl App {
    async fn change_run(&self, who: &Who, request: Request) -> Result<Json<wire::Run>, ApiError> {
        let Reply::Run(run) = self.ask(who, request).await? else {
            return Err(unexpected());
        };
        self.show_run(*run).await
    }

    /// A run with all that is known of it.
    async fn show_run(&self, run: Run) -> Result<Json<wire::Run>, ApiError> {
        let board = self.board().await?;
        Ok(Json(self.readers.read(move |store| view::whole_run(store, run, &board)).await?))
    }
}
