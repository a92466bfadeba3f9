//! Processes as `/proc` shows them: found by their ancestors, their environment or their name, and signalled.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal};

use super::super::{Force, Name, Weight};

/// Signals every descendant of `root` and every process of its session, but not `root`.
pub(crate) fn signal_tree(root: u32, _agent: Option<u32>, force: Force) {
    let processes = processes();
    let members = tree(root, &processes);
    for process in processes.iter().filter(|process| process.pid != root && members.contains(&process.pid)) {
        process.signal(force.signal());
    }
}

/// How long between two rounds of killing what is marked.
const ROUND: Duration = Duration::from_millis(10);

/// Rounds at most: what the kernel itself keeps from dying is left to it.
const ROUNDS_MAX: usize = 200;

/// Rounds in a row in which nothing is found, before nothing is taken to be left: for a moment of its start a program
/// has no environment.
const EMPTY_ROUNDS: usize = 2;

/// Kills every process but this one whose environment has the variable with a value that `is` accepts; gives their
/// number.
pub(crate) fn kill_marked(variable: &str, is: impl Fn(&[u8]) -> bool) -> usize {
    let own = std::process::id();
    let is_marked =
        |process: &Process| process.pid != own && process.variable(variable).is_some_and(|value| is(&value));
    let mut killed = BTreeSet::new();
    let mut empty = 0;
    for _ in 0..ROUNDS_MAX {
        let found: Vec<Process> = processes().into_iter().filter(is_marked).collect();
        for process in &found {
            process.signal(Signal::KILL);
            killed.insert(process.name());
        }
        empty = if found.is_empty() { empty + 1 } else { 0 };
        if empty == EMPTY_ROUNDS {
            return killed.len();
        }
        thread::sleep(ROUND);
    }
    tracing::warn!("marked processes do not die");
    killed.len()
}

/// Kills what is left of trees whose roots have these names: all that came of a root that lives, and the root last,
/// since until then it adopts what its killed descendants leave behind. A process that has only the number of one of
/// them is not theirs. Gives the number of processes.
pub(crate) fn kill_named(names: &BTreeSet<Name>) -> usize {
    let own = std::process::id();
    let (mut members, mut killed) = (names.clone(), BTreeSet::new());
    let mut empty = 0;
    for _ in 0..ROUNDS_MAX {
        let processes: Vec<Process> =
            processes().into_iter().filter(|process| !process.ended && process.pid != own).collect();
        add_descendants(&mut members, names, &processes);
        let (roots, others): (Vec<&Process>, Vec<&Process>) = processes
            .iter()
            .filter(|process| members.contains(&process.name()))
            .partition(|process| names.contains(&process.name()));
        if roots.is_empty() && others.is_empty() {
            return killed.len();
        }
        empty = if others.is_empty() { empty + 1 } else { 0 };
        let due = if empty >= EMPTY_ROUNDS { roots } else { others };
        for process in due {
            process.signal(Signal::KILL);
            killed.insert(process.name());
        }
        thread::sleep(ROUND);
    }
    tracing::warn!("processes of agents do not die");
    killed.len()
}

/// Adds what came of members, and what is in the session of a root that lives: while a number names a session it is
/// given to no other process.
fn add_descendants(members: &mut BTreeSet<Name>, roots: &BTreeSet<Name>, processes: &[Process]) {
    loop {
        let of_members: BTreeSet<u32> = processes
            .iter()
            .filter(|process| members.contains(&process.name()))
            .map(|process| process.pid)
            .collect();
        let sessions: BTreeSet<u32> = processes
            .iter()
            .filter(|process| roots.contains(&process.name()))
            .map(|process| process.pid)
            .collect();
        let before = members.len();
        members.extend(
            processes
                .iter()
                .filter(|process| of_members.contains(&process.parent) || sessions.contains(&process.session))
                .map(Process::name),
        );
        if members.len() == before {
            return;
        }
    }
}

/// What the trees of these holders weigh, without the holders themselves.
pub(crate) fn weigh(holders: &[u32]) -> BTreeMap<u32, Weight> {
    let processes = processes();
    let weigh = |holder: u32| {
        let members = tree(holder, &processes).into_iter().filter(|pid| *pid != holder);
        members
            .map(weight)
            .fold(Weight::default(), |sum, one| Weight { all: sum.all + one.all, own: sum.own + one.own })
    };
    holders.iter().map(|holder| (*holder, weigh(*holder))).collect()
}

/// The processes that came of a root or are in its session, and it.
fn tree(root: u32, processes: &[Process]) -> BTreeSet<u32> {
    let mut members = BTreeSet::from([root]);
    loop {
        let before = members.len();
        let more =
            processes.iter().filter(|process| process.session == root || members.contains(&process.parent));
        let more: Vec<u32> = more.map(|process| process.pid).collect();
        members.extend(more);
        if members.len() == before {
            return members;
        }
    }
}

/// What a process weighs: its share, where the system tells it, else what of it is in memory.
fn weight(pid: u32) -> Weight {
    let kib = |text: &str, name: &str| {
        let kib = text.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}"));
    match read("smaps_rollup") {
        Ok(shares) => Weight { all: kib(&shares, "Pss:"), own: kib(&shares, "Pss_Anon:") },
        Err(_) => Weight { all: kib(&read("status").unwrap_or_default(), "VmRSS:"), own: 0 },
    }
}

/// Kills what is left in a control group that a server of this start of the system made, and takes it away; gives the
/// number of processes.
pub(crate) fn sweep_group(folder: &Path) -> usize {
    let members = || {
        let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| name_of(line.parse().ok()?)).collect::<BTreeSet<Name>>()
    };
    let mut killed = 0;
    for _ in 0..ROUNDS_MAX {
        let left = members();
        if left.is_empty() {
            break;
        }
        killed += kill_named(&left);
    }
    // One that never was, or is the kernel's to keep, harms nothing.
    let _ = fs::remove_dir(folder);
    killed
}

/// The name of a process; `None` when it is gone.
pub(crate) fn name_of(pid: u32) -> Option<Name> {
    Process::read(pid).map(|process| process.name())
}

/// What tells this start of the system from all others: names of processes are good for one.
pub(crate) fn boot() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

/// A process as `/proc` shows it.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    parent: u32,
    session: u32,
    /// Ticks since boot; with `pid` it names a process for good.
    started: u64,
    /// Whether it only waits to be collected.
    ended: bool,
}

impl Process {
    fn read(pid: u32) -> Option<Self> {
        Self::parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Reads a line of `/proc/PID/stat`: the name in parentheses may hold anything, also parentheses.
    fn parse(pid: u32, stat: &str) -> Option<Self> {
        let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_ascii_whitespace().collect();
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
            // A first thread may end before the others.
            ended: *fields.first()? == "Z" && *fields.get(17)? == "1",
        })
    }

    fn name(&self) -> Name {
        Name { pid: self.pid, started: self.started }
    }

    /// A variable of the environment that it was started with; `None` also where the system does not let it be seen.
    fn variable(&self, name: &str) -> Option<Vec<u8>> {
        let env = fs::read(format!("/proc/{}/environ", self.pid)).ok()?;
        let mut variables = env.split(|&byte| byte == 0);
        variables.find_map(|entry| Some(entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?.to_vec()))
    }

    /// Signals this very process, not another that got its number meanwhile.
    fn signal(&self, signal: Signal) {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return };
        let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
        if Self::read(self.pid).is_some_and(|now| now.started == self.started)
            && let Err(error) = rustix::process::pidfd_send_signal(handle.as_fd(), signal)
        {
            tracing::debug!(%error, pid = self.pid, "a process could not be signalled");
        }
    }
}

fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(Process::read)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_proc_is_read_whatever_the_name() {
        let line = |state: &str, threads: u32| {
            format!(
                "42 (a) S 7) R 1 S) {state} 7 42 40 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 {threads} 0 1234 5 6"
            )
        };
        let process = |ended| Process { pid: 42, parent: 7, session: 40, started: 1234, ended };
        for (state, threads, ended) in [("S", 1, false), ("Z", 1, true), ("Z", 2, false)] {
            assert_eq!(Process::parse(42, &line(state, threads)), Some(process(ended)));
        }
        assert_eq!(Process::parse(42, "42 (a"), None);
        assert_eq!(Process::parse(42, "42 (a) S 7"), None);
    }
}
