//! opencode.

use serde_json::json;

use super::home::{Home, MARKS, check_first_request, credentials, with_more};
use super::story::{PrefixKept, Words, keeps_its_session};

fn words() -> Words {
    Words {
        agent: "opencode",
        history: json!({"name": "highwater_channel_history", "input": {}}),
        post: json!({"name": "highwater_channel_post", "input": {"text": "by the way"}}),
        touch: json!({"name": "bash", "input": {"command": "touch made", "description": "make it"}}),
        prefix: PrefixKept::Always,
    }
}

#[test]
fn opencode_answers_calls_tools_and_asks_and_its_prefix_is_never_touched() {
    words().answers_calls_tools_and_asks();
}

#[test]
fn opencode_keeps_its_session_over_a_cancel_a_restart_and_a_kill() {
    keeps_its_session("opencode");
}

#[test]
fn opencode_under_tidy_keeps_what_is_the_users() {
    let home = Home::of("opencode");
    let mine = json!({"mcp": {"mine": {"type": "local", "command": home.mine()}}});
    let (real, untouched) = home
        .with(".local/share/opencode/auth.json", &credentials())
        .with_notes_and_skill(".config/opencode/AGENTS.md", ".config/opencode/skills")
        .joined(&json!([]), |settings| with_more(settings, mine.clone()));
    check_first_request(&real, &[MARKS[0], MARKS[1], "mine_samovar"]);
    untouched.check(real);
}

#[test]
fn profiles_of_opencode_cost_less_and_less() {
    words().profiles_cost_less_and_less();
}
