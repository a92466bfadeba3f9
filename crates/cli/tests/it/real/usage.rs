//! What `run show` says that a turn took is what the provider billed.

use provider::{Ended, Kept};
use serde_json::{Value, json};

use super::{NOTED, Real, calling, text_of};
use crate::server::wait_until;

/// What requests were billed: input, read from the cache, written to it, and output.
fn billed<'a>(requests: impl IntoIterator<Item = &'a Kept>) -> Value {
    let mut sum = [0; 4];
    for kept in requests {
        let billed = kept.billed;
        let written = billed.written_tokens + billed.written_1h_tokens;
        let counts = [billed.uncached_tokens, billed.read_tokens, written, kept.output_tokens];
        sum.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
    }
    json!({"input": sum[0], "cached_read": sum[1], "cached_write": sum[2], "output": sum[3]})
}

/// The same of a run.
fn told(run: &Value) -> Value {
    let usage = &run["usage"];
    let count = |name: &str| usage[name].clone();
    json!({"input": count("input"), "cached_read": count("cached_read"), "cached_write": count("cached_write"),
        "output": count("output")})
}

/// How many answers with a call of a tool the agent has written down.
fn calls_in_transcripts(real: &Real) -> usize {
    let projects = real.server.home.path().join(".claude/projects");
    let folders = std::fs::read_dir(projects).unwrap().map(|folder| folder.unwrap().path());
    let files =
        folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
    let texts = files.filter(|file| file.is_file()).map(|file| std::fs::read_to_string(file).unwrap());
    let is_call =
        |line: &&str| line.contains("\"type\":\"assistant\"") && line.contains("\"type\":\"tool_use\"");
    texts.map(|text| text.lines().filter(is_call).count()).sum()
}

#[test]
fn claude_takes_what_the_provider_bills() {
    let call = json!({"call": {"name": "mcp__highwater__channel_history", "input": {}}});
    let real = Real::new(
        "claude",
        &json!([
            calling("history please", "mcp__highwater__channel_history", &json!({}), "I have seen it."),
            // Asks for a tool, and is silent about what that gave.
            {"when": {"text": "think slowly"}, "times": 2, "answers": [{"say": {"parts": [call]}}, {"silence": {}}]},
            {"when": {"text": "think again"}, "times": 2, "answers": [{"say": {"parts": [call]}}, {"silence": {}}]},
        ]),
        &[],
    );
    let plain = real.ask("question 1");
    assert_eq!(text_of(&plain), NOTED);
    assert_eq!(told(&plain), billed(&real.provider.requests()), "{plain}");

    let tool = real.ask("history please");
    assert_eq!(text_of(&tool), "I have seen it.");
    let requests = real.provider.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(told(&tool), billed(&requests[1..]), "{tool}");
    // What the agent says that it costs is the list price of what was billed.
    let cost = &tool["usage"]["cost"];
    assert_eq!((&cost["currency"], &cost["by"]), (&json!("USD"), &json!("agent")), "{tool}");

    // Cancelled: the agent tells of the request that was answered, and its transcript of the one that was not.
    let run = real.begin("think slowly");
    wait_until("it thinks", || real.provider.requests().len() == 5);
    real.server.ok(&["run", "cancel", &run]);
    assert_eq!(real.ended(&run)["status"], "cancelled");
    wait_until("its transcript is read", || real.server.show(&run)["turns"][0]["cut"] == 1);
    let requests = real.provider.requests();
    assert_eq!(requests[4].end, Ended::Cut);
    let cancelled = real.server.show(&run);
    assert_eq!(told(&cancelled), billed(&requests[3..4]), "{cancelled}");

    // And nothing of it is counted again.
    let after = real.ask("question 2");
    assert_eq!(text_of(&after), NOTED);
    assert_eq!(told(&after), billed(&real.provider.requests()[5..]), "{after}");

    // Killed: the agent tells nothing, its transcript does.
    let run = real.begin("think again");
    wait_until("it thinks again", || real.provider.requests().len() == 8);
    // It writes in batches: what it had not written when it was killed, nobody knows.
    wait_until("it wrote of its third call", || calls_in_transcripts(&real) == 3);
    real.kill_agent();
    assert_eq!(real.ended(&run)["status"], "failed");
    wait_until("its transcript is read", || !real.server.show(&run)["usage"].is_null());
    let killed = real.server.show(&run);
    let requests = real.provider.requests();
    assert_eq!(told(&killed), billed(&requests[6..7]), "{killed}");
    assert_eq!(killed["turns"][0]["source"], "transcript", "{killed}");

    let all = real.server.json(&["usage", "--by", "channel"])["all"].clone();
    let answered: Vec<Kept> =
        real.provider.requests().into_iter().filter(|kept| kept.end != Ended::Cut).collect();
    let expected = billed(&answered);
    for name in ["input", "cached_read", "cached_write", "output"] {
        assert_eq!(all[name], expected[name], "{name} of {all}");
    }
}
