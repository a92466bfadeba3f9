//! Starts the programs that are measured, with an environment made from nothing, and ends each at its deadline.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// A program in `home`, which is also its HOME and its folder for temporary files. It reads nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "what is measured here is whole processes, as people start them"
)]
pub(crate) fn command(program: impl AsRef<OsStr>, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", home).env("TMPDIR", home).env("USER", "olive").current_dir(home);
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits for a program that was started; it is killed when the limit is over.
///
/// # Errors
///
/// If it does not succeed; with what it wrote to standard error.
pub(crate) fn finish(child: Child, limit: Duration, what: &str) -> Result<Output> {
    let guard = Guard::over(&child, limit);
    let output = child.wait_with_output().with_context(|| format!("waiting for {what}"))?;
    drop(guard);
    if !output.status.success() {
        bail!("{what} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output)
}

/// Kills a process that is not collected before the limit; lets go of it when it is dropped.
pub(crate) struct Guard {
    _alive: Sender<()>,
}

impl Guard {
    pub(crate) fn over(child: &Child, limit: Duration) -> Self {
        let pid = Pid::from_child(child);
        let (alive, watched) = channel::<()>();
        thread::spawn(move || {
            // Nothing is ever sent: either the time is over or the sender has gone.
            if watched.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        Self { _alive: alive }
    }
}

/// Asks a process of ours to end, kills it after the limit, and collects it.
pub(crate) fn end(child: &mut Child, limit: Duration) {
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    let guard = Guard::over(child, limit);
    let _ = child.wait();
    drop(guard);
}

/// Where a program lies on PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Resident memory of a process in bytes.
pub(crate) fn resident(pid: u32) -> Result<u64> {
    memory(pid, "VmRSS:")
}

/// The most that it ever was.
pub(crate) fn peak(pid: u32) -> Result<u64> {
    memory(pid, "VmHWM:")
}

fn memory(pid: u32, field: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))
        .with_context(|| format!("process {pid} tells no memory"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    Ok(kib.context("the resident memory is not understood")? * 1024)
}

/// The children of a process with their first arguments.
pub(crate) fn children(pid: u32) -> Result<Vec<(u32, Vec<String>)>> {
    let mut found = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let children = std::fs::read_to_string(task?.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
            found.push((child, arguments(child)));
        }
    }
    Ok(found)
}

/// The arguments of a process; none of one that has gone.
pub(crate) fn arguments(pid: u32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}
