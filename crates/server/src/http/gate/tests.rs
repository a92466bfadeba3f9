//! Who comes in and who does not.

use axum::http::Request;

use super::Gate;
use crate::network::tests::site;

fn check(line: &str, headers: &[(&str, &str)], expect: Result<(), &str>) {
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let gate = Gate::new(site("127.0.0.1:7717", Some("https://a.example"), None));
    let got = gate.check(&request.body(()).unwrap()).map_err(|error| error.code.as_str());
    assert_eq!(got, expect, "{line} {headers:?}");
}

const HOST: (&str, &str) = ("host", "localhost:7717");
const FORBIDDEN: Result<(), &str> = Err("forbidden");

#[test]
fn hosts_and_origins() {
    check("GET /", &[HOST], Ok(()));
    check("GET /", &[("host", "a.example")], Ok(()));
    check("GET /", &[("host", "evil.example:7717")], FORBIDDEN);
    check("GET /", &[], FORBIDDEN);
    check("GET /", &[HOST, ("host", "evil.example")], FORBIDDEN);
    check("GET http://evil.example/", &[HOST], FORBIDDEN);
    check("POST /api/v1/channels", &[HOST, ("origin", "http://localhost:7717")], Ok(()));
    check("POST /api/v1/channels", &[("host", "a.example"), ("origin", "https://a.example")], Ok(()));
    check("POST /api/v1/channels", &[HOST, ("origin", "http://localhost:8000")], FORBIDDEN);
    check("POST /api/v1/channels", &[HOST, ("origin", "null")], FORBIDDEN);
    check("POST /api/v1/channels", &[HOST, ("origin", "")], FORBIDDEN);
    check("GET /", &[HOST, ("origin", "https://a.example"), ("origin", "https://evil.example")], FORBIDDEN);
}

#[test]
fn pages_of_other_sites() {
    const CROSS: (&str, &str) = ("sec-fetch-site", "cross-site");
    const NAVIGATE: (&str, &str) = ("sec-fetch-mode", "navigate");
    const DOCUMENT: (&str, &str) = ("sec-fetch-dest", "document");
    check("POST /api/v1/channels", &[HOST, ("sec-fetch-site", "same-origin")], Ok(()));
    check("GET /", &[HOST, ("sec-fetch-site", "none")], Ok(()));
    check("GET /", &[HOST, CROSS, NAVIGATE, DOCUMENT], Ok(()));
    check("GET /", &[HOST, CROSS, NAVIGATE, ("sec-fetch-dest", "iframe")], FORBIDDEN);
    check("GET /", &[HOST, CROSS, ("sec-fetch-mode", "no-cors"), DOCUMENT], FORBIDDEN);
    check("POST /", &[HOST, CROSS, NAVIGATE, DOCUMENT], FORBIDDEN);
    check("GET /api/v1/me", &[HOST, CROSS, NAVIGATE, DOCUMENT], FORBIDDEN);
    check("GET /mcp", &[HOST, CROSS, NAVIGATE, DOCUMENT], FORBIDDEN);
    check("GET /api/v1/me", &[HOST, ("sec-fetch-site", "same-site")], FORBIDDEN);
    check("GET /api/v1/me", &[HOST, ("sec-fetch-site", "something-new")], FORBIDDEN);
}

#[test]
fn web_sockets() {
    const WS: (&str, &str) = ("upgrade", "h2c, WebSocket");
    check("GET /api/v1/events/ws", &[HOST, WS, ("origin", "http://localhost:7717")], Ok(()));
    check("GET /api/v1/events/ws", &[HOST, WS, ("origin", "https://evil.example")], FORBIDDEN);
    check("GET /api/v1/events/ws", &[HOST, WS], Err("unauthorized"));
    check("GET /api/v1/events/ws", &[HOST, WS, ("cookie", "highwater-7717=x")], Err("unauthorized"));
    check("GET /api/v1/events/ws", &[HOST, WS, ("authorization", "Bearer x")], Ok(()));
}
