//! A round trip through two pipes to a process that echoes: the least that talking to an agent can cost.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::clock::Instant;
use crate::process::{self, Guard};

/// What goes there and back.
const LINE: &str = "a line that goes there and comes back\n";

/// The echo lives at most so long.
const LIFE: Duration = Duration::from_secs(900);

/// The other end: writes each line back until its input ends.
pub(crate) fn echo() -> Result<()> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(&line)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

/// A process that echoes.
pub(crate) struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
    _guard: Guard,
}

impl Pipe {
    pub(crate) fn open(program: &Path, home: &Path) -> Result<Self> {
        let mut command = process::command(program, home);
        let mut child = command.arg("echo").stdin(Stdio::piped()).spawn().context("starting the echo")?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("the echo has no output")?);
        let guard = Guard::over(&child, LIFE);
        Ok(Self { child, input, output, line: String::new(), _guard: guard })
    }

    /// The time of one round trip.
    pub(crate) fn round_trip(&mut self) -> Result<Duration> {
        let input = self.input.as_mut().context("the echo has no input")?;
        self.line.clear();
        let begun = Instant::now();
        input.write_all(LINE.as_bytes())?;
        self.output.read_line(&mut self.line)?;
        let time = begun.elapsed();
        ensure!(self.line == LINE, "the echo answered {:?}", self.line);
        Ok(time)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}
