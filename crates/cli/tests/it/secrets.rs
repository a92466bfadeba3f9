//! No secret gets into the log, `/healthz` or `/metrics`, at whatever level and wherever it was sent by mistake
//! (Fault experiment 28).

use std::io::{BufRead as _, BufReader, Read};
use std::process::Child;
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::http::Http;
use crate::identity::{browser, token};
use crate::server::{PATIENCE, TestServer, terminate};

const PASSWORD: &str = "canary-password-4711";
const GUESS: &str = "canary-guess-4712";
const ENV: &str = "canary-env-4713";
const BODY: &str = "canary-body-4714";
const EDITED: &str = "canary-edited-4715";
const ANSWER: &str = "canary-answer-4716";
const CALLED: &str = "canary-called-4717";

/// A server whose whole output is kept.
struct Watched {
    server: TestServer,
    child: Running,
    ready: String,
    out: JoinHandle<String>,
    err: JoinHandle<String>,
}

/// Ends with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // After an orderly end there is nothing left to kill.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

impl Watched {
    fn start(format: &str) -> Self {
        let mut server = TestServer::start();
        server.stop();
        let mut child = server.try_start(&["--log-level", "trace", "--log-format", format]);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        out.read_line(&mut ready).unwrap();
        let err = read_all(child.stderr.take().unwrap());
        Self { server, child: Running(child), ready, out: read_all(out), err }
    }

    /// What it wrote beyond its first line, and its log.
    fn stop(mut self) -> (String, String) {
        terminate(&self.child.0);
        assert!(self.child.0.wait().unwrap().success());
        self.server.wait_until_none_is_left(PATIENCE);
        (self.out.join().unwrap(), self.err.join().unwrap())
    }
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        from.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// The names of the secrets that a text holds.
fn leaks<'a>(text: &str, secrets: &'a [(&'static str, String)]) -> Vec<&'a str> {
    secrets.iter().filter(|(_, secret)| text.contains(secret.as_str())).map(|(name, _)| *name).collect()
}

/// Fault experiment 28
#[test]
fn no_secret_is_logged_as_text() {
    let log = drive("text");
    for marker in ["TRACE", "route=\"/api/v1/sign-in\"", "route=\"/mcp\"", "route=\"none\"", "status=401"] {
        assert!(log.contains(marker), "the log would show it, but has no {marker}:\n{log}");
    }
}

/// Fault experiment 28
#[test]
fn no_secret_is_logged_as_json() {
    let log = drive("json");
    let records: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let answered = |route: &str, status: u16| {
        records.iter().any(|record| {
            record["message"] == "a request was answered"
                && record["route"] == route
                && record["status"] == status
        })
    };
    for (route, status) in
        [("/api/v1/sign-in", 401), ("/mcp", 401), ("/mcp", 200), ("/", 403), ("/metrics", 200)]
    {
        assert!(answered(route, status), "no record of {status} at {route}:\n{log}");
    }
    for record in &records {
        assert!(record["level"].is_string() && record["timestamp"].is_string(), "{record}");
    }
}

/// Uses every surface with secrets, right and wrong, at level trace; the log, which has none of them.
fn drive(format: &str) -> String {
    let watched = Watched::start(format);
    let server = &watched.server;
    let http = Http::new(server);
    let mut secrets = people(server, &http, &watched.ready);
    secrets.extend(agents(server));
    let owner = http.token(&secrets[0].1);
    let mcp = secrets.iter().find(|(name, _)| *name == "MCP token").unwrap().1.clone();
    for (_, secret) in &secrets {
        misplace(&http, secret);
        misuse(&owner, &http, &mcp, secret);
    }
    server.ok(&["backup", &server.file("backup.db")]);
    server.ok(&["export", &server.file("channels.jsonl")]);
    let host = format!("host: {}", http.address());
    let auth = format!("authorization: Bearer {}", secrets[0].1);
    for path in ["/healthz", "/metrics"] {
        let (status, _, body) = http.lines(&format!("GET {path}"), &[&host, &auth], "");
        assert_eq!((status, leaks(&body, &secrets)), (200, Vec::new()), "{path}: {body}");
    }
    // The owner's link is told once, on purpose, and nowhere else.
    let ready = watched.ready.clone();
    let (out, log) = watched.stop();
    assert_eq!(leaks(&ready, &secrets), ["owner's link"]);
    assert_eq!(leaks(&out, &secrets), Vec::<&str>::new(), "{out}");
    let found = leaks(&log, &secrets);
    let lines: Vec<&str> = log.lines().filter(|line| !leaks(line, &secrets).is_empty()).collect();
    assert_eq!(found, Vec::<&str>::new(), "{lines:#?}");
    // That nothing was found is worth something: each would have been.
    for (name, secret) in &secrets {
        assert!(secret.len() >= 12, "{name} is too short to be looked for: {secret}");
        assert!(leaks(&format!("{log}{secret}"), &secrets).contains(name));
    }
    log
}

/// People with passwords, tokens, links and sign-ins, and what each proves by.
fn people(server: &TestServer, http: &Http, ready: &str) -> Vec<(&'static str, String)> {
    let owner = std::fs::read_to_string(server.data().join("owner-token")).unwrap().trim().to_owned();
    let code =
        |link: &str| link.split_once("#sign-in=").unwrap().1.split_whitespace().next().unwrap().to_owned();
    let invite = |name: &str| code(server.json(&["invite", name])["url"].as_str().unwrap());
    let (used, unused) = (invite("aiko"), invite("ben"));
    let (cookie, session) = browser(http, &json!({ "code": used }));
    assert_eq!(server.run_with(&["person", "password", "aiko"], format!("{PASSWORD}\n").as_bytes()).code, 0);
    let by_password = browser(http, &json!({"name": "aiko", "password": PASSWORD}));
    assert_eq!(http.status("POST", "/sign-in", &json!({"name": "aiko", "password": GUESS})), 401);
    assert_eq!(http.status("POST", "/sign-in", &json!({ "code": used })), 401, "once");
    let value = |cookie: &str| cookie.split_once('=').unwrap().1.to_owned();
    let page = http.with("cookie", &by_password.0).with("x-highwater-session", &by_password.1);
    assert_eq!(page.status("GET", "/me", &Value::Null), 200);
    vec![
        ("owner's token", owner),
        ("owner's link", code(ready)),
        ("used link", used),
        ("link", unused),
        ("ended cookie", value(&cookie)),
        ("ended page secret", session),
        ("cookie", value(&by_password.0)),
        ("page secret", by_password.1),
        ("password", PASSWORD.to_owned()),
        ("mistyped password", GUESS.to_owned()),
        ("token", token(server, "aiko", &[])),
    ]
}

/// A private channel with messages, an agent that answers and uses its tools, and one that shows its environment and
/// dies.
fn agents(server: &TestServer) -> Vec<(&'static str, String)> {
    server.ok(&["channel", "add", "vault", "--private"]);
    let message = server.json(&["post", "vault", BODY])["message"]["id"].as_str().unwrap().to_owned();
    server.ok(&["edit", &message, EDITED]);
    let env = format!("CANARY={ENV}");
    let tools = r#"SCRIPTED_SCRIPT={"mcp_http":true}"#;
    server.add_scripted("echo", "vault", "log-echo", &["--env", &env, "--env", tools]);
    let call = json!({ "name": "channel_post", "arguments": { "text": CALLED } });
    let steps =
        json!({ "prompt": [{ "call": call }, { "raw": ENV }, { "stderr": ENV }, { "text": ANSWER }] });
    let asked = server.ask("vault", &format!("@echo SCRIPT:{steps}"), &[]);
    assert_eq!(asked["runs"][0]["status"], "succeeded", "{asked}");
    let show = "echo $CANARY; echo $CANARY >&2; exit 3";
    server.ok(&["agent", "add", "leaky", "--channel", "vault", "--env", &env, "--", "/bin/sh", "-c", show]);
    let asked = server.ask("vault", "@leaky hello", &[]);
    assert_eq!(asked["runs"][0]["status"], "failed", "{asked}");
    let log = std::fs::read_to_string(server.file("log-echo")).unwrap();
    let bearer = log.split_once("Bearer ").unwrap().1;
    let token: String = bearer.chars().take_while(char::is_ascii_alphanumeric).collect();
    vec![
        ("MCP token", token),
        ("environment", ENV.to_owned()),
        ("message", BODY.to_owned()),
        ("edited message", EDITED.to_owned()),
        ("answer", ANSWER.to_owned()),
        ("message beside the answer", CALLED.to_owned()),
    ]
}

/// Sends a secret where none belongs: in addresses, in every header, as a method.
fn misplace(http: &Http, secret: &str) {
    let host = format!("host: {}", http.address());
    for address in [
        format!("/{secret}"),
        format!("/mcp/{secret}"),
        format!("/mcp?token={secret}"),
        format!("/metrics?token={secret}"),
        format!("/api/v1/channels/{secret}"),
        format!("/api/v1/search?q={secret}&{secret}=1"),
        format!("/api/v1/events/ws?token={secret}"),
        format!("http://{secret}/"),
    ] {
        for method in ["GET", "POST", secret] {
            http.lines(&format!("{method} {address}"), &[&host], "");
        }
    }
    let port = http.port();
    for header in [
        format!("authorization: Bearer {secret}"),
        format!("authorization: Basic {secret}"),
        format!("authorization: {secret}"),
        format!("cookie: highwater-{port}={secret}\r\nx-highwater-session: {secret}"),
        format!("x-highwater-session: {secret}"),
        format!("origin: https://{secret}"),
        format!("origin: {secret}"),
        format!("sec-fetch-site: {secret}"),
        format!("upgrade: websocket\r\nsec-websocket-protocol: {secret}"),
        format!(
            "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: x\r\n\
             origin: http://{}\r\ncookie: highwater-{port}={secret}\r\n\
             sec-websocket-protocol: highwater.v1, highwater.secret.{secret}",
            http.address()
        ),
        format!("user-agent: {secret}"),
        format!("referer: http://{}/#sign-in={secret}", http.address()),
        format!("x-forwarded-for: {secret}"),
        format!("content-type: {secret}"),
        format!("{secret}: 1"),
    ] {
        for first in
            ["GET /", "GET /healthz", "GET /api/v1/me", "POST /mcp", "POST /api/v1/sign-in", "GET /metrics"]
        {
            http.lines(first, &[&host, &header], "{}");
        }
    }
    http.lines("GET /", &[&format!("host: {secret}")], "");
    http.lines("POST /mcp", &[&format!("host: {secret}")], "");
}

/// Sends a secret in bodies, well-formed and not, to routes that take none such.
fn misuse(owner: &Http, http: &Http, mcp: &str, secret: &str) {
    let host = format!("host: {}", http.address());
    let json_kind = "content-type: application/json";
    for body in [
        json!({ "code": secret }),
        json!({ "name": secret, "password": secret }),
        json!({ "password": secret }),
        json!({ secret: 1 }),
        json!([secret]),
    ] {
        http.call("POST", "/sign-in", &body);
    }
    http.lines("POST /api/v1/sign-in", &[&host, json_kind], &format!("{{\"code\": \"{secret}"));
    http.lines("POST /api/v1/sign-in", &[&host], &format!("code={secret}"));
    for (method, route, body) in [
        ("POST", "/channels", json!({ "name": format!("{secret} !") })),
        ("POST", "/people", json!({ "name": format!("{secret} !"), "role": secret })),
        ("POST", "/tokens", json!({ "label": "x", "scopes": [secret] })),
        ("POST", "/channels/general/messages", json!({ "text": "x", "thread_root_id": secret })),
        (
            "POST",
            "/channels/general/agents",
            json!({ "handle": "x", "env": [{ "name": "", "value": secret }] }),
        ),
        ("PUT", "/people/aiko/password", json!({ "password": [secret] })),
        ("PUT", "/watermarks", json!({ "watermarks": [secret] })),
        ("PATCH", "/messages/m1", json!({ "text": 1, secret: secret })),
        ("DELETE", &format!("/tokens/{secret}"), Value::Null),
        ("GET", &format!("/runs/{secret}"), Value::Null),
    ] {
        owner.call(method, route, &body);
    }
    let auth = format!("authorization: Bearer {mcp}");
    let call = |body: &str| {
        let lines = [&host, json_kind, "accept: application/json, text/event-stream", &auth];
        http.lines("POST /mcp", &lines, body).0
    };
    let request = |method: &str, params: Value| {
        call(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
    };
    assert_eq!(request("tools/list", json!({})), 200);
    request("tools/call", json!({"name": "channel_history", "arguments": {"before": secret}}));
    request("tools/call", json!({"name": "channel_post", "arguments": {"text": secret}}));
    request("tools/call", json!({"name": secret, "arguments": {secret: secret}}));
    request(secret, json!({ secret: secret }));
    call(&format!("{{\"{secret}\""));
}
