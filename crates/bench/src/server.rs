//! A real server on a data folder of its own; dropping it stops it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::agent::Arrivals;
use crate::bench::Bench;
use crate::client::Client;
use crate::clock::Instant;
use crate::process::{self, Guard};

/// A server that has not said where it listens by then never will.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Longer than the server gives its agents.
const STOP_LIMIT: Duration = Duration::from_secs(20);

/// A running server.
pub(crate) struct Server {
    child: Child,
    data: PathBuf,
    /// From its start to the line that tells its address.
    pub(crate) started_in: Duration,
}

impl Server {
    /// Starts one on `home/data`, and waits until it listens. Its log is in `home`.
    pub(crate) fn start(bench: &Bench, home: &Path) -> Result<Self> {
        Self::start_on(bench, home, &home.join("data"))
    }

    /// The same on any data folder.
    pub(crate) fn start_on(bench: &Bench, home: &Path, data: &Path) -> Result<Self> {
        let log = home.join("serve.log");
        let mut command = process::command(&bench.highwater, home);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        command.stderr(File::create(&log)?);
        let begun = Instant::now();
        let mut child = command.spawn().context("starting highwater serve")?;
        let guard = Guard::over(&child, START_LIMIT);
        let mut line = String::new();
        let output = child.stdout.take().context("the server has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let started_in = begun.elapsed();
        drop(guard);
        let server = Self { child, data: data.to_owned(), started_in };
        if !line.contains("listens on http://") {
            drop(server);
            bail!("highwater serve did not start: {}", std::fs::read_to_string(log)?.trim());
        }
        Ok(server)
    }

    /// Host and port.
    pub(crate) fn host(&self) -> Result<String> {
        let text =
            std::fs::read_to_string(self.data.join("server.json")).context("server.json cannot be read")?;
        let running: Value = serde_json::from_str(&text)?;
        let url = running["url"].as_str().context("the server tells no address")?;
        Ok(url.trim_start_matches("http://").trim_end_matches('/').to_owned())
    }

    /// A client with a connection of its own.
    pub(crate) fn client(&self) -> Result<Client> {
        let text = |name: &str| {
            std::fs::read_to_string(self.data.join(name)).with_context(|| format!("{name} cannot be read"))
        };
        let running: Value = serde_json::from_str(&text("server.json")?)?;
        let url = running["url"].as_str().context("the server tells no address")?;
        Ok(Client::new(url, text("owner-token")?.trim()))
    }

    /// Makes a channel with an agent `@bench`, and gives it its first, cold, turn.
    pub(crate) fn bind(&self, bench: &Bench, channel: &str, arrivals: &Arrivals) -> Result<()> {
        let client = self.client()?;
        client.post("/channels", &json!({"name": channel}))?;
        let agent = json!({
            "handle": "bench", "command": arrivals.agent(&bench.program),
            "delivery": "lean", "session": "resident", "supervised": true,
        });
        client.post(&format!("/channels/{channel}/agents"), &agent)?;
        let first = client.say(channel, "@bench good morning")?;
        client.answered(&first)?;
        Ok(())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The holders of its agents and the agents themselves: for each its resident memory in bytes.
    pub(crate) fn agents(&self) -> Result<Vec<(u64, u64)>> {
        let mut found = Vec::new();
        for (holder, arguments) in process::children(self.pid())? {
            if arguments.get(1).map(String::as_str) != Some("hold") {
                continue;
            }
            for (agent, _) in process::children(holder)? {
                found.push((process::resident(holder)?, process::resident(agent)?));
            }
        }
        Ok(found)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        process::end(&mut self.child, STOP_LIMIT);
    }
}
