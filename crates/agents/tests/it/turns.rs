//! What goes well: sessions, turns, streaming, cancelling, ending.

use std::path::Path;

use agents::{EventKind, Fault, Passing, Stop, Turn, Update, Usage};
use serde_json::{Value, json};

use crate::world::{MARK, World, ended, failed, lost, text, update, written};

fn done(text: Option<&str>) -> Turn {
    Turn { stop: Stop::EndTurn, text: text.map(str::to_owned), usage: None }
}

#[tokio::test]
async fn a_turn_is_streamed_and_answered() {
    let mut world = World::new();
    let usage = json!({"inputTokens": 5, "outputTokens": 6, "cachedReadTokens": 7, "cachedWriteTokens": 8,
        "totalTokens": 26});
    let steps = json!([
        {"thought": "hm"}, {"plan": ["one", "two"]}, {"text": "Let me look."},
        {"tool": {"id": "t1", "title": "Read", "kind": "read"}},
        {"tool_update": {"id": "t1", "status": "completed"}},
        {"used": 1234}, {"compacted": "completed"}, {"echo": 4}, {"answer": {"usage": usage}},
    ]);
    world.in_turn(world.spec(&json!({"prompt": steps}))).await;
    let tool = Update::ToolCall { id: "t1".to_owned(), title: "Read".to_owned(), kind: "read".to_owned() };
    let tool_end =
        Update::ToolUpdate { id: "t1".to_owned(), status: Some("completed".to_owned()), title: None };
    let usage =
        Usage { input: 5, output: 6, cached_read: Some(7), cached_write: Some(8), total: 26, models: vec![] };
    world
        .check(&[
            update(Update::Other),
            update(Update::Plan("one\ntwo".to_owned())),
            text("Let me look."),
            update(tool),
            update(tool_end),
            update(Update::Used(1234)),
            update(Update::Compacted),
            text("hell"),
            text("o"),
            ended("r1", Turn { usage: Some(usage), ..done(Some("hello")) }),
        ])
        .await;
    world.finish().await;
}

#[tokio::test]
async fn a_session_is_begun_as_specified_and_stays_for_the_next_turn() {
    let mut world = World::new();
    let mut spec = world.spec(&json!({"native": "n-1", "system_prompt": true,
        "models": {"by": "config_option", "names": ["large", "small"]}}));
    spec.system_prompt = Some("You are an agent.".to_owned());
    spec.model = Some("small".to_owned());
    let mut env: Value = spec.env.iter().cloned().collect();
    env["HIGHWATER_AGENT"] = json!(format!("{}:1", spec.mark));
    let started = world.in_turn(spec).await;
    assert_eq!((started.native.as_str(), started.system_prompt, started.notices), ("n-1", true, Vec::new()));
    world.check(&[text("hello"), ended("r1", done(Some("hello")))]).await;
    world.prompt("r2", "again");
    let again = EventKind::Update { run: "r2".into(), update: Update::Text("again".to_owned()) };
    world.check(&[written("r2"), again, ended("r2", done(Some("again")))]).await;

    let start = world.log("start");
    assert_eq!(start.len(), 1, "one process for both");
    assert_eq!(start[0]["env"], env, "the whole environment");
    assert_eq!(start[0]["cwd"], json!(world.path("agent")));
    assert_signals_are_reset(world.outer(i32::try_from(start[0]["pid"].as_i64().unwrap()).unwrap()));
    let methods: Vec<Value> =
        world.read_by_agent("method").iter().map(|line| line["method"].clone()).collect();
    let expect =
        ["initialize", "session/new", "session/set_config_option", "session/prompt", "session/prompt"];
    assert_eq!(json!(methods), json!(expect));
    assert_eq!(world.log("prompt"), [json!("hello"), json!("again")]);
    assert_eq!(world.log("start")[0]["env"][MARK], env[MARK]);
    world.finish().await;
}

/// The holder blocks all signals; the agent must not. It ignores what we ignore: `nohup` is passed on.
fn assert_signals_are_reset(pid: i32) {
    let field = |pid: &str, name: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    let pid = pid.to_string();
    assert_eq!(field(&pid, "SigBlk:"), 0);
    let (hup, int, term) = (1 << 0, 1 << 1, 1 << 14);
    let ignored = |pid: &str| field(pid, "SigIgn:") & (hup | int | term);
    assert_eq!(ignored(&pid), ignored("self"));
}

#[tokio::test]
async fn what_the_agent_cannot_do_is_told() {
    let mut world = World::new();
    let mut spec = world.spec(&json!({"native": "n-1"}));
    spec.system_prompt = Some("You are an agent.".to_owned());
    spec.model = Some("small".to_owned());
    world.start(spec);
    let started = world.started().await;
    let notice = "the agent does not let its model be set to small".to_owned();
    assert_eq!((started.system_prompt, started.notices), (false, vec![notice]));
    world.finish().await;

    let mut world = World::new();
    let mut spec = world.spec(&json!({"models": {"by": "set_model", "names": ["large"]}}));
    spec.model = Some("small".to_owned());
    world.start(spec);
    let notice = "the agent's model could not be set: no model \"small\"".to_owned();
    assert_eq!(world.started().await.notices, [notice]);
    world.finish().await;
}

#[tokio::test]
async fn a_permission_is_answered_and_unknown_requests_are_refused() {
    let mut world = World::new();
    let steps = json!([
        {"permission": {"title": "rm -r x", "options": ["allow_always", "reject_always", "reject_once"]}},
        {"permission": {"title": "touch y", "options": ["allow_once"]}},
        {"request": {"method": "fs/read_text_file", "params": {"path": "/etc/passwd"}}},
        {"request": {"method": "terminal/create", "params": {}}},
        {"notify": {"method": "_other/news", "params": {}}},
        {"text": "done"},
    ]);
    world.in_turn(world.spec(&json!({"prompt": steps}))).await;
    for (title, choice) in [("rm -r x", Some(2)), ("touch y", None)] {
        let EventKind::PermissionAsked { run, ask } = world.next().await else { panic!("it asks") };
        assert_eq!(ask.title, title);
        world.answer(run, ask.n, choice);
    }
    world.check(&[text("done"), ended("r1", done(Some("done")))]).await;
    let answers: Vec<Value> =
        ["result", "error"].iter().flat_map(|field| world.read_by_agent(field)).collect();
    let not_found = json!({"code": -32601, "message": "method not found"});
    assert_eq!(
        json!(answers),
        json!([
            {"jsonrpc": "2.0", "id": "ask-1", "result": {"outcome": {"outcome": "selected", "optionId": "reject_once"}}},
            {"jsonrpc": "2.0", "id": "ask-2", "result": {"outcome": {"outcome": "cancelled"}}},
            {"jsonrpc": "2.0", "id": "ask-3", "error": not_found},
            {"jsonrpc": "2.0", "id": "ask-4", "error": not_found},
        ])
    );
    world.finish().await;
}

#[tokio::test]
async fn a_cancel_stops_its_turn_and_no_other() {
    let mut world = World::new();
    let cancelled = json!([{"text": "half"}, {"await_cancel": true}, {"answer": {"stop": "cancelled"}}]);
    world.in_turn(world.spec(&json!({"prompts": [cancelled, [{"text": "whole"}]]}))).await;
    world.check(&[text("half")]).await;
    world.cancel("r0");
    world.cancel("r1");
    world.check(&[ended("r1", Turn { stop: Stop::Cancelled, ..done(Some("half")) })]).await;
    world.cancel("r1");
    world.prompt("r2", "next");
    world.cancel("r1");
    let whole = EventKind::Update { run: "r2".into(), update: Update::Text("whole".to_owned()) };
    world.check(&[written("r2"), whole, ended("r2", done(Some("whole")))]).await;
    let cancels =
        world.read_by_agent("method").iter().filter(|line| line["method"] == "session/cancel").count();
    assert_eq!(cancels, 1);
    world.finish().await;
}

#[tokio::test]
async fn many_cancels_of_a_turn_are_one() {
    let mut world = World::new();
    let cancelled = json!([{"await_cancel": true}, {"answer": {"stop": "cancelled"}}]);
    world.start(world.spec(&json!({"prompts": [cancelled, cancelled]})));
    world.started().await;
    // One before its prompt hits nothing, and hides none of the later ones.
    world.cancel("r1");
    for run in ["r1", "r2"] {
        world.prompt(run, "hello");
        world.check(&[written(run)]).await;
        for _ in 0..80 {
            world.cancel(run);
        }
        world.check(&[ended(run, Turn { stop: Stop::Cancelled, ..done(None) })]).await;
    }
    let cancels =
        world.read_by_agent("method").iter().filter(|line| line["method"] == "session/cancel").count();
    assert_eq!(cancels, 2);
    world.finish().await;
}

#[tokio::test]
async fn a_prompt_while_a_turn_is_in_flight_fails_alone() {
    let mut world = World::new();
    world.in_turn(world.spec(&json!({"prompt": [{"await_cancel": true}]}))).await;
    world.prompt("r2", "second");
    world.check(&[failed("r2", "another turn of this agent is in flight")]).await;
    world.cancel("r1");
    world.check(&[ended("r1", done(None))]).await;
    world.finish().await;
}

#[tokio::test]
async fn an_error_leaves_the_process_for_the_next_turn() {
    let mut world = World::new();
    let error = json!({"code": -32603, "message": "Internal error", "data": {"errorKind": "rate_limit"}});
    let prompts = json!([[{"text": "so far"}, {"error": error}], [{"text": "better"}]]);
    world.in_turn(world.spec(&json!({"prompts": prompts}))).await;
    let reason =
        r#"the agent answered with an error: Internal error ({"errorKind":"rate_limit"})"#.to_owned();
    let fault = Fault::Passing { kind: Passing::RateLimit, retry_after_ms: None };
    world.check(&[text("so far"), EventKind::TurnFailed { run: "r1".into(), reason, fault }]).await;
    world.prompt("r2", "again");
    world.check(&[written("r2")]).await;
    assert_eq!(world.after_updates().await, ended("r2", done(Some("better"))));
    world.finish().await;
}

#[tokio::test]
async fn a_prompt_may_steer_its_turn() {
    let mut world = World::new();
    world.start(world.spec(&json!({})));
    world.started().await;
    let payload = json!({"channel_id": "c1", "run_id": "r1", "text": "@a SCRIPT:{\"prompt\": [{\"text\": \"as \\\"told\\\"\"}]} please"});
    world.prompt(
        "r1",
        &format!("Mentioned.\n\n{payload}\n---\nBrief.\n\nSCRIPT:{{\"prompt\": [{{\"exit\": 1}}]}}"),
    );
    let told = "as \"told\"";
    world.check(&[written("r1"), text(told), ended("r1", done(Some(told)))]).await;
    world.finish().await;
}

#[tokio::test]
async fn prompts_and_answers_larger_than_any_pipe_pass() {
    let mut world = World::new();
    world.start(
        world.spec(
            &json!({"prompt": [{"big_text": 100_000}, {"tool": {"id": "t", "title": "T"}}, {"echo": 0}]}),
        ),
    );
    world.started().await;
    let long = "wörter ".repeat(100_000);
    world.prompt("r1", &long);
    world.check(&[written("r1")]).await;
    assert_eq!(world.after_updates().await, ended("r1", done(Some(&long))));
    assert_eq!(world.log("prompt"), [json!(long)]);
    world.finish().await;
}

#[tokio::test]
async fn secrets_are_shown_nowhere() {
    let mut world = World::new();
    let steps = json!([
        {"tool": {"id": "t", "title": "curl -H geheim-4711", "kind": "execute"}},
        {"text": "the key is geh"}, {"text": "eim-47"}, {"text": "11."},
        {"stderr": "using geheim-4711\n"}, {"exit": 1},
    ]);
    let mut spec = world.spec(&json!({"prompt": steps}));
    spec.secrets = agents::Secrets::new(["geheim-4711".to_owned()]);
    world.in_turn(spec).await;
    let mut told = Vec::new();
    loop {
        let event = world.next().await;
        let last = matches!(event, EventKind::Exited { .. });
        told.push(format!("{event:?}"));
        if last {
            break;
        }
    }
    let told = told.join("\n");
    assert!(!told.contains("geheim") && !told.contains("4711"), "{told}");
    assert!(told.contains("curl -H [redacted]") && told.contains("using [redacted]"), "{told}");
    world.over().await;
}

#[tokio::test]
async fn an_end_during_a_turn_fails_it_first() {
    let mut world = World::new();
    world.in_turn(world.spec(&json!({"prompt": [{"hang": true}]}))).await;
    world.end();
    let reason = "the agent's process was ended during the turn";
    world.check(&[lost("r1", reason), EventKind::Exited { reason: None }]).await;
    world.over().await;
}

#[tokio::test]
async fn dropping_the_agents_ends_them() {
    let mut world = World::new();
    world.start(world.spec(&json!({})));
    world.started().await;
    world.agents = agents::Agents::new(Vec::new(), Path::new("/"), tokio::sync::mpsc::channel(1).0);
    world.check(&[EventKind::Exited { reason: None }]).await;
    assert_eq!(world.events.recv().await, None, "the last sender ends with the last process");
    world.over().await;
}
