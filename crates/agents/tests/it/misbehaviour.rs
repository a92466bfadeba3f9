//! What an agent can do wrong costs at most its run (I10), is told with a reason, and leaves no process.

use std::time::Duration;

use agents::{EventKind, Spec, Stop, Turn, Update};
use serde_json::{Value, json};

use crate::world;
use crate::world::{LIMITS, SHORT, World, ended, exited, failed, handle, text, update, written};

fn done(text: Option<&str>) -> Turn {
    Turn { stop: Stop::EndTurn, text: text.map(str::to_owned), usage: None }
}

/// The agent does not get as far as a session.
async fn check_start(script: Value, change: fn(&mut Spec), reason: &str) {
    let mut world = World::new();
    let mut spec = world.spec(&script);
    change(&mut spec);
    world.start(spec);
    world.check(&[exited(reason)]).await;
    world.over().await;
}

/// Rule 6.12 and public report J85: the file that is missing is named, be it the one that a first line leads to.
#[tokio::test]
async fn a_command_that_cannot_be_started_is_named() {
    let mut world = World::new();
    // Files of the repository: one written just now may be held open by a test beside this one while it forks.
    let folder = env!("CARGO_MANIFEST_DIR");
    let (script, data) = (format!("{folder}/tests/it/no-interpreter"), format!("{folder}/Cargo.toml"));
    for (command, reason) in [
        ("no-such-agent", "not found on PATH of the agent (/bin:/usr/bin)"),
        ("/no/such/agent", "there is no such file"),
        (script.as_str(), "the interpreter that its first line names is missing"),
        (data.as_str(), "Permission denied (os error 13)"),
    ] {
        let mut spec = world.spec(&json!({}));
        spec.env[0].1 = "/bin:/usr/bin".to_owned();
        spec.command = vec![command.to_owned()];
        world.start(spec);
        world.check(&[exited(&format!("cannot start `{command}`: {reason}"))]).await;
        world.agents.ended().await;
    }
    world.over().await;
}

#[tokio::test]
async fn a_folder_or_holder_that_cannot_be_had_is_named() {
    let mut world = World::new();
    let mut spec = world.spec(&json!({}));
    spec.cwd = "/dev/null/agent".into();
    world.start(spec);
    let reason = "the agent's folder /dev/null/agent could not be made: Not a directory (os error 20)";
    world.check(&[exited(reason)]).await;
    world.over().await;

    let mut world = World::with_holder(vec!["/no/such/holder".to_owned()], 8);
    let spec = world.spec(&json!({}));
    world.start(spec);
    let reason = "the holder /no/such/holder could not be started: No such file or directory (os error 2)";
    world.check(&[exited(reason)]).await;
    world.over().await;

    let mut world = World::with_holder(vec!["true".to_owned()], 8);
    let spec = world.spec(&json!({}));
    world.start(spec);
    world.check(&[exited("the holder ended without starting the agent")]).await;
    world.over().await;
}

#[tokio::test]
async fn an_agent_that_ends_early_says_why() {
    let stay = |_: &mut Spec| {};
    check_start(
        json!({"start": [{"stderr": "no key is set\n"}, {"exit": 3}]}),
        stay,
        "the agent's process ended: exit status 3; the end of its standard error:\nno key is set",
    )
    .await;
    check_start(json!({"initialize": [{"exit": 0}]}), stay, "the agent's process ended: exit status 0").await;
    check_start(json!({"new": [{"signal": 9}]}), stay, "the agent's process ended: signal 9").await;
}

#[tokio::test]
async fn an_agent_that_does_not_begin_is_given_up() {
    let short = |spec: &mut Spec| spec.limits.start = SHORT;
    check_start(
        json!({"initialize": [{"hang": true}]}),
        short,
        "the agent did not answer initialize within 0.1 s",
    )
    .await;
    check_start(
        json!({"start": [{"stderr": "waiting"}], "initialize": [{"silent": true}]}),
        |spec| {
            spec.limits.start = Duration::from_secs(2);
            spec.command =
                vec!["sh".to_owned(), "-c".to_owned(), "echo waiting >&2; exec sleep 1000".to_owned()];
        },
        "the agent did not answer initialize within 2 s; the end of its standard error:\nwaiting",
    )
    .await;
    let long = |_: &mut Spec| {};
    check_start(
        json!({"new": [{"error": {"code": -32000, "message": "Authentication required"}}]}),
        long,
        "the agent answered session/new with an error: Authentication required",
    )
    .await;
    check_start(
        json!({"version": 2}),
        long,
        "the agent speaks version 2 of the Agent Client Protocol, Highwater speaks version 1",
    )
    .await;
}

/// A turn that goes wrong: the events after `PromptWritten`, updates left out.
async fn check_turn(script: Value, change: fn(&mut Spec), expect: &[EventKind]) {
    let mut world = World::new();
    let mut spec = world.spec(&script);
    change(&mut spec);
    world.in_turn(spec).await;
    for expect in expect {
        assert_eq!(&world.after_updates().await, expect, "{script}");
    }
    world.over().await;
}

fn stay(_: &mut Spec) {}

/// The turn fails and the process ends for this reason.
fn lost(reason: &str) -> [EventKind; 2] {
    [world::lost("r1", reason), exited(reason)]
}

#[tokio::test]
async fn an_agent_that_dies_in_a_turn_fails_it() {
    let reason = "the agent's process ended: exit status 7; the end of its standard error:\nout of luck";
    let script = json!({"prompt": [{"text": "half"}, {"stderr": "out of luck\n"}, {"exit": 7}]});
    check_turn(script, stay, &lost(reason)).await;
    check_turn(json!({"prompt": [{"signal": 6}]}), stay, &lost("the agent's process ended: signal 6")).await;
}

#[tokio::test]
async fn an_answer_before_the_end_counts() {
    let script = json!({"prompt": [{"text": "bye"}, {"answer": {}}, {"exit": 0}]});
    let expect = [ended("r1", done(Some("bye"))), exited("the agent's process ended: exit status 0")];
    check_turn(script, stay, &expect).await;
}

#[tokio::test]
async fn a_silent_turn_is_cancelled_then_killed() {
    let short = |spec: &mut Spec| {
        spec.limits.inactivity = SHORT;
        spec.limits.grace = SHORT;
    };
    let reason = "the agent gave no sign of life for 0.1 s; its turn was cancelled; the agent did not stop within \
                  0.1 s and was ended";
    check_turn(json!({"prompt": [{"hang": true}]}), short, &lost(reason)).await;

    let mut world = World::new();
    let mut spec = world.spec(&json!({"prompts": [[{"await_cancel": true}], [{"text": "well"}]]}));
    spec.limits.inactivity = SHORT;
    world.in_turn(spec).await;
    let reason = "the agent gave no sign of life for 0.1 s; its turn was cancelled";
    world.check(&[failed("r1", reason)]).await;
    world.prompt("r2", "again");
    world.check(&[written("r2")]).await;
    assert_eq!(world.after_updates().await, ended("r2", done(Some("well"))));
    world.finish().await;
}

#[tokio::test]
async fn an_endless_turn_is_cut_however_lively() {
    let short = |spec: &mut Spec| {
        spec.limits.turn = SHORT;
        spec.limits.grace = SHORT;
    };
    let reason = "the turn took longer than 0.1 s and was cancelled; the agent did not stop within 0.1 s and was ended";
    for what in ["updates", "requests"] {
        check_turn(json!({"prompt": [{"flood": {"what": what, "count": 0}}]}), short, &lost(reason)).await;
    }
}

#[tokio::test]
async fn a_cancel_that_is_ignored_ends_the_process() {
    let mut world = World::new();
    // Neither SIGTERM nor the end of its input impress it.
    let mut spec = world.spec(&json!({"ignore_eof": true, "prompt": [{"text": "no"}, {"hang": true}]}));
    spec.limits.grace = SHORT;
    let trap = ["sh", "-c", "trap '' TERM; exec \"$0\" \"$@\""].map(str::to_owned);
    spec.command.splice(..0, trap);
    world.in_turn(spec).await;
    world.check(&[text("no")]).await;
    world.cancel("r1");
    let reason = "cancelled; the agent did not stop within 0.1 s and was ended";
    world.check(&lost(reason)).await;
    world.over().await;
}

#[tokio::test]
async fn lines_that_are_not_the_protocol_are_passed_over() {
    let mut world = World::new();
    let noise = json!([{"raw": "npm warn deprecated"}, {"raw": ""}, {"raw": "{\"half\":"}, {"raw": "[1,2]"}, {"hex": "fffe0a"}]);
    // {"jsonrpc":"2.0","method":"session/update",…,"text":"a\xffb"}
    let broken = "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"n\",\"update\":\
                  {\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"a";
    let mut hex: String = broken.bytes().map(|byte| format!("{byte:02x}")).collect();
    hex.push_str("ff");
    hex.extend("b\"}}}}\n".bytes().map(|byte| format!("{byte:02x}")));
    let mut prompt = noise.as_array().unwrap().clone();
    prompt.push(json!({"hex": hex}));
    world.in_turn(world.spec(&json!({"native": "n", "start": noise, "new": noise, "prompt": prompt}))).await;
    world.check(&[text("a\u{fffd}b"), ended("r1", done(Some("a\u{fffd}b")))]).await;
    world.finish().await;
}

#[tokio::test]
async fn answers_that_repeat_or_come_late_change_nothing() {
    let mut world = World::new();
    let prompts = json!([
        [{"text": "one"}, {"answer": {"times": 3}}],
        [{"answer": {"id": "previous", "stop": "refusal"}}, {"answer": {"id": 12345}},
         {"text": "two"}],
    ]);
    world.in_turn(world.spec(&json!({"prompts": prompts}))).await;
    world.check(&[text("one"), ended("r1", done(Some("one")))]).await;
    world.prompt("r2", "again");
    let two = EventKind::Update { run: "r2".into(), update: Update::Text("two".to_owned()) };
    world.check(&[written("r2"), two, ended("r2", done(Some("two")))]).await;
    world.finish().await;
}

#[tokio::test]
async fn a_program_that_does_not_speak_the_protocol_is_given_up() {
    let mut world = World::new();
    let mut spec = world.spec(&json!({}));
    spec.command = vec!["yes".to_owned()];
    world.start(spec);
    let reason =
        "the agent does not speak the Agent Client Protocol: 200 lines in a row are not it, the last: y";
    world.check(&[exited(reason)]).await;
    world.over().await;
}

#[tokio::test]
async fn a_closed_output_ends_the_process() {
    let reason = "the agent closed its standard input or output but did not end";
    check_turn(json!({"ignore_eof": true, "prompt": [{"close": true}, {"hang": true}]}), stay, &lost(reason))
        .await;
}

#[tokio::test]
async fn a_flood_of_standard_error_harms_nothing() {
    let mut world = World::new();
    let flood = json!({"flood": {"what": "stderr", "count": 20_000}});
    world.in_turn(world.spec(&json!({"prompt": [flood, {"text": "still here"}]}))).await;
    world.check(&[text("still here"), ended("r1", done(Some("still here")))]).await;
    world.finish().await;
}

#[tokio::test]
async fn an_empty_turn_has_no_text() {
    let mut world = World::new();
    let prompts = json!([[], [{"text": " \n"}], [{"text": "before"}, {"tool": {"id": "t", "title": "T"}}]]);
    world.in_turn(world.spec(&json!({"prompts": prompts}))).await;
    world.check(&[ended("r1", done(None))]).await;
    for (run, text) in [("r2", None), ("r3", Some("before"))] {
        world.prompt(run, "again");
        world.check(&[written(run)]).await;
        assert_eq!(world.after_updates().await, ended(run, done(text)));
    }
    world.finish().await;
}

#[tokio::test]
async fn a_full_channel_of_events_stops_the_reading_but_not_the_end() {
    let mut world = World::with_events(1);
    let mut spec = world.spec(&json!({"prompt": [{"flood": {"what": "updates", "count": 0}}]}));
    spec.limits = agents::TimeLimits { grace: SHORT, ..LIMITS };
    let started = world.in_turn(spec).await;
    let holder = handle(i32::try_from(started.pid).unwrap());
    world.check(&[text("flood ")]).await;
    // Nothing is taken from the channel until the process is gone.
    world.end();
    world::gone(holder).await;
    let flood = update(Update::Text("flood ".to_owned()));
    let mut updates = 0;
    let end = loop {
        match world.next().await {
            event if event == flood => updates += 1,
            other => break other,
        }
    };
    assert!(updates < 10, "{updates} updates were read ahead");
    assert_eq!(end, world::lost("r1", "the agent's process was ended during the turn"));
    world.check(&[EventKind::Exited { reason: None }]).await;
    world.over().await;
}

#[tokio::test]
async fn commands_for_no_process_do_nothing() {
    let mut world = World::new();
    world.prompt("r1", "hello");
    world.cancel("r1");
    world.end();
    world.start(world.spec(&json!({})));
    world.started().await;
    // The same key and epoch once more.
    world.start(world.spec(&json!({})));
    world.prompt("r2", "hello");
    world.check(&[written("r2")]).await;
    assert_eq!(world.after_updates().await, ended("r2", done(Some("hello"))));
    world.finish().await;
}
