//! Where lines end, and where they may not go on.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use super::*;

/// Reads `bytes`, which arrive in pieces of each length of `pieces`, until the end or an overlong line.
async fn check(bytes: &[u8], pieces: &[usize], expect: &[Line]) {
    for &size in pieces {
        let mut reader = LineReader::new(Pieces { bytes, size });
        let mut lines = Vec::new();
        loop {
            let line = reader.next().await.unwrap();
            let last = line == Line::End || line == Line::TooLong;
            lines.push(line);
            if last {
                break;
            }
        }
        assert!(lines == expect, "pieces of {size}: {:?}", lines.iter().map(short).collect::<Vec<_>>());
    }
}

fn text(text: &str) -> Line {
    Line::Text(text.to_owned())
}

fn short(line: &Line) -> String {
    format!("{line:?}").chars().take(80).collect()
}

#[tokio::test]
async fn lines_end_at_line_ends_and_at_the_end() {
    let sizes = [1, 2, 3, 7, 1 << 20];
    check(b"", &sizes, &[Line::End]).await;
    check(b"one\ntwo\r\n\nthree", &sizes, &[text("one"), text("two"), text(""), text("three"), Line::End])
        .await;
    check(b"\xff\xfe{}\xc3\n\xc3\xa4\n", &sizes, &[text("\u{fffd}\u{fffd}{}\u{fffd}"), text("ä"), Line::End])
        .await;
}

#[tokio::test]
async fn a_line_may_be_long_but_not_longer() {
    let sizes = [1 << 16, (1 << 20) + 7];
    let mut bytes = vec![b'x'; LINE_BYTES_MAX];
    let longest = text(&"x".repeat(LINE_BYTES_MAX));
    bytes.extend_from_slice(b"\nnext\n");
    check(&bytes, &sizes, &[longest, text("next"), Line::End]).await;
    check(&vec![b'x'; LINE_BYTES_MAX + 1], &sizes, &[Line::TooLong]).await;
    bytes.insert(0, b'x');
    check(&bytes, &sizes, &[Line::TooLong]).await;
}

#[tokio::test]
async fn a_long_line_leaves_no_large_buffer_behind() {
    let mut bytes = vec![b'x'; LINE_BYTES_MAX];
    bytes.extend_from_slice(b"\n");
    let mut reader = LineReader::new(Pieces { bytes: &bytes, size: 1 << 20 });
    reader.next().await.unwrap();
    assert_eq!(reader.next().await.unwrap(), Line::End);
    assert!(reader.buffer.capacity() <= 2 * READ_BYTES, "{}", reader.buffer.capacity());
}

/// A stream that gives at most `size` bytes at a time.
struct Pieces<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (piece, rest) = self.bytes.split_at(self.size.min(buffer.remaining()).min(self.bytes.len()));
        buffer.put_slice(piece);
        self.bytes = rest;
        Poll::Ready(Ok(()))
    }
}
