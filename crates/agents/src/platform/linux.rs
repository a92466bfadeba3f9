//! Linux: subreaper, parent-death signal, `/proc`, mount namespaces.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::sched::CloneFlags;
use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::thread::CapabilitySet;

use super::{Force, failed};
use crate::message::Hide;

/// Makes this process the parent of every descendant whose own parent ends.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Keeps other processes of the same user out of this one: out of its memory, and out of the way through
/// `/proc/PID/root` to a folder that is hidden from them.
pub fn shield() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}

/// Between fork and exec: has the kernel kill this process when the thread that made it ends.
pub(crate) fn die_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died just before.
    if rustix::process::getppid() != Some(parent) {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::SRCH.raw_os_error()));
    }
    Ok(())
}

/// Signals every descendant of `root` and every process of its session, but not `root`.
pub(crate) fn signal_tree(root: u32, _agent: Option<u32>, force: Force) {
    let processes = processes();
    let mut members = BTreeSet::from([root]);
    loop {
        let before = members.len();
        let more =
            processes.iter().filter(|process| process.session == root || members.contains(&process.parent));
        let more: Vec<u32> = more.map(|process| process.pid).collect();
        members.extend(more);
        if members.len() == before {
            break;
        }
    }
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
            killed.insert((process.pid, process.started));
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

/// A process as `/proc` shows it.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    parent: u32,
    session: u32,
    /// Ticks since boot; with `pid` it names a process for good.
    started: u64,
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
        })
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

/// Hides a folder from this process and those that it starts: a private mount namespace in which the folder is
/// empty but for its one visible part. The error says what was refused; the process may then be half-way and has
/// to end.
pub(crate) fn hide(hide: &Hide) -> Result<(), String> {
    let here = std::env::current_dir().map_err(failed("find", Path::new(".")))?;
    let folder = fs::canonicalize(&hide.folder).map_err(failed("find", &hide.folder))?;
    let but = fs::canonicalize(&hide.but).map_err(failed("find", &hide.but))?;
    enter_namespace()?;
    let root = Path::new("/");
    rustix::mount::mount_change(root, MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(io::Error::from)
        .map_err(failed("make private", root))?;
    // Held open, since its path leads into the empty folder from the next mount on.
    let kept = rustix::fs::open(&but, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(io::Error::from)
        .map_err(failed("open", &but))?;
    cover(&folder)?;
    if but.starts_with(&folder) {
        fs::create_dir_all(&but).map_err(failed("make", &but))?;
        let kept_path = PathBuf::from(format!("/proc/self/fd/{}", kept.as_raw_fd()));
        rustix::mount::mount_bind_recursive(&kept_path, &but)
            .map_err(io::Error::from)
            .map_err(failed("bind", &but))?;
    }
    rustix::mount::mount_remount(&folder, MountFlags::RDONLY | SAFE, c"")
        .map_err(io::Error::from)
        .map_err(failed("protect", &folder))?;
    // The folder that it stood in until now would lead past the mounts.
    std::env::set_current_dir(&here).map_err(failed("enter", &here))?;
    keep_hidden().map_err(|error| format!("the rights to undo it could not be given up: {error}"))
}

/// What lets a process take mounts away, and look at others' files through `/proc/PID/root`.
const UNHIDING: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::SYS_PTRACE);

/// Has the programs that this one turns into or starts do without [`UNHIDING`], also as root; this process keeps it.
/// A user namespace of their own gives them no way back: mounts that it inherits are locked in it.
fn keep_hidden() -> io::Result<()> {
    for capability in UNHIDING.iter() {
        if rustix::thread::capability_is_in_bounding_set(capability)? {
            rustix::thread::remove_capability_from_bounding_set(capability)?;
        }
    }
    let mut sets = rustix::thread::capabilities(None)?;
    sets.inheritable -= UNHIDING;
    Ok(rustix::thread::set_capabilities(None, sets)?)
}

const SAFE: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

fn cover(folder: &Path) -> Result<(), String> {
    rustix::mount::mount("none", folder, "tmpfs", SAFE, c"size=64k,mode=0755")
        .map_err(io::Error::from)
        .map_err(failed("cover", folder))
}

/// A mount namespace of its own, in a user namespace where that takes no rights.
fn enter_namespace() -> Result<(), String> {
    let refused = |error: nix::Error| format!("a mount namespace is refused: {error}");
    match nix::sched::unshare(CloneFlags::CLONE_NEWNS) {
        Ok(()) => return Ok(()),
        Err(nix::Error::EPERM) => {}
        Err(error) => return Err(refused(error)),
    }
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    nix::sched::unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).map_err(refused)?;
    for (file, text) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ] {
        fs::write(file, text).map_err(failed("write", Path::new(file)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_proc_is_read_whatever_the_name() {
        let stat = "42 (a) S 7) R 1 S) S 7 42 40 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 1234 5 6";
        let expect = Process { pid: 42, parent: 7, session: 40, started: 1234 };
        assert_eq!(Process::parse(42, stat), Some(expect));
        assert_eq!(Process::parse(42, "42 (a"), None);
        assert_eq!(Process::parse(42, "42 (a) S 7"), None);
    }
}
