//! Who reaches the server over the network, and what pages of other sites get: nothing (faults 21 to 23).

use serde_json::{Value, json};

use crate::http::Http;
use crate::identity::{browser, token};
use crate::server::{TestServer, wait_until};

const NOTHING: Value = Value::Null;

/// Addresses of every kind: pages, the API, live events, tools, what watches the server, and what is not there.
const PATHS: [&str; 8] = [
    "/",
    "/healthz",
    "/metrics",
    "/mcp",
    "/api/v1/me",
    "/api/v1/events",
    "/api/v1/events/ws",
    "/nowhere/at/all",
];

fn owner_token(server: &TestServer) -> String {
    std::fs::read_to_string(server.data().join("owner-token")).unwrap().trim().to_owned()
}

/// A server for others: it listens on all addresses and is called chat.example beyond its proxy.
fn for_others(settings: &str) -> TestServer {
    let mut server = TestServer::start();
    server.stop();
    let file = server.file("config.toml");
    std::fs::write(&file, format!("public_url = \"https://chat.example\"\n{settings}")).unwrap();
    server.start_again(&["--listen", "0.0.0.0:0", "--config", &file]);
    server
}

#[test]
fn another_address_needs_a_public_one() {
    let server = TestServer::start();
    let other = server.file("other");
    let refused = |settings: &str, args: &[&str], words: &[&str]| {
        let file = server.file("config.toml");
        std::fs::write(&file, settings).unwrap();
        let args = [&["serve", "--data", &other, "--config", &file], args].concat();
        let output = server.run(&args);
        assert_eq!(output.code, 5, "{output:?}");
        for word in words {
            assert!(output.err.contains(word), "{settings:?} {args:?} does not say {word:?}: {}", output.err);
        }
    };
    let set = [
        "public_url",
        "allowed_hosts",
        "HIGHWATER_PUBLIC_URL",
        "https://chat.example.com",
        "docs/deployment.md",
    ];
    refused("", &["--listen", "0.0.0.0:0"], &set);
    refused("listen = \"[::]:0\"\n", &[], &set);
    refused("public_url = \"http://chat.example\"\n", &["--listen", "0.0.0.0:0"], &["plain_http", "TLS"]);
    refused("public_url = \"https://a.example\"\nallowed_hosts = [\"b.example\"]\n", &[], &["a.example"]);
    assert!(!std::path::Path::new(&other).exists(), "nothing was begun");
}

#[test]
fn a_server_for_others_is_called_by_its_names() {
    let server = for_others("allowed_hosts = [\"chat.example\", \"inner.example:8443\"]\n");
    let http = Http::new(&server);
    assert!(http.address().starts_with("127.0.0.1:"), "programs on its machine reach it at loopback");
    server.ok(&["post", "general", "hello"]);

    let host = |host: &str| http.lines("GET /healthz", &[&format!("host: {host}")], "").0;
    let port = http.port();
    let known = ["chat.example", "chat.example:443", "inner.example:8443", &format!("localhost:{port}")];
    assert_eq!(known.map(host), [200; 4]);
    let foreign =
        ["evil.example", "inner.example", "0.0.0.0", &format!("0.0.0.0:{port}"), "chat.example.evil.example"];
    assert_eq!(foreign.map(host), [403; 5]);

    let link = server.json(&["invite", "aiko"])["url"].as_str().unwrap().to_owned();
    let code = link.strip_prefix("https://chat.example/#sign-in=").unwrap_or_else(|| panic!("{link}"));
    let by = json!({ "code": code }).to_string();
    let own = ["host: chat.example", "origin: https://chat.example", "sec-fetch-site: same-origin"];
    let lines = [&own[..], &["content-type: application/json"]].concat();
    let (status, head, body) = http.lines("POST /api/v1/sign-in", &lines, &by);
    assert_eq!(status, 200, "{body}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    assert!(pair.starts_with(&format!("__Host-highwater-{port}=")), "{cookie}");
    assert_eq!(attributes, "Secure; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
    let body: Value = serde_json::from_str(&body).unwrap();
    let session = format!("x-highwater-session: {}", body["session"].as_str().unwrap());
    let cookie = format!("cookie: {pair}");
    let me = |lines: &[&str]| http.lines("GET /api/v1/me", &[lines, &[&cookie, &session]].concat(), "").0;
    assert_eq!(me(&own), 200);
    assert_eq!(me(&["host: chat.example", "origin: http://chat.example"]), 403, "the same name without TLS");
    assert_eq!(me(&["host: chat.example", "origin: https://chat.example:8443"]), 403, "another port");
}

#[test]
fn all_of_loopback_is_loopback() {
    let mut server = TestServer::start();
    server.stop();
    server.start_again(&["--listen", "127.0.0.2:0"]);
    let http = Http::new(&server);
    assert!(http.address().starts_with("127.0.0.2:"));
    server.ok(&["post", "general", "hello"]);
    let link = server.json(&["invite", "aiko"])["url"].as_str().unwrap().to_owned();
    assert!(link.starts_with(&format!("http://{}/#sign-in=", http.address())), "{link}");
    assert_eq!(http.lines("GET /healthz", &[&format!("host: localhost:{}", http.port())], "").0, 200);
    assert_eq!(http.lines("GET /healthz", &[&format!("host: 127.0.0.3:{}", http.port())], "").0, 403);
}

/// Fault experiment 22: a page that resolves its own name to this machine.
#[test]
fn a_foreign_host_reaches_nothing() {
    // I11
    let servers = [TestServer::start(), for_others("")];
    for server in &servers {
        let http = Http::new(server);
        let auth = format!("authorization: Bearer {}", owner_token(server));
        let own = format!("host: {}", http.address());
        let evil = format!("host: evil.example:{}", http.port());
        for path in PATHS {
            for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"] {
                let first = format!("{method} {path}");
                let foreign: [&[&str]; 4] = [
                    &[&evil, &auth],
                    &["host: evil.example", &auth],
                    &[&own, &evil, &auth],
                    &["host:", &auth],
                ];
                for lines in foreign {
                    let (status, _, body) = http.lines(&first, lines, "");
                    // Two hosts are no HTTP: whoever finds that first may say so.
                    assert!(
                        status == 403 || (status == 400 && lines.len() == 3),
                        "{first} {lines:?}: {status} {body}"
                    );
                }
                let (status, _, _) =
                    http.lines(&format!("{method} http://evil.example{path}"), &[&own, &auth], "");
                assert_eq!(status, 403, "{first}");
                assert_ne!(http.begin(&first, &[&own, &auth]).0, 403, "{first} of its own");
            }
        }
    }
}

/// Fault experiment 21: a page of another site uses the browser of somebody who is signed in here.
#[test]
fn a_page_of_another_site_changes_nothing() {
    // I11
    let server = TestServer::start();
    let http = Http::new(&server);
    let link = server.json(&["invite", "aiko"])["url"].as_str().unwrap().to_owned();
    let code = link.split_once("sign-in=").unwrap().1;
    let (cookie, session) = browser(&http, &json!({ "code": code }));
    let cookie = format!("cookie: {cookie}");
    let session = format!("x-highwater-session: {session}");
    let host = format!("host: {}", http.address());
    let own = format!("origin: http://{}", http.address());
    let other_port = "origin: http://127.0.0.1:1";
    const JSON: &str = "content-type: application/json";
    let text = |text: &str| json!({ "text": text }).to_string();
    let check = |lines: &[&str], body: &str, expected: u16| {
        let lines = [&[host.as_str(), &cookie], lines].concat();
        let (status, _, answer) = http.lines("POST /api/v1/channels/general/messages", &lines, body);
        assert_eq!(status, expected, "{lines:?}: {answer}");
    };
    // With all that a browser could ever send: the page's secret is what another site does not have.
    for foreign in [
        "origin: https://evil.example",
        other_port,
        "origin: null",
        "sec-fetch-site: cross-site",
        "sec-fetch-site: same-site",
    ] {
        check(&[JSON, &session, foreign], &text("forged"), 403);
        check(&[JSON, foreign], &text("forged"), 403);
    }
    let visit = ["sec-fetch-site: cross-site", "sec-fetch-mode: navigate", "sec-fetch-dest: document"];
    check(&[&[JSON, session.as_str()], &visit[..]].concat(), &text("forged"), 403);
    // What a form can send without asking first.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let kind = format!("content-type: {kind}");
        check(&[&kind, "origin: https://evil.example"], &text("forged"), 403);
        check(&[&kind], &text("forged"), 401);
        check(&[&kind, &session, &own], &text("forged"), 400);
    }
    check(&[&session, &own], &text("forged"), 400);
    // From a browser that tells nothing of where it is: the cookie alone is nobody.
    check(&[JSON], &text("forged"), 401);
    check(&[JSON, &own], &text("forged"), 401);
    check(&[JSON, "x-highwater-session: guessed", &own], &text("forged"), 401);
    // Nobody is told that they may ask.
    let (_, head, _) = http.lines("OPTIONS /api/v1/channels", &[&host, "origin: https://evil.example"], "");
    assert!(!head.to_lowercase().contains("access-control-allow"), "{head}");
    assert_eq!(crate::first_steps::texts(&server.json(&["history", "general"])), Vec::<String>::new());
    check(&[JSON, &session, &own, "sec-fetch-site: same-origin"], &text("real"), 200);
    assert_eq!(crate::first_steps::texts(&server.json(&["history", "general"])), ["real"]);
}

/// Fault experiment 23: browsers let any page open a WebSocket anywhere.
#[test]
fn a_web_socket_of_another_site_is_refused() {
    // I11
    let server = TestServer::start();
    let http = Http::new(&server);
    let auth = format!("authorization: Bearer {}", owner_token(&server));
    let host = format!("host: {}", http.address());
    let own = format!("origin: http://{}", http.address());
    let upgrade = [
        host.as_str(),
        "upgrade: websocket",
        "sec-websocket-version: 13",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    for path in PATHS {
        let check = |lines: &[&str], expected: u16| {
            let (status, _, body) = http.lines(&format!("GET {path}"), &[&upgrade[..], lines].concat(), "");
            assert_eq!(status, expected, "{path} {lines:?}: {body}");
        };
        for foreign in ["origin: https://evil.example", "origin: http://127.0.0.1:1", "origin: null"] {
            check(&[foreign, &auth], 403);
            check(&[foreign], 403);
            check(&[&own, foreign, &auth], 403);
        }
        check(&["sec-fetch-site: cross-site", &auth], 403);
        check(&[], 401);
        check(&["cookie: highwater-1=x", "x-highwater-session: x"], 401);
    }
    // Programs with a token come in; its own pages pass the gate, and have to say who they are.
    let opened = |lines: &[&str]| {
        http.begin("GET /api/v1/events/ws", &[&upgrade[..], &["connection: upgrade"], lines].concat()).0
    };
    assert_eq!(opened(&[&auth]), 101);
    assert_eq!(opened(&[&own]), 401);
}

#[test]
fn anybody_may_ask_whether_it_works() {
    let server = TestServer::start();
    let http = Http::new(&server);
    let (status, head, body) = http.lines("GET /healthz", &[&format!("host: {}", http.address())], "");
    assert_eq!((status, body.as_str()), (200, r#"{"status":"ok","engine":"ok","read":"ok","write":"ok"}"#));
    assert!(head.to_lowercase().contains("cache-control: no-store"), "{head}");
}

#[test]
fn the_metrics_are_for_owners_and_tell_nothing_of_anybody() {
    let server = TestServer::start();
    let http = Http::new(&server);
    server.ok(&["person", "add", "zebedee"]);
    server.ok(&["channel", "add", "quinces"]);
    server.ok(&["agent", "add", "okapi", "--channel", "quinces", "--preset", "guide"]);
    server.ask("quinces", "@okapi a marmoset?", &[]);
    let host = format!("host: {}", http.address());
    let auth = format!("authorization: Bearer {}", owner_token(&server));
    let (status, follower) = http.begin("GET /api/v1/events", &[&host, &auth]);
    assert_eq!(status, 200);
    let ask =
        |token: &str| http.lines("GET /metrics", &[&host, &format!("authorization: Bearer {token}")], "");
    assert_eq!(http.lines("GET /metrics", &[&host], "").0, 401);
    let watch = token(&server, "olive", &["--scope", "metrics"]);
    let others = [
        token(&server, "olive", &["--scope", "read", "--scope", "write", "--scope", "admin"]),
        token(&server, "zebedee", &["--scope", "metrics"]),
    ];
    assert_eq!(others.map(|token| ask(&token).0), [403, 403]);
    assert_eq!(ask(&owner_token(&server)).0, 200);
    let watcher = http.token(&watch);
    assert_eq!(
        [watcher.status("GET", "/channels", &NOTHING), watcher.status("GET", "/people", &NOTHING)],
        [403, 403]
    );

    let text = || ask(&watch).2;
    for line in [
        "highwater_posts_total 1",
        "highwater_runs_total{outcome=\"succeeded\"} 1",
        "highwater_turns_total 1",
        "highwater_runs_queued 0",
        "highwater_events_followers 1",
        "highwater_agent_processes{state=\"warm\"} 1",
        "highwater_http_requests_total{method=\"POST\",route=\"/api/v1/channels/{channel}/messages\",status=\"200\"} 1",
        "highwater_http_requests_total{method=\"GET\",route=\"/metrics\",status=\"401\"} 1",
        "highwater_http_requests_total{method=\"GET\",route=\"/metrics\",status=\"403\"} 2",
    ] {
        wait_until(line, || text().lines().any(|one| one == line));
    }
    drop(follower);
    wait_until("nobody follows", || text().lines().any(|one| one == "highwater_events_followers 0"));
    let above_zero = |name: &str| {
        let text = text();
        let value = text.lines().find_map(|line| line.strip_prefix(&format!("{name} "))).unwrap();
        assert!(value.parse::<f64>().unwrap() > 0.0, "{name}: {value}");
    };
    for name in [
        "highwater_prompt_bytes_total",
        "highwater_engine_batch_size_count",
        "highwater_engine_batch_duration_seconds_sum",
        "highwater_database_bytes",
    ] {
        above_zero(name);
    }
    // However many addresses are asked for, they are one route.
    for n in 0..50 {
        http.lines(&format!("GET /zebra/{n}"), &[&host], "");
        http.lines(&format!("ZEBRA{n} /api/v1/channels/zebra{n}"), &[&host], "");
    }
    let text = text();
    for name in ["zeb", "ZEB", "quince", "okapi", "marmoset", "olive", "general"] {
        assert!(!text.contains(name), "{name} is in {text}");
    }
    let series =
        text.lines().filter(|line| line.contains("route=\"none\"") && line.contains("requests_total"));
    assert!(series.count() <= 2, "{text}");
}
