//! A client of the HTTP API that keeps its connection.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// Anything on loopback takes less, or is broken.
const LIMIT: Duration = Duration::from_secs(60);

/// How long one request waits for runs to end.
const WAIT_MS: u64 = 25_000;

/// Bytes of an answer at most.
const ANSWER_BYTES_MAX: u64 = 16 << 20;

/// One connection.
pub(crate) struct Client {
    agent: ureq::Agent,
    base: String,
    authorization: String,
}

impl Client {
    pub(crate) fn new(url: &str, token: &str) -> Self {
        let config = ureq::Agent::config_builder().proxy(None).timeout_global(Some(LIMIT)).build();
        let base = format!("{}/api/v1", url.trim_end_matches('/'));
        Self { agent: config.new_agent(), base, authorization: format!("Bearer {token}") }
    }

    /// The bytes of an answer, unread.
    pub(crate) fn bytes(&self, path: &str) -> Result<Vec<u8>> {
        let request = self.agent.get(format!("{}{path}", self.base));
        let mut answer =
            request.header("authorization", &self.authorization).call().context(path.to_owned())?;
        Ok(answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec()?)
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        Ok(serde_json::from_slice(&self.bytes(path)?)?)
    }

    /// Sends a body; the bytes of the answer, unread.
    pub(crate) fn send(&self, path: &str, body: &[u8]) -> Result<Vec<u8>> {
        let request = self.agent.post(format!("{}{path}", self.base)).content_type("application/json");
        let mut answer =
            request.header("authorization", &self.authorization).send(body).context(path.to_owned())?;
        Ok(answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec()?)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        Ok(serde_json::from_slice(&self.send(path, &serde_json::to_vec(body)?)?)?)
    }

    /// Posts a text in a channel; the message's id.
    pub(crate) fn say(&self, channel: &str, text: &str) -> Result<String> {
        let posted = self.post(&format!("/channels/{channel}/messages"), &json!({"text": text}))?;
        Ok(posted["message"]["id"].as_str().context("a post without an id")?.to_owned())
    }

    /// Waits until the one run of a message has ended well; its lease.
    pub(crate) fn answered(&self, message: &str) -> Result<String> {
        let posted = self.get(&format!("/messages/{message}/runs?wait_ms={WAIT_MS}"))?;
        let run = &posted["runs"][0];
        ensure!(run["status"] == "succeeded", "the run of {message} did not succeed: {run}");
        Ok(run["lease"].as_str().unwrap_or_default().to_owned())
    }
}
