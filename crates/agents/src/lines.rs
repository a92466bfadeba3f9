//! Reads lines of bounded length from a stream that nobody vouches for.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

#[cfg(test)]
mod tests;

/// Bytes of one line at most. Agents send whole files and images in one line; more than this is taken for a flood.
pub(crate) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes asked for at a time, and kept as a buffer between lines.
const READ_BYTES: usize = 16 * 1024;

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its end; bytes that are not UTF-8 are replaced.
    Text(String),
    /// A line grew past [`LINE_BYTES_MAX`]; nothing is to be read after it.
    TooLong,
    /// The stream ended.
    End,
}

/// Reads lines. Memory is bounded by about twice [`LINE_BYTES_MAX`].
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    from: R,
    buffer: Vec<u8>,
    /// Where the present line begins in `buffer`.
    start: usize,
    /// Up to where no line end was found.
    scanned: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// A reader of `from`.
    pub(crate) fn new(from: R) -> Self {
        Self { from, buffer: Vec::new(), start: 0, scanned: 0 }
    }

    /// The next line. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Line> {
        loop {
            if let Some(line) = self.take_line() {
                return Ok(line);
            }
            self.make_room();
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                if self.buffer.is_empty() {
                    return Ok(Line::End);
                }
                let line = text(&self.buffer);
                self.buffer.clear();
                self.scanned = 0;
                return Ok(line);
            }
        }
    }

    fn take_line(&mut self) -> Option<Line> {
        let found = self.buffer[self.scanned..].iter().position(|&byte| byte == b'\n');
        let end = found.map_or(self.buffer.len(), |at| self.scanned + at);
        if end - self.start > LINE_BYTES_MAX {
            self.buffer = Vec::new();
            (self.start, self.scanned) = (0, 0);
            return Some(Line::TooLong);
        }
        if found.is_none() {
            self.scanned = end;
            return None;
        }
        let line = text(&self.buffer[self.start..end]);
        self.start = end + 1;
        self.scanned = self.start;
        Some(line)
    }

    fn make_room(&mut self) {
        self.buffer.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        if self.buffer.is_empty() {
            self.buffer.shrink_to(READ_BYTES);
        }
        self.buffer.reserve(READ_BYTES);
    }
}

fn text(bytes: &[u8]) -> Line {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    Line::Text(String::from_utf8_lossy(bytes).into_owned())
}
