//! Runs: listing, showing, cancelling, steering, trying again.

use axum::extract::State;
use delivery::model::{ChannelId, RunId};
use serde::Deserialize;
use storage::{Read, Run, Scope};
use utoipa::IntoParams;

use super::admin::unexpected;
use super::identify::Who;
use super::message::page;
use super::{App, Json, Path, Query};
use crate::engine::{Reply, Request, Steer};
use crate::error::ApiError;
use crate::wire;
use crate::{reach, view};

/// Runs of a list at most; they come without what was sent.
const RUNS_MAX: usize = 10_000;

/// Which runs.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct RunsQuery {
    /// Name of the channel; all that may be read if absent.
    channel: Option<String>,
    /// Runs at most.
    #[param(minimum = 1, maximum = 10000, default = 50)]
    limit: Option<usize>,
}

/// Lists runs, newest first
///
/// Without their steps and what was sent.
#[utoipa::path(get, path = "/runs", tag = "runs", operation_id = "list_runs", params(RunsQuery),
    responses((status = 200, description = "The runs", body = Vec<wire::Run>)))]
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

/// Shows a run, with its steps and the exact text that was sent
#[utoipa::path(get, path = "/runs/{run}", tag = "runs", operation_id = "show_run",
    responses((status = 200, description = "The run", body = wire::Run)))]
pub(super) async fn show(
    State(app): State<App>,
    who: Who,
    Path(run): Path<String>,
) -> Result<Json<wire::Run>, ApiError> {
    let run = app.readers.read(move |store| reach::run(store, &who.principal, &RunId(run))).await?;
    app.show_run(run).await
}

/// Cancels a run that has not ended
///
/// For whoever asked for it, members of its channel who are no guests, and owners.
#[utoipa::path(post, path = "/runs/{run}/cancel", tag = "runs", operation_id = "cancel_run",
    responses((status = 200, description = "The run", body = wire::Run)))]
pub(super) async fn cancel(
    State(app): State<App>,
    who: Who,
    Path(run): Path<String>,
) -> Result<Json<wire::Run>, ApiError> {
    app.change_run(&who, Request::Cancel { run: RunId(run) }).await
}

/// Tries a run again that failed or was cancelled
///
/// With the rights of whoever asked for it. For them, members of its channel who are no guests, and owners.
#[utoipa::path(post, path = "/runs/{run}/retry", tag = "runs", operation_id = "retry_run",
    responses((status = 200, description = "The new run", body = wire::Run)))]
pub(super) async fn retry(
    State(app): State<App>,
    who: Who,
    Path(run): Path<String>,
) -> Result<Json<wire::Run>, ApiError> {
    app.change_run(&who, Request::Retry { run: RunId(run) }).await
}

/// Lets the runs of an agent go on that are held
///
/// Of the agent whose run this is, which has to be held itself. For whoever asked for it, members of its channel who are no
/// guests, and owners.
#[utoipa::path(post, path = "/runs/{run}/resume", tag = "runs", operation_id = "resume_run",
    responses((status = 200, description = "The run", body = wire::Run)))]
pub(super) async fn resume(
    State(app): State<App>,
    who: Who,
    Path(run): Path<String>,
) -> Result<Json<wire::Run>, ApiError> {
    app.change_run(&who, Request::Resume { run: RunId(run) }).await
}

/// Steers a run: puts a message into its running turn
///
/// The message is posted where the mention stands, with the run's id, and makes no run of its own; whom it mentions is not
/// asked. The run's steps say whether the agent has taken it in. If it has not, a notice says so, and the agent hears of it
/// with its next turn like of any message; in a direct conversation it gets a turn of its own then. An agent that cannot be
/// steered, or has no turn, is a conflict, and nothing is posted. For whoever asked for the run and members of its
/// channel who are no guests, if the agent answers them. A `client_id` is as for posting.
#[utoipa::path(post, path = "/runs/{run}/steer", tag = "runs", operation_id = "steer_run",
    responses((status = 200, description = "The message", body = wire::Message)))]
pub(super) async fn steer(
    State(app): State<App>,
    who: Who,
    Path(run): Path<String>,
    Json(steer): Json<wire::Steer>,
) -> Result<Json<wire::Message>, ApiError> {
    let author = who.principal.name.clone();
    let steer = Steer { run: RunId(run), author, text: steer.text, client_id: steer.client_id };
    app.message(&who, Request::Steer(Box::new(steer))).await
}

impl App {
    async fn change_run(&self, who: &Who, request: Request) -> Result<Json<wire::Run>, ApiError> {
        let Reply::Run(run) = self.ask(who, request).await? else {
            return Err(unexpected());
        };
        let Json(mut shown) = self.show_run(*run).await?;
        // Who may change runs may not therefore read what they were told and said.
        if !who.principal.scopes.has(Scope::Read) {
            (shown.sent, shown.system) = (None, None);
            shown.replies.clear();
            shown.events.clear();
            shown.permissions.clear();
        }
        Ok(Json(shown))
    }

    /// A run with all that is known of it.
    async fn show_run(&self, run: Run) -> Result<Json<wire::Run>, ApiError> {
        let board = self.board().await?;
        Ok(Json(self.readers.read(move |store| view::whole_run(store, run, &board)).await?))
    }
}
