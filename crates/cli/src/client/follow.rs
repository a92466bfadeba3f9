//! Server-sent events as the client reads them: an answer that does not end by itself.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use ureq::http::Request;

use super::{ANSWER_BYTES_MAX, ANSWER_LIMIT, Call, Client};
use crate::failure::Failure;

/// Bytes of one line at most: an event with a message of 64 KiB, each byte escaped, stays far below.
const LINE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How long nothing may come until a connection counts as dead: the server gives a sign of life every 15 s.
const SILENCE_MAX: Duration = Duration::from_secs(40);

/// Lines that were read and wait to be looked at: no more than a few events, so that a reader that is slow is slow
/// for the server too.
const LINES_MAX: usize = 16;

/// Events, as they come; they end when the server ends them, goes away or falls silent.
pub(crate) struct Events {
    lines: Receiver<String>,
    silence_max: Duration,
}

impl Client {
    /// Begins to follow; fails if the server refuses or cannot be reached.
    pub(crate) fn follow(&self, call: &Call) -> Result<Events, Failure> {
        let request = Request::builder()
            .method(call.method.clone())
            .uri(format!("{}{}", self.base, call.target))
            .header("authorization", format!("Bearer {}", self.token))
            .header("accept", "text/event-stream")
            .body(())
            .map_err(|error| self.unaskable(&error))?;
        let configured = self.agent.configure_request(request);
        let limited = configured.timeout_recv_response(Some(ANSWER_LIMIT)).timeout_recv_body(None).build();
        let mut answer = self.agent.run(limited).map_err(|error| self.unreachable(call, &error))?;
        let status = answer.status().as_u16();
        if (200..300).contains(&status) {
            return Ok(Events::of(answer.into_body().into_reader(), SILENCE_MAX));
        }
        let bytes = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        Err(self.refusal(status, &bytes.unwrap_or_default()))
    }
}

impl Events {
    /// Of what `body` brings, until nothing came for `silence_max`.
    fn of(body: impl Read + Send + 'static, silence_max: Duration) -> Self {
        let (sender, lines) = sync_channel(LINES_MAX);
        // A computer that slept, or a network that was changed, leaves connections on which a read never returns: reads
        // go on beside, and one that does not return ends with the program.
        thread::spawn(move || {
            let mut body = BufReader::new(body);
            while let Ok(Some(line)) = line_of(&mut body) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { lines, silence_max }
    }

    /// The next event; `None` if there are no more. A connection that breaks or falls silent is the same: whoever wants
    /// to go on connects again.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.lines.recv_timeout(self.silence_max).ok()?;
            if let Some(data) = line.strip_prefix("data:") {
                return serde_json::from_str(data.trim_start()).ok();
            }
        }
    }
}

fn line_of(body: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = body.take(LINE_BYTES_MAX).read_line(&mut line)?;
    Ok((read > 0 && line.ends_with('\n')).then_some(line))
}

#[cfg(test)]
mod tests;
