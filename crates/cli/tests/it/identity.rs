//! Two people and a guest at every route: what each must not reach.

use serde_json::{Value, json};

use crate::http::Http;
use crate::server::TestServer;

const NOTHING: Value = Value::Null;

/// The owner olive, the members aiko and ben, the guest gus; the public channels general and lobby, in which gus is;
/// the private one vault, which aiko manages, with a root, a reply, a mention that ended, and all of it findable.
struct Office {
    server: TestServer,
    http: Http,
    aiko: Http,
    ben: Http,
    gus: Http,
    /// In vault.
    root: String,
    reply: String,
    run: String,
}

impl Office {
    fn open() -> Self {
        let server = TestServer::start();
        server.ok(&["person", "add", "aiko"]);
        server.ok(&["person", "add", "ben"]);
        server.ok(&["person", "add", "gus", "--role", "guest"]);
        let http = Http::new(&server);
        let [aiko, ben, gus] = ["aiko", "ben", "gus"].map(|name| http.token(&token(&server, name, &[])));
        server.ok(&["channel", "add", "lobby"]);
        server.ok(&["channel", "invite", "lobby", "gus"]);
        aiko.ok("POST", "/channels", &json!({"name": "vault", "access": "private"}));
        server.ok(&["agent", "add", "guide", "--channel", "vault", "--preset", "guide"]);
        let post = |body: Value| aiko.ok("POST", "/channels/vault/messages", &body);
        let root = text(&post(json!({"text": "the quince is ripe"}))["message"]["id"]);
        let reply = post(json!({"text": "a quince indeed", "thread_root_id": root}));
        let asked = post(json!({"text": "@guide a quince?"}));
        let message = text(&asked["message"]["id"]);
        let ended = aiko.ok("GET", &format!("/messages/{message}/runs?wait_ms=30000"), &NOTHING);
        assert_eq!(ended["runs"][0]["status"], "succeeded", "{ended}");
        let run = text(&ended["runs"][0]["id"]);
        Self { http, aiko, ben, gus, root, reply: text(&reply["message"]["id"]), run, server }
    }
}

pub(crate) fn token(server: &TestServer, person: &str, more: &[&str]) -> String {
    let args: Vec<&str> = ["token", "create", "test", "--for", person].iter().chain(more).copied().collect();
    server.ok(&args).trim().to_owned()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

fn names(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| text(&one["name"])).collect()
}

/// Every route with the statuses that a member outside, a guest outside, and the manager of `vault` get for it.
#[test]
fn what_is_private_does_not_exist_for_those_outside() {
    // I14
    let office = Office::open();
    let Office { aiko, ben, gus, root, reply, run, .. } = &office;
    let agent = json!({"handle": "x", "preset": "guide", "delivery": "lean", "session": "resident", "supervised": true});
    let table: [(&str, String, Value, [u16; 3]); 24] = [
        ("GET", "/channels/vault".into(), NOTHING, [404, 404, 200]),
        ("GET", "/channels/vault/members".into(), NOTHING, [404, 404, 200]),
        ("GET", "/channels/vault/messages".into(), NOTHING, [404, 404, 200]),
        ("GET", format!("/channels/vault/messages?thread={root}"), NOTHING, [404, 404, 200]),
        ("GET", format!("/channels/lobby/messages?thread={root}"), NOTHING, [404, 404, 400]),
        ("GET", format!("/channels/lobby/messages?before={reply}"), NOTHING, [404, 404, 400]),
        ("GET", format!("/messages/{root}/runs"), NOTHING, [404, 404, 200]),
        ("GET", format!("/messages/{reply}/runs?wait_ms=1"), NOTHING, [404, 404, 200]),
        ("GET", "/search?q=quince&channel=vault".into(), NOTHING, [404, 404, 200]),
        ("GET", "/agents?channel=vault".into(), NOTHING, [404, 404, 200]),
        ("GET", "/runs?channel=vault".into(), NOTHING, [404, 404, 200]),
        ("GET", format!("/runs/{run}"), NOTHING, [404, 404, 200]),
        ("POST", "/channels/vault/messages".into(), json!({"text": "hi"}), [404, 404, 200]),
        (
            "POST",
            "/channels/lobby/messages".into(),
            json!({"text": "hi", "thread_root_id": root}),
            [404, 404, 404],
        ),
        ("PATCH", format!("/messages/{root}"), json!({"text": "a quince still"}), [404, 404, 200]),
        ("DELETE", format!("/messages/{reply}"), NOTHING, [404, 404, 200]),
        ("POST", format!("/runs/{run}/cancel"), NOTHING, [404, 404, 409]),
        ("POST", format!("/runs/{run}/retry"), NOTHING, [404, 404, 409]),
        ("PATCH", "/channels/vault".into(), json!({"topic": "x"}), [404, 404, 200]),
        ("PUT", "/channels/vault/members/olive".into(), NOTHING, [404, 404, 200]),
        ("DELETE", "/channels/vault/members/olive".into(), NOTHING, [404, 404, 200]),
        ("POST", "/channels/vault/agents".into(), agent, [404, 404, 403]),
        ("POST", "/channels/vault/agents/guide/fresh".into(), NOTHING, [404, 404, 200]),
        ("DELETE", "/channels/vault/agents/guide".into(), NOTHING, [404, 404, 403]),
    ];
    for (method, route, body, expected) in &table {
        let got = [ben, gus, aiko].map(|who| who.status(method, route, body));
        assert_eq!(got, *expected, "{method} {route}");
        // A thing that is hidden is answered word for word like one that is not there.
        if expected[0] == 404 && route.contains("vault") && !route.contains("lobby") {
            let (hidden, missing) =
                (ben.call(method, route, body), ben.call(method, &route.replace("vault", "void"), body));
            let told = |answer: &Value| text(&answer["message"]).replace("void", "vault");
            assert_eq!(told(&hidden.body), told(&missing.body), "{method} {route}");
        }
    }
    for who in [ben, gus] {
        let everything = ["/channels", "/agents", "/runs", "/search?q=quince", "/watermarks"];
        for route in everything {
            let seen = who.ok("GET", route, &NOTHING).to_string();
            let secrets = ["\"vault\"", "quince", "\"b-guide-2\"", &format!("\"{run}\"")];
            let secrets = secrets.map(|word| seen.contains(word));
            assert_eq!(secrets, [false; 4], "{route}: {seen}");
        }
    }
    assert_eq!(aiko.ok("GET", "/search?q=quince", &NOTHING).as_array().unwrap().len(), 2);
    assert_eq!(names(&aiko.ok("GET", "/channels", &NOTHING)), ["general", "lobby", "vault"]);
    assert_eq!(names(&ben.ok("GET", "/channels", &NOTHING)), ["general", "lobby"]);
    assert_eq!(names(&gus.ok("GET", "/channels", &NOTHING)), ["lobby"]);
    // Whoever left is outside.
    office.server.ok(&["channel", "invite", "vault", "ben"]);
    assert_eq!(ben.status("GET", &format!("/runs/{run}"), &NOTHING), 200);
    assert_eq!(ben.status("DELETE", "/channels/vault/members/ben", &NOTHING), 200);
    assert_eq!(ben.status("GET", &format!("/runs/{run}"), &NOTHING), 404);
}

#[test]
fn what_members_and_guests_may_not_do() {
    // I14
    let office = Office::open();
    let Office { server, http, aiko, ben, gus, .. } = &office;
    let owner = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    let owner = http.token(owner.trim());
    let posted = server.json(&["post", "lobby", "mine"]);
    let message = format!("/messages/{}", text(&posted["message"]["id"]));
    let table: [(&str, &str, Value, [u16; 3]); 24] = [
        ("GET", "/presets", NOTHING, [403, 403, 200]),
        ("GET", "/me", NOTHING, [200, 200, 200]),
        ("GET", "/health", NOTHING, [200, 200, 200]),
        ("GET", "/people", NOTHING, [200, 200, 200]),
        ("GET", "/channels/general", NOTHING, [200, 404, 200]),
        ("POST", "/channels", json!({"name": "own"}), [200, 403, 409]),
        ("PATCH", "/channels/own", json!({"archived": true}), [200, 404, 200]),
        ("PATCH", "/channels/lobby", json!({"name": "hall"}), [403, 403, 200]),
        ("PATCH", "/channels/hall", json!({"name": "lobby"}), [403, 403, 200]),
        ("PUT", "/channels/lobby/members/aiko", NOTHING, [403, 403, 200]),
        ("PUT", "/channels/lobby/members/ben", NOTHING, [200, 403, 200]),
        ("DELETE", "/channels/lobby/members/aiko", NOTHING, [403, 403, 200]),
        ("POST", "/channels/lobby/messages", json!({"text": "x", "author": "olive"}), [403, 403, 200]),
        ("PATCH", &message, json!({"text": "yours"}), [403, 403, 200]),
        ("DELETE", &message, NOTHING, [403, 403, 200]),
        ("POST", "/people", json!({"name": "eve"}), [403, 403, 200]),
        ("PATCH", "/people/eve", json!({"active": false}), [403, 403, 200]),
        ("PATCH", "/people/eve", json!({"role": "owner"}), [403, 403, 200]),
        ("POST", "/invites", json!({"name": "gus"}), [403, 403, 200]),
        ("POST", "/tokens", json!({"label": "x"}), [403, 403, 200]),
        ("GET", "/tokens", NOTHING, [403, 403, 200]),
        ("DELETE", "/tokens/t1", NOTHING, [404, 404, 200]),
        ("PUT", "/watermarks", json!({}), [403, 403, 200]),
        ("POST", "/sign-out", NOTHING, [409, 409, 409]),
    ];
    for (method, route, body, expected) in &table {
        let got = [ben, gus, &owner].map(|who| who.status(method, route, body));
        assert_eq!(got, *expected, "{method} {route}");
    }
    assert_eq!(
        names(&gus.ok("GET", "/people", &NOTHING)),
        ["ben", "gus", "olive"],
        "with whom they share lobby"
    );
    let agents = aiko.ok("GET", "/agents?channel=vault", &NOTHING);
    assert_eq!(agents[0]["command"], json!([]), "how it is started is for owners");
    assert_eq!(names(&owner.ok("GET", "/channels", &NOTHING)), ["general", "lobby", "own", "vault"]);
}

#[test]
fn who_may_address_an_agent() {
    let office = Office::open();
    let Office { server, gus, ben, .. } = &office;
    for (handle, who) in [("open", "everyone"), ("plain", "members"), ("closed", "owners")] {
        let args = ["agent", "add", handle, "--channel", "lobby", "--preset", "guide", "--addressed-by", who];
        server.ok(&args);
    }
    let ask = |who: &Http| {
        let body = json!({"text": "@open @plain @closed hello"});
        let posted = who.ok("POST", "/channels/lobby/messages", &body);
        let asked: Vec<String> =
            posted["runs"].as_array().unwrap().iter().map(|run| text(&run["agent"])).collect();
        asked
    };
    assert_eq!(ask(gus), ["open"]);
    assert_eq!(ask(ben), ["open", "plain"]);
    let history = server.json(&["history", "lobby"]);
    let history = history.as_array().unwrap();
    let notices = history.iter().filter(|message| message["author"]["kind"] == "system");
    let notices: Vec<String> = notices.map(|message| text(&message["text"])).collect();
    let expected = [
        "@plain was not asked: it answers members, not guests",
        "@closed was not asked: it answers owners alone",
        "@closed was not asked: it answers owners alone",
    ];
    assert_eq!(
        notices.iter().filter(|notice| notice.contains("not asked")).collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>()
    );
}

#[test]
fn tokens_have_scopes_an_end_and_no_copy() {
    let server = TestServer::start();
    let http = Http::new(&server);
    let [read, write] = ["read", "write"].map(|scope| token(&server, "olive", &["--scope", scope]));
    let [reader, writer] = [&read, &write].map(|token| http.token(token));
    let post = json!({"text": "hi"});
    let both = |method: &str, route: &str, body: &Value| {
        [&reader, &writer].map(|who| who.status(method, route, body))
    };
    assert_eq!(both("GET", "/channels/general/messages", &NOTHING), [200, 403]);
    assert_eq!(both("POST", "/channels/general/messages", &post), [403, 200]);
    assert_eq!(both("POST", "/people", &json!({"name": "eve"})), [403, 403]);
    assert_eq!(both("POST", "/tokens", &json!({"label": "more"})), [403, 403]);

    let soon = token(&server, "olive", &["--expires", "1s"]);
    let soon = http.token(&soon);
    crate::server::wait_until("the token's end", || soon.status("GET", "/me", &NOTHING) == 401);

    let listed = server.json(&["token", "list"]);
    let kinds: Vec<&str> =
        listed.as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["link", "token", "token"], "the link of the start, and what has not ended");
    assert_eq!(reader.status("GET", "/me", &NOTHING), 200);
    server.ok(&["token", "revoke", listed[1]["id"].as_str().unwrap()]);
    assert_eq!(reader.status("GET", "/me", &NOTHING), 401);

    // No secret stands in the data folder, but the owner's in its own file.
    for file in std::fs::read_dir(server.data()).unwrap().flatten() {
        let bytes = std::fs::read(file.path()).unwrap_or_default();
        for secret in [&read, &write] {
            let held = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!held, "{} holds a token", file.path().display());
        }
    }
}

/// What a browser has after signing in: its cookie, and what its page keeps.
pub(crate) fn browser(http: &Http, by: &Value) -> (String, String) {
    let answer = http.call("POST", "/sign-in", by);
    assert_eq!(answer.status, 200, "{answer:?}");
    let cookie = answer.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    for part in ["httponly", "samesite=strict", "path=/", &format!("highwater-{}=", http.port())] {
        assert!(cookie.contains(part), "{part} is not in {cookie}");
    }
    (cookie.split(';').next().unwrap().to_owned(), text(&answer.body["session"]))
}

#[test]
fn a_link_signs_in_once_and_the_cookie_alone_is_nothing() {
    // I11
    let server = TestServer::start();
    let http = Http::new(&server);
    let url = server.ok(&["invite", "aiko"]);
    let code = json!({"code": url.trim().split_once("#sign-in=").unwrap().1});
    assert_eq!(http.with("origin", "http://localhost:1").status("POST", "/sign-in", &code), 403);
    let (cookie, session) = browser(&http, &code);
    assert_eq!(http.status("POST", "/sign-in", &code), 401, "a second time");
    let with_cookie = http.with("cookie", &format!("other=1; {cookie}"));
    let page = with_cookie.with("x-highwater-session", &session);
    assert_eq!(page.ok("GET", "/me", &NOTHING)["person"]["name"], "aiko");
    assert_eq!(page.ok("GET", "/me", &NOTHING)["via"], "sign-in");
    let others = [
        with_cookie.clone(),
        with_cookie.with("x-highwater-session", &session.replace(['0', '1'], "2")),
        http.with("x-highwater-session", &session),
        http.with("cookie", "highwater-1=x").with("x-highwater-session", &session),
    ];
    for other in &others {
        assert_eq!(other.status("GET", "/me", &NOTHING), 401, "{other:?}");
        assert_eq!(
            other.status("POST", "/channels/general/messages", &json!({"text": "x"})),
            401,
            "{other:?}"
        );
    }
    assert_eq!(page.status("POST", "/channels/general/messages", &json!({"text": "hi"})), 200);
    assert_eq!(page.status("POST", "/sign-out", &NOTHING), 200);
    assert_eq!(page.status("GET", "/me", &NOTHING), 401);
}

#[test]
fn passwords() {
    let server = TestServer::start();
    let http = Http::new(&server);
    server.ok(&["person", "add", "aiko"]);
    let by = |password: &str| json!({"name": "aiko", "password": password});
    assert_eq!(http.status("POST", "/sign-in", &by("")), 401, "there is none");
    assert_eq!(server.run_with(&["person", "password", "aiko"], b"short\n").code, 5);
    assert_eq!(server.run_with(&["person", "password", "aiko"], b"correct horse\n").code, 0);
    assert_eq!(http.status("POST", "/sign-in", &by("correct hors")), 401);
    assert_eq!(http.status("POST", "/sign-in", &json!({"name": "nobody", "password": "correct horse"})), 401);
    let (cookie, session) = browser(&http, &by("correct horse"));
    let page = http.with("cookie", &cookie).with("x-highwater-session", &session);
    let change = |current: &str| {
        let body = json!({"password": "battery staple", "current": current});
        page.status("PUT", "/people/aiko/password", &body)
    };
    assert_eq!(page.status("PUT", "/people/olive/password", &json!({"password": "battery staple"})), 403);
    assert_eq!([change("wrong"), change("correct horse")], [403, 200]);
    assert_eq!(page.status("GET", "/me", &NOTHING), 401, "a new password ends what was signed in");
    assert_eq!(
        [
            http.status("POST", "/sign-in", &by("correct horse")),
            http.status("POST", "/sign-in", &by("battery staple"))
        ],
        [401, 200]
    );
    // Guessing is slow.
    let answers: Vec<u16> = (0..12).map(|_| http.status("POST", "/sign-in", &by("guess guess"))).collect();
    assert!(answers.ends_with(&[429, 429]), "{answers:?}");
}

#[test]
fn a_deactivated_person_is_out_and_their_queued_runs_end_visibly() {
    let office = Office::open();
    let Office { server, aiko, .. } = &office;
    let script = r#"{"prompt":[{"await_cancel":true}]}"#;
    let agent = crate::server::program_path("scripted-agent").display().to_string();
    server.ok(&["agent", "add", "slow", "--channel", "vault", "--", &agent, script]);
    let ask = || aiko.ok("POST", "/channels/vault/messages", &json!({"text": "@slow go"}));
    let (first, second) = (ask(), ask());
    let status = |asked: &Value| text(&server.show(&text(&asked["runs"][0]["id"]))["status"]);
    crate::server::wait_until("the first is at work", || status(&first) == "running");
    server.ok(&["person", "deactivate", "aiko"]);
    assert_eq!(aiko.status("GET", "/me", &NOTHING), 401);
    assert_eq!((status(&first), status(&second)), ("running".to_owned(), "cancelled".to_owned()));
    let history = server.json(&["history", "vault"]).to_string();
    assert!(history.contains("aiko was deactivated"), "{history}");
    assert_eq!(server.run(&["post", "lobby", "x", "--as", "aiko"]).code, 4);
    assert_eq!(server.run(&["invite", "aiko"]).code, 4);
    assert_eq!(server.run(&["person", "deactivate", "olive"]).code, 4, "the only owner");
    server.ok(&["person", "activate", "aiko"]);
    assert_eq!(aiko.status("GET", "/me", &NOTHING), 401, "tokens that ended stay so");
    server.ok(&["post", "lobby", "back", "--as", "aiko"]);
    server.ok(&["run", "cancel", &text(&first["runs"][0]["id"])]);
}

#[test]
fn names_change_and_messages_keep_their_author() {
    // I6
    let server = TestServer::start();
    let http = Http::new(&server);
    server.ok(&["person", "add", "aiko"]);
    let aiko = http.token(&token(&server, "aiko", &[]));
    let posted =
        aiko.ok("POST", "/channels/general/messages", &json!({"text": "before", "client_id": "one"}));
    let first = server.ask("general", "@guide hello", &["--as", "aiko"]);
    let sent = |asked: &Value| text(&server.show(&text(&asked["runs"][0]["id"]))["sent"]);
    let earlier = sent(&first);
    server.ok(&["person", "rename", "aiko", "kobo"]);
    assert_eq!(sent(&first), earlier, "what was sent stays what was sent");
    let again = aiko.ok("POST", "/channels/general/messages", &json!({"text": "before", "client_id": "one"}));
    assert_eq!(again["message"], posted["message"], "the same person with the same client id");
    let after = aiko.ok("POST", "/channels/general/messages", &json!({"text": "after"}));
    assert_eq!(
        (&again["message"]["author"]["name"], &after["message"]["author"]["name"]),
        (&json!("aiko"), &json!("kobo"))
    );
    assert_eq!(again["message"]["author"]["person_id"], after["message"]["author"]["person_id"]);
    let id = text(&posted["message"]["id"]);
    assert_eq!(aiko.status("PATCH", &format!("/messages/{id}"), &json!({"text": "still mine"})), 200);
    assert_eq!(server.run(&["person", "add", "aiko"]).code, 4, "nobody else takes the old name");
    let second = sent(&server.ask("general", "@guide and now?", &[]));
    assert!(
        second.contains("- [user] kobo: after") && second.contains("- [edited] aiko: still mine"),
        "{second}"
    );
}

#[test]
fn channels_are_renamed_archived_and_opened_again() {
    let server = TestServer::start();
    let refused = |args: &[&str], code: i32, word: &str| {
        let output = server.run(args);
        assert!(output.code == code && output.err.contains(word), "{args:?}: {output:?}");
    };
    server.ok(&["channel", "add", "ideas"]);
    server.ok(&["channel", "topic", "ideas", "what next"]);
    server.ok(&["channel", "rename", "ideas", "plans"]);
    refused(&["channel", "rename", "plans", "general"], 4, "exists");
    refused(&["channel", "show", "ideas"], 3, "ideas");
    assert!(server.ok(&["channel", "show", "plans"]).contains("topic: what next"));
    server.ok(&["channel", "archive", "plans"]);
    refused(&["post", "plans", "late"], 4, "archived");
    server.ok(&["channel", "archive", "plans", "--undo"]);
    server.ok(&["post", "plans", "in time"]);
    let history = server.json(&["history", "plans"]);
    let expected = [
        "the channel's topic is now: what next",
        "the channel ideas is called plans now",
        "the channel was archived: it takes no more posts",
        "the channel was opened again",
        "in time",
    ];
    assert_eq!(crate::first_steps::texts(&history), expected);
}

#[test]
fn a_direct_conversation_belongs_to_its_person() {
    let office = Office::open();
    let Office { server, aiko, ben, .. } = &office;
    ben.ok("POST", "/channels", &json!({"name": "desk", "direct": "guide"}));
    let asked = ben.ok("POST", "/channels/desk/messages", &json!({"text": "help"}));
    assert_eq!(asked["runs"].as_array().unwrap().len(), 1);
    assert_eq!(aiko.status("GET", "/channels/desk", &NOTHING), 404);
    assert_eq!(server.run(&["channel", "invite", "desk", "aiko"]).code, 7);
    assert_eq!(server.run(&["post", "desk", "x", "--as", "aiko"]).code, 7);
    assert_eq!(server.run(&["post", "desk", "x"]).code, 7);
}

#[test]
fn too_much_at_once_is_slowed_down() {
    let mut server = TestServer::start();
    server.stop();
    std::fs::write(server.file("config.toml"), "write_rate = 5\nwrite_burst = 3\n").unwrap();
    server.start_again(&["--config", &server.file("config.toml")]);
    let http = Http::new(&server);
    server.ok(&["person", "add", "aiko"]);
    let [one, other] = [(), ()].map(|()| http.token(&token(&server, "aiko", &[])));
    let post = |who: &Http| who.call("POST", "/channels/general/messages", &json!({"text": "x"}));
    let mut answers = [&one, &other, &one, &other, &one, &other].map(post).into_iter();
    let limited =
        answers.find(|answer| answer.status == 429).expect("six at once are too many, by whichever token");
    assert_eq!(limited.body["code"], "rate_limited");
    assert!(limited.head.contains("retry-after: 1"), "{}", limited.head);
    assert_eq!(one.status("GET", "/channels/general/messages", &NOTHING), 200, "reading goes on");
    for _ in 0..10 {
        server.ok(&["post", "general", "the owner's token is not limited"]);
    }
}
