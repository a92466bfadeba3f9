//! One request to a collector.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Otlp;

/// Bytes of an answer that are read: its first line says all that matters.
const ANSWER_BYTES_MAX: u64 = 4_096;

/// Posts JSON; the error is for the log, and says nothing of what was sent.
pub(super) async fn post(endpoint: &Otlp, body: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect(&endpoint.address).await.map_err(failed)?;
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        endpoint.path,
        endpoint.host,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.map_err(failed)?;
    stream.write_all(body.as_bytes()).await.map_err(failed)?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).await.map_err(failed)?;
    let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let status = std::str::from_utf8(line).ok().and_then(|line| line.split(' ').nth(1)?.parse::<u16>().ok());
    match status {
        Some(200..=299) => Ok(()),
        Some(status) => Err(format!("it answered with status {status}")),
        None => Err("it did not answer in HTTP".to_owned()),
    }
}
