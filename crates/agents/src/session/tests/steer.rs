//! Messages put into a running turn.

use super::*;
use crate::session::STEERS_MAX;

impl Talk {
    /// With the prompt of `r1` written, to an agent that can be steered; its id is 3.
    fn steerable() -> Self {
        let mut talk = Self::new(&spec(None, None));
        let meta = json!({"steering": {"supported": true}});
        talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1, "_meta": meta}}));
        talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
        talk.session.prompt(run("r1"), "hello", talk.now);
        talk.session.written(run("r1"));
        talk.outputs();
        talk
    }

    fn steer(&mut self, id: &str, message: &str) {
        self.session.steer(&run(id), message.into(), "leave the tests alone");
    }
}

/// Without `idleBehavior` an agent without a turn would begin one of its own.
fn request(id: u64) -> Done {
    let prompt = json!([{"type": "text", "text": "leave the tests alone"}]);
    let params = json!({"sessionId": "s", "prompt": prompt, "idleBehavior": "promptRequired"});
    Done::Line(json!({"id": id, "method": "_session/steering", "params": params}))
}

fn steered(id: &str, message: &str, taken: Result<(), &str>) -> Done {
    let taken = taken.map_err(str::to_owned);
    Done::Event(EventKind::Steered { run: run(id), message: message.into(), taken })
}

#[test]
fn a_message_is_in_the_turn_when_the_agent_says_so() {
    let answers = [
        (json!({"result": {"outcome": "injected"}}), Ok(())),
        (
            json!({"result": {"outcome": "promptRequired", "reason": "noRunningTurn"}}),
            Err("its turn had ended"),
        ),
        (json!({"result": {"outcome": "queued geheim-4711"}}), Err("the agent answered: queued [redacted]")),
        // What some agents answer to all that they do not know.
        (json!({"result": {}}), Err("the agent's answer is not understood: {}")),
        (json!({"result": null}), Err("the agent's answer is not understood: null")),
        (
            json!({"error": {"code": -32601, "message": "no such method"}}),
            Err("the agent answered with an error: no such method"),
        ),
    ];
    let mut talk = Talk::steerable();
    for ((answer, taken), id) in answers.into_iter().zip(4..) {
        talk.steer("r1", "m7");
        talk.check(&[request(id)]);
        let mut answer = answer;
        answer["id"] = json!(id);
        talk.hears(&answer);
        talk.check(&[steered("r1", "m7", taken)]);
        talk.hears(&answer);
        talk.check(&[]);
    }
    talk.hears(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    talk.check(&[ended(Stop::EndTurn, None)]);
}

#[test]
fn answers_come_in_any_order_and_after_the_turn_they_change_nothing() {
    let mut talk = Talk::steerable();
    for message in ["m7", "m8", "m9"] {
        talk.steer("r1", message);
    }
    talk.check(&[request(4), request(5), request(6)]);
    let injected = |id| json!({"id": id, "result": {"outcome": "injected"}});
    talk.hears(&injected(6));
    talk.hears(&injected(4));
    talk.check(&[steered("r1", "m9", Ok(())), steered("r1", "m7", Ok(()))]);
    talk.hears(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    talk.check(&[ended(Stop::EndTurn, None)]);
    talk.hears(&injected(5));
    talk.check(&[]);
    talk.session.prompt(run("r2"), "next", talk.now);
    talk.outputs();
    talk.hears(&injected(5));
    talk.check(&[]);
}

/// Rule 2.6 and public report D38: an agent that cannot be steered is not asked to.
#[test]
fn what_cannot_be_steered_is_not() {
    let mut talk = Talk::in_turn();
    talk.steer("r1", "m7");
    talk.check(&[steered("r1", "m7", Err("the agent does not let its turns be steered"))]);
    for meta in [json!({"steering": {"supported": false}}), json!({"steering": true}), json!(["steering"])] {
        let mut talk = Talk::new(&spec(None, None));
        talk.hears(&json!({"id": 1, "result": {"protocolVersion": 1, "_meta": meta}}));
        talk.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
        talk.session.prompt(run("r1"), "hello", talk.now);
        talk.outputs();
        talk.steer("r1", "m7");
        talk.check(&[steered("r1", "m7", Err("the agent does not let its turns be steered"))]);
    }

    let mut talk = Talk::steerable();
    talk.steer("r0", "m7");
    talk.check(&[steered("r0", "m7", Err("its turn had ended"))]);
    (0..STEERS_MAX).for_each(|n| talk.steer("r1", &format!("m{n}")));
    assert_eq!(talk.outputs().len(), STEERS_MAX);
    talk.steer("r1", "m99");
    talk.check(&[steered("r1", "m99", Err("too many messages wait for the agent's word"))]);

    let mut talk = Talk::steerable();
    talk.session.cancel(&run("r1"), talk.now);
    talk.steer("r1", "m7");
    talk.check(&[cancel(), steered("r1", "m7", Err("its turn is being stopped"))]);
    talk.hears(&json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    talk.steer("r1", "m7");
    talk.check(&[ended(Stop::Cancelled, None), steered("r1", "m7", Err("its turn had ended"))]);
}

/// Rule 6.9 and public report D39: steering moves no limit, neither that of a turn nor that of its silence.
#[test]
fn a_steer_extends_no_limit() {
    let mut talk = Talk::steerable();
    talk.at(299);
    talk.steer("r1", "m7");
    talk.check(&[request(4)]);
    talk.at(300);
    talk.check(&[cancel()]);

    let mut talk = Talk::steerable();
    for (id, seconds) in (4..).zip((200..3600).step_by(200)) {
        talk.at(seconds);
        talk.steer("r1", "m7");
        talk.hears(&json!({"id": id, "result": {"outcome": "injected"}}));
    }
    assert_eq!(talk.outputs().len(), 17 * 2);
    talk.at(3599);
    talk.check(&[]);
    talk.at(3600);
    talk.check(&[cancel()]);
    talk.hears(&json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    talk.check(&[failed("r1", "the turn took longer than 3600 s and was cancelled")]);
}
