//! Messages: history, posting, editing, deleting, searching, waiting for answers.

use std::time::Duration;

use axum::extract::State;
use delivery::model::{ChannelId, MessageId};
use serde::Deserialize;
use storage::{Message, Read, Run};
use utoipa::IntoParams;

use super::admin::unexpected;
use super::identify::Who;
use super::{App, Json, Path, Query};
use crate::engine::{Post, Reply, Request};
use crate::error::ApiError;
use crate::wire;
use crate::{reach, view};

/// Messages of a page when nothing is asked.
const PAGE: usize = 50;
/// Messages of a page at most.
const PAGE_MAX: usize = 1_000;
/// How long a request waits for runs to end at most; the client asks again.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Which page of a channel's history.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryQuery {
    /// Id of a message: only older ones.
    before: Option<String>,
    /// Id of a thread's root: only the root and its replies.
    thread: Option<String>,
    /// Messages at most.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
    /// Whether each message comes with its text as HTML.
    #[serde(default)]
    html: bool,
}

/// Reads a channel, or one of its threads
///
/// Oldest first. Without `before`: the newest page. The page before: with the id of the oldest message of this one
/// as `before`, until a page has fewer than `limit`.
#[utoipa::path(get, path = "/channels/{channel}/messages", tag = "messages", operation_id = "list_messages", params(HistoryQuery),
    responses((status = 200, description = "A page of messages", body = Vec<wire::Message>)))]
pub(super) async fn history(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<Vec<wire::Message>>, ApiError> {
    let limit = page(query.limit, PAGE_MAX)?;
    let read = move |store: &dyn Read| {
        let channel = reach::channel(store, &who.principal, &channel)?;
        let (thread, before) = (query.thread.map(MessageId), query.before.map(MessageId));
        for id in thread.iter().chain(&before) {
            if reach::message(store, &who.principal, id)?.channel != channel.id {
                return Err(ApiError::invalid(format!("message {id} is not in channel {}", channel.name)));
            }
        }
        let messages = store.history(&channel.id, thread.as_ref(), before.as_ref(), limit)?;
        let messages = messages.into_iter().map(|message| view::message(message, &channel.name));
        if !query.html {
            return Ok(messages.collect());
        }
        let handles = view::handles(store, &channel.id)?;
        Ok(messages.map(|message| view::with_html(message, &handles)).collect())
    };
    Ok(Json(app.readers.read(read).await?))
}

/// Posts a message
///
/// Every agent that it mentions gets a run. With a `client_id` it may be sent again after an answer that was lost: what
/// one person posts under one `client_id` is one message, with the runs that it made, also when it is sent twice at the
/// same time. The same `client_id` with another text, thread or channel is a conflict.
#[utoipa::path(post, path = "/channels/{channel}/messages", tag = "messages", operation_id = "post_message",
    responses((status = 200, description = "The message and its runs", body = wire::Posted)))]
pub(super) async fn post(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
    Json(new): Json<wire::PostMessage>,
) -> Result<Json<wire::Posted>, ApiError> {
    let post = Post {
        channel,
        author: new.author.unwrap_or_else(|| who.principal.name.clone()),
        text: new.text,
        thread: new.thread_root_id.map(MessageId),
        client_id: new.client_id,
    };
    let Reply::Posted { message, runs } = app.ask(&who, Request::Post(Box::new(post))).await? else {
        return Err(unexpected());
    };
    app.posted(*message, runs).await
}

/// Changes the text of a message
///
/// For its author and for owners.
#[utoipa::path(patch, path = "/messages/{message}", tag = "messages", operation_id = "edit_message",
    responses((status = 200, description = "The message as it is now", body = wire::Message)))]
pub(super) async fn edit(
    State(app): State<App>,
    who: Who,
    Path(message): Path<String>,
    Json(edit): Json<wire::EditMessage>,
) -> Result<Json<wire::Message>, ApiError> {
    app.message(&who, Request::Edit { message: MessageId(message), text: edit.text }).await
}

/// Deletes a message
///
/// For its author and for owners. Its text leaves the search and what was sent, too.
#[utoipa::path(delete, path = "/messages/{message}", tag = "messages", operation_id = "delete_message",
    responses((status = 200, description = "The message as it is now: without text", body = wire::Message)))]
pub(super) async fn delete(
    State(app): State<App>,
    who: Who,
    Path(message): Path<String>,
) -> Result<Json<wire::Message>, ApiError> {
    app.message(&who, Request::Delete { message: MessageId(message) }).await
}

/// How long to wait for runs.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct RunsQuery {
    /// How many milliseconds to wait for the runs to end; 30000 at most, none if absent.
    wait_ms: Option<u64>,
}

/// Shows a message and its runs
///
/// With `wait_ms` once all of them have ended, or when the time is over.
#[utoipa::path(get, path = "/messages/{message}/runs", tag = "messages", operation_id = "show_message", params(RunsQuery),
    responses((status = 200, description = "The message and its runs", body = wire::Posted)))]
pub(super) async fn runs(
    State(app): State<App>,
    who: Who,
    Path(message): Path<String>,
    Query(query): Query<RunsQuery>,
) -> Result<Json<wire::Posted>, ApiError> {
    let id = MessageId(message);
    let wait = Duration::from_millis(query.wait_ms.unwrap_or(0)).min(WAIT_MAX);
    let deadline = tokio::time::Instant::now() + wait;
    let mut ended = app.service.ended();
    loop {
        ended.mark_unchanged();
        let asked = id.clone();
        let principal = who.principal.clone();
        let read = move |store: &dyn Read| {
            Ok((reach::message(store, &principal, &asked)?, store.runs_of_message(&asked)?))
        };
        let (message, runs): (Message, Vec<Run>) = app.readers.read(read).await?;
        let over = runs.iter().all(|run| run.status.ended());
        if over || tokio::time::timeout_at(deadline, ended.changed()).await.is_err() {
            return app.posted(message, runs).await;
        }
    }
}

/// What to look for.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchQuery {
    /// Words to find.
    q: String,
    /// Name of the channel; all that may be read if absent.
    channel: Option<String>,
    /// Messages at most.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// Finds messages
///
/// In one channel, or in all that whoever asks may read. Newest first.
#[utoipa::path(get, path = "/search", tag = "messages", operation_id = "search", params(SearchQuery),
    responses((status = 200, description = "The messages found", body = Vec<wire::Message>)))]
pub(super) async fn search(
    State(app): State<App>,
    who: Who,
    Query(query): Query<SearchQuery>,
) -> Result<Json<Vec<wire::Message>>, ApiError> {
    let limit = page(query.limit, PAGE_MAX)?;
    let read = move |store: &dyn Read| {
        let found = match query.channel {
            Some(name) => {
                let channel = reach::channel(store, &who.principal, &name)?;
                store.search(&query.q, Some(&channel.id), limit)?
            }
            None => {
                let channels = reach::channels(store, &who.principal)?;
                let channels: Vec<ChannelId> = channels.into_iter().map(|channel| channel.id).collect();
                store.search_in(&query.q, &channels, limit)?
            }
        };
        found.into_iter().map(|message| view::named_message(store, message)).collect()
    };
    Ok(Json(app.readers.read(read).await?))
}

impl App {
    /// A message with its runs as the API shows them.
    async fn posted(&self, message: Message, runs: Vec<Run>) -> Result<Json<wire::Posted>, ApiError> {
        let board =
            if runs.iter().all(|run| run.status.ended()) { Default::default() } else { self.board().await? };
        let read = move |store: &dyn Read| {
            let message = view::named_message(store, message)?;
            let runs: Result<Vec<wire::Run>, ApiError> =
                runs.into_iter().map(|run| view::run(store, run, &board)).collect();
            Ok(wire::Posted { message, runs: runs? })
        };
        Ok(Json(self.readers.read(read).await?))
    }

    pub(super) async fn message(&self, who: &Who, request: Request) -> Result<Json<wire::Message>, ApiError> {
        let Reply::Message(message) = self.ask(who, request).await? else {
            return Err(unexpected());
        };
        Ok(Json(self.readers.read(move |store| view::named_message(store, *message)).await?))
    }
}

/// A page's size, checked.
pub(super) fn page(limit: Option<usize>, max: usize) -> Result<usize, ApiError> {
    match limit.unwrap_or(PAGE) {
        limit if (1..=max).contains(&limit) => Ok(limit),
        limit => Err(ApiError::invalid(format!("a limit is 1 to {max}; {limit} is not"))),
    }
}
