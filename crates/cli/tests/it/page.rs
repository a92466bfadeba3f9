//! The web client as the server gives it: what is open to everybody, with which headers, and what is not there.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::http::Http;
use crate::server::TestServer;

/// Status, head (in lower case) and body of a request without any token.
fn fetch(server: &TestServer, method: &str, path: &str, more: &str) -> (u16, String, String) {
    let port = Http::new(server).port().to_owned();
    let host = if more.contains("host:") { String::new() } else { format!("host: 127.0.0.1:{port}\r\n") };
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\n{host}{more}connection: close\r\ncontent-length: 0\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase(), body.to_owned())
}

#[test]
fn the_page_is_there_for_everybody_and_nothing_else_is() {
    // I11
    let server = TestServer::start();
    let (status, head, page) = fetch(&server, "GET", "/", "");
    assert_eq!(status, 200);
    for header in [
        "content-type: text/html; charset=utf-8",
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         img-src 'self' data:; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "x-frame-options: deny",
        "cross-origin-opener-policy: same-origin",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(head.lines().any(|line| line == header), "{header} is not in {head}");
    }
    let script = page.split("src=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let (status, head, _) = fetch(&server, "GET", script, "");
    assert_eq!(status, 200, "{script}");
    assert!(head.contains("immutable") && head.contains("content-type: text/javascript"), "{head}");

    let table = [
        ("GET", "/", "host: evil.example\r\n", 403, "forbidden"),
        ("GET", "/", "origin: http://127.0.0.1:1\r\n", 403, "forbidden"),
        ("GET", "/assets/x.js", "", 404, "not_found"),
        ("GET", "/assets/..%2f..%2fCargo.toml", "", 404, "not_found"),
        ("GET", "/assets/%2e%2e/index.html", "", 401, "unauthorized"),
        ("GET", "/assets/../../../../etc/passwd", "", 401, "unauthorized"),
        ("POST", "/", "", 400, "invalid"),
        ("GET", "/general", "", 401, "unauthorized"),
        ("GET", "/bundled.json", "", 401, "unauthorized"),
        ("GET", "/api/v1/nothing", "", 401, "unauthorized"),
        ("GET", "/api/v1/me", "", 401, "unauthorized"),
    ];
    for (method, path, more, expected, code) in table {
        let (status, head, body) = fetch(&server, method, path, more);
        let body: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
        assert_eq!((status, body["code"].as_str()), (expected, Some(code)), "{method} {path} {more}");
        for header in ["x-content-type-options: nosniff", "frame-ancestors 'none'", "x-frame-options: deny"] {
            assert!(head.contains(header), "{method} {path}: {header} is not in {head}");
        }
    }
}

#[test]
fn threads_are_listed_for_those_who_read_the_channel() {
    let server = TestServer::start();
    server.ok(&["channel", "add", "board", "--private"]);
    server.ok(&["person", "add", "aiko"]);
    let secret = server.json(&["token", "create", "t", "--for", "aiko"]);
    let http = Http::new(&server);
    let aiko = http.token(secret["secret"].as_str().unwrap());
    let root = server.json(&["post", "board", "shall we?"]);
    let root = root["message"]["id"].as_str().unwrap();
    let reply = server.json(&["post", "board", "yes", "--thread", root]);
    assert_eq!(aiko.status("GET", "/channels/board/threads", &Value::Null), 404);
    server.ok(&["channel", "invite", "board", "aiko"]);
    let threads = aiko.ok("GET", "/channels/board/threads", &Value::Null);
    let first = &threads[0];
    assert_eq!(threads.as_array().map(Vec::len), Some(1));
    assert_eq!(
        [&first["root_id"], &first["root_deleted"], &first["replies"], &first["last_seq"], &first["last_at"]],
        [&json!(root), &json!(false), &json!(1), &reply["message"]["seq"], &reply["message"]["created_at"]]
    );
    assert_eq!(aiko.status("GET", "/channels/board/threads?limit=0", &Value::Null), 400);
}
