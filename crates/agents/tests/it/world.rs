//! A folder, agents in it, and their events; checks at the end that no process is left.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use agents::{
    Agents, Command, Event, EventKind, Fault, Hide, Manner, Secrets, Sight, Spec, Started, TimeLimits, Turn,
    Update,
};
use delivery::model::{Epoch, Key, RunId};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// A test fails when nothing happens for so long; far more than anything takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// Environment variable that marks every process of one world.
pub(crate) const MARK: &str = "HIGHWATER_TEST_MARK";

/// Name of the folder of records.
pub(crate) const RECORDS: &str = "processes";

/// Limits that no test reaches unless it sets its own.
pub(crate) const LIMITS: TimeLimits = TimeLimits {
    start: Duration::from_secs(50),
    inactivity: Duration::from_secs(50),
    turn: Duration::from_secs(50),
    grace: Duration::from_secs(50),
};

pub(crate) const SHORT: Duration = Duration::from_millis(100);

/// An agent is held alike with processes of its own and without; where the system refuses the first, that is not tried.
pub(crate) fn sights() -> &'static [Sight] {
    static SIGHTS: LazyLock<&[Sight]> = LazyLock::new(|| {
        if can_unshare() {
            return &[Sight::Own, Sight::All];
        }
        eprintln!("SKIPPED: this system refuses process namespaces");
        &[Sight::All]
    });
    &SIGHTS
}

/// Whether this system has namespaces for us.
#[expect(clippy::disallowed_methods, reason = "a program asks for namespaces as the holder does")]
pub(crate) fn can_unshare() -> bool {
    let mut unshare = std::process::Command::new("unshare");
    unshare.args(["-Urmpf", "--mount-proc", "true"]).output().is_ok_and(|output| output.status.success())
}

pub(crate) fn scripted() -> String {
    env!("CARGO_BIN_EXE_scripted-agent").to_owned()
}

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) agents: Agents,
    pub(crate) events: mpsc::Receiver<Event>,
    done: bool,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_events(64)
    }

    /// With a channel of events of this size.
    pub(crate) fn with_events(events_max: usize) -> Self {
        Self::with_holder(vec![scripted(), "hold".to_owned()], events_max)
    }

    pub(crate) fn with_holder(holder: Vec<String>, events_max: usize) -> Self {
        let (sender, events) = mpsc::channel(events_max);
        let folder = tempfile::tempdir().unwrap();
        let agents = Agents::new(holder, &folder.path().join(RECORDS), sender);
        Self { folder, agents, events, done: false }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The scripted agent with this script, working in `agent`, logging to `log`.
    pub(crate) fn spec(&self, script: &Value) -> Spec {
        let env = [
            ("PATH", std::env::var("PATH").unwrap()),
            ("SCRIPTED_LOG", self.path("log").to_str().unwrap().to_owned()),
            (MARK, self.mark()),
        ];
        Spec {
            command: vec![scripted(), script.to_string()],
            cwd: self.path("agent"),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            secrets: Secrets::default(),
            reload: None,
            system_prompt: None,
            model: None,
            manner: Manner::default(),
            tools: None,
            hide: None,
            trust: None,
            before: None,
            sight: sights()[0],
            memory_max: None,
            mark: self.mark(),
            limits: LIMITS,
        }
    }

    /// Hides `data` but for `data/a`, which is the agent's folder.
    pub(crate) fn hidden(&self, mut spec: Spec) -> Spec {
        spec.cwd = self.path("data/a");
        spec.hide = Some(Hide { folder: self.path("data"), but: spec.cwd.clone() });
        spec
    }

    fn mark(&self) -> String {
        self.folder.path().to_str().unwrap().to_owned()
    }

    pub(crate) fn start(&self, spec: Spec) {
        self.agents.carry_out(Command::Start { key: key(), epoch: Epoch(1), spec: Box::new(spec) });
    }

    pub(crate) fn prompt(&self, run: &str, text: &str) {
        let (run, text) = (RunId::from(run), text.to_owned());
        self.agents.carry_out(Command::Prompt { key: key(), epoch: Epoch(1), run, text });
    }

    pub(crate) fn cancel(&self, run: &str) {
        self.agents.carry_out(Command::Cancel { key: key(), epoch: Epoch(1), run: RunId::from(run) });
    }

    pub(crate) fn answer(&self, run: RunId, ask: u64, choice: Option<usize>) {
        self.agents.carry_out(Command::Answer { key: key(), epoch: Epoch(1), run, ask, choice });
    }

    pub(crate) fn steer(&self, run: &str, message: &str, text: &str) {
        let (run, message, text) = (RunId::from(run), message.into(), text.to_owned());
        self.agents.carry_out(Command::Steer { key: key(), epoch: Epoch(1), run, message, text });
    }

    pub(crate) fn prove(&self) {
        self.agents.carry_out(Command::Prove { key: key(), epoch: Epoch(1) });
    }

    pub(crate) fn end(&self) {
        self.agents.carry_out(Command::End { key: key(), epoch: Epoch(1) });
    }

    pub(crate) async fn next(&mut self) -> EventKind {
        let event =
            timeout(DEADLINE, self.events.recv()).await.expect("no event came").expect("the agents are gone");
        assert_eq!((event.key, event.epoch), (key(), Epoch(1)));
        event.kind
    }

    /// The session as it began.
    pub(crate) async fn started(&mut self) -> Started {
        let event = self.next().await;
        let EventKind::Started(started) = event else { panic!("{event:?} instead of a start") };
        started
    }

    /// Starts, begins a session, sends the prompt of `r1` and waits until it was written.
    pub(crate) async fn in_turn(&mut self, spec: Spec) -> Started {
        self.start(spec);
        let started = self.started().await;
        self.prompt("r1", "hello");
        self.check(&[written("r1")]).await;
        started
    }

    /// Compares the next events.
    pub(crate) async fn check(&mut self, expect: &[EventKind]) {
        for expect in expect {
            assert_eq!(&self.next().await, expect);
        }
    }

    /// The next event that is no update.
    pub(crate) async fn after_updates(&mut self) -> EventKind {
        loop {
            let event = self.next().await;
            if !matches!(event, EventKind::Update { .. }) {
                return event;
            }
        }
    }

    /// Ends the process, if it still lives, and the world.
    pub(crate) async fn finish(mut self) {
        self.end();
        while !matches!(self.next().await, EventKind::Exited { .. }) {}
        self.over().await;
    }

    /// After the last `Exited`: nothing more comes, and nothing is left (I9).
    pub(crate) async fn over(mut self) {
        timeout(DEADLINE, self.agents.ended()).await.expect("an agent did not end");
        assert!(self.events.try_recv().is_err(), "an event came after the last");
        assert_eq!(self.processes(), BTreeSet::new());
        assert_eq!(self.records(), Vec::<PathBuf>::new());
        self.done = true;
    }

    /// Ids of the processes of this world, found by their environment.
    pub(crate) fn processes(&self) -> BTreeSet<i32> {
        marked(&self.mark())
    }

    /// The id by which a process of this world is known here; it may be in a namespace of its own.
    pub(crate) fn outer(&self, inner: i32) -> i32 {
        let is_it = |pid: &i32| {
            let works_there = fs::read_link(format!("/proc/{pid}/cwd"));
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
            works_there.is_ok_and(|folder| folder.starts_with(self.folder.path()))
                && ids.and_then(|ids| ids.split_whitespace().last()) == Some(inner.to_string().as_str())
        };
        all_processes().find(is_it).expect("the process lives")
    }

    /// The id that a step wrote into a file, as it is known here.
    pub(crate) fn told(&self, file: &str) -> i32 {
        self.outer(fs::read_to_string(self.path(file)).unwrap().parse().unwrap())
    }

    /// The records of processes.
    pub(crate) fn records(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.path(RECORDS)).into_iter().flatten();
        files.map(|file| file.unwrap().path()).collect()
    }

    /// The entries of the log with this name.
    pub(crate) fn log(&self, name: &str) -> Vec<Value> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.filter_map(|entry| entry.get(name).cloned()).collect()
    }

    /// The messages that the agent read and that have this field.
    pub(crate) fn read_by_agent(&self, field: &str) -> Vec<Value> {
        let lines = self.log("in").into_iter();
        let messages = lines.map(|line| serde_json::from_str::<Value>(line.as_str().unwrap()).unwrap());
        messages.filter(|message| message.get(field).is_some()).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        assert!(self.done || std::thread::panicking(), "a test has to end its world");
    }
}

/// Waits until something is true that no event tells.
pub(crate) async fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let waits = async {
        while !is_true() {
            tokio::task::yield_now().await;
        }
    };
    assert!(timeout(DEADLINE, waits).await.is_ok(), "still not: {what}");
}

pub(crate) fn key() -> Key {
    Key { channel: "c1".into(), binding: "b-agent".into() }
}

/// Ids of the processes whose environment holds this mark.
pub(crate) fn marked(mark: &str) -> BTreeSet<i32> {
    let entry = format!("{MARK}={mark}\0");
    let has = |pid: &i32| {
        let env = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        env.windows(entry.len()).any(|window| window == entry.as_bytes())
    };
    all_processes().filter(has).collect()
}

fn all_processes() -> impl Iterator<Item = i32> {
    let names = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok())
}

/// A handle by which the end of a process can be awaited.
pub(crate) fn handle(pid: i32) -> OwnedFd {
    let pid = Pid::from_raw(pid).unwrap();
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).expect("the process lives")
}

/// Waits until a process has ended.
pub(crate) async fn gone(handle: OwnedFd) {
    let waits = move || {
        let deadline = Timespec { tv_sec: DEADLINE.as_secs().cast_signed(), tv_nsec: 0 };
        poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&deadline)).unwrap()
    };
    let ended = tokio::task::spawn_blocking(waits).await.unwrap();
    assert_eq!(ended, 1, "a process lives on");
}

pub(crate) fn written(run: &str) -> EventKind {
    EventKind::PromptWritten { run: run.into() }
}

pub(crate) fn update(update: Update) -> EventKind {
    EventKind::Update { run: "r1".into(), update }
}

pub(crate) fn text(text: &str) -> EventKind {
    update(Update::Text(text.to_owned()))
}

pub(crate) fn ended(run: &str, turn: Turn) -> EventKind {
    EventKind::TurnEnded { run: run.into(), turn }
}

/// A turn that failed with its process.
pub(crate) fn lost(run: &str, reason: &str) -> EventKind {
    EventKind::TurnFailed { run: run.into(), reason: reason.to_owned(), fault: Fault::Lost }
}

pub(crate) fn failed(run: &str, reason: &str) -> EventKind {
    EventKind::TurnFailed { run: run.into(), reason: reason.to_owned(), fault: Fault::Other }
}

pub(crate) fn exited(reason: &str) -> EventKind {
    EventKind::Exited { reason: Some(reason.to_owned()) }
}
