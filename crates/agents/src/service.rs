//! A server of this process's own, for a while: it tells when it is ready, and is ended in order.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::spawn;

/// How often one that was asked to end is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// A server that was started. Whoever drops it has ended it before.
#[derive(Debug)]
pub struct Service {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Service {
    /// Starts a command with exactly this environment, in a process group of its own. It is killed if the calling thread dies
    /// before it.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub fn start(command: &[String], cwd: &Path, env: &[(String, String)], err: File) -> io::Result<Self> {
        let mut child = spawn::server(command, cwd, env, err)?;
        let out = child.stdout.take().ok_or_else(|| io::Error::other("a pipe is missing"))?;
        Ok(Self { child, out: BufReader::new(out) })
    }

    /// The next line that it prints, which is waited for; empty once it prints no more.
    ///
    /// # Errors
    ///
    /// What it prints is no text.
    pub fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.out.read_line(&mut line)?;
        Ok(line)
    }

    /// Asks it to end, as Ctrl-C does, and kills it after this time. Called again, it does nothing.
    pub fn end(&mut self, patience: Duration) {
        let pid = Pid::from_child(&self.child);
        // One that has ended was not waited for: its id is still its own.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = rustix::process::kill_process(pid, Signal::TERM);
        }
        let deadline = Instant::now() + patience;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
            thread::sleep(LOOK);
        }
    }
}
