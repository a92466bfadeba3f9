//! Raw requests, as programs and pages of any origin send them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::server::TestServer;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// Where a server listens, and what is sent with every request.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    address: String,
    headers: String,
}

impl Http {
    /// Without any token.
    pub(crate) fn new(server: &TestServer) -> Self {
        Self::of(&server.data())
    }

    /// Of the server of this data folder.
    pub(crate) fn of(data: &std::path::Path) -> Self {
        let file = std::fs::read_to_string(data.join("server.json")).unwrap();
        let file: Value = serde_json::from_str(&file).unwrap();
        let address = file["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        Self { address, headers: String::new() }
    }

    /// With one more header.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        Self { headers: format!("{}{name}: {value}\r\n", self.headers), ..self.clone() }
    }

    /// With a token.
    pub(crate) fn token(&self, token: &str) -> Self {
        self.with("authorization", &format!("Bearer {token}"))
    }

    /// The port of the server.
    pub(crate) fn port(&self) -> &str {
        self.address.rsplit_once(':').unwrap().1
    }

    /// Asks a route of the API.
    pub(crate) fn call(&self, method: &str, route: &str, body: &Value) -> Answer {
        self.at(method, &format!("/api/v1{route}"), body)
    }

    /// Asks for any path.
    pub(crate) fn at(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\n{}{kind}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.address,
            self.headers,
            body.len()
        );
        let (status, head, body) = self.raw(&request);
        Answer { status, head: head.to_lowercase(), body: serde_json::from_str(&body).unwrap_or(Value::Null) }
    }

    /// Asks with these very lines after the first, all but the end of the head; status, head and body as they came.
    pub(crate) fn lines(&self, first: &str, lines: &[&str], body: &str) -> (u16, String, String) {
        let mut request = format!("{first} HTTP/1.1\r\n");
        for line in lines {
            request.push_str(&format!("{line}\r\n"));
        }
        request.push_str(&format!("content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()));
        self.raw(&request)
    }

    /// Asks for an answer that may never end: its status, and the connection that it comes by.
    pub(crate) fn begin(&self, first: &str, lines: &[&str]) -> (u16, TcpStream) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let lines = lines.iter().map(|line| format!("{line}\r\n")).collect::<String>();
        write!(stream, "{first} HTTP/1.1\r\n{lines}content-length: 0\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (String::from_utf8_lossy(&status[9..]).parse().unwrap(), stream)
    }

    fn raw(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut head).unwrap() > 0, "the head ends: {head}");
        }
        let head = head.trim_end();
        let mut body = Vec::new();
        // A stream of events has no end.
        if !head.contains("text/event-stream") {
            stream.read_to_end(&mut body).unwrap();
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), String::from_utf8_lossy(&body).into_owned())
    }

    /// Address and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The status alone.
    pub(crate) fn status(&self, method: &str, route: &str, body: &Value) -> u16 {
        self.call(method, route, body).status
    }

    /// What a route answers that must answer.
    pub(crate) fn ok(&self, method: &str, route: &str, body: &Value) -> Value {
        let answer = self.call(method, route, body);
        assert_eq!(answer.status, 200, "{method} {route}: {answer:?}");
        answer.body
    }
}
