//! Where agents break their own prefix, pinned down: a test that fails here has found an agent that became better, or worse.

use cost::cache::Layer;
use provider::{Piece, Prefix};
use serde_json::{Value, json};

use super::clock::Clock;
use super::{Real, text_of};
use crate::server::TestServer;

/// How the first request of a question goes on from the last one of the session's turn before.
fn next(real: &Real, question: &str) -> Prefix {
    let before = real.provider.requests();
    let last = before.last().expect("there was a turn");
    real.ask(question);
    let requests = real.provider.requests();
    let next = requests[before.len()..].iter().find(|kept| kept.session == last.session);
    Prefix::between(&last.told, &next.expect("it goes on in its session").told)
}

/// What stood where an agent breaks its prefix.
#[track_caller]
fn broken(prefix: Prefix) -> (Piece, Option<Piece>) {
    match prefix {
        Prefix::Breaks { before, after, .. } => (before, after),
        Prefix::Extends { .. } => {
            panic!("the agent keeps its prefix by now: docs/cache-breaks.md is to say so")
        }
    }
}

/// Calls of a tool in one answer, side by side, then a text.
fn at_once(calls: usize) -> Value {
    let call = json!({"call": {"name": "mcp__highwater__channel_roster", "input": {}}});
    json!([{"when": {"text": "all at once"}, "answers": [
        {"say": {"parts": vec![call; calls]}}, {"say": {"parts": [{"text": "All done."}]}}]}])
}

/// Twelve calls at once are no break: the request is the one before and more. By the rules until September 2026 each of them
/// was a position of the look-back and the conversation was written anew; by today's they are two positions.
///
/// Cache breaks T7 and B3.49.
#[test]
fn claude_makes_twelve_calls_at_once() {
    for (day, is_read) in [("2026-09-30", false), ("2026-11-30", true)] {
        let real = Real::on_day(day, TestServer::start(), "claude", &at_once(12), &[]);
        real.ask("question 1");
        assert_eq!(text_of(&real.ask("do it all at once")), "All done.");
        assert_eq!(real.check_prefixes(), 3);
        let [_, asked, done] = &real.provider.requests()[..] else { unreachable!("three requests") };
        let known = asked.billed.read_tokens + asked.billed.written_1h_tokens;
        assert_eq!(done.billed.read_tokens >= known, is_read, "{day}: {:?} of {known}", done.billed);
    }
}

/// opencode has the date in its system prompt: a midnight loses all that is cached.
///
/// Cache break B1.9.
#[test]
fn opencode_tells_the_date_in_front() {
    let server = TestServer::start();
    let mut clock = Clock::new(server.home.path());
    let variables = clock.variables();
    let more: Vec<&str> = variables.iter().flat_map(|variable| ["--env", &**variable]).collect();
    let real = Real::on(server, "opencode", &json!([]), &more);
    real.ask("question 1");
    assert!(matches!(next(&real, "question 2"), Prefix::Extends { .. }));
    clock.midnight();
    let (before, after) = broken(next(&real, "question 3"));
    assert!(before.text.contains("date"), "{before:?}\n{after:?}");
    assert_eq!(before.layer, Layer::System);
}

/// Gemini CLI keeps the signature of a call that has one. Of calls at once the first alone has one.
///
/// Cache break T15.
#[test]
fn gemini_keeps_the_signatures_that_it_is_given() {
    let call = json!({"call": {"name": "mcp_highwater_channel_roster", "input": {}}});
    let rule = |text: &str, calls: usize| {
        json!({"when": {"text": text}, "answers": [
            {"say": {"parts": vec![call.clone(); calls]}}, {"say": {"parts": [{"text": "They are here."}]}}]})
    };
    let real = Real::new("gemini", &json!([rule("once please", 1), rule("twice please", 2)]), &[]);
    real.ask("once please");
    for question in ["twice please", "question 3"] {
        let prefix = next(&real, question);
        assert!(matches!(prefix, Prefix::Extends { .. }), "{question}: {prefix:#?}");
    }
    let requests = real.provider.requests();
    let told = &requests.last().unwrap().told.pieces;
    assert_eq!(told.iter().filter(|piece| piece.json.contains("thoughtSignature")).count(), 2);
}
