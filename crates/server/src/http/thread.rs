//! The threads of a channel.

use axum::extract::{Path, State};
use serde::Deserialize;
use storage::Read;

use super::identify::Who;
use super::message::page;
use super::{App, Json, Query};
use crate::error::ApiError;
use crate::reach;
use crate::wire;

/// Threads of a list at most.
const THREADS_MAX: usize = 1_000;

/// How many threads.
#[derive(Deserialize)]
pub(super) struct ThreadsQuery {
    limit: Option<usize>,
}

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
