//! Watermarks out and in: nested objects of session key, channel, thread (5.8).

use std::collections::BTreeMap;

use axum::extract::State;
use delivery::Watermark;
use delivery::model::{BindingId, ChannelId, MessageId};
use storage::{PlacedWatermark, Read};

use super::identify::Who;
use super::{App, Json};
use crate::engine::Request;
use crate::error::ApiError;
use crate::reach;
use crate::wire::schema;

/// Session key, then channel, then thread (`""` for the channel itself).
pub(super) type Watermarks = BTreeMap<String, BTreeMap<String, BTreeMap<String, Watermark>>>;

/// Exports what each session has been given
///
/// Binding, then channel, then thread (`""` for the channel itself); of the channels that whoever asks may read.
#[utoipa::path(get, path = "/watermarks", tag = "watermarks", operation_id = "export_watermarks",
    responses((status = 200, description = "The watermarks", body = schema::Watermarks)))]
pub(super) async fn export(State(app): State<App>, who: Who) -> Result<Json<Watermarks>, ApiError> {
    let read = move |store: &dyn Read| {
        let channels = reach::channels(store, &who.principal)?;
        let mut placed = store.watermarks()?;
        placed.retain(|one| channels.iter().any(|channel| channel.id == one.channel));
        Ok(placed)
    };
    let placed = app.readers.read(read).await?;
    let mut all = Watermarks::new();
    for PlacedWatermark { binding, channel, thread, watermark } in placed {
        let channels = all.entry(binding.0).or_default();
        channels.entry(channel.0).or_default().insert(thread.map_or_else(String::new, |id| id.0), watermark);
    }
    Ok(Json(all))
}

/// Imports what each session has been given
///
/// For owners. Answers with all there are then.
#[utoipa::path(put, path = "/watermarks", tag = "watermarks", operation_id = "import_watermarks", request_body = schema::Watermarks,
    responses((status = 200, description = "The watermarks", body = schema::Watermarks)))]
pub(super) async fn import(
    State(app): State<App>,
    who: Who,
    Json(all): Json<Watermarks>,
) -> Result<Json<Watermarks>, ApiError> {
    let mut placed = Vec::new();
    for (binding, channels) in all {
        for (channel, threads) in channels {
            for (thread, watermark) in threads {
                placed.push(PlacedWatermark {
                    binding: BindingId(binding.clone()),
                    channel: ChannelId(channel.clone()),
                    thread: Some(thread).filter(|id| !id.is_empty()).map(MessageId),
                    watermark,
                });
            }
        }
    }
    app.ask(&who, Request::ImportWatermarks(placed)).await?;
    export(State(app), who).await
}
