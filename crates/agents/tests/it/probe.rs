//! What an agent tells of itself when it is asked, and logging in by its own way.

use std::sync::Arc;
use std::time::Duration;

use agents::{Login, LoginBy, Modes, Probe, Refused, Seen, TimeLimits};
use serde_json::{Value, json};

use crate::world::{SHORT, World, scripted};

fn holder() -> Arc<[String]> {
    vec![scripted(), "hold".to_owned()].into()
}

async fn probe(world: &World, script: &Value) -> Result<Seen, String> {
    let probe = Probe { spec: world.spec(script), number: 1 };
    let seen = probe.run(&holder()).await;
    seen.map(|seen| Seen { took: Duration::ZERO, ..seen })
}

/// What the scripted agent tells when its script says nothing.
fn plain() -> Seen {
    Seen {
        version: Some("1".to_owned()),
        load: false,
        resume: false,
        system_prompt: false,
        steering: false,
        mcp_http: false,
        logins: Vec::new(),
        account: None,
        session: Ok(Modes::default()),
        took: Duration::ZERO,
    }
}

#[tokio::test]
async fn an_agent_tells_what_it_is_and_can() {
    let world = World::new();
    assert_eq!(probe(&world, &json!({})).await, Ok(plain()));

    let told = json!({"agentInfo": {"version": "2.6.0"}, "authMethods": [{"id": "key", "name": "A key"}]});
    let status = json!({"authStatus": {"kind": "api_key", "label": "A key of somebody's"}});
    let script = json!({
        "store": true, "reload": ["load", "resume"], "system_prompt": true, "steering": true, "mcp_http": true, "modes": ["auto", "ask"],
        "initialize": [{"result": told}],
        "new": [
            {"request": {"method": "fs/read_text_file", "params": {"path": "/etc/hostname"}}},
            {"notify": {"method": "_auth/status_update", "params": status}},
        ],
    });
    let seen = Seen {
        version: Some("2.6.0".to_owned()),
        load: true,
        resume: true,
        system_prompt: true,
        steering: true,
        mcp_http: true,
        logins: vec![Login { id: "key".to_owned(), name: "A key".to_owned(), by: LoginBy::Itself }],
        account: Some("A key of somebody's".to_owned()),
        session: Ok(Modes {
            current: Some("auto".to_owned()),
            all: vec!["auto".to_owned(), "ask".to_owned()],
        }),
        took: Duration::ZERO,
    };
    assert_eq!(probe(&world, &script).await, Ok(seen));
    world.over().await;
}

#[tokio::test]
async fn one_that_begins_no_session_says_why() {
    let world = World::new();
    let check = async |error: Value, text: &str, login: bool| {
        let session = Err(Refused { text: text.to_owned(), login });
        let seen = probe(&world, &json!({"new": [{"error": error}]})).await;
        assert_eq!(seen, Ok(Seen { session, ..plain() }), "{error}");
    };
    check(json!({"code": -32000, "message": "Authentication required"}), "Authentication required", true)
        .await;
    let failed = json!({"code": -32603, "message": "failure", "data": {"service": "directory"}});
    check(failed, r#"failure ({"service":"directory"})"#, false).await;
    world.over().await;
}

#[tokio::test]
async fn one_that_does_not_start_or_speak_is_told_with_what_it_wrote() {
    let world = World::new();
    let check = async |script: Value, part: &str| {
        let reason = probe(&world, &script).await.unwrap_err();
        assert!(reason.contains(part), "{script}: {reason}");
    };
    let dies = json!({"initialize": [{"stderr": "no such model\n"}, {"exit": 3}]});
    check(dies, "it ended before it answered initialize; it wrote:\nno such model").await;
    check(
        json!({"initialize": [{"result": {"protocolVersion": "one"}}]}),
        "its answer to initialize is none",
    )
    .await;

    let mut spec = world.spec(&json!({"initialize": [{"hang": true}]}));
    spec.limits = TimeLimits { start: SHORT, ..spec.limits };
    let reason = Probe { spec, number: 1 }.run(&holder()).await.unwrap_err();
    assert!(reason.starts_with("it did not answer initialize within 0 s"), "{reason}");

    let mut spec = world.spec(&json!({}));
    spec.command = vec!["/no/such/agent".to_owned()];
    assert!(Probe { spec, number: 1 }.run(&holder()).await.unwrap_err().contains("/no/such/agent"));
    world.over().await;
}

#[tokio::test]
async fn one_that_lives_on_is_ended_with_its_children() {
    // I9
    let world = World::new();
    let child = world.path("child").display().to_string();
    let script = json!({"ignore_eof": true, "new": [{"child": child}]});
    assert_eq!(probe(&world, &script).await, Ok(plain()));
    world.over().await;
}

#[tokio::test]
async fn somebody_logs_in_by_the_agents_own_way() {
    let world = World::new();
    let log_in = async |script: Value| {
        Probe { spec: world.spec(&script), number: 1 }.log_in(&holder(), "key", |_| {}).await
    };
    assert_eq!(log_in(json!({"authenticate": [{"delay_ms": 10}]})).await, Ok(()));
    let refused = json!({"authenticate": [{"error": {"code": -32000, "message": "the browser was closed"}}]});
    assert_eq!(log_in(refused).await, Err("the browser was closed".to_owned()));
    world.over().await;
}
