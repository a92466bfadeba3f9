//! Live events: server-sent ones for scripts, a WebSocket for pages.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::http::HeaderMap;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, stream};
use serde::Deserialize;
use utoipa::IntoParams;

use super::identify::{PROTOCOL, Via, Who};
use super::{App, Query};
use crate::error::ApiError;
use crate::events::{Follower, Form, Watcher, Wish};
use crate::{reach, rights, wire};

/// How often a reader hears that the connection lives when nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// A page that was silent for so long, not even answering pings, is gone.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How long the network may take to accept one event.
const SEND_MAX: Duration = Duration::from_secs(30);
/// Bytes that a page may send at once: it has nothing to say but pongs.
const RECEIVED_BYTES_MAX: usize = 1_024;
/// Bytes that are read at once: hundreds of pages have a buffer each, and say next to nothing.
const READ_BYTES: usize = 2 * 1_024;
/// Bytes that are collected before they are written.
const WRITE_BYTES: usize = 16 * 1_024;
/// Bytes that wait to be written at most: the longest event (64 KiB of text, each byte escaped, and its HTML) fits.
const UNWRITTEN_BYTES_MAX: usize = 4 << 20;
/// How long a script waits before it connects again.
const RETRY: Duration = Duration::from_secs(1);

/// Which events.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    /// Cursor of an event: what happened after it comes first. What happens from now on if absent.
    since: Option<String>,
    /// Name of the channel; all that may be read if absent. What happens in no channel comes in either case.
    channel: Option<String>,
    /// Whether messages come with their text as HTML, too.
    #[serde(default)]
    html: bool,
}

/// Follows what happens, as server-sent events
///
/// Each has its kind as `event`, itself as `data`, and, if it is durable, its cursor as `id`. A `Last-Event-ID` header
/// goes before `since`.
#[utoipa::path(get, path = "/events", tag = "events", operation_id = "follow_events", params(EventsQuery),
    responses((status = 200, description = "Events without end, one after the other", body = wire::Event,
        content_type = "text/event-stream")))]
pub(super) async fn sse(
    State(app): State<App>,
    who: Who,
    headers: HeaderMap,
    Query(query): Query<EventsQuery>,
) -> Result<Response, ApiError> {
    let form = query.form();
    // A browser that connects again asks for the same address, with the place that it reached in this header.
    let last = headers.get("last-event-id").map(|id| id.to_str().unwrap_or("unreadable").to_owned());
    let follower = app.follow(who, EventsQuery { since: last.or(query.since), ..query }).await?;
    let events = Sse::new(frames(follower, form)).keep_alive(KeepAlive::new().interval(HEARTBEAT));
    // A proxy that collects what it passes on would turn live into late.
    Ok(([("x-accel-buffering", "no")], events).into_response())
}

fn frames(follower: Follower, form: Form) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    stream::unfold(follower, move |mut follower| async move {
        let item = follower.next().await?;
        let event = item.event();
        let mut frame = sse::Event::default().event(event.what.kind()).data(item.json(form)).retry(RETRY);
        if let Some(cursor) = &event.cursor {
            frame = frame.id(cursor);
        }
        Some((Ok(frame), follower))
    })
}

/// Follows what happens, over a WebSocket
///
/// Each event is a text frame, as in the data of `GET /events`. A page names the protocols `highwater.v1` and
/// `highwater.secret.SECRET`, since it cannot send the header `x-highwater-session` here.
#[utoipa::path(get, path = "/events/ws", tag = "events", operation_id = "follow_events_ws", params(EventsQuery),
    responses((status = 101, description = "A WebSocket; events without end")))]
pub(super) async fn ws(
    State(app): State<App>,
    who: Who,
    Query(query): Query<EventsQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let form = query.form();
    let follower = app.follow(who, query).await?;
    let upgrade = upgrade.map_err(|rejection| ApiError::invalid(rejection.body_text()))?;
    let upgrade = upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(READ_BYTES)
        .max_message_size(RECEIVED_BYTES_MAX)
        .max_frame_size(RECEIVED_BYTES_MAX)
        .write_buffer_size(WRITE_BYTES)
        .max_write_buffer_size(UNWRITTEN_BYTES_MAX);
    Ok(upgrade.on_upgrade(move |socket| page(socket, follower, form)))
}

/// Serves a page until it goes, falls silent, stops reading or speaks.
async fn page(mut socket: WebSocket, mut follower: Follower, form: Form) {
    let mut beat = tokio::time::interval(HEARTBEAT);
    // The first tick is now.
    beat.tick().await;
    let mut heard = tokio::time::Instant::now();
    loop {
        let frame = tokio::select! {
            item = follower.next() => match item {
                Some(item) => text(&item.json(form)),
                None => break,
            },
            message = socket.recv() => match message {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                    heard = tokio::time::Instant::now();
                    continue;
                }
                Some(Ok(Message::Text(_) | Message::Binary(_) | Message::Close(_)) | Err(_)) | None => break,
            },
            _ = beat.tick() => {
                if heard.elapsed() > SILENCE_MAX || !send(&mut socket, Message::Ping("".into())).await {
                    return;
                }
                text("{\"kind\":\"heartbeat\"}")
            }
        };
        if !send(&mut socket, frame).await {
            return;
        }
    }
    send(&mut socket, Message::Close(None)).await;
}

fn text(json: &str) -> Message {
    Message::Text(Utf8Bytes::from(json))
}

/// Whether it was accepted in time.
async fn send(socket: &mut WebSocket, message: Message) -> bool {
    matches!(tokio::time::timeout(SEND_MAX, socket.send(message)).await, Ok(Ok(())))
}

impl EventsQuery {
    fn form(&self) -> Form {
        if self.html { Form::Html } else { Form::Text }
    }
}

impl App {
    /// A reader for whoever asks.
    async fn follow(&self, who: Who, query: EventsQuery) -> Result<Follower, ApiError> {
        let Who { principal, via, until } = who;
        reach::allowed(rights::may_follow(&principal), "event", "")?;
        let channel = match query.channel {
            Some(name) => {
                let who = principal.clone();
                Some(self.readers.read(move |store| Ok(reach::channel(store, &who, &name)?.id)).await?)
            }
            None => None,
        };
        let credential = match via {
            Via::OwnerToken => None,
            Via::Token(id) | Via::SignIn(id) => Some(id),
        };
        // How long that is, is told by a clock that nobody sets.
        let left = until.map(|until| until.ms.saturating_sub(self.clock.now().wall.ms));
        let left = left.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)));
        let until = left.map(|left| tokio::time::Instant::now() + left);
        let watcher = Watcher { principal, credential, until };
        let since = query.since.filter(|text| !text.is_empty()).map(|text| text.parse());
        Ok(Follower::new(self.hub.clone(), Wish { watcher, channel, since }))
    }
}
