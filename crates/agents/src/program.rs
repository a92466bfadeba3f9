//! Runs a short program to its end: a bounded time, a bounded output, and nothing left of its process group.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};
use tokio::time::timeout;

use crate::platform;
use crate::spawn;

#[cfg(test)]
mod tests;

/// Bytes read of an output at a time.
const READ_BYTES: usize = 64 * 1024;

/// A program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Program and arguments; the program is looked up on the `PATH` of `env`.
    pub command: Vec<String>,
    /// Folder that it starts in.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Its standard input.
    pub input: Vec<u8>,
    /// How long it may take.
    pub limit: Duration,
    /// Bytes that its standard output and its standard error may have, each.
    pub output_bytes_max: usize,
}

/// How a program went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Its standard output, as far as it was taken.
    pub out: Vec<u8>,
    /// Its standard error, as far as it was taken.
    pub err: Vec<u8>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status; 128 and the signal's number if a signal ended it.
    Exited(i32),
    /// It took too long and was killed.
    TooLong,
    /// It wrote too much and was killed.
    TooMuch,
}

impl Program {
    /// Runs it in a process group of its own, which is killed when a limit is passed or the future is dropped. The
    /// error is that of starting it. To be called within a runtime.
    pub async fn run(self) -> io::Result<Finished> {
        let child = spawn::program(&self.command, &self.cwd, &self.env)?;
        let mut group = Group { child };
        let mut streams = Streams::take(&mut group.child)?;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let all = async {
            tokio::try_join!(
                feed(streams.input.take(), &self.input),
                read(&mut streams.out, &mut out, self.output_bytes_max),
                read(&mut streams.err, &mut err, self.output_bytes_max),
            )?;
            Ok(status(group.child.wait().await?))
        };
        let end = match timeout(self.limit, all).await {
            Ok(Ok(status)) => End::Exited(status),
            Ok(Err(Stop::TooMuch)) => End::TooMuch,
            Ok(Err(Stop::Failed(error))) => return Err(error),
            Err(_) => End::TooLong,
        };
        drop(group);
        Ok(Finished { end, out, err })
    }
}

/// A child with its process group, killed when it is dropped.
struct Group {
    child: Child,
}

impl Drop for Group {
    fn drop(&mut self) {
        // Without an id it was waited for, and the number may be another's by now.
        if let Some(pid) = self.child.id() {
            platform::kill_group(pid);
        }
    }
}

struct Streams {
    input: Option<ChildStdin>,
    out: tokio::process::ChildStdout,
    err: tokio::process::ChildStderr,
}

impl Streams {
    fn take(child: &mut Child) -> io::Result<Self> {
        let missing = || io::Error::other("a pipe is missing");
        Ok(Self {
            input: child.stdin.take(),
            out: child.stdout.take().ok_or_else(missing)?,
            err: child.stderr.take().ok_or_else(missing)?,
        })
    }
}

/// Why it is not waited for its end.
enum Stop {
    TooMuch,
    Failed(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// A program that does not want its input is no failure.
async fn feed(to: Option<ChildStdin>, input: &[u8]) -> Result<(), Stop> {
    if let Some(mut to) = to {
        let _ = to.write_all(input).await;
    }
    Ok(())
}

async fn read(from: &mut (impl AsyncRead + Unpin), into: &mut Vec<u8>, bytes_max: usize) -> Result<(), Stop> {
    let mut bytes = vec![0; READ_BYTES];
    loop {
        let read = from.read(&mut bytes).await?;
        if read == 0 {
            return Ok(());
        }
        let room = bytes_max - into.len();
        into.extend_from_slice(&bytes[..read.min(room)]);
        if read > room {
            return Err(Stop::TooMuch);
        }
    }
}

fn status(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}
