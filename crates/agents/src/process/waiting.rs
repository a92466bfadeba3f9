//! Lines on their way to an agent.

use std::collections::VecDeque;

use delivery::model::RunId;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

/// Lines that wait to be written.
#[derive(Default)]
pub(super) struct Waiting {
    lines: VecDeque<(Vec<u8>, Option<RunId>)>,
    /// Bytes of the first line that were written.
    begun: usize,
    /// Bytes of all lines.
    pub(super) bytes: usize,
}

impl Waiting {
    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds a line, which may be the prompt of a run.
    pub(super) fn push(&mut self, line: Vec<u8>, run: Option<RunId>) {
        self.bytes += line.len();
        self.lines.push_back((line, run));
    }

    /// Takes note of bytes that were written; gives the run whose prompt is complete by that.
    pub(super) fn written(&mut self, bytes: usize) -> Option<RunId> {
        self.begun += bytes;
        if self.lines.front().is_none_or(|(line, _)| self.begun < line.len()) {
            return None;
        }
        self.begun = 0;
        let (line, run) = self.lines.pop_front()?;
        self.bytes -= line.len();
        run
    }
}

/// Writes as much of the first line as the pipe takes. Dropping the future loses nothing.
pub(super) async fn write(stdin: &mut Option<ChildStdin>, waiting: &Waiting) -> std::io::Result<usize> {
    match (stdin, waiting.lines.front()) {
        (Some(stdin), Some((line, _))) => stdin.write(&line[waiting.begun..]).await,
        (None, _) | (_, None) => Ok(0),
    }
}
