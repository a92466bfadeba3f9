//! Server-sent events as the client reads them: an answer that does not end by itself.

use std::io::{self, BufRead, BufReader, Read};

use serde_json::Value;
use ureq::http::Request;

use super::{ANSWER_BYTES_MAX, ANSWER_LIMIT, Call, Client};
use crate::failure::Failure;

/// Bytes of one line at most: an event with a message of 64 KiB, each byte escaped, stays far below.
const LINE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Events, as they come; they end when the server ends them or goes away.
pub(crate) struct Events {
    lines: BufReader<Box<dyn Read + Send>>,
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
            return Ok(Events { lines: BufReader::new(Box::new(answer.into_body().into_reader())) });
        }
        let bytes = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        Err(self.refusal(status, &bytes.unwrap_or_default()))
    }
}

impl Events {
    /// The next event; `None` if there are no more. A connection that breaks is the same: whoever wants to go on
    /// connects again.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.line().ok()??;
            if let Some(data) = line.strip_prefix("data:") {
                return serde_json::from_str(data.trim_start()).ok();
            }
        }
    }

    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let read = (&mut self.lines).take(LINE_BYTES_MAX).read_line(&mut line)?;
        Ok((read > 0 && line.ends_with('\n')).then_some(line))
    }
}

#[cfg(test)]
mod tests;
