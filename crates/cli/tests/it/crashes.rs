//! The server killed at random instants during a stream of posts and mentions: nothing is lost, doubled or left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::{TestServer, wait_until};
use crate::thirty_mentions::logged_prompts;

/// How often the server is killed, unless `HIGHWATER_KILLS` says otherwise.
const KILLS: usize = 25;
/// A killed server's agents are gone after this long.
pub(crate) const GONE_AFTER: Duration = Duration::from_secs(2);

/// A post that was sent, and what the server said of it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) text: String,
    /// Its message id and number, if the server acknowledged it.
    pub(crate) acknowledged: Option<(String, u64)>,
}

/// Public reports B28, C31, C33: a post that is sent again after a kill is one message; each mention ends visibly, once.
#[test]
fn killed_at_random_instants() {
    // Fault experiment 1, at any instant; I1, I2, I3, I5, I9
    let kills = std::env::var("HIGHWATER_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    let seed = std::env::var("HIGHWATER_SEED").ok().and_then(|n| n.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()) * 2_654_435_761 + 1);
    println!("HIGHWATER_SEED={seed}");
    let mut random = Random(seed);

    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    server.add_scripted("other", "general", "log2", &[]);
    let sent: Mutex<BTreeMap<String, Sent>> = Mutex::default();
    let next = AtomicUsize::new(0);
    for kill in 0..kills {
        let lifetime = Duration::from_micros(random.below(400_000));
        post_until_killed(&mut server, &sent, &next, lifetime);
        server.wait_until_none_is_left(GONE_AFTER);
        server.start_again(&[]);
        if kill % 5 == 4 {
            wait_until_all_runs_ended(&server);
        }
    }
    wait_until_all_runs_ended(&server);
    repeat_what_was_not_acknowledged(&server, &sent);
    wait_until_all_runs_ended(&server);
    let sent = sent.into_inner().unwrap();
    assert!(sent.len() > kills, "too little was posted to tell anything: {}", sent.len());
    let history = whole_history(&server);
    check_posts(&history, &sent);
    check_runs(&server, &history);
    for log in ["log", "log2"] {
        check_prompts(&server.file(log));
    }
}

/// Posts from two writers until the server has lived for `lifetime`, then kills it under their hands.
fn post_until_killed(
    server: &mut TestServer,
    sent: &Mutex<BTreeMap<String, Sent>>,
    next: &AtomicUsize,
    lifetime: Duration,
) {
    let (url, token) = address(server);
    let killed = AtomicBool::new(false);
    let deadline = Instant::now() + lifetime;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !killed.load(Ordering::Relaxed) {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let text = match n % 40 {
                        0 => format!("@echo mention {n}"),
                        20 => format!("@other and @echo mention {n}"),
                        _ => format!("message {n}"),
                    };
                    let client_id = format!("client-{n}");
                    let acknowledged = post(&url, &token, &text, &client_id);
                    sent.lock().unwrap().insert(client_id, Sent { text, acknowledged });
                }
            });
        }
        while Instant::now() < deadline {
            std::thread::yield_now();
        }
        server.kill();
        killed.store(true, Ordering::Relaxed);
    });
}

pub(crate) fn address(server: &TestServer) -> (String, String) {
    let file = std::fs::read_to_string(server.data().join("server.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    (file["url"].as_str().unwrap().to_owned(), token)
}

/// The message's id and number, if the server acknowledged the post.
pub(crate) fn post(url: &str, token: &str, text: &str, client_id: &str) -> Option<(String, u64)> {
    let body = json!({ "text": text, "client_id": client_id });
    let mut answer = ureq::post(format!("{url}/api/v1/channels/general/messages"))
        .header("authorization", format!("Bearer {token}"))
        .send_json(&body)
        .ok()?;
    let posted: Value = answer.body_mut().read_json().ok()?;
    Some((posted["message"]["id"].as_str()?.to_owned(), posted["message"]["seq"].as_u64()?))
}

/// A client whose post got no answer sends it again with the same id: it must be there once afterwards.
pub(crate) fn repeat_what_was_not_acknowledged(server: &TestServer, sent: &Mutex<BTreeMap<String, Sent>>) {
    let (url, token) = address(server);
    for (client_id, post_) in sent.lock().unwrap().iter_mut() {
        if post_.acknowledged.is_none() {
            post_.acknowledged = post(&url, &token, &post_.text, client_id);
            assert!(post_.acknowledged.is_some(), "{client_id} was refused");
        }
    }
}

pub(crate) fn wait_until_all_runs_ended(server: &TestServer) {
    wait_until("all runs have ended", || {
        let runs = server.json(&["run", "list", "--limit", "10000"]);
        runs.as_array().unwrap().iter().all(|run| run["status"] != "queued" && run["status"] != "running")
    });
}

pub(crate) fn whole_history(server: &TestServer) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    loop {
        let before = all.first().map(|message| message["id"].as_str().unwrap().to_owned());
        let mut args = vec!["history", "general", "--limit", "1000"];
        args.extend(before.iter().flat_map(|id| ["--before", id.as_str()]));
        let mut page = server.json(&args).as_array().unwrap().clone();
        if page.is_empty() {
            return all;
        }
        page.append(&mut all);
        all = page;
    }
}

pub(crate) fn check_posts(history: &[Value], sent: &BTreeMap<String, Sent>) {
    let seqs: Vec<u64> = history.iter().map(|message| message["seq"].as_u64().unwrap()).collect();
    let dense: Vec<u64> = (1..=seqs.len() as u64).collect();
    assert_eq!(seqs, dense, "numbers have gaps or are out of order");
    assert!(history.windows(2).all(|pair| pair[0]["created_at"].as_str() < pair[1]["created_at"].as_str()));
    for post in sent.values() {
        let (id, seq) = post.acknowledged.as_ref().unwrap();
        let there: Vec<&Value> =
            history.iter().filter(|message| message["text"] == post.text.as_str()).collect();
        assert_eq!(there.len(), 1, "{post:?} is there {} times", there.len());
        assert_eq!((there[0]["id"].as_str(), there[0]["seq"].as_u64()), (Some(id.as_str()), Some(*seq)));
    }
    let people = history.iter().filter(|message| message["author"]["kind"] == "user").count();
    assert_eq!(people, sent.len(), "messages that nobody posted");
}

/// Every mention ended in exactly one answer or one visible failure, and showings agree with that.
pub(crate) fn check_runs(server: &TestServer, history: &[Value]) {
    let runs = server.json(&["run", "list", "--limit", "10000"]);
    let runs = runs.as_array().unwrap();
    let mut given: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut expected = BTreeSet::new();
    for message in history.iter().filter(|message| message["author"]["kind"] == "user") {
        for agent in ["other", "echo"] {
            if message["text"].as_str().unwrap().contains(&format!("@{agent}")) {
                expected.insert((message["id"].as_str().unwrap().to_owned(), agent.to_owned()));
            }
        }
    }
    let mut made = BTreeSet::new();
    for run in runs.iter().rev() {
        let key = (run["message_id"].as_str().unwrap().to_owned(), run["agent"].as_str().unwrap().to_owned());
        assert!(made.insert(key), "two runs for one mention: {run}");
        let of_run: Vec<&Value> = history.iter().filter(|message| message["run_id"] == run["id"]).collect();
        assert_eq!(of_run.len(), 1, "{run} is answered by {of_run:?}");
        let kind = if run["status"] == "succeeded" { "agent" } else { "system" };
        assert_eq!(of_run[0]["author"]["kind"], kind, "{run}");
        if run["status"] != "succeeded" {
            assert_eq!(run["status"], "failed", "{run}");
            continue;
        }
        let session = given.entry(run["native"].as_str().unwrap().to_owned()).or_default();
        let told = run["shown"].as_array().unwrap().iter().chain([&run["message_id"]]);
        for id in told {
            assert!(session.insert(id.as_str().unwrap().to_owned()), "{id} was given twice to one session");
        }
    }
    assert_eq!(made, expected, "mentions without a run, or runs without a mention");
}

/// What an agent may have begun is never begun again.
pub(crate) fn check_prompts(log: &str) {
    let mut seen = BTreeSet::new();
    for prompt in logged_prompts(log) {
        let payload =
            prompt.lines().find(|line| line.starts_with('{') && line.contains("\"run_id\"")).unwrap();
        let payload: Value = serde_json::from_str(payload).unwrap();
        assert!(seen.insert(payload["run_id"].as_str().unwrap().to_owned()), "sent twice: {payload}");
    }
    assert!(!seen.is_empty(), "the agent was never asked");
}

/// A small generator (xorshift), so that a printed seed plays the same instants again.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
