//! acpx, a command-line client of agents in TypeScript, with a session whose queue owner stays between commands.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::clock::Instant;
use crate::process;

/// The version that the target names.
const VERSION: &str = "0.19.1";

/// Downloading some forty packages may take a while.
const INSTALL_LIMIT: Duration = Duration::from_secs(300);

/// One command takes less, or hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// How long its queue owner stays without work, in seconds: longer than a round, and not long after a run.
const OWNER_LIFE_S: &str = "60";

/// How long the queue owner may take to end, and between two looks.
const END_LIMIT: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A session of acpx in a home of its own.
pub(crate) struct Acpx {
    /// Its name and version, and that of node.
    pub(crate) name: String,
    node: PathBuf,
    script: PathBuf,
    home: PathBuf,
    agent: String,
}

impl Acpx {
    /// Opens a session with an agent, and has it answer once, so that the queue owner and the agent are warm.
    ///
    /// # Errors
    ///
    /// Names what is missing: node, npm, or the package and a way to get it.
    pub(crate) fn open(home: &Path, agent: &[String]) -> Result<Self> {
        let node = process::on_path("node").context("node is missing: acpx, the peer, runs on it")?;
        let script = installed()?;
        let version =
            process::finish(process::command(&node, home).arg("--version").spawn()?, LIMIT, "node")?;
        let name = format!("acpx {VERSION} on node {}", String::from_utf8_lossy(&version.stdout).trim());
        let acpx = Self { name, node, script, home: home.to_owned(), agent: words(agent) };
        acpx.run(&["sessions", "new"])?;
        acpx.prompt("good morning")?;
        Ok(acpx)
    }

    /// Gives the session a prompt and waits for the command's end.
    pub(crate) fn prompt(&self, text: &str) -> Result<()> {
        self.run(&["prompt", text])
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        let mut command = process::command(&self.node, &self.home);
        command.arg(&self.script).args(["--agent", &self.agent, "--format", "quiet", "--ttl", OWNER_LIFE_S]);
        command.args(arguments);
        process::finish(command.spawn()?, LIMIT, "acpx").map(drop)
    }

    /// What its lock file tells of the process that stays.
    fn lock(&self) -> Option<Value> {
        let locks = std::fs::read_dir(self.home.join(".acpx/queues")).ok()?;
        let lock = locks.flatten().find(|file| file.path().extension().is_some_and(|end| end == "lock"))?;
        serde_json::from_str(&std::fs::read_to_string(lock.path()).ok()?).ok()
    }
}

impl Drop for Acpx {
    fn drop(&mut self) {
        let Some(lock) = self.lock() else { return };
        if let Some(owner) = lock["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()) {
            end(owner);
        }
        // Its sockets have a folder of their own outside its home; a folder that is not empty stays.
        let sockets = lock["socketPath"].as_str().and_then(|socket| Path::new(socket).parent());
        if let Some(folder) = sockets {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Asks a queue owner to end, which takes its agent along; kills it after the limit.
fn end(owner: u32) {
    let lives = || process::arguments(owner).iter().any(|argument| argument == "__queue-owner");
    let signal = |signal| {
        let pid = i32::try_from(owner).ok().and_then(Pid::from_raw);
        pid.filter(|_| lives()).is_some_and(|pid| kill_process(pid, signal).is_ok())
    };
    signal(Signal::TERM);
    let begun = Instant::now();
    while lives() && begun.elapsed() < END_LIMIT {
        thread::sleep(LOOK_AGAIN);
    }
    signal(Signal::KILL);
}

/// Program and arguments as acpx takes them: one text, in which quotes hold words together.
fn words(command: &[String]) -> String {
    let quoted = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
    command.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Its program, installed first if it is not there.
fn installed() -> Result<PathBuf> {
    let cache = cache().context("no folder for acpx: set XDG_CACHE_HOME or HOME")?;
    let folder = cache.join(format!("acpx-{VERSION}"));
    let script = folder.join("node_modules/acpx/dist/cli.js");
    if script.is_file() {
        return Ok(script);
    }
    let npm = process::on_path("npm").context("npm is missing: acpx, the peer, is installed with it")?;
    eprintln!("acpx {VERSION} is not in {}: installing it, once", cache.display());
    std::fs::create_dir_all(&cache)?;
    // Another run, or a broken one, never sees half of it.
    let draft = tempfile::tempdir_in(&cache)?;
    install(&npm, draft.path()).with_context(|| {
        format!("acpx {VERSION} is missing from {}, and `npm install` could not bring it", cache.display())
    })?;
    std::fs::rename(draft.keep(), &folder)?;
    if !script.is_file() {
        bail!("acpx {VERSION} was installed, but has no {}", script.display());
    }
    Ok(script)
}

fn install(npm: &Path, folder: &Path) -> Result<()> {
    let mut command = process::command(npm, folder);
    // Settings of npm, such as a proxy or a registry, are the user's own.
    command.envs(std::env::vars_os()).args([
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
    ]);
    command.arg(folder).arg(format!("acpx@{VERSION}"));
    process::finish(command.spawn()?, INSTALL_LIMIT, "npm install").map(drop)
}

/// Outside the tree: what is downloaded is never committed.
fn cache() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("highwater"))
}
