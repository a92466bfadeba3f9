//! As much of a WebSocket as a reader needs that says nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

/// Nothing came for so long: nothing will.
const SILENCE: Duration = Duration::from_secs(30);

/// A frame with text that is whole.
const TEXT: u8 = 0x81;
/// The server asks whether we live.
const PING: u8 = 0x89;
/// The answer to that: masked, and empty.
const PONG: [u8; 6] = [0x8a, 0x80, 0, 0, 0, 0];

/// A connection that follows all events.
pub(super) struct Socket {
    stream: BufReader<TcpStream>,
}

impl Socket {
    pub(super) fn open(host: &str, token: &str) -> Result<Self> {
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(SILENCE))?;
        write!(
            stream,
            "GET /api/v1/events/ws HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )?;
        let mut stream = BufReader::with_capacity(4096, stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            ensure!(stream.read_line(&mut head)? > 0, "the server answers only: {head}");
        }
        ensure!(head.starts_with("HTTP/1.1 101"), "no WebSocket: {head}");
        Ok(Self { stream })
    }

    /// The next text.
    pub(super) fn text(&mut self) -> Result<String> {
        loop {
            let mut head = [0; 2];
            self.stream.read_exact(&mut head)?;
            let length = match head[1] {
                127 => {
                    let mut bytes = [0; 8];
                    self.stream.read_exact(&mut bytes)?;
                    u64::from_be_bytes(bytes)
                }
                126 => {
                    let mut bytes = [0; 2];
                    self.stream.read_exact(&mut bytes)?;
                    u64::from(u16::from_be_bytes(bytes))
                }
                short => u64::from(short),
            };
            let mut body = vec![0; usize::try_from(length)?];
            self.stream.read_exact(&mut body)?;
            match head[0] {
                TEXT => return Ok(String::from_utf8(body)?),
                PING => self.stream.get_mut().write_all(&PONG)?,
                other => bail!("a frame of kind {other:#x}"),
            }
        }
    }
}
