//! Control groups that bound the memory of an agent's tree, in either version, below the server's own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::super::failed;
use super::mounts::{Mount, mounts};

/// The server's own group where it has to leave a group to its agents: in the second version a group has processes
/// or groups that are bounded.
const SERVERS: &str = "highwater-server";

/// How often an empty group is tried to be taken away, and how long between: the kernel needs a moment.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// Which interface a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// Where groups for agents are made.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Groups {
    version: Version,
    parent: PathBuf,
}

/// The group of one tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    version: Version,
    folder: PathBuf,
}

impl Group {
    /// Makes a group that has no more memory than this, and puts a process into it, before it starts others. The error
    /// says what the system refuses.
    pub(crate) fn bound(max: u64, process: u32) -> Result<Self, String> {
        static GROUPS: OnceLock<Result<Groups, String>> = OnceLock::new();
        static MADE: AtomicU64 = AtomicU64::new(0);
        let groups = GROUPS.get_or_init(Groups::find).as_ref().map_err(Clone::clone)?;
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let group = groups.make(&format!("highwater-{}-{number}", std::process::id()), max)?;
        if let Err(reason) = put(&group.folder.join("cgroup.procs"), &process.to_string()) {
            group.remove();
            return Err(reason);
        }
        Ok(group)
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many of its processes the kernel has ended for want of memory.
    pub(crate) fn kills(&self) -> u64 {
        let file = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        let text = fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok());
        count.unwrap_or(0)
    }

    /// Takes it away, when nothing is left in it.
    pub(crate) fn remove(&self) {
        for _ in 0..TRIES {
            match fs::remove_dir(&self.folder) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(PAUSE),
                Ok(()) => return,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return,
                Err(error) => {
                    tracing::warn!(%error, group = %self.folder.display(), "an agent's control group stays");
                    return;
                }
            }
        }
        tracing::warn!(group = %self.folder.display(), "an agent's control group stays");
    }
}

impl Groups {
    /// Where this process may make groups. In the second version it moves into a group of its own for that.
    fn find() -> Result<Self, String> {
        let own = Path::new("/proc/self/cgroup");
        let groups = fs::read_to_string(own).map_err(failed("read", own))?;
        let mounts = mounts().map_err(failed("read", Path::new("/proc/self/mountinfo")))?;
        let mut reason = "there are no control groups for memory".to_owned();
        for candidate in Self::candidates(&groups, &mounts) {
            match candidate.prepare(std::process::id()) {
                Ok(()) => return Ok(candidate),
                Err(refused) => reason = refused,
            }
        }
        Err(reason)
    }

    /// The groups that this process is in, as `/proc/self/cgroup` tells them, and that may bound memory.
    fn candidates(own: &str, mounts: &[Mount]) -> Vec<Self> {
        let lines = own.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            Some((parts.next()?, parts.next()?))
        });
        let candidates = lines.filter_map(|(controllers, path)| {
            let (version, mount) = match controllers {
                "" => (Version::Two, mounts.iter().rev().find(|mount| mount.kind == "cgroup2")?),
                _ if controllers.split(',').any(|name| name == "memory") => {
                    let of_memory = |mount: &&Mount| mount.kind == "cgroup" && mount.has_option("memory");
                    (Version::One, mounts.iter().rev().find(of_memory)?)
                }
                _ => return None,
            };
            Some(Self { version, parent: mount.inside(Path::new(path))? })
        });
        let mut candidates: Vec<Self> = candidates.collect();
        candidates.sort_by_key(|candidate| candidate.version == Version::One);
        candidates
    }

    fn prepare(&self, server: u32) -> Result<(), String> {
        match self.version {
            Version::One => Ok(()),
            Version::Two => self.prepare_second(server),
        }
    }

    fn prepare_second(&self, server: u32) -> Result<(), String> {
        let parent = &self.parent;
        let has = |file: &str| {
            let text = fs::read_to_string(parent.join(file)).unwrap_or_default();
            text.split_whitespace().any(|name| name == "memory")
        };
        if !has("cgroup.controllers") {
            return Err(format!("the control group {} has no say over memory", parent.display()));
        }
        let controllers = parent.join("cgroup.subtree_control");
        // The first of all groups has no type, and may have both processes and bounded groups.
        if has("cgroup.subtree_control") || !parent.join("cgroup.type").exists() {
            return put(&controllers, "+memory");
        }
        let own = parent.join(SERVERS);
        match fs::create_dir(&own) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed("make the control group", &own)(error));
            }
            Ok(()) | Err(_) => {}
        }
        let moved = put(&own.join("cgroup.procs"), &server.to_string());
        let prepared = moved.and_then(|()| put(&controllers, "+memory"));
        prepared.inspect_err(|_| {
            // Others are in it too: it goes back to them.
            let _ = put(&parent.join("cgroup.procs"), &server.to_string());
            let _ = fs::remove_dir(&own);
        })
    }

    fn make(&self, name: &str, max: u64) -> Result<Group, String> {
        let group = Group { version: self.version, folder: self.parent.join(name) };
        fs::create_dir(&group.folder).map_err(failed("make the control group", &group.folder))?;
        let max = max.to_string();
        // The second of each bounds what is swapped out, which not every system counts.
        let (limit, swap) = match self.version {
            Version::One => ("memory.limit_in_bytes", ("memory.memsw.limit_in_bytes", max.as_str())),
            Version::Two => ("memory.max", ("memory.swap.max", "0")),
        };
        if let Err(reason) = put(&group.folder.join(limit), &max) {
            group.remove();
            return Err(reason);
        }
        let _ = put(&group.folder.join(swap.0), swap.1);
        Ok(group)
    }
}

/// Writes one value into a file of the kernel's.
fn put(file: &Path, value: &str) -> Result<(), String> {
    // Not made if it is not there.
    let mut options = fs::OpenOptions::new();
    let written =
        options.write(true).open(file).and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()));
    written.map_err(failed("write", file))
}

#[cfg(test)]
#[path = "group/tests.rs"]
mod tests;
