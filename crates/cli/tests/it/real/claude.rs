//! Claude Code.

use cost::cache::Kind;
use serde_json::json;

use super::home::{Home, MARKS, check_first_request, credentials};
use super::story::keeps_its_session;
use super::{NOTED, Real, calling, text_of};
use crate::server::wait_until;

#[test]
fn claude_answers_calls_tools_and_asks_and_its_prefix_is_never_touched() {
    let real = Real::new(
        "claude",
        &json!([
            calling("history please", "mcp__highwater__channel_history", &json!({}), "I have seen it."),
            calling("post please", "mcp__highwater__channel_post", &json!({"text": "by the way"}), "Posted."),
            calling(
                "touch please",
                "Bash",
                &json!({"command": "touch made", "description": "make it"}),
                "Made."
            ),
        ]),
        &[],
    );
    for number in 0..3 {
        real.say(&format!("fact {number}"));
        assert_eq!(text_of(&real.ask(&format!("question {number}"))), NOTED);
    }
    let history = real.ask("history please");
    assert_eq!(text_of(&history), "I have seen it.");
    assert_eq!(text_of(&real.ask("post please")), "Posted.");
    let posted = real.server.json(&["history", "general"]);
    let texts: Vec<&str> =
        posted.as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap()).collect();
    assert!(texts.contains(&"by the way"), "{texts:?}");

    // People are asked for the command, and nobody is asked for Highwater's own tools.
    let run = real.begin("touch please");
    let cards = || real.server.show(&run)["permissions"].as_array().cloned().unwrap_or_default();
    wait_until("it asks", || !cards().is_empty());
    assert!(cards()[0].to_string().contains("touch made"), "{:?}", cards());
    real.server.ok(&["permission", "answer", cards()[0]["id"].as_str().unwrap(), "allow"]);
    assert_eq!(text_of(&real.ended(&run)), "Made.");
    assert!(real.server.data().join("agents/b-claude/made").exists(), "the command was carried out");

    assert_eq!(text_of(&real.ask("one more")), NOTED);
    // Ten requests: seven turns, three of them with a step for their tool's result. Nothing beside them.
    assert_eq!(real.check_prefixes(), 10);
    assert_eq!(real.sessions().len(), 1, "one session");
}

#[test]
fn claude_keeps_its_session_over_a_cancel_a_restart_and_a_kill() {
    keeps_its_session("claude");
}

/// A message is put into the running turn, is told once, and costs nothing of the prefix.
#[test]
fn claude_takes_a_steer_into_its_turn() {
    let look = json!({"first_byte_ms": 2000, "parts": [{"call": {"name": "mcp__highwater__channel_history", "input": {}}}]});
    let rule = json!({"when": {"text": "look hard"}, "answers": [{"say": look}, {"say": {"parts": [{"text": "Seen."}]}}]});
    let real = Real::new("claude", &json!([rule]), &[]);
    assert_eq!(text_of(&real.ask("question 1")), NOTED);
    let run = real.begin("look hard");
    wait_until("it looks", || real.provider.requests().len() == 2);
    real.server.ok(&["run", "steer", &run, "Mind the second queue, too."]);
    assert_eq!(text_of(&real.ended(&run)), "Seen.");
    let steps = real.server.show(&run)["events"].to_string();
    assert!(steps.contains("injected"), "{steps}");
    let after = real.ask("question 2");
    assert_eq!(text_of(&after), NOTED);
    assert!(!real.server.show(after["id"].as_str().unwrap())["sent"].to_string().contains("second queue"));
    // Its own tool tells the history as it stands: that is no telling of ours.
    let requests = real.provider.requests();
    let told = &requests.last().unwrap().told.pieces;
    let told = told.iter().filter(|piece| piece.kind == Kind::Content && piece.text.contains("second queue"));
    assert_eq!(told.count(), 1);
    real.check_prefixes();
}

/// What each profile costs, on the same texts.
#[test]
fn profiles_of_claude_cost_less_and_less() {
    let played = |profile: &str| {
        let real = Real::new("claude", &json!([]), &["--profile", profile]);
        for number in 0..4 {
            real.say(&format!("fact {number}"));
            assert_eq!(text_of(&real.ask(&format!("question {number}"))), NOTED);
        }
        let requests = real.provider.requests().len();
        if profile != "own" {
            real.check_prefixes();
        }
        (requests, real.tokens())
    };
    let (own, tidy, lean) = (played("own"), played("tidy"), played("lean"));
    assert!(own.0 > 4, "by itself it asks for more than the answers: {own:?}");
    assert_eq!((tidy.0, lean.0), (4, 4), "no request beside the turns");
    assert!(own.1.0 > tidy.1.0 && tidy.1.0 > 2 * lean.1.0, "{own:?} {tidy:?} {lean:?}");
    assert!(own.1.1 > 2 * tidy.1.1, "{own:?} {tidy:?}");
}

/// The user's own tools, skills and notes hold under `tidy`; their settings and credentials stay as they are, byte for byte.
/// In `.claude.json`, with its tool servers, the agent keeps its own state, too.
#[test]
fn claude_under_tidy_keeps_what_is_the_users() {
    let home = Home::of("claude");
    let [command, script] = home.mine();
    let mine = json!({"mine": {"type": "stdio", "command": command, "args": [script], "env": {}}});
    let state = home.write(".claude.json", &json!({"mcpServers": mine}).to_string());
    let (real, untouched) = home
        .with(".claude/.credentials.json", &credentials())
        .with(".claude/settings.json", "{\"permissions\": {\"allow\": [\"Bash(ls:*)\"]}}\n")
        .with_notes_and_skill(".claude/CLAUDE.md", ".claude/skills")
        .joined(&json!([]), str::to_owned);
    check_first_request(&real, &[MARKS[0], MARKS[1], "mcp__mine__samovar"]);
    let kept = std::fs::read_to_string(state).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&kept).unwrap()["mcpServers"], mine);
    untouched.check(real);
}
