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
    check(wanted(Some("codex"), None, &[]), Ok(("codex", Profile::Tidy)));
    check(wanted(Some("guide"), None, &[]), Ok(("guide", Profile::Own)));
    check(wanted(None, None, &["x"]), Ok(("custom", Profile::Own)));
    check(
        wanted(Some("guide"), Some(Profile::Lean), &[]),
        Err("guide has no profile lean; it has own: leave --profile out, or give one of these"),
    );
    check(
        wanted(None, Some(Profile::Tidy), &["x"]),
        Err("custom has no profile tidy; it has own: leave --profile out, or give one of these"),
    );
    check(wanted(Some("claude"), None, &["x"]), Err("give a preset or a command, not both"));
}

fn place(works: Works) -> Place<'static> {
    Place { own: Path::new("/own"), works }
}

fn of(preset: &str, profile: Profile) -> SetUp {
    set_up(preset, profile, place(Works::Inside))
}

/// Rule: a supervised agent is never in a mode that does not ask.
#[test]
fn agents_ask_in_every_profile() {
    let asking = [
        (claude::NAME, claude::PROFILES, "default"),
        (codex::NAME, codex::PROFILES, "workspace-write"),
        (opencode::NAME, opencode::PROFILES, "build"),
        (gemini::NAME, gemini::PROFILES, "default"),
    ];
    for (preset, profiles, mode) in asking {
        assert_eq!(profiles.first(), Some(&Profile::Tidy), "{preset}");
        for profile in profiles {
            let set_up = of(preset, *profile);
            assert_eq!(set_up.manner.mode.as_deref(), Some(mode), "{preset} {profile:?}");
            let asks = set_up.env.iter().any(|(name, _)| name == "OPENCODE_PERMISSION");
            assert_eq!(asks, preset == opencode::NAME, "{preset} {profile:?}");
        }
    }
    assert_eq!(of("custom", Profile::Own), SetUp::default());
}

/// Its mode holds from its first moment, so that all sessions have the same tools: by an argument, or by settings of its own.
///
/// Cache breaks T6 and B3.43.
#[test]
fn claude_starts_in_its_mode() {
    let tidy = set_up(claude::NAME, Profile::Tidy, place(Works::Inside));
    let argument = tidy.manner.meta["claudeCode"].pointer("/options/extraArgs/permission-mode");
    assert_eq!(argument.and_then(|mode| mode.as_str()), tidy.manner.mode.as_deref());
    let lean = set_up(claude::NAME, Profile::Lean, place(Works::Inside));
    assert!(lean.files[0].1.contains(r#""defaultMode": "default""#), "{:?}", lean.files);
}

/// What a profile writes lies in the binding's own folder; `own` and `tidy` move no folder of the user's.
///
/// Cache breaks B1.15, B3.42 and B3.44.
#[test]
fn profiles_set_up_what_they_say() {
    let check = |preset: &str, profile: Profile, names: &[&str], files: &[&str]| {
        let set_up = of(preset, profile);
        let mut found: Vec<String> = set_up.env.iter().map(|(name, _)| name.clone()).collect();
        found.sort();
        assert_eq!(found, names, "{preset} {profile:?}");
        let found: Vec<PathBuf> = set_up.files.iter().map(|(path, _)| path.clone()).collect();
        let files: Vec<PathBuf> = files.iter().map(|file| Path::new("/own").join(file)).collect();
        assert_eq!(found, files, "{preset} {profile:?}");
    };
    let (own, tidy, lean) = (Profile::Own, Profile::Tidy, Profile::Lean);
    let claude_tidy = [
        "CLAUDE_CODE_ATTRIBUTION_HEADER",
        "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION",
        "DISABLE_AUTOUPDATER",
        "ENABLE_PROMPT_CACHING_1H",
    ];
    check("claude", own, &[], &[]);
    check("claude", tidy, &claude_tidy, &[]);
    let mut claude_lean = claude_tidy.to_vec();
    claude_lean.extend([
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
        "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS",
        "CLAUDE_CONFIG_DIR",
        "ENABLE_TOOL_SEARCH",
    ]);
    claude_lean.sort_unstable();
    check("claude", lean, &claude_lean, &["claude-config/settings.json"]);
    check("codex", own, &[], &[]);
    check("codex", tidy, &["CODEX_CONFIG"], &[]);
    check("codex", lean, &["CODEX_HOME", "DEFAULT_AUTH_REQUEST"], &["codex-home/config.toml"]);
    check("opencode", own, &["OPENCODE_PERMISSION"], &[]);
    let opencode_tidy = ["OPENCODE_CONFIG_CONTENT", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_PERMISSION"];
    check("opencode", tidy, &opencode_tidy, &[]);
    let opencode_lean = [
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_PERMISSION",
        "XDG_CONFIG_HOME",
    ];
    check("opencode", lean, &opencode_lean, &["opencode-config/opencode/opencode.json"]);
    let gemini_tidy = ["GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "GEMINI_CLI_TRUST_WORKSPACE"];
    check("gemini", own, &gemini_tidy, &["gemini-config/defaults.json"]);
    check("gemini", tidy, &gemini_tidy, &["gemini-config/defaults.json"]);
    let gemini_lean = ["GEMINI_CLI_HOME", "GEMINI_CLI_TRUST_WORKSPACE"];
    check("gemini", lean, &gemini_lean, &["gemini-config/.gemini/settings.json"]);
}

/// Settings that go as text are what the agent can read.
#[test]
fn texts_are_of_their_format() {
    for preset in [claude::NAME, codex::NAME, opencode::NAME, gemini::NAME] {
        for profile in [Profile::Own, Profile::Tidy, Profile::Lean] {
            let set_up = of(preset, profile);
            for (name, value) in set_up.env.iter().filter(|(_, value)| value.starts_with('{')) {
                assert!(serde_json::from_str::<serde_json::Value>(value).is_ok(), "{name}: {value}");
            }
            for (path, text) in &set_up.files {
                let is_json = path.extension().is_some_and(|end| end == "json");
                let reads = !is_json || serde_json::from_str::<serde_json::Value>(text).is_ok();
                assert!(reads, "{path:?}: {text}");
            }
        }
    }
}

/// What Highwater does not answer for is left to the agent's own list.
#[test]
fn gemini_is_told_to_trust_only_what_is_looked_at() {
    for profile in gemini::PROFILES {
        let set_up = set_up(gemini::NAME, *profile, place(Works::Elsewhere));
        assert!(set_up.env.iter().all(|(name, _)| name != "GEMINI_CLI_TRUST_WORKSPACE"), "{profile:?}");
    }
}

/// Gemini's history is destroyed by a load within the minute of its begin.
#[test]
fn gemini_waits_until_the_minute_is_over() {
    let at = |ms: i64| Timestamp { ms };
    let check = |preset: &str, begun_ms: i64, now_ms: i64, wait_ms: u64| {
        let found = reload_wait(preset, at(begun_ms), at(now_ms));
        assert_eq!(found, Duration::from_millis(wait_ms), "{preset}: {begun_ms} {now_ms}");
    };
    let minute = 1_796_078_400_000;
    check("gemini", minute, minute, 60_000);
    check("gemini", minute + 1, minute + 59_999, 1);
    check("gemini", minute + 59_999, minute + 60_000, 0);
    check("gemini", minute, minute + 3_600_000, 0);
    // A clock that was put back waits no longer than a minute.
    check("gemini", minute, minute - 3_600_000, 60_000);
    check("codex", minute, minute, 0);
}
