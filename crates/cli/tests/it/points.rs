//! The server kills itself at named points of its work, again and again: nothing is lost, doubled or left.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::sync::Mutex;

use crate::crashes::{self, GONE_AFTER, Random, Sent};
use crate::server::{TestServer, wait_until};

/// How many kills, unless `HIGHWATER_KILLS` says otherwise: each seed is one.
const SEEDS: u64 = 40;

/// Posts that are tried in one life of a server; far fewer bring it to any of the points.
const POSTS: usize = 40;

/// Between the message in the transaction and its commit; the prompt sent and that stored; the answer and the commit of
/// reply, run and watermark; a commit and its acknowledgement; that and what follows for agents.
const POINTS: [&str; 5] = ["Inserted", "Prompted", "Answered", "Committed", "Told"];

/// Fault experiment 1: kill -9 at each of the points, over many seeds. What was acknowledged is there once and in order,
/// each mention ends in one answer or one visible failure, no session is given anything twice, and no process is left.
#[test]
fn killed_at_named_points() {
    // I1, I2, I3, I4, I5, I9
    if !cfg!(debug_assertions) {
        eprintln!("SKIPPED: a release build has no such points");
        return;
    }
    let seeds = std::env::var("HIGHWATER_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(SEEDS);
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    server.add_scripted("other", "general", "log2", &[]);
    assert!(server.stop().success());
    let sent: Mutex<BTreeMap<String, Sent>> = Mutex::default();
    for seed in 0..seeds {
        let mut random = Random(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed + 1));
        let point = POINTS[usize::try_from(seed).unwrap() % POINTS.len()];
        let at = format!("{point}:{}", 1 + random.below(6));
        let status = killed_at(&mut server, &at, &sent);
        assert_eq!(status, Some(9), "seed {seed}, {at}");
        server.wait_until_none_is_left(GONE_AFTER);
    }
    server.start_again(&[]);
    crashes::wait_until_all_runs_ended(&server);
    crashes::repeat_what_was_not_acknowledged(&server, &sent);
    crashes::wait_until_all_runs_ended(&server);
    let history = crashes::whole_history(&server);
    crashes::check_posts(&history, &sent.into_inner().unwrap());
    crashes::check_runs(&server, &history);
    for log in ["log", "log2"] {
        crashes::check_prompts(&server.file(log));
    }
}

/// Posts until the server is gone; by which signal.
fn killed_at(server: &mut TestServer, at: &str, sent: &Mutex<BTreeMap<String, Sent>>) -> Option<i32> {
    if server.start_to_die(at) {
        let (url, token) = crashes::address(server);
        for _ in 0..POSTS {
            let mut sent = sent.lock().unwrap();
            let n = sent.len();
            let text = match n % 3 {
                0 => format!("@echo mention {n}"),
                1 => format!("@other and @echo mention {n}"),
                _ => format!("message {n}"),
            };
            let client_id = format!("client-{n}");
            let acknowledged = crashes::post(&url, &token, &text, &client_id);
            let is_dead = acknowledged.is_none();
            sent.insert(client_id, Sent { text, acknowledged });
            if is_dead {
                break;
            }
        }
    }
    let mut status = None;
    wait_until("it is killed", || {
        status = server.died();
        status.is_some()
    });
    status.and_then(|status| status.signal())
}
