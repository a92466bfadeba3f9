//! Ways to log in and modes, as real agents tell them.

use serde_json::{Value, json};

use super::{Login, LoginBy, Modes, account, logins, modes};

#[test]
fn ways_to_log_in_are_read() {
    #[track_caller]
    fn check(method: &Value, expected: Option<LoginBy>) {
        let found = logins(&json!({"authMethods": [method]}));
        let expected = expected.map(|by| Login { id: "a".to_owned(), name: "A way".to_owned(), by });
        assert_eq!(found, Vec::from_iter(expected), "{method}");
    }
    let own = ["--cli", "auth"].map(str::to_owned).to_vec();
    check(
        &json!({"id": "a", "name": "A way ", "type": "terminal", "args": ["--cli", "auth"],
            "_meta": {"terminal-auth": {"command": "node", "args": ["x"]}}}),
        Some(LoginBy::Terminal { program: None, arguments: own }),
    );
    check(
        &json!({"id": "a", "name": "A way", "_meta": {"terminal-auth": {"command": "opencode", "args": ["auth"]}}}),
        Some(LoginBy::Terminal { program: Some("opencode".to_owned()), arguments: vec!["auth".to_owned()] }),
    );
    check(
        &json!({"id": "a", "name": "A way", "type": "env_var", "vars": [{"name": "CODEX_API_KEY"}]}),
        Some(LoginBy::Variables(vec!["CODEX_API_KEY".to_owned()])),
    );
    check(&json!({"id": "a", "name": "A way", "type": "agent"}), Some(LoginBy::Itself));
    check(
        &json!({"id": "a", "name": "A way", "_meta": {"api-key": {"provider": "google"}}}),
        Some(LoginBy::Itself),
    );
    check(&json!({"name": "A way"}), None);
    check(&json!("a"), None);
    assert_eq!(logins(&json!({})), []);
}

#[test]
fn a_login_is_known_by_its_label_alone() {
    let check = |status: Value, expected: Option<&str>| {
        assert_eq!(account(&json!({"authStatus": status})).as_deref(), expected, "{status}");
    };
    check(json!({"kind": "api_key", "label": "Anthropic API key", "detail": "x"}), Some("Anthropic API key"));
    check(json!({"kind": "api_key"}), Some("api_key"));
    check(json!({"kind": "none", "label": "Not logged in"}), None);
    check(json!(1), None);
}

#[test]
fn modes_are_read_by_themselves_or_as_an_option() {
    let check = |answer: Value, current: Option<&str>, all: &[&str]| {
        let expected = Modes {
            current: current.map(str::to_owned),
            all: all.iter().map(|mode| (*mode).to_owned()).collect(),
        };
        assert_eq!(modes(&answer), expected, "{answer}");
    };
    let two = json!({"currentModeId": "auto", "availableModes": [{"id": "default"}, {"id": "auto"}]});
    check(json!({"modes": two, "configOptions": []}), Some("auto"), &["default", "auto"]);
    let option =
        json!({"id": "mode", "currentValue": "a", "options": [{"value": "a"}, {"name": "no value"}]});
    check(json!({"configOptions": [{"id": "model"}, option]}), Some("a"), &["a"]);
    check(json!({"sessionId": "s"}), None, &[]);
}
