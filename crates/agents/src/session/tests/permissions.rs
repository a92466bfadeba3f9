//! Permissions: asked, answered once, and ended with what asked for them.

use super::*;
use crate::message::{Ask, Choice, ChoiceKind, Closed, Detail, Touches};

const OPTIONS: [(&str, &str, &str); 3] = [
    ("a1", "Allow", "allow_once"),
    ("a2", "Allow for ever", "allow_always"),
    ("r1", "Reject", "reject_once"),
];

fn asks(talk: &mut Talk, id: &Value, call: &Value) {
    let options: Vec<Value> =
        OPTIONS.iter().map(|(id, name, kind)| json!({"optionId": id, "name": name, "kind": kind})).collect();
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    talk.hears(&json!({"id": id, "method": "session/request_permission", "params": params}));
}

fn rm(talk: &mut Talk, id: &Value) {
    asks(
        talk,
        id,
        &json!({"toolCallId": "t", "title": "rm", "kind": "execute", "rawInput": {"command": "rm"}}),
    );
}

fn ask(n: u64) -> Ask {
    Ask {
        n,
        title: "rm".to_owned(),
        kind: "execute".to_owned(),
        tool: None,
        details: vec![
            Detail::Command("rm".to_owned()),
            Detail::Input("{\n  \"command\": \"rm\"\n}".to_owned()),
        ],
        options: vec![
            Choice { name: "Allow".to_owned(), kind: ChoiceKind::AllowOnce },
            Choice { name: "Allow for ever".to_owned(), kind: ChoiceKind::AllowAlways },
            Choice { name: "Reject".to_owned(), kind: ChoiceKind::RejectOnce },
        ],
        touches: Some(Touches { paths: Vec::new(), words: vec!["rm".to_owned()] }),
    }
}

fn asked(ask: Ask) -> Done {
    Done::Event(EventKind::PermissionAsked { run: run("r1"), ask: Box::new(ask) })
}

fn closed(ask: u64, why: Closed) -> Done {
    Done::Event(EventKind::PermissionClosed { run: run("r1"), ask, why })
}

fn selected(id: &str, option: &str) -> Done {
    Done::Line(json!({"id": id, "result": {"outcome": {"outcome": "selected", "optionId": option}}}))
}

fn cancelled(id: &str) -> Done {
    Done::Line(json!({"id": id, "result": {"outcome": {"outcome": "cancelled"}}}))
}

fn rejected(title: &str, why: &str) -> Done {
    let (title, why) = (title.to_owned(), why.to_owned());
    update(Update::PermissionRejected { title, option: Some("r1".to_owned()), why })
}

#[test]
fn several_wait_at_once_and_each_is_answered_once() {
    let mut talk = Talk::in_turn();
    rm(&mut talk, &json!("p"));
    rm(&mut talk, &json!("q"));
    talk.check(&[asked(ask(1)), asked(ask(2))]);
    talk.session.answer(&run("r1"), 2, Some(0), talk.now);
    talk.session.answer(&run("r1"), 2, Some(2), talk.now);
    talk.session.answer(&run("r2"), 1, Some(0), talk.now);
    talk.session.answer(&run("r1"), 3, Some(0), talk.now);
    talk.check(&[selected("q", "a1")]);
    // An option that was not offered is none.
    talk.session.answer(&run("r1"), 1, Some(3), talk.now);
    talk.check(&[cancelled("p")]);
}

#[test]
fn requests_with_one_id_are_answered_one_by_one() {
    let mut talk = Talk::in_turn();
    rm(&mut talk, &json!("p"));
    rm(&mut talk, &json!("p"));
    talk.session.answer(&run("r1"), 1, Some(0), talk.now);
    talk.session.answer(&run("r1"), 2, Some(2), talk.now);
    talk.check(&[asked(ask(1)), asked(ask(2)), selected("p", "a1"), selected("p", "r1")]);
}

/// A pending permission stops the clock of inactivity, not that of the turn (6.9). An approval that waits longer than
/// any limit of silence is still answerable; silence after it is the agent's again (public report F62).
#[test]
fn who_waits_for_people_may_be_silent() {
    let mut talk = Talk::in_turn();
    rm(&mut talk, &json!("p"));
    talk.check(&[asked(ask(1))]);
    talk.at(3599);
    talk.check(&[]);
    assert_eq!(talk.session.next_timeout(), Some(talk.begin + LIMITS.turn));
    talk.now = talk.begin + Duration::from_secs(1000);
    talk.session.answer(&run("r1"), 1, Some(0), talk.now);
    talk.check(&[selected("p", "a1")]);
    talk.at(1299);
    talk.check(&[]);
    talk.at(1300);
    talk.check(&[Done::Line(json!({"method": "session/cancel", "params": {"sessionId": "s"}}))]);
    talk.hears(&json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    talk.check(&[failed("r1", "the agent gave no sign of life for 300 s; its turn was cancelled")]);
}

#[test]
fn a_cancel_ends_what_waits_and_what_comes_after() {
    let mut talk = Talk::in_turn();
    rm(&mut talk, &json!("p"));
    rm(&mut talk, &json!("q"));
    talk.outputs();
    talk.session.cancel(&run("r1"), talk.now);
    rm(&mut talk, &json!("late"));
    talk.session.answer(&run("r1"), 1, Some(0), talk.now);
    talk.check(&[
        Done::Line(json!({"method": "session/cancel", "params": {"sessionId": "s"}})),
        cancelled("p"),
        closed(1, Closed::Stopped),
        cancelled("q"),
        closed(2, Closed::Stopped),
        cancelled("late"),
    ]);
}

#[test]
fn the_limit_of_the_turn_goes_on() {
    let mut talk = Talk::in_turn();
    rm(&mut talk, &json!("p"));
    talk.outputs();
    talk.at(3600);
    talk.check(&[
        Done::Line(json!({"method": "session/cancel", "params": {"sessionId": "s"}})),
        cancelled("p"),
        closed(1, Closed::Stopped),
    ]);
}

#[test]
fn an_agent_takes_its_request_back() {
    let mut talk = Talk::in_turn();
    rm(&mut talk, &json!("p"));
    rm(&mut talk, &json!(7));
    talk.outputs();
    talk.hears(&json!({"method": "$/cancel_request", "params": {"requestId": "7"}}));
    talk.hears(&json!({"method": "$/cancel_request", "params": {}}));
    talk.check(&[]);
    talk.hears(&json!({"method": "$/cancel_request", "params": {"requestId": 7}}));
    let line = json!({"id": 7, "result": {"outcome": {"outcome": "cancelled"}}});
    talk.check(&[Done::Line(line), closed(2, Closed::Withdrawn)]);
    talk.session.answer(&run("r1"), 1, Some(0), talk.now);
    talk.check(&[selected("p", "a1")]);
}

#[test]
fn a_turn_that_ends_leaves_no_request_open() {
    let mut talk = Talk::in_turn();
    rm(&mut talk, &json!("p"));
    talk.outputs();
    talk.hears(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    talk.session.answer(&run("r1"), 1, Some(0), talk.now);
    talk.check(&[cancelled("p"), ended(Stop::EndTurn, None)]);
    rm(&mut talk, &json!("idle"));
    talk.check(&[selected("idle", "r1")]);
}

#[test]
fn what_was_told_of_the_call_before_counts_too() {
    let mut talk = Talk::in_turn();
    talk.hears_update(&json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Terminal",
        "kind": "execute", "rawInput": {}}));
    talk.hears_update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "rm",
        "rawInput": {"command": "rm"}}));
    talk.outputs();
    asks(&mut talk, &json!("p"), &json!({"toolCallId": "t"}));
    talk.check(&[asked(ask(1))]);
}

#[test]
fn all_of_it_is_told_without_secrets() {
    let mut talk = Talk::in_turn();
    let content = json!([
        {"type": "diff", "path": "/a", "oldText": null, "newText": "x geheim-4711"},
        {"type": "content", "content": {"type": "text", "text": "why"}},
        {"type": "odd", "z": 1},
    ]);
    let call = json!({"toolCallId": "t", "title": "cat geheim-4711", "kind": "teleport", "name": "Run",
        "locations": [{"path": "/b", "line": 4}, {"path": "c"}], "content": content,
        "rawInput": {"command": ["cat", "a b", "it's"], "filePath": "/d", "n": 5, "x": [{"path": ["/e"]}]}});
    asks(&mut talk, &json!("p"), &call);
    let input = "{\n  \"command\": [\n    \"cat\",\n    \"a b\",\n    \"it's\"\n  ],\n  \"filePath\": \"/d\",\n  \
                 \"n\": 5,\n  \"x\": [\n    {\n      \"path\": [\n        \"/e\"\n      ]\n    }\n  ]\n}";
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let expect = Ask {
        title: "cat [redacted]".to_owned(),
        kind: "teleport".to_owned(),
        tool: Some("Run".to_owned()),
        details: vec![
            Detail::Command("cat 'a b' 'it'\\''s'".to_owned()),
            Detail::Path("/b:4".to_owned()),
            Detail::Path("c".to_owned()),
            Detail::Diff { path: "/a".to_owned(), old: None, new: "x [redacted]".to_owned() },
            Detail::Text("why".to_owned()),
            Detail::Text("{\"type\":\"odd\",\"z\":1}".to_owned()),
            Detail::Input(input.to_owned()),
        ],
        touches: Some(Touches {
            paths: own(&["/b", "c", "/a", "/d", "/e"]),
            words: own(&["cat", "a b", "it's"]),
        }),
        ..ask(1)
    };
    talk.check(&[asked(expect)]);
}

#[test]
fn what_cannot_be_shown_whole_is_not_asked() {
    let check = |call: &Value, why: &str| {
        let mut talk = Talk::in_turn();
        asks(&mut talk, &json!("p"), call);
        talk.check(&[selected("p", "r1"), rejected("rm", why)]);
    };
    let large = "x".repeat(200_000);
    let call = |name: &str, value: Value| json!({"toolCallId": "t", "title": "rm", name: value});
    let whole = "it is too large to be shown whole";
    check(&call("rawInput", json!({"command": large})), whole);
    check(&call("content", json!([{"type": "diff", "path": "a", "newText": large}])), whole);
    let what = "what it is about is not understood";
    check(&call("locations", json!("/etc")), what);
    check(&call("content", json!({"type": "diff"})), what);
}

#[test]
fn deep_input_is_not_made_larger_than_it_is() {
    // I10
    let mut talk = Talk::in_turn();
    let mut deep = Value::Array(vec![json!(1); 50_000]);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    asks(&mut talk, &json!("p"), &json!({"toolCallId": "t", "title": "rm", "rawInput": deep}));
    let outputs = talk.outputs();
    let [Output::Event(EventKind::PermissionAsked { ask, .. })] = &outputs[..] else { panic!("not asked") };
    assert_eq!(ask.details, [Detail::Input(deep.to_string())]);
}

#[test]
fn what_was_too_large_before_is_too_large_with_the_request() {
    let mut talk = Talk::in_turn();
    talk.hears_update(&json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "rm",
        "rawInput": {"command": "x".repeat(200_000)}}));
    talk.outputs();
    asks(&mut talk, &json!("p"), &json!({"toolCallId": "t", "title": "rm"}));
    talk.check(&[selected("p", "r1"), rejected("rm", "it is too large to be shown whole")]);
}

#[test]
fn a_flood_of_requests_is_refused() {
    // I10
    let mut talk = Talk::in_turn();
    for n in 0..16 {
        rm(&mut talk, &json!(n));
    }
    assert_eq!(talk.outputs().len(), 16);
    rm(&mut talk, &json!("p"));
    talk.check(&[selected("p", "r1"), rejected("rm", "too many of its requests wait already")]);
}

#[test]
fn requests_to_which_no_answer_is_clear_are_not_understood() {
    let check = |options: &Value| {
        let mut talk = Talk::in_turn();
        let params = json!({"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": options});
        talk.hears(&json!({"id": "p", "method": "session/request_permission", "params": params}));
        let error = json!({"code": -32602, "message": "not understood"});
        talk.check(&[Done::Line(json!({"id": "p", "error": error}))]);
    };
    let option = |id: &str, kind: &str| json!({"optionId": id, "name": "x", "kind": kind});
    check(&json!([option("same", "reject_once"), option("same", "allow_always")]));
    check(&Value::Array((0..17).map(|n| option(&n.to_string(), "allow_once")).collect()));
    check(&json!([option(&"x".repeat(2_000), "allow_once")]));
    check(&json!([{"optionId": "x"}]));
    check(&json!("all"));
}

#[test]
fn a_request_before_the_prompt_was_written_is_of_no_turn() {
    let mut talk = Talk::idle();
    talk.session.prompt(run("r1"), "hello", talk.now);
    talk.outputs();
    rm(&mut talk, &json!("p"));
    talk.check(&[selected("p", "r1")]);
}
