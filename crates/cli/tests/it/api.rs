//! What a client of the API relies on: its description, pages, and posts that may be sent again.

use serde_json::{Value, json};

use crate::http::Http;
use crate::server::{TestServer, program_path, wait_until};

const NOTHING: Value = Value::Null;

fn owner(server: &TestServer) -> Http {
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    Http::new(server).token(token.trim())
}

fn texts(messages: &Value) -> Vec<String> {
    messages.as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_description_is_the_same_from_the_program_and_from_the_server() {
    let server = TestServer::start();
    let printed: Value = serde_json::from_str(&server.ok(&["openapi"])).unwrap();
    assert_eq!(printed["openapi"], "3.1.0");
    assert_eq!(Http::new(&server).ok("GET", "/openapi.json", &NOTHING), printed);
}

/// Everybody who sends the same post at the same time gets the same message, and it is there once.
#[test]
fn one_client_id_sent_many_times_at_once_is_one_message_with_its_run() {
    // I1
    let server = TestServer::start();
    let http = owner(&server);
    let body = json!({"text": "@guide hello", "client_id": "one"});
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let post = || http.ok("POST", "/channels/general/messages", &body);
        let posts: Vec<_> = (0..16).map(|_| scope.spawn(post)).collect();
        posts.into_iter().map(|post| post.join().unwrap()).collect()
    });
    let ids = |answer: &Value| (answer["message"]["id"].clone(), answer["runs"][0]["id"].clone());
    assert_eq!(answers.iter().map(ids).collect::<Vec<_>>(), vec![ids(&answers[0]); 16]);
    let history = http.ok("GET", "/channels/general/messages", &NOTHING);
    assert_eq!(texts(&history).iter().filter(|text| *text == "@guide hello").count(), 1);
    assert_eq!(http.ok("GET", "/runs", &NOTHING).as_array().unwrap().len(), 1);

    http.ok("POST", "/channels", &json!({"name": "other"}));
    let others = [
        ("/channels/general/messages", json!({"text": "another text", "client_id": "one"})),
        ("/channels/other/messages", json!({"text": "@guide hello", "client_id": "one"})),
        ("/channels/general/messages", json!({"text": "x", "client_id": "x".repeat(129)})),
    ];
    assert_eq!(others.map(|(route, body)| http.status("POST", route, &body)), [409, 409, 400]);
}

#[test]
fn messages_page_backwards_each_exactly_once() {
    let server = TestServer::start();
    let http = owner(&server);
    let expected: Vec<String> = (0..11).map(|n| format!("pear {n}")).collect();
    for text in &expected {
        http.ok("POST", "/channels/general/messages", &json!({"text": text}));
    }
    for limit in [1, 3, 11, 50] {
        let mut seen: Vec<String> = Vec::new();
        let mut route = format!("/channels/general/messages?limit={limit}");
        loop {
            let page = http.ok("GET", &route, &NOTHING);
            seen.splice(0..0, texts(&page));
            if page.as_array().unwrap().len() < limit {
                break;
            }
            let oldest = page[0]["id"].as_str().unwrap();
            route = format!("/channels/general/messages?limit={limit}&before={oldest}");
        }
        assert_eq!(seen, expected, "limit {limit}");
    }
    let found = |limit: &str| texts(&http.ok("GET", &format!("/search?q=pear{limit}"), &NOTHING));
    let newest_first: Vec<String> = expected.iter().rev().cloned().collect();
    assert_eq!((found("&limit=2"), found("")), (newest_first[..2].to_vec(), newest_first));
}

#[test]
fn limits_have_bounds_and_unknown_parameters_are_refused() {
    let server = TestServer::start();
    let http = owner(&server);
    let table = [
        ("/channels/general/messages?limit=0", 400),
        ("/channels/general/messages?limit=1000", 200),
        ("/channels/general/messages?limit=1001", 400),
        ("/channels/general/messages?limit=many", 400),
        ("/channels/general/messages?limt=1", 400),
        ("/search?q=x&limit=0", 400),
        ("/search?q=x&limit=1001", 400),
        ("/search", 400),
        ("/runs?limit=10000", 200),
        ("/runs?limit=10001", 400),
        ("/runs?chanel=general", 400),
        ("/agents?chanel=general", 400),
        ("/tokens?people=olive", 400),
        ("/channels/%ff", 400),
        ("/void", 404),
    ];
    for (route, expected) in table {
        let answer = http.call("GET", route, &NOTHING);
        let code = if expected == 404 { "not_found" } else { "invalid" };
        let has_code = expected == 200 || answer.body["code"] == code;
        assert!(answer.status == expected && has_code, "{route}: {answer:?}");
    }
}

/// Who may write only is not told by a write what was said before.
#[test]
fn a_token_for_writing_cancels_a_turn_and_reads_nothing_of_it() {
    // I14
    let server = TestServer::start();
    let http = owner(&server);
    let token = |scopes: Value| {
        let made = http.ok("POST", "/tokens", &json!({"label": "x", "scopes": scopes}));
        Http::new(&server).token(made["secret"].as_str().unwrap())
    };
    let [writer, both] = [token(json!(["write"])), token(json!(["read", "write"]))];
    let agent = program_path("scripted-agent").display().to_string();
    let script = r#"{"prompt":[{"await_cancel":true}]}"#;
    server.ok(&["agent", "add", "slow", "--channel", "general", "--", &agent, script]);
    http.ok("POST", "/channels/general/messages", &json!({"text": "the quince is ripe"}));
    for (who, told) in [(&writer, false), (&both, true)] {
        let asked = http.ok("POST", "/channels/general/messages", &json!({"text": "@slow go"}));
        let run = format!("/runs/{}", asked["runs"][0]["id"].as_str().unwrap());
        wait_until("its turn has begun", || http.ok("GET", &run, &NOTHING)["status"] == "running");
        let cancelled = who.ok("POST", &format!("{run}/cancel"), &NOTHING);
        assert_eq!(cancelled["sent"].is_string(), told, "{cancelled}");
        assert_eq!(cancelled.to_string().contains("@slow go"), told, "{cancelled}");
    }
}
