//! What runs took, through the whole program: told by agents, shown to people and programs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::http::Http;
use crate::identity::token;
use crate::server::{TestServer, wait_until};

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

/// What the host said in the channel, oldest first.
fn notices(server: &TestServer) -> Vec<String> {
    let history = server.json(&["history", "general", "--limit", "1000"]);
    let by_host = history.as_array().unwrap().iter().filter(|message| message["author"]["kind"] == "system");
    by_host.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_spending_limit_stops_runs_that_can_be_tried_again() {
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let whose = ["--channel", "general", "--agent", "echo"];
    let set =
        |server: &TestServer, more: &[&str]| server.ok(&[&["spending", "set"], &whose[..], more].concat());
    assert_eq!(
        set(&server, &["--money", "0.4"]),
        "the limit holds for runs of @echo in general that begin from now on\n"
    );
    turn(&server, "general", &telling(10, 90, 0.5));
    let stopped = turn(&server, "general", &telling(10, 90, 0.75));
    assert_eq!(stopped["status"], "failed");
    let reason = "@echo in general reached the spending limit of today: 0.5 of 0.4 USD. It begins anew at midnight UTC; a \
                  higher one is set with: highwater spending set --channel general --agent echo";
    assert_eq!(stopped["error"], reason);
    assert!(notices(&server).last().unwrap().contains(reason), "{:?}", notices(&server));
    assert_eq!(server.ask("general", "@guide help", &[])["runs"][0]["status"], "succeeded", "others go on");

    // The limit outlives the server.
    server.stop();
    server.start_again(&[]);
    assert_eq!(turn(&server, "general", &telling(10, 90, 0.75))["status"], "failed");
    let limits = server.json(&["spending", "list"]);
    assert_eq!(
        limits,
        json!([{"channel": "general", "agent": "echo", "tokens": null, "micros": 400_000, "currency": "USD",
            "spent_tokens": 105, "spent_micros": 500_000, "runs_untold": 0, "turns_unpriced": 0}])
    );
    set(&server, &["--tokens", "1000", "--money", "100"]);
    let again = server.json(&["run", "retry", stopped["id"].as_str().unwrap()])["id"].clone();
    let status = || server.show(again.as_str().unwrap())["status"].clone();
    wait_until("it is answered", || status() == "succeeded");
    server.ok(&[&["spending", "remove"], &whose[..]].concat());
    assert_eq!(server.ok(&["spending", "list"]), "no spending limits\n");
    assert_eq!(server.run(&["spending", "remove", "--all"]).code, 3);
    for wrong in [&["spending", "set", "--all"][..], &["spending", "set", "--tokens", "5"]] {
        assert_eq!(server.run(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn a_turn_that_breaks_the_cache_is_told_of_in_its_channel() {
    let mut server = TestServer::start();
    server.stop();
    std::fs::write(server.file("config.toml"), "cache_alert = 60\ncache_alert_tokens = 1_000\n").unwrap();
    let config = server.file("config.toml");
    server.start_again(&["--config", &config]);
    server.add_scripted("echo", "general", "log", &[]);
    for (input, read) in [(5_000, 0), (100, 4_900), (2_500, 2_500), (4_000, 1_000)] {
        turn(&server, "general", &telling(input, read, 0.1));
    }
    let told = notices(&server);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("only 50 % of its 5000 tokens came from the provider's cache in r3"),
        "{told:?}"
    );
    assert!(told[0].contains("highwater run show r2 and highwater run show r3"), "{told:?}");
}

/// A collector: the bodies of the requests that came, each answered with 200.
fn collector() -> (String, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (told, came) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while stream.read_line(&mut line).unwrap() > 2 {
                if let Some(bytes) = line.strip_prefix("content-length: ") {
                    length = bytes.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            stream.into_inner().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
            if told.send(serde_json::from_slice(&body).unwrap()).is_err() {
                return;
            }
        }
    });
    (address, came)
}

#[test]
fn a_collector_is_told_of_runs_also_when_the_server_stops() {
    let (address, came) = collector();
    let mut server = TestServer::start();
    server.stop();
    std::fs::write(server.file("config.toml"), format!("otlp_endpoint = \"{address}\"\n")).unwrap();
    let config = server.file("config.toml");
    server.start_again(&["--config", &config]);
    server.add_scripted("echo", "general", "log", &[]);
    let run = turn(&server, "general", &telling(10, 90, 0.5));
    let told = |body: &Value| {
        let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
        let attributes = spans[0]["attributes"].as_array().unwrap().clone();
        let value = |key: &str| {
            let found = attributes.iter().find(|one| one["key"] == key).unwrap();
            found["value"].clone()
        };
        (spans[0]["name"].clone(), value("highwater.run.id"), value("gen_ai.usage.input_tokens"))
    };
    let patience = std::time::Duration::from_secs(60);
    let expected = |run: &Value| {
        (json!("invoke_agent echo"), json!({"stringValue": run["id"]}), json!({"intValue": "100"}))
    };
    assert_eq!(told(&came.recv_timeout(patience).unwrap()), expected(&run));
    let last = turn(&server, "general", &telling(10, 90, 0.5));
    server.stop();
    assert_eq!(told(&came.recv_timeout(patience).unwrap()), expected(&last));
}
