//! Codex.

use serde_json::{Value, json};

use super::home::{Home, MARKS, credentials};
use super::story::{PrefixKept, Words, keeps_its_session};
use super::text_of;
use crate::server::wait_until;

/// The model writes JavaScript.
fn exec(call: &str) -> Value {
    json!({"name": "exec", "input": format!("text(JSON.stringify(await tools.{call}))")})
}

fn words() -> Words {
    let touch = r#"exec_command({cmd: "touch made", sandbox_permissions: "require_escalated", justification: "May I?"})"#;
    Words {
        agent: "codex",
        history: exec("mcp__highwater__channel_history({})"),
        post: exec(r#"mcp__highwater__channel_post({text: "by the way"})"#),
        touch: exec(touch),
        prefix: PrefixKept::Always,
    }
}

#[test]
fn codex_answers_calls_tools_and_asks_and_its_prefix_is_never_touched() {
    words().answers_calls_tools_and_asks();
}

#[test]
fn codex_keeps_its_session_over_a_cancel_a_restart_and_a_kill() {
    keeps_its_session("codex");
}

/// Its tools stand in no request: that a slow server is waited for is seen by a call of the first turn.
#[test]
fn codex_under_tidy_keeps_what_is_the_users() {
    let home = Home::of("codex");
    let [node, script] = home.mine();
    let mine = format!("\n[mcp_servers.mine]\ncommand = {node:?}\nargs = [{script:?}]\n");
    let home = home
        .with(".codex/auth.json", &credentials())
        .with_notes_and_skill(".codex/AGENTS.md", ".codex/skills");
    let call = json!({"call": exec("mcp__mine__samovar({})")});
    let answers = json!([{"say": {"parts": [call]}}, {"say": {"parts": [{"text": "It boils."}]}}]);
    let rules = json!([{"when": {"text": "heat please"}, "answers": answers}]);
    let (real, untouched) = home.joined(&rules, |settings| format!("{settings}{mine}"));
    let run = real.begin("heat please");
    let cards = || real.server.show(&run)["permissions"].as_array().cloned().unwrap_or_default();
    wait_until("it asks", || !cards().is_empty());
    real.server.ok(&["permission", "answer", cards()[0]["id"].as_str().unwrap(), "allow"]);
    assert_eq!(text_of(&real.ended(&run)), "It boils.");
    let requests = real.provider.requests();
    assert_eq!(requests.len(), 2, "nothing is asked beside the turn");
    assert!(MARKS.iter().all(|mark| requests[0].body.contains(mark)), "{}", requests[0].body);
    assert!(requests[1].body.contains("boiling"), "{}", requests[1].body);
    untouched.check(real);
}

#[test]
fn profiles_of_codex_cost_less_and_less() {
    words().profiles_cost_less_and_less();
}
