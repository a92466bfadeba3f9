//! Starts programs: the one file that does.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use command_fds::{CommandFdExt, FdMapping};
use nix::unistd::ForkResult;
use rustix::io::FdFlags;
use rustix::process::Pid;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use crate::message::Spec;
use crate::platform;

/// Where the holder finds its end of the control socket.
const CONTROL_FD: i32 = 3;

/// A holder that was started.
#[derive(Debug)]
pub(crate) struct Held {
    /// The holder itself.
    pub(crate) child: Child,
    /// The agent's input: the holder passes its own on and closes it.
    pub(crate) stdin: ChildStdin,
    /// The agent's output.
    pub(crate) stdout: ChildStdout,
    /// The agent's standard error.
    pub(crate) stderr: ChildStderr,
    /// The holder's reports come here. When this end closes, in whatever way the server ends, the holder ends the
    /// tree.
    pub(crate) control: UnixStream,
}

/// Starts the holder with this plan and the agent's environment and folder. To be called within a runtime.
#[expect(clippy::disallowed_methods, reason = "this is the file that starts processes")]
pub(crate) fn holder(holder: &[String], spec: &Spec, plan: &[OsString]) -> io::Result<Held> {
    let Some((program, arguments)) = holder.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no holder is set"));
    };
    let (control, theirs) = StdUnixStream::pair()?;
    control.set_nonblocking(true)?;
    let mut command = Command::new(program);
    command.args(arguments).args(plan);
    command.env_clear().envs(spec.env.iter().map(|(name, value)| (name, value))).current_dir(&spec.cwd);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
        .fd_mappings(vec![FdMapping { parent_fd: theirs.into(), child_fd: CONTROL_FD }])
        .map_err(io::Error::other)?;
    let mut child = tokio::process::Command::from(command).spawn()?;
    let missing = || io::Error::other("a pipe is missing");
    Ok(Held {
        stdin: child.stdin.take().ok_or_else(missing)?,
        stdout: child.stdout.take().ok_or_else(missing)?,
        stderr: child.stderr.take().ok_or_else(missing)?,
        control: UnixStream::from_std(control)?,
        child,
    })
}

/// Starts a program in a process group of its own, with exactly this environment and pipes for its streams. To be called
/// within a runtime.
#[expect(clippy::disallowed_methods, reason = "this is the file that starts processes")]
pub(crate) fn program(command: &[String], cwd: &Path, env: &[(String, String)]) -> io::Result<Child> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(cwd).process_group(0);
    command.env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    tokio::process::Command::from(command).spawn()
}

/// Runs a program to its end with this process's own terminal, and exactly this environment.
#[expect(clippy::disallowed_methods, reason = "this is the file that starts processes")]
pub fn attend(command: &[String], env: &[(String, String)]) -> io::Result<ExitStatus> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    command.status()
}

/// Starts a server of this process's own, in a process group of its own, with exactly this environment; what it writes to standard
/// error goes to a file. It is killed if the thread that called dies before it.
#[expect(clippy::disallowed_methods, reason = "this is the file that starts processes")]
#[expect(unsafe_code, reason = "the death with the parent is set between fork and exec")]
pub(crate) fn server(
    command: &[String],
    cwd: &Path,
    env: &[(String, String)],
    err: File,
) -> io::Result<std::process::Child> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
    };
    let parent = rustix::process::getpid();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(cwd).process_group(0);
    command.env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(err);
    // SAFETY: the closure makes system calls alone; it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(move || platform::die_with(parent));
    }
    command.spawn()
}

/// In the holder, first of all: its end of the control socket. No program that is started later inherits it, nor what
/// else this process inherited beside its standard streams: whoever started the server may have left things open.
#[expect(unsafe_code, reason = "only the numbers of inherited descriptors are known")]
pub(crate) fn control() -> io::Result<StdUnixStream> {
    for entry in std::fs::read_dir("/dev/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(number) = number.filter(|number| *number >= CONTROL_FD) {
            // SAFETY: the descriptor is only used if it is open, and nothing in this process closes it meanwhile.
            let inherited = unsafe { BorrowedFd::borrow_raw(number) };
            // One was the folder's that is being read.
            let _ = rustix::io::fcntl_setfd(inherited, FdFlags::CLOEXEC);
        }
    }
    // SAFETY: as above.
    let inherited = unsafe { BorrowedFd::borrow_raw(CONTROL_FD) };
    let own: OwnedFd = rustix::io::fcntl_dupfd_cloexec(inherited.as_fd(), CONTROL_FD + 1)?;
    Ok(own.into())
}

/// One of two processes where one was.
#[derive(Debug)]
pub(crate) enum Half {
    /// The one that was there; the other has this id.
    Old(Pid),
    /// The other.
    New,
}

/// In the holder, before it has a second thread: makes a second process of it, which goes on here as well.
#[expect(
    unsafe_code,
    reason = "a process namespace begins with a process, which has to be the holder's own code"
)]
pub(crate) fn split() -> io::Result<Half> {
    // SAFETY: the process has one thread, so nothing that another one held is lost to the new process.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => {
            let pid =
                Pid::from_raw(child.as_raw()).ok_or_else(|| io::Error::other("a process without an id"))?;
            Ok(Half::Old(pid))
        }
        ForkResult::Child => Ok(Half::New),
    }
}

/// In the holder: starts the agent with the holder's environment, folder and standard streams, in a process group
/// of its own; it is killed if the holder dies before it. Gives its process id.
#[expect(clippy::disallowed_methods, reason = "this is the file that starts processes")]
#[expect(unsafe_code, reason = "signals and the death with the parent are set between fork and exec")]
pub(crate) fn agent(program: &OsString, arguments: &[OsString]) -> io::Result<u32> {
    let holder = rustix::process::getpid();
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    // SAFETY: the closure makes system calls alone; it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(move || {
            platform::unblock_signals()?;
            platform::die_with(holder)
        });
    }
    Ok(command.spawn()?.id())
}
