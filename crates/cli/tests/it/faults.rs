//! Faults that the world brings: bursts, readers that stop, requests that break off, names that lead elsewhere.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;

use serde_json::{Value, json};

use crate::http::Http;
use crate::server::{PATIENCE, TestServer};

const NOTHING: Value = Value::Null;

fn owner(server: &TestServer) -> Http {
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    Http::new(server).token(token.trim())
}

/// All messages of `general`, oldest first, page by page.
fn history(http: &Http) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    loop {
        let before = match all.first() {
            Some(oldest) => format!("&before={}", oldest["id"].as_str().unwrap()),
            None => String::new(),
        };
        let page = http.ok("GET", &format!("/channels/general/messages?limit=1000{before}"), &NOTHING);
        let page = page.as_array().unwrap().clone();
        if page.is_empty() {
            return all;
        }
        all.splice(0..0, page);
    }
}

/// A stream of server-sent events that is read when the test wants it.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(server: &TestServer, query: &str) -> Self {
        let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
        let address = format!("127.0.0.1:{}", Http::new(server).port());
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "GET /api/v1/events{query} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            token.trim()
        )
        .unwrap();
        let mut stream = Self(BufReader::new(stream));
        assert_eq!(stream.next().unwrap()["kind"], "hello");
        stream
    }

    /// The next event; `None` at the end.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }
}

#[test]
fn a_burst_of_ten_thousand_posts_loses_nothing() {
    // Fault experiment 14; I1, I2
    const CLIENTS: usize = 16;
    const POSTS: usize = 10_000;
    let server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    server.ask("general", "@echo good morning", &[]);
    let http = owner(&server);
    let before = history(&http).len();
    let mut live = Stream::open(&server, "");
    let acknowledged: BTreeMap<u64, String> = thread::scope(|scope| {
        let client = |client: usize| {
            let http = &http;
            scope.spawn(move || {
                let mine = (client..POSTS).step_by(CLIENTS);
                let post = |n| {
                    let text = format!("burst {n}");
                    let posted = http.ok("POST", "/channels/general/messages", &json!({ "text": text }));
                    (posted["message"]["seq"].as_u64().unwrap(), text)
                };
                mine.map(post).collect::<Vec<_>>()
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(acknowledged.len(), POSTS, "each has a number of its own");
    let stored = history(&http).split_off(before);
    let stored: Vec<(u64, String)> = stored
        .iter()
        .map(|message| (message["seq"].as_u64().unwrap(), message["text"].as_str().unwrap().to_owned()))
        .collect();
    assert!(stored.windows(2).all(|two| two[0].0 + 1 == two[1].0), "the numbers are dense");
    assert_eq!(stored, acknowledged.into_iter().collect::<Vec<_>>());
    // A reader gets all of them in the same order, over as many connections as it takes.
    let mut told: Vec<(u64, String)> = Vec::new();
    let mut place = String::new();
    while told.len() < POSTS {
        let Some(event) = live.next() else {
            live = Stream::open(&server, &format!("?since={place}"));
            continue;
        };
        if let Some(cursor) = event["cursor"].as_str() {
            place = cursor.to_owned();
        }
        if event["kind"] == "message_added" {
            let message = &event["message"];
            told.push((message["seq"].as_u64().unwrap(), message["text"].as_str().unwrap().to_owned()));
        }
    }
    assert_eq!(told, stored);
    // The warm session hears of all that in one block.
    let asked = server.ask("general", "@echo what happened?", &[]);
    let sent = server.show(asked["runs"][0]["id"].as_str().unwrap())["sent"].as_str().unwrap().to_owned();
    let gap = format!("\n- ({} earlier new messages not shown; channel_history has them)\n", POSTS - 12);
    assert!(sent.contains(&gap), "{sent}");
    assert_eq!(sent.matches("burst ").count(), 12, "{sent}");
}

/// Fault experiment 15
#[test]
fn a_reader_that_stops_holds_up_nobody_and_goes_on_where_it_was() {
    const POSTS: usize = 1_500;
    let server = TestServer::start();
    let http = owner(&server);
    let (mut stuck, mut other) = (Stream::open(&server, ""), Stream::open(&server, ""));
    // More than the sockets between the two hold, and than waits in the server.
    let long = "long ".repeat(4_000);
    let reading = thread::spawn(move || {
        let told = std::iter::from_fn(|| other.next()).filter(|event| event["kind"] == "message_added");
        told.take(POSTS).count()
    });
    for n in 0..POSTS {
        http.ok("POST", "/channels/general/messages", &json!({ "text": format!("{n} {long}") }));
    }
    assert_eq!(reading.join().unwrap(), POSTS, "the other reader got all");
    let number = |event: &Value| -> usize {
        event["message"]["text"].as_str().unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let mut told = Vec::new();
    let mut place = String::new();
    let mut last = NOTHING;
    while let Some(event) = stuck.next() {
        if let Some(cursor) = event["cursor"].as_str() {
            place = cursor.to_owned();
        }
        if event["kind"] == "message_added" {
            told.push(number(&event));
        }
        last = event;
    }
    assert_eq!((&last["kind"], &last["reason"]), (&"resync".into(), &"slow".into()));
    assert!(told.len() < POSTS, "it was dropped before the end");
    let mut again = Stream::open(&server, &format!("?since={place}"));
    while told.len() < POSTS {
        let event = again.next().expect("the rest");
        if event["kind"] == "message_added" {
            told.push(number(&event));
        }
    }
    assert_eq!(told, (0..POSTS).collect::<Vec<_>>(), "without a gap or a double");
}

/// Fault experiment 17
#[test]
fn the_same_id_many_times_at_once_is_one_message() {
    let server = TestServer::start();
    let http = owner(&server);
    for round in 0..20 {
        let body = json!({"text": format!("@guide round {round}"), "client_id": format!("round-{round}")});
        let ids: Vec<String> = thread::scope(|scope| {
            let post = || {
                let posted = http.ok("POST", "/channels/general/messages", &body);
                format!("{} {}", posted["message"]["id"], posted["runs"][0]["id"])
            };
            let posts: Vec<_> = (0..8).map(|_| scope.spawn(post)).collect();
            posts.into_iter().map(|post| post.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
    let texts = history(&http).iter().filter(|message| message["author"]["kind"] == "user").count();
    assert_eq!(texts, 20);
    assert_eq!(http.ok("GET", "/runs?limit=100", &NOTHING).as_array().unwrap().len(), 20);
}

/// Fault experiment 18
#[test]
fn a_request_that_breaks_off_anywhere_is_whole_or_nothing() {
    let server = TestServer::start();
    let http = owner(&server);
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    let address = format!("127.0.0.1:{}", http.port());
    let request = |n: usize| {
        let body = json!({"text": format!("cut {n}"), "client_id": format!("cut-{n}")}).to_string();
        format!(
            "POST /api/v1/channels/general/messages HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            token.trim(),
            body.len()
        )
    };
    let length = request(0).len();
    // Cut at every byte; then whole, and gone before, while and after it is answered.
    let cuts = (1..=length).chain([usize::MAX; 60]);
    for (n, cut) in cuts.clone().enumerate() {
        let text = request(n);
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&text.as_bytes()[..cut.min(text.len())]).unwrap();
        match n % 3 {
            0 => {}
            1 => stream.shutdown(std::net::Shutdown::Write).unwrap(),
            _ if cut == usize::MAX => {
                let mut byte = [0];
                let _ = stream.read(&mut byte);
            }
            _ => {}
        }
    }
    let count = cuts.count();
    // The same ids again: what was stored is not stored twice, and what was not is now.
    let mut ids = std::collections::BTreeSet::new();
    for n in 0..count {
        let body = json!({"text": format!("cut {n}"), "client_id": format!("cut-{n}")});
        let posted = http.ok("POST", "/channels/general/messages", &body);
        assert_eq!(posted["message"]["text"], format!("cut {n}"));
        ids.insert(posted["message"]["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), count);
    assert_eq!(history(&http).len(), count, "each once");
}

/// Fault experiment 25
#[test]
fn no_name_leads_out_of_the_data_folder() {
    let server = TestServer::start();
    let http = owner(&server);
    let files = || {
        let above = server.data().parent().unwrap().to_owned();
        let mut found: Vec<_> =
            std::fs::read_dir(above).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    };
    let before = files();
    let names = [
        "..",
        ".",
        "../x",
        "..\\x",
        "/etc/passwd",
        "a/b",
        "a\u{0}b",
        "\u{202e}x",
        "‥",
        "．．",
        "%2e%2e",
        ".git",
        "x\n",
        "con:aux",
        "~",
        "$HOME",
        "-rf",
    ];
    for name in names {
        let handle = json!({"handle": name, "command": ["true"], "delivery": "lean", "session": "resident"});
        let asked = [
            ("/channels", json!({ "name": name })),
            ("/people", json!({ "name": name })),
            ("/channels/general/agents", handle),
            ("/channels", json!({"name": "desk", "direct": name})),
        ];
        for (route, body) in asked {
            // `-rf` and the like are odd names, but lead nowhere.
            let status = http.status("POST", route, &body);
            let odd = status == 200 && !name.contains(['/', '.', '\\', '\u{0}', '\n', '~', '$', ':', '%']);
            assert!(status == 400 || odd, "{route} {body}: {status}");
        }
    }
    let paths = [
        "/channels/../../../etc/passwd",
        "/channels/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/channels/..%2f..%2fowner-token/messages",
        "/runs/..%2f..%2fowner-token",
        "/messages/%2fetc%2fpasswd/runs",
        "/people/..%2fowner-token",
        "/runs/r1%00",
        "/runs/%ff",
    ];
    for path in paths {
        let status = http.status("GET", path, &NOTHING);
        assert!([400, 404].contains(&status), "{path}: {status}");
    }
    assert_eq!(files(), before, "nothing was made beside the data folder");
}

/// Rule 2.2 and public reports H74, H75: no run comes of what is not visible prose.
/// Fault experiment 27
#[test]
fn only_prose_mentions() {
    let server = TestServer::start();
    let http = owner(&server);
    let texts = [
        "`@guide`",
        "```\n@guide hello\n```",
        "~~~ sh\n@guide hello\n~~~",
        "    @guide hello",
        "> @guide hello",
        "<!-- @guide -->",
        "[x](@guide)",
        "me@guide.example",
        "\\`@guidebook",
    ];
    for text in texts {
        let posted = http.ok("POST", "/channels/general/messages", &json!({ "text": text }));
        assert_eq!(posted["runs"], json!([]), "{text:?}");
    }
    let posted = http.ok("POST", "/channels/general/messages", &json!({ "text": "**@Guide**, hello" }));
    assert_eq!(posted["runs"].as_array().unwrap().len(), 1, "{posted}");
}
