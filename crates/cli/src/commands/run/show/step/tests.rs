//! Each kind of step.

use serde_json::{Value, json};
use server::wire::RunEvent;

use super::words;

fn check(steps: &[(&str, Value)], expected: &[&str]) {
    let events: Vec<RunEvent> = (1..)
        .zip(steps)
        .map(|(n, (kind, body))| RunEvent {
            n,
            at: "2026-11-30T10:00:02.000Z".parse().unwrap(),
            kind: (*kind).to_owned(),
            body: body.clone(),
        })
        .collect();
    let actual: Vec<String> = events.iter().map(|event| words(event, &events)).collect();
    assert_eq!(actual, expected);
}

#[test]
fn tools_are_named_by_their_title() {
    check(
        &[
            ("tool_call", json!({"id": "t1", "title": "Terminal", "kind": "execute"})),
            ("tool_call", json!({"id": "t2", "title": "Read", "kind": "read"})),
            ("tool_update", json!({"id": "t1", "status": null, "title": "ls -l"})),
            ("tool_update", json!({"id": "t1", "status": "completed", "title": null})),
            ("tool_update", json!({"id": "t2", "status": "failed", "title": ""})),
            ("tool_update", json!({"id": "t3", "status": "completed", "title": null})),
        ],
        &[
            "tool Terminal",
            "tool Read",
            "tool ls -l",
            "tool ls -l: completed",
            "tool Read: failed",
            "tool t3: completed",
        ],
    );
}

#[test]
fn other_steps_have_words_too() {
    check(
        &[
            ("permission", json!({"title": "rm -rf /", "option": "reject_once"})),
            ("permission", json!({"title": "ls", "outcome": "rejected", "why": "not known"})),
            ("permission", json!({"title": "cat a", "outcome": "allowed", "why": "read is allowed"})),
            ("plan", json!({"text": "look, then act"})),
            ("notice", json!({"text": "the agent compacted its context"})),
            ("steer", json!({"message_id": "m7", "author": "aiko", "text": "left,\nplease"})),
            ("steered", json!({"message_id": "m7", "outcome": "injected"})),
            ("steered", json!({"message_id": "m8", "outcome": "not_taken", "why": "its turn ended first"})),
            ("dance", json!({"steps": 2})),
            ("plan", json!(null)),
        ],
        &[
            "refused: rm -rf /",
            "refused: ls (not known)",
            "allowed: cat a (read is allowed)",
            "plan: look, then act",
            "the agent compacted its context",
            "aiko steers it by m7:\nleft,\nplease",
            "m7 was taken in",
            "m8 was not taken in: its turn ended first",
            "dance {\"steps\":2}",
            "plan null",
        ],
    );
}
