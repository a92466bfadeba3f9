//! One request from its arrival to the last byte of its answer.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cost::cache::{Outcome, Writes};
use serde_json::json;

use super::Shared;
use crate::asked::{Asked, Refused, Reply};
use crate::ledger::{Api, Ended, Kept};
use crate::models::Model;
use crate::script::{Answer, End, Saying};
use crate::{anthropic, gemini, openai};

/// Answers a request to a model. `call` is what the path says of it: only Gemini's does.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    api: Api,
    call: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Response {
    let at_ms = shared.clock.now_ms();
    let body: Arc<str> = String::from_utf8_lossy(body).into();
    let read = key(api, headers).and_then(|key| Ok((key, read(api, call, headers, &body)?)));
    let (key, asked) = match read {
        Ok(read) => read,
        Err(refused) => {
            let number = shared.ledger.keep(kept(api, at_ms, body, &Asked::default(), Outcome::default()));
            return refuse(shared, api, number, &refused);
        }
    };
    let model = shared.models.model(api, &asked.model);
    let (billed, writes) = match model.begin(&asked.told, &key, at_ms) {
        Ok(begun) => begun,
        Err(refusal) => {
            let number = shared.ledger.keep(kept(api, at_ms, body, &asked, Outcome::default()));
            return refuse(shared, api, number, &Refused::invalid(refusal.to_string()));
        }
    };
    let number = shared.ledger.keep(kept(api, at_ms, body, &asked, billed));
    let open =
        Open { shared: Arc::clone(shared), model, number, at_ms, writes: Some(writes), is_whole: false };
    match shared.player.answer(&asked.model, &asked.turn) {
        Answer::Say(saying) => open.say(api, &asked, billed, &saying).await,
        Answer::Fail(failure) => {
            let refused = Refused {
                status: failure.status,
                kind: failure.kind,
                message: failure.message,
                retry_after_s: failure.retry_after_s,
            };
            open.fail(api, &refused)
        }
        Answer::Silence {} => {
            // Held, so that the client's leaving is noted.
            let _open = open;
            std::future::pending().await
        }
    }
}

/// How many tokens a request has, which is neither kept nor billed.
pub(super) fn count(shared: &Shared, api: Api, call: &str, headers: &HeaderMap, body: &[u8]) -> Response {
    // What is counted is not answered, so nobody has to say how long the answer may be.
    let body = String::from_utf8_lossy(body);
    let body =
        if api == Api::Anthropic { body.replacen('{', r#"{"max_tokens":1,"#, 1) } else { body.into_owned() };
    match key(api, headers).and_then(|_| read(api, call, headers, &body)) {
        Ok(asked) => {
            let tokens = shared.models.model(api, &asked.model).count(&asked.told);
            Json(match api {
                Api::Anthropic | Api::OpenAi => json!({"input_tokens": tokens}),
                Api::Gemini => json!({"totalTokens": tokens}),
            })
            .into_response()
        }
        Err(refused) => refusal(api, &refused),
    }
}

fn read(api: Api, call: &str, headers: &HeaderMap, body: &str) -> Result<Asked, Refused> {
    match api {
        Api::Anthropic => anthropic::read(headers, body),
        Api::OpenAi => openai::read(headers, body),
        Api::Gemini => gemini::read(call, body),
    }
}

/// Whose key it is: caches are shared among the requests of one. Any will do.
fn key(api: Api, headers: &HeaderMap) -> Result<String, Refused> {
    let names: &[&str] = match api {
        Api::Anthropic => &["x-api-key", "authorization"],
        Api::OpenAi => &["authorization"],
        Api::Gemini => &["x-goog-api-key", "authorization"],
    };
    let found = names.iter().find_map(|name| headers.get(*name)).and_then(|value| value.to_str().ok());
    found.filter(|key| !key.is_empty()).map(str::to_owned).ok_or_else(|| Refused {
        status: 401,
        kind: "authentication_error".to_owned(),
        message: format!("{} header is required", names[0]),
        retry_after_s: None,
    })
}

fn kept(api: Api, at_ms: u64, body: Arc<str>, asked: &Asked, billed: Outcome) -> Kept {
    Kept {
        number: 0,
        at_ms,
        api,
        model: asked.model.clone(),
        session: asked.session.clone(),
        streamed: asked.streamed,
        body,
        told: Arc::new(asked.told.clone()),
        turn: Arc::new(asked.turn.clone()),
        billed,
        first_byte_ms: None,
        output_tokens: 0,
        end: Ended::Not,
    }
}

fn refuse(shared: &Shared, api: Api, number: u64, refused: &Refused) -> Response {
    let end = Ended::Failed(refused.status, refused.message.clone());
    shared.ledger.change(number, |kept| kept.end = end);
    refusal(api, refused)
}

fn refusal(api: Api, refused: &Refused) -> Response {
    let value = match api {
        Api::Anthropic => anthropic::refusal(refused),
        Api::OpenAi => openai::refusal(refused),
        Api::Gemini => gemini::refusal(refused),
    };
    let status = StatusCode::from_u16(refused.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(value)).into_response();
    if let Some(seconds) = refused.retry_after_s {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// A request that is being answered. Dropped before it is whole, it was cut.
struct Open {
    shared: Arc<Shared>,
    model: Arc<Model>,
    number: u64,
    /// When it arrived.
    at_ms: u64,
    /// What the cache gets with the first byte.
    writes: Option<Writes>,
    is_whole: bool,
}

impl Open {
    async fn say(mut self, api: Api, asked: &Asked, billed: Outcome, saying: &Saying) -> Response {
        let tokens = &self.model.tokens;
        let (reply, output_tokens) = match api {
            Api::Anthropic => anthropic::say(asked, self.number, saying, billed, tokens),
            Api::OpenAi => openai::say(asked, self.number, saying, billed, tokens),
            Api::Gemini => gemini::say(asked, self.number, saying, billed, tokens),
        };
        self.shared.ledger.change(self.number, |kept| kept.output_tokens = output_tokens);
        match reply {
            Reply::Whole(value) => {
                self.shared.clock.until(self.at_ms.saturating_add(saying.first_byte_ms)).await;
                self.first_byte();
                if saying.end == End::Cut {
                    return cut_off();
                }
                self.is_whole = true;
                Json(value).into_response()
            }
            Reply::Streamed(events) => {
                let due_ms = self.at_ms.saturating_add(saying.first_byte_ms);
                let streaming = Streaming {
                    open: self,
                    events: events.into(),
                    due_ms,
                    pace_ms: saying.pace_ms,
                    end: saying.end,
                };
                let body = futures_util::stream::unfold(Some(streaming), Streaming::next);
                ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
            }
        }
    }

    fn fail(mut self, api: Api, refused: &Refused) -> Response {
        self.is_whole = true;
        // An answer that never begins writes nothing and is not billed.
        self.shared.ledger.change(self.number, |kept| kept.billed = Outcome::default());
        refuse(&self.shared, api, self.number, refused)
    }

    fn first_byte(&mut self) {
        if let Some(writes) = self.writes.take() {
            let now_ms = self.shared.clock.now_ms();
            self.model.first_byte(writes, now_ms);
            self.shared.ledger.change(self.number, |kept| kept.first_byte_ms = Some(now_ms));
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let end = if self.is_whole { Ended::Whole } else { Ended::Cut };
        self.shared.ledger.change(self.number, |kept| {
            if kept.end == Ended::Not {
                kept.end = end;
            }
        });
    }
}

/// The events of an answer that are still to be sent.
struct Streaming {
    open: Open,
    events: VecDeque<String>,
    /// When the next one is.
    due_ms: u64,
    pace_ms: u64,
    end: End,
}

impl Streaming {
    async fn next(streaming: Option<Streaming>) -> Option<(io::Result<String>, Option<Streaming>)> {
        let mut streaming = streaming?;
        let Some(event) = streaming.events.pop_front() else {
            return (streaming.end == End::Cut).then(|| (Err(io::ErrorKind::ConnectionAborted.into()), None));
        };
        let clock = &streaming.open.shared.clock;
        clock.until(streaming.due_ms).await;
        streaming.due_ms = clock.now_ms().saturating_add(streaming.pace_ms);
        streaming.open.first_byte();
        if streaming.events.is_empty() && streaming.end != End::Cut {
            streaming.open.is_whole = true;
        }
        Some((Ok(event), Some(streaming)))
    }
}

/// A connection that ends in the middle of a body.
fn cut_off() -> Response {
    let error: io::Result<String> = Err(io::ErrorKind::ConnectionAborted.into());
    let start = Ok("{".to_owned());
    Body::from_stream(futures_util::stream::iter([start, error])).into_response()
}
