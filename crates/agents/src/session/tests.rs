//! The conversation, step by step, against whole outputs.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::message::{Stop, Turn};

mod permissions;
mod proof;
mod reload;
mod start;
mod steer;
mod tools;

const LIMITS: TimeLimits = TimeLimits {
    start: Duration::from_secs(30),
    inactivity: Duration::from_secs(300),
    turn: Duration::from_secs(3600),
    grace: Duration::from_secs(5),
};

/// A session, the time it is there, and what it wanted done since the last check.
struct Talk {
    session: Session,
    begin: Instant,
    now: Instant,
}

fn spec(system_prompt: Option<&str>, model: Option<&str>) -> Spec {
    Spec {
        command: Vec::new(),
        cwd: "/agent".into(),
        env: Vec::new(),
        secrets: Secrets::new(["geheim-4711".to_owned()]),
        reload: None,
        system_prompt: system_prompt.map(str::to_owned),
        model: model.map(str::to_owned),
        manner: Manner::default(),
        tools: None,
        hide: None,
        trust: None,
        before: None,
        sight: crate::message::Sight::All,
        memory_max: None,
        mark: String::new(),
        limits: LIMITS,
    }
}

fn run(id: &str) -> RunId {
    RunId::from(id)
}

impl Talk {
    fn new(spec: &Spec) -> Self {
        let now = Instant::now();
        Self { session: Session::new(spec, 42, vec!["a notice".to_owned()], now), begin: now, now }
    }

    /// With a session begun.
    fn idle() -> Self {
        let mut talk = Self::new(&spec(None, None));
        talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1}}));
        talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
        talk.outputs();
        talk
    }

    /// With the prompt of `r1` written; its id is 3.
    fn in_turn() -> Self {
        let mut talk = Self::idle();
        talk.session.prompt(run("r1"), "hello", talk.now);
        talk.session.written(run("r1"));
        talk.outputs();
        talk
    }

    fn hears(&mut self, message: &Value) {
        self.session.handle_line(&message.to_string(), self.now);
    }

    fn hears_update(&mut self, update: &Value) {
        self.hears(&json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}));
    }

    fn hears_text(&mut self, text: &str) {
        self.hears_update(
            &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
        );
    }

    /// Goes to `seconds` after the begin.
    fn at(&mut self, seconds: u64) {
        self.now = self.begin + Duration::from_secs(seconds);
        self.session.handle_timeout(self.now);
    }

    fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.session.next_output()).collect()
    }

    /// Compares what it wants done: lines as JSON with `jsonrpc` left out.
    #[track_caller]
    fn check(&mut self, expect: &[Done]) {
        let done: Vec<Done> = self
            .outputs()
            .into_iter()
            .map(|output| match output {
                Output::Line(line) => Done::Line(without_version(&line)),
                Output::Prompt { line, run } => Done::Prompt(run, without_version(&line)),
                Output::Event(kind) => Done::Event(kind),
                Output::Unfit(reason) => Done::Unfit(reason),
            })
            .collect();
        assert_eq!(done, expect);
    }
}

#[derive(Debug, PartialEq)]
enum Done {
    Line(Value),
    Prompt(RunId, Value),
    Event(EventKind),
    Unfit(String),
}

fn without_version(line: &[u8]) -> Value {
    let mut line: Value = serde_json::from_slice(line).unwrap();
    assert_eq!(line.as_object_mut().unwrap().remove("jsonrpc"), Some(json!("2.0")));
    line
}

fn update(update: Update) -> Done {
    Done::Event(EventKind::Update { run: run("r1"), update })
}

fn text(text: &str) -> Done {
    update(Update::Text(text.to_owned()))
}

fn ended(stop: Stop, text: Option<&str>) -> Done {
    Done::Event(EventKind::TurnEnded {
        run: run("r1"),
        turn: Turn { stop, text: text.map(str::to_owned), usage: None },
    })
}

/// A turn that failed with its process.
fn lost(id: &str, reason: &str) -> Done {
    Done::Event(EventKind::TurnFailed { run: run(id), reason: reason.to_owned(), fault: Fault::Lost })
}

fn failed(id: &str, reason: &str) -> Done {
    Done::Event(EventKind::TurnFailed { run: run(id), reason: reason.to_owned(), fault: Fault::Other })
}

fn unfit(reason: &str) -> Done {
    Done::Unfit(reason.to_owned())
}

fn cancel() -> Done {
    Done::Line(json!({"method": "session/cancel", "params": {"sessionId": "s"}}))
}

#[test]
fn a_turn_is_told_as_it_goes() {
    let mut talk = Talk::idle();
    talk.session.prompt(run("r1"), "hello", talk.now);
    let params = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "hello"}]});
    talk.check(&[Done::Prompt(run("r1"), json!({"id": 3, "method": "session/prompt", "params": params}))]);
    talk.session.written(run("r1"));
    talk.check(&[Done::Event(EventKind::PromptWritten { run: run("r1") })]);
    talk.hears_text("Let me see.");
    talk.hears_update(&json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read geheim-4711", "kind": "read"}));
    talk.hears_update(&json!({"sessionUpdate": "usage_update", "used": 9}));
    talk.hears_text("It is geheim");
    talk.hears_text("-4711, yes.");
    let usage = json!({"inputTokens": 1, "outputTokens": 2, "totalTokens": 3});
    talk.hears(&json!({"id": 3, "result": {"stopReason": "end_turn", "usage": usage}}));
    let tool =
        Update::ToolCall { id: "t".to_owned(), title: "Read [redacted]".to_owned(), kind: "read".to_owned() };
    let usage = crate::message::Usage { input: 1, output: 2, total: 3, ..Default::default() };
    let turn =
        Turn { stop: Stop::EndTurn, text: Some("It is [redacted], yes.".to_owned()), usage: Some(usage) };
    talk.check(&[
        text("Let me see."),
        update(tool),
        update(Update::Used(9)),
        text("It is "),
        text("[redacted], yes."),
        Done::Event(EventKind::TurnEnded { run: run("r1"), turn }),
    ]);
}

#[test]
fn half_a_character_costs_itself_alone() {
    let mut talk = Talk::in_turn();
    let line = |text: &str| {
        r#"{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk",
           "content":{"type":"text","text":"TEXT"}}}}"#
            .replace("TEXT", text)
    };
    for text in [r"one \ud83d", r"\ude00 two \ud83d three \ud83d"] {
        talk.session.handle_line(&line(text), talk.now);
    }
    talk.hears(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    let told: String = talk
        .outputs()
        .into_iter()
        .filter_map(|output| match output {
            Output::Event(EventKind::Update { update: Update::Text(text), .. }) => Some(text),
            Output::Event(EventKind::TurnEnded { turn, .. }) => turn.text.map(|text| format!("|{text}")),
            Output::Event(_) | Output::Line(_) | Output::Prompt { .. } | Output::Unfit(_) => None,
        })
        .collect();
    let text = "one 😀 two \u{fffd} three \u{fffd}";
    assert_eq!(told, format!("{text}|{text}"));
}

#[test]
fn an_answer_counts_once_and_only_for_its_request() {
    let mut talk = Talk::in_turn();
    let answer = |id: u64| json!({"id": id, "result": {"stopReason": "end_turn"}});
    talk.hears(&answer(2));
    talk.hears(&answer(99));
    talk.hears(&json!({"id": "3", "result": {"stopReason": "end_turn"}}));
    talk.check(&[]);
    talk.hears(&answer(3));
    talk.hears(&answer(3));
    talk.check(&[ended(Stop::EndTurn, None)]);
    talk.session.prompt(run("r2"), "again", talk.now);
    talk.outputs();
    talk.hears(&answer(3));
    // Guessed before the prompt was written.
    talk.hears(&answer(4));
    talk.check(&[]);
    talk.session.written(run("r2"));
    talk.hears(&answer(4));
    let turn = Turn { stop: Stop::EndTurn, text: None, usage: None };
    talk.check(&[
        Done::Event(EventKind::PromptWritten { run: run("r2") }),
        Done::Event(EventKind::TurnEnded { run: run("r2"), turn }),
    ]);
}

/// Rule 2.6 and public report D45: strictly one turn in flight.
#[test]
fn one_prompt_is_in_flight() {
    let mut talk = Talk::new(&spec(None, None));
    talk.outputs();
    talk.session.prompt(run("r0"), "early", talk.now);
    talk.check(&[failed("r0", "the agent's session has not begun")]);
    let mut talk = Talk::in_turn();
    talk.session.prompt(run("r2"), "second", talk.now);
    talk.check(&[failed("r2", "another turn of this agent is in flight")]);
}

/// Rule 6.9 and public reports D41, D44: a late cancel is none of the next turn's, an early one is not lost.
#[test]
fn a_cancel_reaches_its_own_turn_alone() {
    let mut talk = Talk::in_turn();
    talk.session.cancel(&run("r0"), talk.now);
    talk.check(&[]);
    talk.session.cancel(&run("r1"), talk.now);
    talk.session.cancel(&run("r1"), talk.now);
    talk.check(&[cancel()]);
    talk.hears_text("half");
    talk.hears(&json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    talk.check(&[text("half"), ended(Stop::Cancelled, Some("half"))]);
    talk.session.cancel(&run("r1"), talk.now);
    talk.check(&[]);

    let mut talk = Talk::in_turn();
    talk.session.cancel(&run("r1"), talk.now);
    talk.hears(&json!({"id": 3, "error": {"code": -32800, "message": "cancelled"}}));
    talk.check(&[cancel(), ended(Stop::Cancelled, None)]);

    let mut talk = Talk::in_turn();
    talk.session.cancel(&run("r1"), talk.now);
    talk.at(4);
    talk.check(&[cancel()]);
    talk.at(5);
    let reason = "cancelled; the agent did not stop within 5 s and was ended";
    talk.check(&[lost("r1", reason), unfit(reason)]);
}

#[test]
fn silence_and_length_are_limited() {
    let mut talk = Talk::in_turn();
    talk.at(299);
    talk.hears_update(&json!({"sessionUpdate": "agent_thought_chunk"}));
    talk.check(&[update(Update::Other)]);
    talk.at(598);
    talk.check(&[]);
    talk.at(599);
    talk.check(&[cancel()]);
    talk.hears(&json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    talk.check(&[failed("r1", "the agent gave no sign of life for 300 s; its turn was cancelled")]);

    let mut talk = Talk::in_turn();
    for seconds in (0..3600).step_by(200) {
        talk.at(seconds);
        talk.hears_update(&json!({"sessionUpdate": "agent_thought_chunk"}));
    }
    talk.outputs();
    talk.at(3600);
    talk.check(&[cancel()]);
    talk.at(3605);
    let reason =
        "the turn took longer than 3600 s and was cancelled; the agent did not stop within 5 s and was ended";
    talk.check(&[lost("r1", reason), unfit(reason)]);

    let mut talk = Talk::in_turn();
    talk.session.excuse_silence(talk.begin + Duration::from_secs(100));
    talk.at(399);
    talk.check(&[]);
    talk.at(400);
    talk.check(&[cancel()]);
}

#[test]
fn an_error_fails_the_turn_and_leaves_the_session() {
    let mut talk = Talk::in_turn();
    talk.hears(&json!({"id": 3, "error": {"message": "overloaded", "data": "geheim-4711"}}));
    talk.check(&[failed("r1", "the agent answered with an error: overloaded (\"[redacted]\")")]);
    talk.session.prompt(run("r2"), "again", talk.now);
    assert!(matches!(talk.outputs()[..], [Output::Prompt { .. }]));
    talk.session.written(run("r2"));
    talk.hears(&json!({"id": 4, "result": []}));
    talk.check(&[
        Done::Event(EventKind::PromptWritten { run: run("r2") }),
        failed("r2", "the agent's answer is not understood: []"),
    ]);
}

#[test]
fn what_belongs_to_no_turn_is_told_to_nobody() {
    let mut talk = Talk::idle();
    talk.hears_text("between turns");
    talk.session.prompt(run("r1"), "hello", talk.now);
    talk.outputs();
    talk.hears(&json!({"method": "session/update", "params": {"sessionId": "other", "update":
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "foreign"}}}}));
    talk.check(&[]);
}

#[test]
fn lines_that_are_not_the_protocol_are_passed_over_up_to_a_limit() {
    let mut talk = Talk::in_turn();
    for _ in 0..FOREIGN_LINES_MAX {
        talk.session.handle_line("npm warn", talk.now);
    }
    talk.hears_update(&json!({"sessionUpdate": "usage_update", "used": 9}));
    for _ in 0..FOREIGN_LINES_MAX {
        talk.session.handle_line("npm warn geheim-4711", talk.now);
        talk.session.handle_line(" ", talk.now);
    }
    talk.check(&[update(Update::Used(9))]);
    talk.session.handle_line("npm warn geheim-4711", talk.now);
    let reason = "the agent does not speak the Agent Client Protocol: 200 lines in a row are not it, the last: npm \
                  warn [redacted]";
    talk.check(&[lost("r1", reason), unfit(reason)]);
}

#[test]
fn an_idle_agent_may_not_flood() {
    let mut talk = Talk::idle();
    let piece = "x".repeat(IDLE_BYTES_MAX / 4);
    for _ in 0..2 {
        for _ in 0..3 {
            talk.hears_text(&piece);
        }
        talk.session.prompt(run("r1"), "hello", talk.now);
        talk.session.written(run("r1"));
        let id = talk.session.last_id;
        talk.hears_text("in a turn it may");
        talk.hears(&json!({"id": id, "result": {"stopReason": "end_turn"}}));
    }
    talk.outputs();
    for _ in 0..4 {
        talk.hears_text(&piece);
    }
    talk.check(&[unfit("the agent wrote more than 16 MiB without being asked")]);
}

#[test]
fn a_flood_of_text_is_told_up_to_what_an_answer_keeps() {
    let mut talk = Talk::in_turn();
    let piece = "x".repeat(1 << 18);
    let mut told = 0;
    for _ in 0..20 {
        talk.hears_text(&piece);
        for output in talk.outputs() {
            if let Output::Event(EventKind::Update { update: Update::Text(text), .. }) = output {
                told += text.len();
            }
        }
    }
    assert!((1 << 19..=1 << 20).contains(&told), "{told}");
}

/// Rule 2.4: pieces of one message are joined, two messages are two paragraphs. Public report H73.
#[test]
fn another_message_is_another_paragraph() {
    let check = |pieces: &[(Option<&str>, &str)], expected: &str| {
        let mut talk = Talk::in_turn();
        for (message, text) in pieces {
            let mut update =
                json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
            if let Some(message) = message {
                update["messageId"] = (*message).into();
            }
            talk.hears_update(&update);
        }
        let id = talk.session.last_id;
        talk.hears(&json!({"id": id, "result": {"stopReason": "end_turn"}}));
        let outputs = talk.outputs();
        let told = outputs.iter().filter_map(|output| match output {
            Output::Event(EventKind::Update { update: Update::Text(text), .. }) => Some(text.as_str()),
            Output::Event(_) | Output::Line(_) | Output::Prompt { .. } | Output::Unfit(_) => None,
        });
        assert_eq!(told.collect::<String>(), expected, "as it came");
        let last = Output::Event(EventKind::TurnEnded {
            run: run("r1"),
            turn: Turn { stop: Stop::EndTurn, text: Some(expected.to_owned()), usage: None },
        });
        assert_eq!(outputs.last(), Some(&last));
    };
    check(&[(Some("m1"), "One wo"), (Some("m1"), "rd.")], "One word.");
    check(&[(Some("m1"), "Done."), (Some("m2"), "Warning: a limit.")], "Done.\n\nWarning: a limit.");
    check(&[(None, "Do"), (None, "ne.")], "Done.");
    check(&[(Some("m1"), "Do"), (None, "ne."), (Some("m1"), " Really.")], "Done. Really.");
    check(&[(Some("m1"), " "), (Some("m2"), "Done.")], " Done.");
    // What was held back as the begin of a secret belongs to the message before.
    check(&[(Some("m1"), "It is ge"), (Some("m2"), "heim-4711")], "It is ge\n\nheim-4711");
}

#[test]
fn a_lost_agent_fails_its_turn_once() {
    let mut talk = Talk::in_turn();
    talk.session.lost("gone");
    talk.session.lost("gone");
    talk.session.written(run("r1"));
    talk.session.prompt(run("r2"), "again", talk.now);
    talk.check(&[lost("r1", "gone")]);
    let mut talk = Talk::in_turn();
    talk.session.broken("too long");
    talk.check(&[lost("r1", "too long"), unfit("too long")]);
}
