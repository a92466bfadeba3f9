//! Gemini CLI.

use serde_json::json;

use super::guarded;
use super::home::{Home, MARKS, check_first_request, credentials, with_more};
use super::story::{PrefixKept, Words, keeps_its_session};

fn words() -> Words {
    Words {
        agent: "gemini",
        history: json!({"name": "mcp_highwater_channel_history", "input": {}}),
        post: json!({"name": "mcp_highwater_channel_post", "input": {"text": "by the way"}}),
        touch: json!({"name": "run_shell_command", "input": {"command": "touch made"}}),
        prefix: PrefixKept::ButForCalls,
    }
}

#[test]
fn gemini_answers_calls_tools_and_asks() {
    words().answers_calls_tools_and_asks();
}

/// Its own load destroys the history in the minute of its begin: the restart comes in that minute.
#[test]
fn gemini_keeps_its_session_over_a_cancel_a_restart_and_a_kill() {
    if guarded().is_none() {
        return;
    }
    keeps_its_session("gemini");
}

/// No model is named: none is asked which is to answer, nevertheless.
#[test]
fn gemini_under_tidy_keeps_what_is_the_users() {
    if guarded().is_none() {
        return;
    }
    let home = Home::of("gemini");
    let [command, script] = home.mine();
    let more = json!({
        "mcpServers": {"mine": {"command": command, "args": [script]}},
        "model": {},
        "privacy": {},
    });
    let (real, untouched) = home
        .with(".gemini/oauth_creds.json", &credentials())
        .with_notes_and_skill(".gemini/GEMINI.md", ".gemini/skills")
        .joined(&json!([]), |settings| with_more(settings, more.clone()));
    check_first_request(&real, &[MARKS[0], MARKS[1], "mcp_mine_samovar"]);
    assert_eq!(real.provider.strays(), [], "it reports nothing to anybody");
    untouched.check(real);
}

#[test]
fn profiles_of_gemini_cost_less_and_less() {
    words().profiles_cost_less_and_less();
}
