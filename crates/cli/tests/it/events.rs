//! Live events over the whole program: `tail`, both transports, and a server that goes away under a reader.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::http::Http;
use crate::identity::browser;
use crate::server::{PATIENCE, TestServer};

/// A running `highwater tail`, with the lines that it prints.
struct Tail {
    child: Child,
    lines: Receiver<String>,
}

impl Tail {
    fn start(server: &TestServer, args: &[&str]) -> Self {
        let mut command = server.command("highwater");
        command.arg("tail").args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line")
    }

    /// The next event with `--json`.
    fn event(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Texts of the next messages.
    fn texts(&self, count: usize) -> Vec<String> {
        let messages =
            std::iter::repeat_with(|| self.event()).filter(|event| event["kind"] == "message_added");
        messages.take(count).map(|event| event["message"]["text"].as_str().unwrap().to_owned()).collect()
    }

    /// Ends it as Ctrl-C does; its exit code and what it printed since.
    fn interrupt(mut self) -> (Option<i32>, Vec<String>) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let code = self.child.wait().unwrap().code();
        (code, self.lines.iter().collect())
    }
}

/// Public report C30: a reader goes on from what it read last, not from now.
#[test]
fn tail_follows_over_kills_and_restarts_without_loss_or_double() {
    let mut server = TestServer::start();
    let tail = Tail::start(&server, &["general", "--json"]);
    assert_eq!(tail.event()["kind"], "hello");
    let mut posted = Vec::new();
    for life in 0..4 {
        for n in 0..5 {
            let text = format!("message {life}-{n}");
            server.ok(&["post", "general", &text]);
            posted.push(text);
        }
        // Killed with events on their way, or after they came.
        if life % 2 == 0 {
            assert_eq!(tail.texts(5), posted[posted.len() - 5..]);
        }
        server.kill();
        server.start_again(&[]);
        if life % 2 == 1 {
            assert_eq!(tail.texts(5), posted[posted.len() - 5..]);
        }
    }
    server.ok(&["post", "general", "the last"]);
    assert_eq!(tail.texts(1), ["the last"]);
    let (code, rest) = tail.interrupt();
    assert_eq!(code, Some(0));
    assert!(!rest.iter().any(|line| line.contains("message_added")), "{rest:?}");
    let before = server.json(&["history", "general"]);
    assert_eq!(before.as_array().unwrap().len(), posted.len() + 1);
}

#[test]
fn tail_prints_messages_like_history() {
    let server = TestServer::start();
    server.ok(&["channel", "add", "other"]);
    server.ok(&["post", "general", "before"]);
    let first = Tail::start(&server, &["--json"]);
    let cursor = first.event()["cursor"].as_str().unwrap().to_owned();
    assert_eq!(first.interrupt().0, Some(0));
    let (one, all) =
        (Tail::start(&server, &["general", "--since", &cursor]), Tail::start(&server, &["--since", &cursor]));
    let prints = |args: &[&str], expected: &[&str]| {
        server.ok(args);
        for expected in expected {
            let line = one.line();
            assert!(line.ends_with(expected), "{args:?}: {line:?}");
        }
    };
    prints(&["post", "general", "two\nlines \u{1b}[1m"], &["Z m2 olive: two", "    lines ⟨U+001B⟩[1m"]);
    prints(&["post", "other", "elsewhere"], &[]);
    prints(&["edit", "m2", "changed"], &["Z m2 olive (edited): changed"]);
    prints(&["delete", "m2"], &["Z m2 olive: (deleted)"]);
    server.ok(&["post", "general", "after"]);
    assert_eq!(Some(one.line().as_str()), server.ok(&["history", "general"]).lines().last());
    let elsewhere = std::iter::repeat_with(|| all.line()).find(|line| line.contains("elsewhere")).unwrap();
    assert!(elsewhere.starts_with("#other ") && elsewhere.ends_with("m3 olive: elsewhere"), "{elsewhere}");
    for tail in [one, all] {
        assert_eq!(tail.interrupt().0, Some(0));
    }
    assert_eq!(server.run(&["tail", "nowhere"]).code, 3);
}

/// Public report H73: pieces are joined, in the middle of a word too.
#[test]
fn an_answer_streams_while_it_is_written() {
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let tail = Tail::start(&server, &["--json"]);
    assert_eq!(tail.event()["kind"], "hello");
    let script = r#"[{"text":"Hel"},{"text":"lo"},{"await_cancel":true},{"answer":{"stop":"cancelled"}}]"#;
    let posted = server.json(&["post", "general", &format!("@echo SCRIPT:{{\"prompt\":{script}}}")]);
    let run = posted["runs"][0]["id"].as_str().unwrap();
    let mut kinds = Vec::new();
    let mut said = String::new();
    let mut read_until = |over: &dyn Fn(&Value, &str) -> bool| loop {
        let event = tail.event();
        let kind = event["kind"].as_str().unwrap().to_owned();
        if kind == "answer" {
            assert_eq!((&event["run_id"], &event["from"]), (&run.into(), &said.len().into()));
            said.push_str(event["text"].as_str().unwrap());
        }
        if kind != "agent_state" && kinds.last() != Some(&kind) {
            kinds.push(kind);
        }
        if over(&event, &said) {
            return;
        }
    };
    read_until(&|_, said| said == "Hello");
    // One who comes in the middle hears all of it.
    let late = Tail::start(&server, &["--json"]);
    let states: Vec<Value> = std::iter::repeat_with(|| late.event()).take(3).collect();
    assert_eq!((&states[1]["state"], &states[1]["agent"]), (&"working".into(), &"echo".into()));
    assert_eq!((&states[2]["text"], &states[2]["from"]), (&"Hello".into(), &0.into()));
    assert_eq!(late.interrupt().0, Some(0));
    server.ok(&["run", "cancel", run]);
    read_until(&|event, _| event["kind"] == "agent_state" && event["state"] == "idle");
    let expected = ["message_added", "run_queued", "run_started", "answer", "message_added", "run_ended"];
    assert_eq!(kinds, expected);
    assert_eq!(tail.interrupt().0, Some(0));
}

#[test]
fn tail_tells_of_cursors_that_mean_nothing() {
    let server = TestServer::start();
    for cursor in ["garbage", "AQAAAAAAAAAAAAAAAAAAAAE"] {
        let mut tail = Tail::start(&server, &["--json", "--since", cursor]);
        let event = tail.event();
        assert_eq!((&event["kind"], &event["reason"]), (&"resync".into(), &"unknown".into()));
        // It goes on from where the server is.
        assert_eq!(tail.event()["cursor"], event["cursor"]);
        server.ok(&["post", "general", "still here"]);
        assert_eq!(tail.texts(1), ["still here"]);
        let mut notes = tail.child.stderr.take().unwrap();
        assert_eq!(tail.interrupt().0, Some(0));
        let mut text = String::new();
        notes.read_to_string(&mut text).unwrap();
        assert!(text.contains("may be missing"), "{text}");
    }
}

/// A connection that asks for something with these headers.
struct Raw(BufReader<TcpStream>);

impl Raw {
    fn ask(server: &TestServer, path: &str, headers: &str) -> Self {
        let file = std::fs::read_to_string(server.data().join("server.json")).unwrap();
        let file: Value = serde_json::from_str(&file).unwrap();
        let host = file["url"].as_str().unwrap().strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET /api/v1{path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n").unwrap();
        Self(BufReader::new(stream))
    }

    /// The status line and headers, in lower case.
    fn head(&mut self) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.0.read_line(&mut head).unwrap() > 0, "the head ends: {head}");
        }
        head.to_lowercase()
    }

    /// The next text of a WebSocket.
    fn frame(&mut self) -> Value {
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head).unwrap();
            let length = match head[1] {
                126 => {
                    let mut bytes = [0; 2];
                    self.0.read_exact(&mut bytes).unwrap();
                    usize::from(u16::from_be_bytes(bytes))
                }
                short => usize::from(short),
            };
            let mut body = vec![0; length];
            self.0.read_exact(&mut body).unwrap();
            if head[0] == 0x81 {
                return serde_json::from_slice(&body).unwrap();
            }
        }
    }

    /// The next event's fields of a stream of server-sent events: `id`, `event`, `data`.
    fn sent(&mut self) -> [String; 3] {
        let mut fields = <[String; 3]>::default();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream goes on");
            let line = line.trim_end();
            for (field, name) in fields.iter_mut().zip(["id: ", "event: ", "data: "]) {
                if let Some(value) = line.strip_prefix(name) {
                    value.clone_into(field);
                }
            }
            if line.is_empty() && !fields[2].is_empty() {
                return fields;
            }
        }
    }
}

const UPGRADE: &str = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                       sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

fn token(server: &TestServer) -> String {
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    format!("authorization: Bearer {}\r\n", token.trim())
}

#[test]
fn both_transports_pass_the_gate() {
    // I11
    let server = TestServer::start();
    let token = token(&server);
    for (path, more) in [("/events", ""), ("/events/ws", UPGRADE)] {
        let check = |headers: String, expected: &str| {
            let head = Raw::ask(&server, path, &headers).head();
            assert!(head.starts_with(&format!("http/1.1 {expected}")), "{path} {headers:?}: {head}");
        };
        check(more.to_owned(), "401");
        check(format!("{more}authorization: Bearer wrong\r\n"), "401");
        check(format!("{more}{token}origin: http://evil.example\r\n"), "403");
        check(format!("{more}{token}origin: null\r\n"), "403");
        check(format!("{more}{token}"), if more.is_empty() { "200" } else { "101" });
    }
    let unknown = Raw::ask(&server, "/events?channel=nowhere", &token).head();
    assert!(unknown.starts_with("http/1.1 404"), "{unknown}");
}

#[test]
fn both_transports_resume() {
    let server = TestServer::start();
    let token = token(&server);
    let mut page = Raw::ask(&server, "/events/ws?html=true", &format!("{UPGRADE}{token}"));
    page.head();
    let mut script = Raw::ask(&server, "/events", &token);
    assert!(script.head().contains("content-type: text/event-stream"));
    let hello = page.frame();
    let cursor = hello["cursor"].as_str().unwrap();
    assert_eq!(script.sent()[..2], [cursor.to_owned(), "hello".to_owned()]);
    server.ok(&["post", "general", "*one*"]);
    let one = page.frame();
    assert_eq!(one["message"]["html"], "<p><em>one</em></p>\n");
    let [id, event, data] = script.sent();
    assert_eq!((id.as_str(), event.as_str()), (one["cursor"].as_str().unwrap(), "message_added"));
    assert_eq!(serde_json::from_str::<Value>(&data).unwrap()["message"]["text"], "*one*");
    server.ok(&["post", "general", "two"]);
    let two = page.frame();
    // The header goes before the address, which stays the same when a browser connects again.
    let again = format!("{token}last-event-id: {id}\r\n");
    let mut again = Raw::ask(&server, &format!("/events?since={cursor}"), &again);
    again.head();
    assert_eq!(again.sent()[..2], [id, "hello".to_owned()]);
    assert_eq!(again.sent()[0], two["cursor"].as_str().unwrap());
    let mut late = Raw::ask(&server, &format!("/events/ws?since={cursor}"), &format!("{UPGRADE}{token}"));
    late.head();
    assert_eq!(late.frame()["kind"], "hello");
    assert_eq!([&late.frame()["cursor"], &late.frame()["cursor"]], [&one["cursor"], &two["cursor"]]);
}

#[test]
fn a_page_names_its_second_secret_as_a_protocol() {
    // I11
    let server = TestServer::start();
    let http = Http::new(&server);
    let url = server.ok(&["invite", "aiko"]);
    let (_, code) = url.trim().split_once("#sign-in=").unwrap();
    let (cookie, session) = browser(&http, &json!({ "code": code }));
    let named = |names: &str| {
        let origin = format!("origin: http://{}\r\n", http.address());
        let headers = format!("{UPGRADE}{origin}cookie: {cookie}\r\nsec-websocket-protocol: {names}\r\n");
        Raw::ask(&server, "/events/ws", &headers).head()
    };
    let welcome = named(&format!("highwater.v1, highwater.secret.{session}"));
    assert!(welcome.starts_with("http/1.1 101"), "{welcome}");
    assert!(welcome.contains("sec-websocket-protocol: highwater.v1\r\n"), "{welcome}");
    assert!(!welcome.contains(&session), "the secret does not come back: {welcome}");
    for names in ["highwater.v1", "highwater.v1, highwater.secret.", "highwater.v1, highwater.secret.0123"] {
        let refused = named(names);
        assert!(refused.starts_with("http/1.1 401"), "{names}: {refused}");
    }
}

#[test]
fn readers_get_what_they_may_read() {
    // I14
    let server = TestServer::start();
    for (name, role) in [("ben", "member"), ("gus", "guest")] {
        server.ok(&["person", "add", name, "--role", role]);
    }
    server.ok(&["channel", "add", "secret", "--private"]);
    let token = |person: &str, scope: &str| {
        server.ok(&["token", "create", "ci", "--for", person, "--scope", scope]).trim().to_owned()
    };
    let follow = |token: &str, path: &str| {
        let headers = format!("authorization: Bearer {token}\r\nconnection: close\r\n");
        let mut raw = Raw::ask(&server, path, &headers);
        (raw.head(), raw)
    };
    let (ben, gus) = (token("ben", "read"), token("gus", "read"));
    assert!(follow(&token("ben", "write"), "/events").0.starts_with("http/1.1 403"));
    for path in ["/events?channel=secret", "/events?channel=nothing"] {
        assert!(follow(&ben, path).0.starts_with("http/1.1 404"), "{path}");
    }
    assert!(follow(&gus, "/events?channel=general").0.starts_with("http/1.1 404"));
    let (mut member, mut guest) = (follow(&ben, "/events").1, follow(&gus, "/events").1);
    for reader in [&mut member, &mut guest] {
        assert_eq!(reader.sent()[1], "hello");
    }
    server.ok(&["post", "secret", "hush"]);
    server.ok(&["post", "general", "for all"]);
    let told = member.sent();
    assert!(told[2].contains("for all"), "{told:?}");
    server.ok(&["channel", "invite", "general", "gus"]);
    let told = guest.sent();
    assert_eq!(told[1], "member_added", "{told:?}");
    // The last thing that a reader hears is not what they may not read.
    server.ok(&["person", "deactivate", "ben"]);
    let mut rest = String::new();
    member.0.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("hush") && !rest.contains("secret"), "{rest}");
}
