//! What runs took, through the whole program: told by agents, shown to people and programs.

use serde_json::{Value, json};

use crate::http::Http;
use crate::identity::token;
use crate::server::TestServer;

/// A turn of `@echo` with these steps; its run.
fn turn(server: &TestServer, channel: &str, steps: &Value) -> Value {
    let asked = server.ask(channel, &format!("@echo SCRIPT:{}", json!({"prompt": steps})), &[]);
    asked["runs"][0].clone()
}

/// A turn that tells its tokens, and what the session has cost by now.
fn telling(input: u64, read: u64, cost: f64) -> Value {
    let usage = json!({"inputTokens": input, "outputTokens": 5, "cachedReadTokens": read, "totalTokens": input + read + 5});
    let update = json!({"sessionUpdate": "usage_update", "used": 9, "size": 99, "cost": {"amount": cost, "currency": "USD"}});
    json!([{"text": "done"}, {"update": update}, {"answer": {"usage": usage}}])
}

#[test]
fn what_runs_took_is_shown_and_what_was_not_told_is_no_zero() {
    let server = TestServer::start();
    server.ok(&["channel", "add", "other"]);
    for channel in ["general", "other"] {
        server.add_scripted("echo", channel, "log", &[]);
    }
    let first = turn(&server, "general", &telling(10, 90, 0.5));
    assert_eq!(first["usage"]["cost"], json!({"micros": 500_000, "currency": "USD", "by": "agent"}));
    let second = turn(&server, "general", &telling(100, 900, 0.75));
    assert_eq!(second["usage"]["cost"]["micros"], 250_000, "the agent counts its whole session: {second}");
    let untold = turn(&server, "other", &json!([{"text": "done"}]));
    assert_eq!(untold["usage"], Value::Null);

    let shown = server.ok(&["run", "show", second["id"].as_str().unwrap()]);
    let line = shown.lines().find(|line| line.starts_with("usage")).unwrap();
    assert_eq!(
        line,
        "usage       input 100, read from cache 900, output 5, cost 0.2500 USD (as the agent told)"
    );
    let shown = server.ok(&["run", "show", untold["id"].as_str().unwrap()]);
    assert!(shown.lines().any(|line| line == "usage       not told"), "{shown}");

    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let table = server.ok(&["usage", "--by", "channel"]);
    let lines: Vec<String> = table.lines().map(words).collect();
    assert_eq!(
        lines,
        [
            "CHANNEL OF RUNS TOLD INPUT READ WRITTEN OUTPUT FROM CACHE COST",
            "other 1 0 - - - - - -",
            "general 2 2 110 990 - 10 90.0 % 0.7500 USD",
            "all 3 2 110 990 - 10 90.0 % 0.7500 USD",
            "1 of 3 runs told nothing: what they took is in none of these numbers",
            "1 of 3 turns told no cost, and have no known price",
        ]
    );
    let report = server.json(&["usage", "--by", "session", "--channel", "general"]);
    let (sum, native) = (&report["sums"][0], &first["native"]);
    assert_eq!((&sum["of"], &sum["turns"], &sum["agent"]), (native, &json!(2), &json!("echo")));
    let by_run = server.json(&["usage", "--by", "run", "--limit", "2"]);
    let ids: Vec<&Value> = by_run["sums"].as_array().unwrap().iter().map(|sum| &sum["of"]).collect();
    assert_eq!(ids, [&untold["id"], &second["id"]]);
    assert_eq!(by_run["all"]["runs"], 3, "all together, however long the list is");
    let day = server.json(&["usage"])["sums"][0].clone();
    assert_eq!(day["of"].as_str().unwrap(), &first["ended_at"].as_str().unwrap()[..10]);
    assert_eq!(server.json(&["usage", "--since", "2999-01-01"])["all"], Value::Null);
    assert_eq!(server.ok(&["usage", "--since", "2999-01-01"]), "no run has had a turn\n");
    let refused = server.run(&["usage", "--since", "monday"]);
    assert!(refused.err.contains("a day like 2026-11-30"), "{}", refused.err);

    let http = Http::new(&server);
    let token = format!("authorization: Bearer {}", token(&server, "olive", &["--scope", "metrics"]));
    let lines = [&*format!("host: {}", http.address()), &*token];
    let (_, _, metrics) = http.lines("GET /metrics", &lines, "");
    for line in [
        "highwater_tokens_total{kind=\"cached_read\"} 990",
        "highwater_cost_dollars_total 0.75",
        "highwater_turns_ended_total{told=\"no\"} 1",
    ] {
        assert!(metrics.lines().any(|one| one == line), "no line {line} in:\n{metrics}");
    }
}
