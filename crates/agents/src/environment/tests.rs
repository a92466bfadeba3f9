//! What of an environment is passed on, and which programs are found.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[track_caller]
fn check(server: &[(&str, &str)], own: &[(&str, Own)], expect: &[(&str, &str)]) {
    let own: Vec<_> = own.iter().map(|(name, own)| ((*name).to_owned(), own.clone())).collect();
    assert_eq!(pick(&pairs(server), &own), pairs(expect));
}

#[test]
fn only_what_is_allowed_is_passed_on() {
    check(&[], &[], &[]);
    check(
        &[
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("LC_ALL", "C"),
            ("XDG_CONFIG_HOME", "/x"),
            ("https_proxy", "http://p"),
            ("NODE_EXTRA_CA_CERTS", "/ca"),
            ("SSH_AUTH_SOCK", "/s"),
            ("GITHUB_TOKEN", "t"),
            ("ANTHROPIC_API_KEY", "k"),
            ("HIGHWATER_TOKEN", "t"),
            ("LD_PRELOAD", "/l"),
            ("PATHS", "no"),
            ("MY_LC_ALL", "no"),
        ],
        &[],
        &[
            ("HOME", "/h"),
            ("LC_ALL", "C"),
            ("NODE_EXTRA_CA_CERTS", "/ca"),
            ("PATH", "/bin"),
            ("XDG_CONFIG_HOME", "/x"),
            ("https_proxy", "http://p"),
        ],
    );
}

#[test]
fn the_bindings_own_stands_over_it() {
    check(
        &[("PATH", "/bin"), ("SSH_AUTH_SOCK", "/s"), ("GITHUB_TOKEN", "t")],
        &[
            ("PATH", Own::Value("/opt".to_owned())),
            ("SSH_AUTH_SOCK", Own::ByName),
            ("ABSENT", Own::ByName),
            ("API_KEY", Own::Value("k".to_owned())),
        ],
        &[("API_KEY", "k"), ("PATH", "/opt"), ("SSH_AUTH_SOCK", "/s")],
    );
}

#[test]
fn own_values_are_secrets() {
    let server = pairs(&[("TOKEN", "token-of-the-server"), ("HOME", "/home/somebody")]);
    let own =
        [("TOKEN".to_owned(), Own::ByName), ("KEY".to_owned(), Own::Value("key-of-the-binding".to_owned()))];
    let shown = secrets(&server, &own).redact("token-of-the-server key-of-the-binding /home/somebody");
    assert_eq!(shown, "[redacted] [redacted] /home/somebody");
}

#[test]
fn a_program_is_reachable_if_it_can_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (tool, text) = (make("tool", 0o755), make("text", 0o644));
    let path = format!("/nowhere:{}", folder.path().to_str().unwrap());
    let told: Vec<bool> = ["tool", "text", "other", "", tool.as_str(), text.as_str(), "/nowhere/x", "/"]
        .iter()
        .map(|command| reachable(command, &path))
        .collect();
    assert_eq!(told, [true, false, false, false, true, false, false, false]);
    assert!(!reachable("tool", ""));
}
