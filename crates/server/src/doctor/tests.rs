//! What is found of settings, of agents of channels, and of what an agent tells.

use std::time::Duration;

use agents::{Modes, Refused, Seen};
use delivery::Policy;
use delivery::model::{SessionPolicy, WhenCold};
use serde_json::{Value, json};
use storage::{NewBinding, Profile};

use super::{agent, binding, claude};
use crate::preset::presets;
use crate::wire::{Finding, Level, LoginState};

/// Level and a part of the text of each.
#[track_caller]
fn check(findings: &[Finding], expected: &[(Level, &str)]) {
    let levels: Vec<Level> = findings.iter().map(|finding| finding.level).collect();
    let wanted: Vec<Level> = expected.iter().map(|(level, _)| *level).collect();
    assert_eq!(levels, wanted, "{findings:#?}");
    for (finding, (_, part)) in findings.iter().zip(expected) {
        assert!(finding.text.contains(part), "{part:?} is not in {finding:?}");
        // What is wrong has a remedy.
        assert!(finding.level <= Level::Note || finding.remedy.is_some(), "{finding:?}");
    }
}

#[test]
fn settings_that_endanger_the_cache_are_named() {
    let check =
        |settings: Value, expected: &[(Level, &str)]| check(&claude::of(&settings, "s.json"), expected);
    check(json!({}), &[]);
    check(
        json!({"permissions": {"allow": []}, "hooks": {"Stop": [{}], "SessionStart": []}, "env": {"A": "1"}}),
        &[],
    );
    check(
        json!({"hooks": {"UserPromptSubmit": [{}]}}),
        &[(Level::Note, "s.json has a hook UserPromptSubmit")],
    );
    check(
        json!({"env": {"FORCE_PROMPT_CACHING_5M": "1"}, "promptCacheTtl": "5m"}),
        &[(Level::Warning, "sets FORCE_PROMPT_CACHING_5M"), (Level::Warning, "sets promptCacheTtl")],
    );
    check(json!({"promptCacheTtl": "1h", "model": "opusplan"}), &[(Level::Warning, "opusplan")]);
    check(json!([1]), &[]);
}

#[test]
fn agents_of_channels_are_named_for_what_costs_or_fails() {
    let plain = || NewBinding {
        channel: "c1".into(),
        handle: "claude".to_owned(),
        preset: "claude".to_owned(),
        profile: Profile::Tidy,
        command: vec!["claude-agent-acp".to_owned()],
        delivery: Policy::Lean,
        session: SessionPolicy::Resident,
        when_cold: WhenCold::Reload,
        supervised: true,
        env: Vec::new(),
        model: None,
        cwd: None,
        instructions: None,
        addressed_by: storage::AddressedBy::Members,
        permissions: storage::PermissionRules::default(),
        limits: storage::OwnLimits::default(),
    };
    let check = |spec: NewBinding, reachable: bool, missing: &[&str], expected: &[(Level, &str)]| {
        let missing: Vec<String> = missing.iter().map(|name| (*name).to_owned()).collect();
        check(&binding::findings(&spec, binding::Seen { reachable, missing: &missing }), expected);
    };
    check(plain(), true, &[], &[]);
    check(plain(), false, &["KEY"], &[(Level::Fault, "was not found"), (Level::Fault, "has no KEY")]);
    check(NewBinding { profile: Profile::Own, ..plain() }, true, &[], &[(Level::Warning, "profile is own")]);
    check(NewBinding { profile: Profile::Own, preset: "custom".to_owned(), ..plain() }, true, &[], &[]);
    check(
        NewBinding { delivery: Policy::Window, session: SessionPolicy::Fresh, ..plain() },
        true,
        &[],
        &[(Level::Warning, "its delivery"), (Level::Note, "each of its runs is a new session")],
    );
}

fn seen() -> Seen {
    Seen {
        version: Some("0.101.0".to_owned()),
        load: true,
        resume: true,
        system_prompt: true,
        steering: true,
        mcp_http: true,
        logins: Vec::new(),
        account: None,
        session: Ok(Modes {
            current: Some("auto".to_owned()),
            all: vec!["auto".to_owned(), "default".to_owned()],
        }),
        took: Duration::from_millis(400),
    }
}

#[test]
fn what_an_agent_tells_is_held_against_what_is_known() {
    let claude = presets(&[]).into_iter().find(|preset| preset.name == "claude").unwrap();
    let check = |seen: &Seen, logged_in: Option<bool>, login: LoginState, expected: &[(Level, &str)]| {
        let (state, findings) = agent::findings(seen, logged_in, Some("default"), &claude);
        assert_eq!(state, login);
        // What the agent breaks by itself is said of each.
        check(&findings[..findings.len() - 1], expected);
    };
    let mode = (Level::Ok, "sets its permission mode default, in which people are asked, instead of auto");
    let abilities =
        [(Level::Ok, "are reloaded"), (Level::Ok, "as system prompt"), (Level::Ok, "can be steered")];
    let all = |first: [(Level, &'static str); 2]| [&first[..], &[mode], &abilities].concat();

    let tried = (Level::Ok, "starts in 0.4 s; its version, 0.101.0, is one that was tried");
    check(&seen(), Some(true), LoginState::In, &all([tried, (Level::Ok, "somebody is logged in;")]));
    check(&seen(), Some(false), LoginState::Out, &all([tried, (Level::Warning, "nobody is logged in")]));
    check(&seen(), None, LoginState::Unknown, &all([tried, (Level::Note, "does not tell")]));
    let by = Seen { account: Some("API key".to_owned()), ..seen() };
    check(&by, None, LoginState::In, &all([tried, (Level::Ok, "logged in (API key)")]));

    let newer = Seen { version: Some("0.102.0".to_owned()), ..seen() };
    let other = (Level::Note, "its version is 0.102.0, and >=0.101.0, <0.102.0 was tried");
    check(&newer, Some(true), LoginState::In, &all([other, (Level::Ok, "somebody is logged in")]));

    let refused = Refused { text: "Authentication required".to_owned(), login: true };
    let out = Seen { session: Err(refused), ..seen() };
    let expected = [&[tried, (Level::Warning, "nobody is logged in")][..], &abilities].concat();
    check(&out, None, LoginState::Out, &expected);

    let less = Seen {
        load: false,
        resume: false,
        session: Ok(Modes { current: None, all: vec!["plan".to_owned()] }),
        ..seen()
    };
    let expected = [
        tried,
        (Level::Ok, "somebody is logged in"),
        (Level::Fault, "has no permission mode default, in which people are asked; it has plan"),
        (Level::Warning, "cannot be reloaded: a restart or an eviction begins a new one, though the version"),
        abilities[1],
        abilities[2],
    ];
    check(&less, Some(true), LoginState::In, &expected);
}
