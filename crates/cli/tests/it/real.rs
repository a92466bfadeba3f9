//! Real agents, unchanged from their packages, driven by the whole program, at a provider on loopback that sees all they send.

mod broken;
mod claude;
mod clock;
mod codex;
mod doctor;
mod gemini;
mod home;
mod measure;
mod opencode;
mod prefix;
mod story;
mod usage;

use std::collections::BTreeSet;
use std::path::PathBuf;

use provider::{Counting, Ended, Kept, Passing, Prefix, Provider, Script, Settings};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::server::{TestServer, wait_until};

/// What the agent says where the script has nothing else.
const NOTED: &str = "Noted: it waits for the queue.";

/// The day whose rules the provider follows.
const DAY: &str = "2026-11-30";

/// A server, a provider, and an agent between them, whose handle is its preset's name.
struct Real {
    agent: &'static str,
    server: TestServer,
    provider: Provider,
    _runtime: Runtime,
}

/// Where the agents' programs are.
fn programs() -> PathBuf {
    let folder = std::env::var_os("HIGHWATER_REAL_AGENTS");
    PathBuf::from(
        folder
            .expect("run it by `cargo xtask test`, which installs the agents and sets HIGHWATER_REAL_AGENTS"),
    )
}

/// A folder that root alone can change, with all above it, if there is one: Gemini CLI reads its defaults nowhere else.
fn guarded() -> Option<PathBuf> {
    let folder = std::env::var_os("HIGHWATER_GUARDED").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("SKIPPED: `cargo xtask test`, run as root, finds a folder that root alone can change");
    }
    folder
}

/// Where servers have their homes.
fn ground() -> PathBuf {
    std::env::var_os("HIGHWATER_GUARDED").unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into()).into()
}

/// What an agent's process, and not its holder, is called with.
fn mark(agent: &str) -> &str {
    match agent {
        "claude" => "claude-agent-acp",
        "codex" => "codex-acp",
        "gemini" => "gemini --acp",
        other => other,
    }
}

impl Real {
    /// With rules of a script and arguments of `agent add`.
    fn new(agent: &'static str, rules: &Value, more: &[&str]) -> Self {
        Self::on(TestServer::start_in(&ground()), agent, rules, more)
    }

    /// On a server whose home has something in it.
    fn on(server: TestServer, agent: &'static str, rules: &Value, more: &[&str]) -> Self {
        Self::on_day(DAY, server, agent, rules, more)
    }

    /// At a provider by the rules of a day.
    fn on_day(day: &str, server: TestServer, agent: &'static str, rules: &Value, more: &[&str]) -> Self {
        let real = Self::before(day, server, agent, rules);
        real.add(agent, "general", more);
        real
    }

    /// Without the agent as yet.
    fn before(day: &str, server: TestServer, agent: &'static str, rules: &Value) -> Self {
        let script = json!({"rules": rules, "otherwise": [{"say": {"parts": [{"text": NOTED}]}}]});
        let script: Script = serde_json::from_value(script).unwrap();
        let runtime = Runtime::new().unwrap();
        let settings = Settings {
            day: day.to_owned(),
            counting: Counting::QuarterBytes,
            script,
            passing: Passing::ByItself,
        };
        let provider = runtime.block_on(Provider::start(settings)).unwrap();
        Self { agent, server, provider, _runtime: runtime }
    }

    /// Adds one more of the same agent.
    fn add(&self, handle: &str, channel: &str, more: &[&str]) {
        let wiring = provider::wiring(self.agent, &self.provider.base_url()).unwrap();
        for (path, text) in &wiring.files {
            let path = self.server.home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            // What the home has already was made for this.
            if !path.exists() {
                std::fs::write(path, text).unwrap();
            }
        }
        let path = format!("PATH={}:/usr/local/bin:/usr/bin:/bin", programs().display());
        // `lean` reads none of these files.
        let instead = wiring.instead.iter().filter(|_| more.contains(&"lean"));
        let env = wiring.env.iter().chain(instead).map(|(name, value)| format!("{name}={value}"));
        let env: Vec<String> = env.collect();
        let mut args =
            vec!["agent", "add", handle, "--channel", channel, "--preset", self.agent, "--env", &path];
        args.extend(env.iter().flat_map(|var| ["--env", &**var]));
        args.extend(more);
        self.server.ok(&args);
    }

    fn say(&self, text: &str) {
        self.server.ok(&["post", "general", text]);
    }

    /// Asks the agent and waits; the run.
    fn ask(&self, text: &str) -> Value {
        let asked = self.server.ask("general", &format!("@{} {text}", self.agent), &[]);
        asked["runs"][0].clone()
    }

    /// Asks and does not wait; the run's id.
    fn begin(&self, text: &str) -> String {
        let posted = self.server.json(&["post", "general", &format!("@{} {text}", self.agent)]);
        posted["runs"][0]["id"].as_str().unwrap().to_owned()
    }

    fn ended(&self, run: &str) -> Value {
        let over = |run: &Value| !matches!(run["status"].as_str(), Some("queued" | "running"));
        wait_until("the run has ended", || over(&self.server.show(run)));
        self.server.show(run)
    }

    /// Kills the agent's own process, not its holder.
    fn kill_agent(&self) {
        let left = self.server.left();
        let is_agent = |process: &&String| process.contains(mark(self.agent)) && !process.contains(" hold ");
        let agent = left.iter().find(is_agent).unwrap_or_else(|| panic!("it lives: {left:?}"));
        self.kill(agent.split(':').next().unwrap().parse().unwrap());
    }

    /// Kills a process.
    fn kill(&self, pid: u32) {
        let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }

    /// Each request of a session is the one before and something more; none was refused. Their number.
    ///
    /// The agent itself joins a question that was never answered to the next one, and writes a line break behind it: the
    /// last piece of a request that was cut may therefore change.
    #[track_caller]
    fn check_prefixes(&self) -> usize {
        let requests = self.provider.requests();
        for (index, kept) in requests.iter().enumerate() {
            assert!(!matches!(kept.end, Ended::Failed(..)), "{:?} of {}", kept.end, kept.body);
            let is_of = |before: &&Kept| before.session == kept.session && before.model == kept.model;
            let before = requests[..index].iter().rev().find(is_of);
            let Some(before) = before else { continue };
            let mut told = (*before.told).clone();
            if before.end == Ended::Cut {
                told.pieces.pop();
            }
            if let Prefix::Breaks { common_pieces, before, after } = Prefix::between(&told, &kept.told) {
                panic!(
                    "request {} breaks after {common_pieces} pieces:\n{before:#?}\n{after:#?}",
                    kept.number
                );
            }
        }
        requests.len()
    }

    /// The conversations that the requests say they belong to.
    fn sessions(&self) -> BTreeSet<Option<String>> {
        self.provider.requests().into_iter().map(|kept| kept.session).collect()
    }

    /// The requests' tokens through the provider, and those of the warm mentions that it did not read from its cache.
    fn tokens(&self) -> (u64, u64) {
        let requests = self.provider.requests();
        let unread = |kept: &Kept| kept.billed.unread_tokens();
        (
            requests.iter().map(|kept| kept.billed.total_tokens()).sum(),
            requests.iter().skip(1).map(unread).sum(),
        )
    }
}

fn text_of(run: &Value) -> &str {
    assert_eq!(run["status"], "succeeded", "{run}");
    run["replies"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap()
}

/// One call of a tool, then a text.
fn calling(text: &str, tool: &str, input: &Value, then: &str) -> Value {
    json!({"when": {"text": text}, "answers": [
        {"say": {"parts": [{"text": "I look."}, {"call": {"name": tool, "input": input}}]}},
        {"say": {"parts": [{"text": then}]}}]})
}
