//! Whole servers and channels out and in: backup, export, import. Each goes through a file without a name, so that
//! neither memory nor a reader's pace bounds or holds up anything.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use storage::{Present, Read, Sqlite};
use tokio::sync::{Semaphore, SemaphorePermit};
use utoipa::IntoParams;

use super::admin::unexpected;
use super::identify::Who;
use super::{App, Json};
use crate::engine::{Reply, Request};
use crate::error::{ApiError, Code};
use crate::rights::{self, Verdict};
use crate::spool::Spool;
use crate::wire;
use crate::{reach, transfer};

/// Places for transfers, of this process and so of its one server: each takes as much of the disk as it is large.
static PLACES: Semaphore = Semaphore::const_new(2);
/// Bytes of an import at most: more than any channel has, less than what fills a disk by mistake.
const IMPORT_BYTES_MAX: u64 = 16 << 30;
/// Bytes that are sent at once.
const CHUNK: usize = 64 * 1_024;
/// What an export is: a JSON value on each line.
const LINES: &str = "application/jsonl";

/// Backs the whole server up
///
/// The database as it is at one moment, as a file for `highwater restore`. For owners. It holds what nobody else may
/// read.
#[utoipa::path(get, path = "/backup", tag = "server", operation_id = "back_up",
    responses((status = 200, description = "The database", body = Vec<u8>, content_type = "application/vnd.sqlite3")))]
pub(super) async fn backup(State(app): State<App>, who: Who) -> Result<Response, ApiError> {
    let place = place(rights::may_back_up(&who.principal))?;
    let folder = app.start.data.clone();
    let spool = blocking(move || {
        Spool::made(&folder, |path| {
            storage::back_up(&folder, path, Present::Keep, &mut |_, _| ()).map(|_| ()).map_err(ApiError::from)
        })
    })
    .await?;
    Ok(download(spool, "application/vnd.sqlite3", "highwater.db", place))
}

/// Which channels.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it describes the query, which may say the same thing several times")]
pub(super) struct ExportQuery {
    /// Name of a channel; may be repeated. All if absent.
    channel: Option<Vec<String>>,
}

/// Exports channels
///
/// Lines of JSON: those that `channel` names, or all, with threads, people and runs, without any secret. For owners.
#[utoipa::path(get, path = "/export", tag = "channels", operation_id = "export_channels", params(ExportQuery),
    responses((status = 200, description = "A JSON value on each line", body = String,
        content_type = "application/jsonl")))]
pub(super) async fn export(
    State(app): State<App>,
    who: Who,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let place = place(rights::may_export(&who.principal))?;
    let names = names(query.as_deref().unwrap_or_default())?;
    let (folder, now) = (app.start.data.clone(), app.clock.now().wall);
    let spool = blocking(move || {
        let reader = Sqlite::open_reader(&folder)?;
        Spool::written(&folder, |out| {
            reader.at_one_moment(|store: &dyn Read| transfer::export(store, &names, now, out))
        })
    })
    .await?;
    Ok(download(spool, LINES, "highwater.jsonl", place))
}

/// Imports channels
///
/// All channels of an export, or nothing. For owners.
#[utoipa::path(post, path = "/import", tag = "channels", operation_id = "import_channels",
    request_body(content = String, content_type = "application/jsonl", description = "An export"),
    responses((status = 200, description = "What it brought", body = wire::Imported)))]
pub(super) async fn import(
    State(app): State<App>,
    who: Who,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<wire::Imported>, ApiError> {
    let _place = place(rights::may_import(&who.principal))?;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.eq_ignore_ascii_case(LINES) {
        return Err(ApiError::invalid(format!("send an export, with `content-type: {LINES}`")));
    }
    let spool = app.receive(body).await?;
    let checked = spool.clone();
    blocking(move || transfer::check(&checked)).await?;
    let Reply::Brought(brought) = app.ask(&who, Request::Import(spool)).await? else {
        return Err(unexpected());
    };
    Ok(Json(wire::Imported {
        channels: brought.channels,
        new_people: brought.new_people,
        former_owners: brought.owners,
        messages: brought.messages,
        runs: brought.runs,
        cancelled_runs: brought.cancelled,
    }))
}

/// A place among the transfers, for those who may have one.
fn place(verdict: Verdict) -> Result<SemaphorePermit<'static>, ApiError> {
    reach::allowed(verdict, "channel", "")?;
    PLACES.try_acquire().map_err(|_| {
        ApiError::conflict("other backups, exports or imports are going on; try again when they are done")
    })
}

impl App {
    /// Takes a body in.
    async fn receive(&self, body: Body) -> Result<Spool, ApiError> {
        let folder = self.start.data.clone();
        let file = blocking(move || Ok(Arc::new(Spool::create(&folder)?))).await?;
        let mut chunks = body.into_data_stream();
        let mut bytes = 0_u64;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| ApiError::invalid("the request's body broke off"))?;
            bytes = bytes.saturating_add(chunk.len() as u64);
            if bytes > IMPORT_BYTES_MAX {
                let what = format!("an import has {IMPORT_BYTES_MAX} bytes at most; export fewer channels");
                return Err(ApiError::new(Code::TooLarge, what));
            }
            let file = Arc::clone(&file);
            blocking(move || Ok(std::io::Write::write_all(&mut &*file, &chunk)?)).await?;
        }
        Ok(Spool::of(Arc::into_inner(file).ok_or_else(unexpected)?)?)
    }
}

/// Does what waits for the disk where nothing else waits.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ApiError::new(Code::Internal, "a fault of the server; its log says more"))?
}

/// The channels that a query names.
fn names(query: &str) -> Result<Vec<String>, ApiError> {
    let pairs: Vec<(String, String)> =
        serde_urlencoded::from_str(query).map_err(|error| ApiError::invalid(error.to_string()))?;
    let name = |(key, value)| match key == "channel" {
        true => Ok(value),
        false => Err(ApiError::invalid(format!("an export takes `channel`, not {key:?}"))),
    };
    pairs.into_iter().map(name).collect()
}

/// Sends a file; the place is free when it is sent, or nobody wants it any more.
fn download(
    spool: Spool,
    kind: &'static str,
    name: &'static str,
    place: SemaphorePermit<'static>,
) -> Response {
    let bytes = spool.bytes();
    let chunks = stream::try_unfold((spool, 0_u64, place), |(spool, from, place)| async move {
        let read = spool.clone();
        let chunk = blocking(move || Ok(read.chunk(from, CHUNK)?)).await?;
        let next = from + chunk.len() as u64;
        Ok::<_, ApiError>((!chunk.is_empty()).then(|| (Bytes::from(chunk), (spool, next, place))))
    });
    let mut answer = Body::from_stream(chunks).into_response();
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_LENGTH, bytes.into());
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    headers.extend(disposition.ok().map(|value| (header::CONTENT_DISPOSITION, value)));
    answer
}
