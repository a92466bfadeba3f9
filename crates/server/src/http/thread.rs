//! The threads of a channel.

use axum::extract::State;
use serde::Deserialize;
use storage::Read;
use utoipa::IntoParams;

use super::identify::Who;
use super::message::page;
use super::{App, Json, Path, Query};
use crate::error::ApiError;
use crate::reach;
use crate::wire;

/// Threads of a list at most.
const THREADS_MAX: usize = 1_000;

/// How many threads.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ThreadsQuery {
    /// Threads at most.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// Lists the threads of a channel
///
/// Those with the newest replies, newest first. Replies that were deleted do not count; a thread whose root was deleted does.
#[utoipa::path(get, path = "/channels/{channel}/threads", tag = "messages", operation_id = "list_threads", params(ThreadsQuery),
    responses((status = 200, description = "Its threads", body = Vec<wire::Thread>)))]
pub(super) async fn list(
    State(app): State<App>,
    who: Who,
    Path(channel): Path<String>,
    Query(query): Query<ThreadsQuery>,
) -> Result<Json<Vec<wire::Thread>>, ApiError> {
    let limit = page(query.limit, THREADS_MAX)?;
    let read = move |store: &dyn Read| {
        let channel = reach::channel(store, &who.principal, &channel)?;
        Ok(store.threads(&channel.id, limit)?.into_iter().map(shown).collect())
    };
    Ok(Json(app.readers.read(read).await?))
}

fn shown(thread: storage::Thread) -> wire::Thread {
    let storage::Thread { root, replies, last_seq, last_at } = thread;
    wire::Thread {
        root_id: root.row.id.0,
        root_seq: root.row.seq,
        root_at: root.row.created_at,
        root_deleted: root.row.deleted_seq.is_some(),
        replies,
        last_seq,
        last_at,
    }
}
