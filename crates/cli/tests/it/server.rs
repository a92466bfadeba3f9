//! A server of its own for a test; dropping it stops it and checks that no process is left.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// How long anything may take before a test gives up. Not a measurement: it only ends what hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running server with its data folder.
pub(crate) struct TestServer {
    pub(crate) home: TempDir,
    child: Option<Child>,
}

/// What a command printed.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

impl TestServer {
    /// A server on a fresh folder.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// A server on a fresh folder in this one.
    pub(crate) fn start_in(folder: &Path) -> Self {
        let mut server = Self { home: TempDir::new_in(folder).unwrap(), child: None };
        server.start_again(&[]);
        server
    }

    /// A server on a fresh folder, with more arguments.
    pub(crate) fn start_with(args: &[&str]) -> Self {
        let mut server = Self { home: TempDir::new().unwrap(), child: None };
        server.start_again(args);
        server
    }

    /// Starts on the same folder again.
    pub(crate) fn start_again(&mut self, args: &[&str]) {
        assert!(self.child.is_none(), "it runs already");
        let mut child = self.try_start(args);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        if !line.contains("listens on http://") {
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            panic!("no server: {line:?} {}", String::from_utf8_lossy(&output.stderr));
        }
        self.child = Some(child);
    }

    /// Starts `serve` and waits for nothing. It listens on a free port of 127.0.0.1 unless the first argument is
    /// another `--listen`.
    pub(crate) fn try_start(&self, args: &[&str]) -> Child {
        self.serve(args).spawn().unwrap()
    }

    /// Starts on the same folder again, to kill itself at a point (`HIGHWATER_DIE_AT`); whether it came as far as to
    /// listen.
    pub(crate) fn start_to_die(&mut self, at: &str) -> bool {
        assert!(self.child.is_none(), "it runs already");
        let mut child = self.serve(&[]).env("HIGHWATER_DIE_AT", at).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        self.child = Some(child);
        line.contains("listens on http://")
    }

    /// Starts on the same folder again, run by another program; whether it came as far as to listen.
    pub(crate) fn start_under(&mut self, outer: &[&str]) -> bool {
        assert!(self.child.is_none(), "it runs already");
        let serve = self.serve(&[]);
        let mut command = command(Path::new(outer[0]));
        command.args(&outer[1..]).arg(serve.get_program()).args(serve.get_args()).env_clear();
        command.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.home.path()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        self.child = Some(child);
        line.contains("listens on http://")
    }

    /// The running server's process, as it tells itself.
    pub(crate) fn pid(&self) -> u32 {
        let told = std::fs::read_to_string(self.data().join("server.json")).unwrap();
        serde_json::from_str::<Value>(&told).unwrap()["pid"].as_u64().unwrap().try_into().unwrap()
    }

    /// How it ended, if it has by itself.
    pub(crate) fn died(&mut self) -> Option<ExitStatus> {
        let status = self.child.as_mut()?.try_wait().unwrap()?;
        self.child = None;
        Some(status)
    }

    fn serve(&self, args: &[&str]) -> Command {
        let mut command = self.command("highwater");
        command.args(["serve", "--listen"]);
        match args {
            ["--listen", args @ ..] => command.args(args),
            args => command.arg("127.0.0.1:0").args(args),
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// A file beside the data folder.
    pub(crate) fn file(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    /// A program of this workspace with the surroundings of a command.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = command(&program_path(program));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.home.path());
        command.env("USER", "olive").env("HIGHWATER_DATA", self.data()).current_dir(self.home.path());
        command
    }

    /// Runs a command against the server.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.run_with(args, b"")
    }

    /// Runs a command with something on its standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Output {
        let mut command = self.command("highwater");
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses its arguments reads nothing; that is no failure of the test.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        Output {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or_else(|| -output.status.signal().unwrap_or(0)),
        }
    }

    /// Runs a command that must succeed; its standard output.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.code, 0, "{args:?}: {output:?}");
        output.out
    }

    /// Runs a command that must succeed with `--json`; what it printed.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&self.ok(&args)).unwrap()
    }

    /// Posts with `--wait`; the message and its runs, whatever became of them.
    pub(crate) fn ask(&self, channel: &str, text: &str, more: &[&str]) -> Value {
        let args: Vec<&str> =
            ["post", channel, text, "--wait", "--json"].into_iter().chain(more.iter().copied()).collect();
        let output = self.run(&args);
        serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// A run with the exact text that was sent.
    pub(crate) fn show(&self, run: &str) -> Value {
        self.json(&["run", "show", run])
    }

    /// Adds the scripted agent to a channel; it logs what it gets to the file `log` of [`Self::file`].
    pub(crate) fn add_scripted(&self, handle: &str, channel: &str, log: &str, more: &[&str]) {
        let log = format!("SCRIPTED_LOG={}", self.file(log));
        let agent = program_path("scripted-agent").display().to_string();
        let mut args = vec!["agent", "add", handle, "--channel", channel, "--env", &log];
        args.extend(more);
        args.extend(["--", &agent]);
        self.ok(&args);
    }

    /// Kills the server as a power cut would.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Asks the server to stop; how it ended.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        let mut child = self.child.take().expect("it runs");
        terminate(&child);
        child.wait().unwrap()
    }

    /// A figure of the running server's memory out of `/proc`, in KiB.
    pub(crate) fn memory_kib(&self, field: &str) -> u64 {
        let pid = self.child.as_ref().expect("it runs").id();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Processes of this server's agents: those that work in its folder, or name it in their arguments.
    pub(crate) fn left(&self) -> Vec<String> {
        processes_in(self.home.path())
    }

    /// Waits until a step that starts a process has written its id into this file; gives the id by which it is known
    /// here, since it may be in a namespace of its own.
    pub(crate) fn process_in(&self, file: &str) -> u32 {
        let id = || std::fs::read_to_string(file).unwrap_or_default().trim().to_owned();
        wait_until("the process lives", || !id().is_empty());
        let inner = id();
        let is_it = |pid: &u32| {
            let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
            cwd.is_ok_and(|cwd| cwd.starts_with(self.home.path()))
                && ids.and_then(|ids| ids.split_whitespace().last()) == Some(&*inner)
        };
        let names = std::fs::read_dir("/proc").unwrap().flatten();
        let mut pids = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.find(is_it).unwrap_or_else(|| panic!("{inner} of {file} does not live"))
    }

    /// Ids of this server's holders: of each agent's the one that the server started, and, if there is one, the first
    /// process of the agent's namespace.
    pub(crate) fn holders(&self) -> Vec<u32> {
        let left = self.left();
        let holders = left.iter().filter(|process| process.contains(" hold "));
        holders.map(|process| process.split(':').next().unwrap().parse().unwrap()).collect()
    }

    /// Waits until no process of an agent is left.
    pub(crate) fn wait_until_none_is_left(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        loop {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "left after {patience:?}: {left:?}");
            std::thread::yield_now();
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            if let Some(mut child) = self.child.take() {
                let _ = child.kill();
            }
            return;
        }
        if self.child.is_some() {
            assert!(self.stop().success(), "the server ended badly");
            assert_eq!(self.left(), Vec::<String>::new(), "processes outlived the server");
        }
    }
}

/// Waits until something is true.
pub(crate) fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_true() {
        assert!(Instant::now() < deadline, "still not: {what}");
        std::thread::yield_now();
    }
}

/// Where a program of this workspace was built.
pub(crate) fn program_path(name: &str) -> PathBuf {
    let highwater = Path::new(env!("CARGO_BIN_EXE_highwater"));
    let path = highwater.with_file_name(name);
    assert!(path.exists(), "{name} is not built; run: cargo build -p agents --bins");
    path
}

/// Sends SIGTERM.
pub(crate) fn terminate(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "a test starts the program as a person would")]
pub(crate) fn command(program: &Path) -> Command {
    Command::new(program)
}

fn processes_in(folder: &Path) -> Vec<String> {
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        let works_there =
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        let is_server = arguments.contains(" serve --listen ");
        let named = works_there || arguments.contains(&folder.display().to_string());
        if pid != own && named && !is_server && !is_zombie(&entry.path()) {
            found.push(format!("{pid}: {arguments}"));
        }
    }
    found
}

/// A process that has ended and waits to be collected is none any more.
fn is_zombie(process: &Path) -> bool {
    let status = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    status.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'))
}
