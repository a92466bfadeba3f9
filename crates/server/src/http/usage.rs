//! Usage of runs, added up.

use axum::extract::State;
use delivery::Timestamp;
use delivery::model::ChannelId;
use serde::Deserialize;
use storage::{Read, UsageBy, UsageQuery};
use utoipa::IntoParams;

use super::identify::Who;
use super::message::page;
use super::{App, Json, Query};
use crate::error::ApiError;
use crate::wire::{self, schema};
use crate::{reach, view};

/// Sums of a list at most.
const SUMS_MAX: usize = 10_000;

/// Which usage.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct UsageWish {
    /// By what it is added up; by day if absent.
    #[param(value_type = Option<schema::UsageBy>)]
    by: Option<UsageBy>,
    /// Name of the channel; all that may be read if absent.
    channel: Option<String>,
    /// The first day, as `2026-11-30`, or a time. Days are those of UTC.
    since: Option<String>,
    /// Sums at most.
    #[param(minimum = 1, maximum = 10000, default = 50)]
    limit: Option<usize>,
}

/// Tells what runs took
///
/// Of channels that one may read. Added up by run, session, binding, channel or day; what was used last comes first.
#[utoipa::path(get, path = "/usage", tag = "runs", operation_id = "show_usage", params(UsageWish),
    responses((status = 200, description = "The sums", body = wire::UsageReport)))]
pub(super) async fn show(
    State(app): State<App>,
    who: Who,
    Query(wish): Query<UsageWish>,
) -> Result<Json<wire::UsageReport>, ApiError> {
    let limit = page(wish.limit, SUMS_MAX)?;
    let since = wish.since.as_deref().map(day).transpose()?;
    let by = wish.by.unwrap_or(UsageBy::Day);
    let read = move |store: &dyn Read| {
        let channels = match wish.channel {
            Some(name) => vec![reach::channel(store, &who.principal, &name)?],
            None => reach::channels(store, &who.principal)?,
        };
        let channels: Vec<ChannelId> = channels.into_iter().map(|channel| channel.id).collect();
        let added = |by, limit| -> Result<Vec<wire::UsageSum>, ApiError> {
            let sums = store.usage(&UsageQuery { channels: &channels, binding: None, since, by, limit })?;
            sums.into_iter().map(|sum| view::sum(store, by, sum)).collect()
        };
        let sums = added(Some(by), limit)?;
        Ok(wire::UsageReport { by, sums, all: added(None, 1)?.pop() })
    };
    Ok(Json(app.readers.read(read).await?))
}

/// A day's first moment, or a time.
fn day(text: &str) -> Result<Timestamp, ApiError> {
    let time = if text.contains('T') { text.parse() } else { format!("{text}T00:00:00Z").parse() };
    time.map_err(|_| {
        ApiError::invalid("since is a day like 2026-11-30, or a UTC time like 2026-11-30T10:00:00Z")
    })
}
