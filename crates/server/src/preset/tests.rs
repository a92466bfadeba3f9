//! What presets choose and set up.

use super::*;

fn wanted(preset: Option<&str>, profile: Option<Profile>, command: &[&str]) -> wire::AddAgent {
    let mut new: wire::AddAgent = serde_json::from_str(
        r#"{"handle": "a", "delivery": "lean", "session": "resident", "supervised": true}"#,
    )
    .unwrap();
    new.preset = preset.map(str::to_owned);
    new.profile = profile;
    new.command = command.iter().map(|part| (*part).to_owned()).collect();
    new
}

#[test]
fn a_preset_is_chosen_with_its_profile() {
    let check = |new: wire::AddAgent, expected: Result<(&str, Profile), &str>| {
        let found = resolve(&new, &[]).map(|chosen| (chosen.preset, chosen.profile));
        let found = found.map_err(|error| error.message);
        let expected = expected.map(|(preset, profile)| (preset.to_owned(), profile)).map_err(str::to_owned);
        assert_eq!(found, expected, "for {new:?}");
    };
    check(wanted(Some("claude"), None, &[]), Ok(("claude", Profile::Tidy)));
    check(wanted(Some("claude"), Some(Profile::Own), &[]), Ok(("claude", Profile::Own)));
    check(wanted(Some("claude"), Some(Profile::Lean), &[]), Ok(("claude", Profile::Lean)));
    check(wanted(Some("codex"), None, &[]), Ok(("codex", Profile::Own)));
    check(wanted(None, None, &["x"]), Ok(("custom", Profile::Own)));
    check(
        wanted(Some("codex"), Some(Profile::Lean), &[]),
        Err("codex has no profile lean; it has own: leave --profile out, or give one of these"),
    );
    check(
        wanted(None, Some(Profile::Tidy), &["x"]),
        Err("custom has no profile tidy; it has own: leave --profile out, or give one of these"),
    );
    check(wanted(Some("claude"), None, &["x"]), Err("give a preset or a command, not both"));
}

/// Rule: a supervised agent is never in a mode that does not ask.
#[test]
fn claude_asks_in_every_profile() {
    for profile in claude::PROFILES {
        let set_up = set_up(claude::NAME, *profile, Path::new("/own"));
        assert_eq!(set_up.manner.mode.as_deref(), Some("default"), "{profile:?}");
    }
}

/// Its mode holds from its first moment, so that all sessions have the same tools: by an argument, or by settings of its own.
///
/// Cache breaks T6 and B3.43.
#[test]
fn claude_starts_in_its_mode() {
    let tidy = set_up(claude::NAME, Profile::Tidy, Path::new("/own"));
    let argument = tidy.manner.meta["claudeCode"].pointer("/options/extraArgs/permission-mode");
    assert_eq!(argument.and_then(|mode| mode.as_str()), tidy.manner.mode.as_deref());
    let lean = set_up(claude::NAME, Profile::Lean, Path::new("/own"));
    assert!(lean.files[0].1.contains(r#""defaultMode": "default""#), "{:?}", lean.files);
}

/// Cache breaks B1.15, B3.42 and B3.44.
#[test]
fn profiles_set_up_what_they_say() {
    let names = |profile| {
        let set_up = set_up(claude::NAME, profile, Path::new("/own"));
        let mut names: Vec<String> = set_up.env.iter().map(|(name, _)| name.clone()).collect();
        names.sort();
        (names, set_up.files)
    };
    let tidy = [
        "CLAUDE_CODE_ATTRIBUTION_HEADER",
        "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION",
        "DISABLE_AUTOUPDATER",
        "ENABLE_PROMPT_CACHING_1H",
    ];
    assert_eq!(names(Profile::Own), (Vec::new(), Vec::new()), "the user's configuration is untouched");
    assert_eq!(names(Profile::Tidy), (tidy.map(str::to_owned).to_vec(), Vec::new()));
    let (lean, files) = names(Profile::Lean);
    assert!(tidy.iter().all(|name| lean.iter().any(|own| own == name)), "{lean:?}");
    assert!(lean.iter().any(|name| name == "CLAUDE_CONFIG_DIR"), "{lean:?}");
    let [(path, text)] = &files[..] else { panic!("one file of settings: {files:?}") };
    assert!(path.starts_with("/own") && text.contains("mcp__highwater"), "{path:?}: {text}");
    assert_eq!(set_up("codex", Profile::Own, Path::new("/own")), SetUp::default());
}
