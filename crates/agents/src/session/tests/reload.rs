//! How a saved session is reloaded, what shows that it was, and what becomes of its replay.

use super::*;
use crate::message::{HistoryEnd, Reload};

const OLD_REPLY: &str = "the old reply, which is long enough";

/// A session `s` that was given a prompt with `r0` and answered [`OLD_REPLY`].
fn saved() -> Spec {
    let end = HistoryEnd { prompt: "\"run_id\":\"r0\"".to_owned(), reply: OLD_REPLY.to_owned() };
    let reload =
        Reload { native: NativeId::from("s"), used: Some(1000), end: Some(end), wait: Duration::ZERO };
    Spec { reload: Some(reload), ..spec(Some("You are."), None) }
}

/// Asked to reload by an agent with these capabilities; what it was asked first.
fn asked(spec: &Spec, load: &Value, session: &Value) -> (Talk, Vec<Done>) {
    let mut talk = Talk::new(spec);
    talk.outputs();
    talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1,
        "agentCapabilities": {"loadSession": load, "sessionCapabilities": session}}}));
    let done = talk.outputs().into_iter().map(|output| match output {
        Output::Line(line) => Done::Line(without_version(&line)),
        Output::Event(kind) => Done::Event(kind),
        Output::Unfit(reason) => Done::Unfit(reason),
        Output::Prompt { .. } => unreachable!("no prompt was asked for"),
    });
    let done = done.collect();
    (talk, done)
}

/// Asked to load.
fn loading() -> Talk {
    asked(&saved(), &json!(true), &json!({"systemPrompt": {}})).0
}

fn request(id: u64, method: &str) -> Done {
    let mut params = json!({"sessionId": "s", "cwd": "/agent",
        "systemPrompt": {"mode": "append", "content": [{"type": "text", "text": "You are."}]}});
    if method == "session/load" {
        params["mcpServers"] = json!([]);
    }
    Done::Line(json!({"id": id, "method": method, "params": params}))
}

fn list(id: u64, cursor: Option<&str>) -> Done {
    let mut params = json!({"cwd": "/agent"});
    if let Some(cursor) = cursor {
        params["cursor"] = json!(cursor);
    }
    Done::Line(json!({"id": id, "method": "session/list", "params": params}))
}

fn restored() -> Done {
    began(Begun::Restored)
}

fn began(begun: Begun) -> Done {
    Done::Event(EventKind::Started(Started {
        native: NativeId::from("s"),
        begun,
        reloadable: true,
        system_prompt: true,
        steering: false,
        pid: 42,
        notices: vec!["a notice".to_owned()],
    }))
}

fn not_restored(reason: &str) -> [Done; 2] {
    [Done::Event(EventKind::ReloadFailed { reason: reason.to_owned() }), unfit(reason)]
}

impl Talk {
    fn replays(&mut self, who: &str, text: &str) {
        let content = json!({"type": "text", "text": text});
        self.hears_update(&json!({"sessionUpdate": format!("{who}_message_chunk"), "content": content}));
    }

    /// The whole history, in pieces.
    fn replays_all(&mut self) {
        self.replays("user", "an older prompt");
        self.replays("agent", "an older reply");
        self.replays("user", "{\"run_");
        self.replays("user", "id\":\"r0\"} and so on");
        self.replays("agent", &OLD_REPLY[..9]);
        self.replays("agent", &OLD_REPLY[9..]);
    }

    fn passes(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.session.handle_timeout(self.now);
    }

    /// Its first turn, up to the prompt.
    fn asks(&mut self) {
        self.session.prompt(run("r1"), "{\"run_id\":\"r1\"} the new prompt", self.now);
        self.session.written(run("r1"));
        self.outputs();
    }

    /// Ends the turn and compares the events.
    #[track_caller]
    fn answers(&mut self, expect: &[Done]) {
        let id = self.session.last_id;
        self.hears(&json!({"id": id, "result": {"stopReason": "end_turn"}}));
        self.check(expect);
    }
}

#[test]
fn the_way_depends_on_what_the_agent_can_do() {
    let system = |more: Value| {
        let mut session = json!({"systemPrompt": {}});
        more.as_object().unwrap().iter().for_each(|(name, value)| session[name] = value.clone());
        session
    };
    for (load, session, expect) in [
        (json!(true), json!({"resume": {}, "list": {}}), list(2, None)),
        (json!(false), json!({"resume": {}, "list": {}}), list(2, None)),
        (json!(true), json!({"resume": {}}), request(2, "session/load")),
        (json!(true), json!({"list": {}}), request(2, "session/load")),
        (json!(true), json!({}), request(2, "session/load")),
        (json!(false), json!({"resume": {}}), request(2, "session/resume")),
    ] {
        assert_eq!(asked(&saved(), &load, &system(session.clone())).1, [expect], "{load} {session}");
    }
    let (_, done) = asked(&saved(), &json!(false), &system(json!({"list": {}})));
    assert_eq!(done, not_restored("the agent can neither resume nor load sessions"));
}

/// public report G67: the instructions go with the reload as they did with the beginning.
/// Cache breaks T4 and B3.46.
#[test]
fn a_session_that_the_agent_lists_is_resumed() {
    let can = json!({"resume": {}, "list": {}, "systemPrompt": {}});
    let page = |ids: &[&str], next: Option<&str>| {
        let sessions: Vec<Value> = ids.iter().map(|id| json!({"sessionId": id, "cwd": "/agent"})).collect();
        json!({"sessions": sessions, "nextCursor": next})
    };
    let (mut talk, _) = asked(&saved(), &json!(true), &can);
    talk.hears(&json!({"id": 2, "result": page(&["other"], Some("2"))}));
    talk.check(&[list(3, Some("2"))]);
    talk.hears(&json!({"id": 3, "result": page(&["s"], Some("3"))}));
    talk.check(&[request(4, "session/resume")]);
    talk.hears(&json!({"id": 4, "result": {}}));
    talk.check(&[]);
    talk.passes(250);
    talk.check(&[began(Begun::Resumed)]);
    talk.asks();
    talk.hears_text("new");
    talk.answers(&[text("new"), ended(Stop::EndTurn, Some("new"))]);

    // One that it does not list is loaded, so that its replay shows it.
    for answer in
        [json!({"result": page(&["other"], None)}), json!({"error": {"message": "no"}}), json!({"result": 7})]
    {
        let (mut talk, _) = asked(&saved(), &json!(true), &can);
        let mut answer = answer;
        answer["id"] = json!(2);
        talk.hears(&answer);
        talk.check(&[request(3, "session/load")]);
    }
    // A list without an end is given up.
    let (mut talk, _) = asked(&saved(), &json!(true), &can);
    for id in 2..2 + 20 {
        talk.outputs();
        talk.hears(&json!({"id": id, "result": page(&[], Some("on"))}));
    }
    talk.check(&[request(22, "session/load")]);
}

/// public report A5: an answer without a session id is about the session that was asked for.
#[test]
fn a_load_is_shown_by_its_replay() {
    for answer in [json!({"id": 2, "result": {}}), json!({"id": 2, "result": null}), json!({"id": 2})] {
        let mut talk = loading();
        talk.replays_all();
        talk.hears(&answer);
        // All of it came: nothing is waited for.
        talk.check(&[restored()]);
    }
    let mut talk = loading();
    talk.replays("user", "a history with another end");
    talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
    talk.check(&[]);
    talk.passes(249);
    talk.check(&[]);
    talk.passes(1);
    talk.check(&[restored()]);
}

/// Cache break B3.43.
#[test]
fn the_model_is_set_in_a_reloaded_session_too() {
    let wanted = Spec { model: Some("small".to_owned()), ..saved() };
    let (mut talk, _) = asked(&wanted, &json!(true), &json!({"systemPrompt": {}}));
    talk.replays_all();
    talk.hears(&json!({"id": 2, "result": {"configOptions": [{"id": "model"}]}}));
    let params = json!({"sessionId": "s", "configId": "model", "value": "small"});
    talk.check(&[Done::Line(json!({"id": 3, "method": "session/set_config_option", "params": params}))]);
    talk.hears(&json!({"id": 3, "result": {}}));
    talk.check(&[restored()]);
}

#[track_caller]
fn check_failure(mut talk: Talk, id: u64, answer: &Value, reason: &str) {
    let mut answer = answer.clone();
    answer["id"] = json!(id);
    talk.hears(&answer);
    talk.passes(250);
    talk.check(&not_restored(reason));
    talk.session.lost("its process is gone");
    talk.passes(100_000);
    talk.check(&[]);
}

/// public report A1: what failed to load is never taken for the session.
#[test]
fn what_cannot_be_shown_to_be_restored_was_not() {
    let gone = json!({"error": {"code": -32002, "message": "Resource not found"}});
    check_failure(loading(), 2, &gone, "the agent answered session/load with an error: Resource not found");
    check_failure(
        loading(),
        2,
        &json!({"result": 7}),
        "the agent's answer to session/load is not understood: 7",
    );
    let other = json!({"result": {"sessionId": "t"}});
    check_failure(loading(), 2, &other, "the agent reloaded another session than it was asked for");
    let done = json!({"result": {}});
    let nothing = "the agent said that it loaded the session, and restored nothing";
    check_failure(loading(), 2, &done, nothing);
    // Neither are commands, modes and other sessions a history.
    let mut talk = loading();
    talk.hears_update(&json!({"sessionUpdate": "available_commands_update", "availableCommands": []}));
    talk.hears_update(&json!({"sessionUpdate": "usage_update", "used": 999}));
    talk.hears(&json!({"method": "session/update", "params": {"sessionId": "t", "update":
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "foreign"}}}}));
    check_failure(talk, 2, &done, nothing);
    // A list that names the session is no proof where the context says otherwise; a context of nothing says nothing.
    for (used, expect) in [
        (499, Err("the agent resumed something else: its context holds 499 tokens instead of 1000")),
        (500, Ok(Begun::Resumed)),
        (0, Ok(Begun::Resumed)),
        (1000, Ok(Begun::Restored)),
    ] {
        let can = json!({"resume": {}, "list": {}, "systemPrompt": {}});
        let (mut talk, _) = asked(&saved(), &json!(true), &can);
        talk.hears(&json!({"id": 2, "result": {"sessions": [{"sessionId": "s"}]}}));
        talk.outputs();
        talk.hears_update(&json!({"sessionUpdate": "usage_update", "used": used}));
        match expect {
            Err(reason) => check_failure(talk, 3, &done, reason),
            Ok(begun) => {
                talk.hears(&json!({"id": 3, "result": {}}));
                talk.passes(250);
                talk.check(&[began(begun)]);
            }
        }
    }

    let unlisted = || asked(&saved(), &json!(false), &json!({"resume": {}, "systemPrompt": {}})).0;
    let unshown = "the agent said that it resumed the session, and nothing shows that";
    check_failure(unlisted(), 2, &done, unshown);
    let mut talk = unlisted();
    talk.hears_update(&json!({"sessionUpdate": "usage_update", "used": 1000}));
    talk.hears(&json!({"id": 2, "result": {}}));
    talk.passes(250);
    talk.check(&[restored()]);
}

#[test]
fn a_reload_that_does_not_end_is_given_up() {
    let mut talk = loading();
    talk.at(29);
    talk.check(&[]);
    talk.replays("user", "a sign of life");
    talk.at(58);
    talk.check(&[]);
    talk.at(59);
    talk.check(&not_restored("the agent did not answer session/load within 30 s"));

    let mut talk = loading();
    talk.hears(&json!({"id": 2, "result": {}}));
    for _ in 0..150 {
        talk.replays("user", "and on");
        talk.passes(200);
    }
    talk.check(&not_restored("its history did not end within 30 s"));

    let mut talk = loading();
    talk.session.lost("its process is gone");
    talk.check(&[Done::Event(EventKind::ReloadFailed { reason: "its process is gone".to_owned() })]);
}

/// public reports A9 and A10: a replay is never told to anybody, whenever it comes.
#[test]
fn nothing_of_a_replay_is_told() {
    let mut talk = loading();
    for n in 0..834 {
        talk.replays("user", &format!("prompt {n}"));
        talk.hears_update(&json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read"}));
        talk.replays("agent", &format!("reply {n}"));
    }
    talk.check(&[]);
    talk.hears(&json!({"id": 2, "result": {}}));
    // After the answer …
    talk.passes(200);
    talk.replays("agent", "late");
    talk.passes(200);
    talk.check(&[]);
    talk.passes(50);
    talk.check(&[restored()]);
    // … before the next prompt …
    talk.replays("agent", "later");
    talk.asks();
    // … and after it.
    talk.replays("agent", "a late reply");
    talk.replays("user", "a later prompt");
    talk.hears_update(&json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read"}));
    talk.replays("agent", "a later reply");
    talk.replays("user", "{\"run_id\":\"r0\"} and so on");
    talk.replays("agent", OLD_REPLY);
    let held = update(Update::Other);
    talk.check(std::slice::from_ref(&held));
    talk.hears_text("new");
    talk.hears_text(" words");
    talk.answers(&[text("new"), text(" words"), ended(Stop::EndTurn, Some("new words"))]);
    // From the next turn on it is an agent like any other.
    let id = talk.session.last_id;
    talk.session.prompt(run("r1"), "again", talk.now);
    talk.session.written(run("r1"));
    talk.outputs();
    assert_eq!(talk.session.last_id, id + 1);
    talk.replays("user", "a prompt of a subagent");
    talk.hears_text("second");
    talk.answers(&[update(Update::Other), text("second"), ended(Stop::EndTurn, Some("second"))]);
}

#[test]
fn the_rest_of_an_old_answer_is_no_part_of_the_new_one() {
    let mut talk = loading();
    talk.replays("user", "{\"run_id\":\"r0\"} and so on");
    talk.replays("agent", &OLD_REPLY[..9]);
    talk.hears(&json!({"id": 2, "result": {}}));
    talk.passes(250);
    talk.check(&[restored()]);
    talk.asks();
    talk.replays("agent", &OLD_REPLY[9..20]);
    talk.replays("agent", &OLD_REPLY[20..]);
    talk.check(&[update(Update::Other)]);
    talk.hears_text("new");
    talk.answers(&[text("new"), ended(Stop::EndTurn, Some("new"))]);
}

#[test]
fn an_echo_of_the_prompt_ends_a_replay() {
    let turn = |steps: &dyn Fn(&mut Talk)| {
        let mut talk = loading();
        talk.replays("user", "an older prompt");
        talk.hears(&json!({"id": 2, "result": {}}));
        talk.passes(250);
        talk.outputs();
        talk.asks();
        steps(&mut talk);
        talk.outputs();
        talk
    };
    let own = "{\"run_id\":\"r1\"} the new prompt";
    let mut talk = turn(&|talk| {
        talk.replays("user", own);
        talk.hears_text("new");
    });
    talk.answers(&[ended(Stop::EndTurn, Some("new"))]);
    let mut talk = turn(&|talk| {
        talk.replays("user", "an older prompt");
        talk.replays("agent", "an older reply");
        talk.replays("user", &own[..7]);
        talk.replays("user", &own[7..]);
        talk.hears_text("new");
    });
    talk.answers(&[ended(Stop::EndTurn, Some("new"))]);
    // What cannot be told from the replay is not posted.
    let mut talk = turn(&|talk| {
        talk.replays("user", "an older prompt");
        talk.hears_text("old or new");
    });
    let reason = "the agent told its earlier messages again instead of answering";
    talk.answers(&[lost("r1", reason), unfit(reason)]);
}

#[test]
fn what_was_redacted_is_recognised() {
    let end = HistoryEnd { prompt: "r0".to_owned(), reply: "the key is [redacted]".to_owned() };
    let reload = Reload { native: NativeId::from("s"), used: None, end: Some(end), wait: Duration::ZERO };
    let wanted = Spec { reload: Some(reload), ..saved() };
    let (mut talk, _) = asked(&wanted, &json!(true), &json!({"systemPrompt": {}}));
    talk.replays("user", "r0");
    talk.replays("agent", "the key is geheim-4711\n");
    talk.hears(&json!({"id": 2, "result": {}}));
    talk.check(&[restored()]);
}

#[test]
fn a_long_history_is_no_flood() {
    let mut talk = loading();
    let piece = "x".repeat(IDLE_BYTES_MAX / 4);
    for _ in 0..8 {
        talk.replays("agent", &piece);
    }
    talk.check(&[]);
    talk.hears(&json!({"id": 2, "result": {}}));
    talk.passes(250);
    talk.check(&[restored()]);
}
