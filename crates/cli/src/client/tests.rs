//! Calls against a scripted server on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Call, Client, Home, persist};
use crate::failure::{Failure, Kind};

/// What the scripted server does with one connection.
pub(crate) enum Step {
    /// Reads the request and closes the connection.
    Drop,
    /// Reads the request and answers with this status and body.
    Answer(u16, String),
}

/// A server that plays its steps, one connection each, and then is gone.
pub(crate) struct Script {
    /// Its address.
    pub(crate) url: String,
    thread: JoinHandle<Vec<String>>,
}

impl Script {
    /// Starts to play.
    pub(crate) fn play(steps: Vec<Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let thread = thread::spawn(move || {
            let mut seen = Vec::new();
            for step in steps {
                let (stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                seen.push(read_request(&stream));
                if let Step::Answer(status, body) = step {
                    let head = format!(
                        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                        body.len()
                    );
                    (&stream).write_all((head + &body).as_bytes()).unwrap();
                }
            }
            seen
        });
        Self { url, thread }
    }

    /// The requests, each as `METHOD target token body`, once all steps were played.
    pub(crate) fn requests(self) -> Vec<String> {
        self.thread.join().unwrap()
    }
}

fn read_request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            text => lines.push(text.to_owned()),
        }
    }
    let value = |name: &str| {
        let found = lines
            .iter()
            .filter_map(|line| line.split_once(": "))
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value).to_owned()
    };
    let mut body = vec![0; value("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let words: Vec<&str> = lines[0].split(' ').collect();
    let body = String::from_utf8(body).unwrap();
    format!("{} {} {} {body}", words[0], words[1], value("authorization")).trim_end().to_owned()
}

fn check(call: &Call, body: Option<Value>, step: Step, request: &str, expected: &Result<Value, Failure>) {
    let script = Script::play(vec![step]);
    let client = Client::new(&script.url, "t").unwrap();
    let answer: Result<Value, Failure> = match body {
        Some(body) => client.send(call, &body),
        None => client.call(call),
    };
    assert_eq!(&answer, expected);
    assert_eq!(script.requests(), [request]);
}

#[test]
fn calls_are_escaped_and_carry_the_token() {
    let ok = || Step::Answer(200, "[1]".to_owned());
    let answer = Ok(json!([1]));
    let get = Call::get(&["channels", "a/b ü?", "messages"])
        .with("before", Some("m&1"))
        .with("thread", None::<&str>)
        .with("limit", Some("5"));
    let target = "GET /api/v1/channels/a%2Fb%20%C3%BC%3F/messages?before=m%261&limit=5 Bearer t";
    check(&get, None, ok(), target, &answer);
    let waiting = Call::get(&["messages", "m1", "runs"]).waiting(Duration::from_millis(1_500));
    check(&waiting, None, ok(), "GET /api/v1/messages/m1/runs?wait_ms=1500 Bearer t", &answer);
    check(
        &Call::post(&["runs", "r1", "cancel"]),
        None,
        ok(),
        "POST /api/v1/runs/r1/cancel Bearer t",
        &answer,
    );
    check(&Call::delete(&["messages", "m1"]), None, ok(), "DELETE /api/v1/messages/m1 Bearer t", &answer);
    let body = Some(json!({"text": "ü"}));
    let patch = "PATCH /api/v1/messages/m1 Bearer t {\"text\":\"ü\"}";
    check(&Call::patch(&["messages", "m1"]), body.clone(), ok(), patch, &answer);
    check(
        &Call::put(&["watermarks"]),
        body,
        ok(),
        "PUT /api/v1/watermarks Bearer t {\"text\":\"ü\"}",
        &answer,
    );
}

#[test]
fn error_answers_become_failures() {
    let get = Call::get(&["channels", "x"]);
    let request = "GET /api/v1/channels/x Bearer t";
    let error = |code: &str, message: &str| json!({"code": code, "message": message}).to_string();
    let missing =
        Failure::new(Kind::NotFound, "no such channel: x").hint("highwater channel list shows all channels");
    check(&get, None, Step::Answer(404, error("not_found", "no such channel: x")), request, &Err(missing));
    let full = Failure::new(Kind::StorageFull, "full");
    check(&get, None, Step::Answer(507, error("storage_full", "full")), request, &Err(full));
    let denied = Failure::new(Kind::Denied, "wrong token")
        .hint("the token stands in the file owner-token of the server's data folder");
    check(&get, None, Step::Answer(401, error("unauthorized", "wrong token")), request, &Err(denied));
    let refused = Failure::new(Kind::Denied, "not yours");
    check(&get, None, Step::Answer(403, error("forbidden", "not yours")), request, &Err(refused));
}

#[test]
fn a_server_that_asks_for_patience_is_asked_again() {
    let limited = |ms: u64| {
        let body = json!({"code": "rate_limited", "message": "slower", "retry_after_ms": ms});
        Step::Answer(429, body.to_string())
    };
    let script =
        Script::play(vec![limited(1), limited(2), Step::Answer(200, "7".to_owned()), limited(61_000)]);
    let client = Client::new(&script.url, "t").unwrap();
    let post = || client.send::<u32>(&Call::post(&["channels"]), &json!({}));
    assert_eq!(post(), Ok(7));
    assert_eq!(post(), Err(Failure::new(Kind::Unreachable, "slower")));
    assert_eq!(script.requests(), ["POST /api/v1/channels Bearer t {}"; 4]);
}

#[test]
fn other_servers_and_lost_connections_are_told() {
    let script = Script::play(vec![
        Step::Answer(404, "<html>".to_owned()),
        Step::Answer(200, "<html>".to_owned()),
        Step::Drop,
    ]);
    let client = Client::new(&script.url, "t").unwrap();
    let ask = || client.call::<Value>(&Call::get(&["health"])).map_err(|failure| failure.kind());
    assert_eq!([ask(), ask(), ask()], [Err(Kind::NotFound), Err(Kind::Internal), Err(Kind::Unreachable)]);
    let url = script.url.clone();
    script.requests();
    let refused = Failure::new(Kind::Unreachable, format!("no server answers at {url}"))
        .hint("it may have stopped; start one with: highwater serve");
    assert_eq!(client.call::<Value>(&Call::get(&["health"])), Err(refused));
}

#[test]
fn addresses_are_http() {
    let check = |url: &str, message: &str, hint: &str| {
        let expected = Failure::new(Kind::Invalid, message).hint(hint);
        assert_eq!(Client::new(url, "t").map(|_| ()), Err(expected));
    };
    let tls = "https://example.org: a TLS client is not built in yet";
    check("https://example.org/", tls, "use the server's http:// address on its own machine");
    let look = "it looks like http://127.0.0.1:7717";
    check("127.0.0.1:7717", "\"127.0.0.1:7717\" is no address of a server", look);
    check("ftp://127.0.0.1", "\"ftp://127.0.0.1\" is no address of a server", look);
    check("/tmp", "\"/tmp\" is no address of a server", look);
}

#[test]
fn a_server_that_came_back_elsewhere_is_found() {
    let old = Script::play(vec![Step::Drop]);
    let new = Script::play(vec![
        Step::Answer(503, json!({"code": "shutting_down", "message": "x"}).to_string()),
        Step::Answer(200, "7".to_owned()),
    ]);
    let mut client = Client::new(&old.url, "t").unwrap();
    let find = || Client::new(&new.url, "t");
    let call = |client: &Client| client.call::<u32>(&Call::get(&["health"]));
    assert_eq!(persist(&mut client, find, &[Duration::ZERO; 3], call), Ok(7));
    assert_eq!(old.requests().len() + new.requests().len(), 3);
}

#[test]
fn persistence_has_an_end() {
    let script = Script::play(vec![Step::Drop, Step::Drop, Step::Drop]);
    let mut client = Client::new(&script.url, "t").unwrap();
    let none = || Err(Failure::new(Kind::NoServer, "none"));
    let call = |client: &Client| client.call::<u32>(&Call::get(&["health"]));
    let end = persist(&mut client, none, &[Duration::ZERO; 2], call).map_err(|failure| failure.kind());
    assert_eq!(end, Err(Kind::Unreachable));
    assert_eq!(script.requests().len(), 3);
}

#[test]
fn a_token_goes_only_to_the_server_of_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home { folder: folder.path().to_owned(), serve: "highwater serve --data d".to_owned() };
    let script = Script::play(vec![Step::Answer(200, "7".to_owned())]);
    let client = Client::new(&script.url, "t").unwrap().at_home(home.clone());
    let ask = || client.call::<u32>(&Call::get(&["health"]));
    let nobody = Err(home.without_server(Kind::Unreachable));
    assert_eq!(ask(), nobody, "no file");
    let lock = std::fs::File::create(folder.path().join("lock")).unwrap();
    assert_eq!(ask(), nobody, "no lock");
    lock.lock().unwrap();
    assert_eq!(ask(), Ok(7));
    drop(lock);
    assert_eq!(ask(), nobody, "no lock any more");
    assert_eq!(script.requests(), ["GET /api/v1/health Bearer t"]);
}
