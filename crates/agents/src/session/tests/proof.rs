//! What an agent does that is asked whether it is alive.

use super::*;

/// What is asked, with its id.
fn question(id: u64) -> Done {
    Done::Line(json!({"id": id, "method": "_highwater/alive", "params": {}}))
}

fn prompt(id: u64) -> Done {
    let params = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "hello"}]});
    Done::Prompt(run("r1"), json!({"id": id, "method": "session/prompt", "params": params}))
}

#[test]
fn any_answer_is_a_sign_of_life() {
    for answer in [
        json!({"error": {"code": -32601, "message": "Method not found"}}),
        json!({"result": {}}),
        json!({"result": null}),
    ] {
        let mut talk = Talk::idle();
        talk.session.prove(talk.now);
        talk.check(&[question(3)]);
        let mut answer = answer;
        answer["id"] = json!(3);
        talk.hears(&answer);
        talk.check(&[]);
        talk.session.prompt(run("r1"), "hello", talk.now);
        talk.check(&[prompt(4)]);
    }
}

#[test]
fn a_prompt_waits_for_it() {
    let mut talk = Talk::idle();
    talk.session.prove(talk.now);
    talk.session.prove(talk.now);
    talk.session.prompt(run("r1"), "hello", talk.now);
    talk.check(&[question(3)]);
    // A late answer to something else is none.
    talk.hears(&json!({"id": 2, "result": {}}));
    talk.check(&[]);
    talk.hears(&json!({"id": 3, "result": {}}));
    talk.check(&[prompt(4)]);
}

/// Rule 6.4 and public report J87: one that is stale after a sleep is ended, and its prompt was not written.
#[test]
fn one_that_does_not_answer_is_unfit() {
    let mut talk = Talk::idle();
    talk.session.prove(talk.now);
    talk.session.prompt(run("r1"), "hello", talk.now);
    talk.check(&[question(3)]);
    assert_eq!(talk.session.next_timeout(), Some(talk.now + Duration::from_secs(10)));
    talk.at(10);
    talk.check(&[unfit("the agent gave no sign of life within 10 s after the computer had slept")]);
    talk.session.prompt(run("r2"), "hello", talk.now);
    talk.check(&[]);
}

#[test]
fn a_prompt_that_waits_for_it_can_be_cancelled() {
    let mut talk = Talk::idle();
    talk.session.prove(talk.now);
    talk.session.prompt(run("r1"), "hello", talk.now);
    talk.session.cancel(&run("r0"), talk.now);
    talk.session.cancel(&run("r1"), talk.now);
    talk.check(&[question(3), failed("r1", "cancelled")]);
    talk.hears(&json!({"id": 3, "result": {}}));
    talk.check(&[]);
}

#[test]
fn who_works_or_starts_is_not_asked() {
    let mut talk = Talk::new(&spec(None, None));
    talk.outputs();
    talk.session.prove(talk.now);
    talk.check(&[]);
    let mut talk = Talk::idle();
    talk.session.prompt(run("r1"), "hello", talk.now);
    talk.outputs();
    talk.session.prove(talk.now);
    talk.check(&[]);
}
