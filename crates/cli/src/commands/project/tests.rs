//! How a project is shown.

use server::wire;

use super::show;

#[test]
fn a_project_is_shown_with_what_is_withheld() {
    let file = |path: &str, worktree: Option<&str>, trusted, can_be_trusted| wire::ProjectFile {
        path: path.to_owned(),
        hash: "0123456789abcdef".to_owned(),
        worktree: worktree.map(str::to_owned),
        trusted,
        can_be_trusted,
    };
    let project = wire::Project {
        channel: "general".to_owned(),
        folder: "/srv/a\u{202e}b".to_owned(),
        setup: Some("make\nrm".to_owned()),
        copies: vec![".env".to_owned()],
        set_at: delivery::Timestamp { ms: 0 },
        trusted_at: None,
        files: vec![
            file("CLAUDE.md", None, true, true),
            file("AGENTS\u{1b}.md", Some("w1"), false, true),
            file(".claude", None, false, false),
        ],
        fingerprint: "5f0c2e81".to_owned(),
        fault: None,
    };
    let expected = "project of general: /srv/a⟨U+202E⟩b
not trusted: its agents load nothing from it, and its set-up line is not run
set-up: make rm
copied files: .env

files from which agents load settings, commands, instructions or environment:
FILE                HASH          WHERE   GIVEN TO AGENTS
CLAUDE.md           0123456789ab  commit  yes
AGENTS⟨U+001B⟩.md   0123456789ab  w1      no
.claude             0123456789ab  commit  no: a link that leads elsewhere

trust them as they are: highwater project trust general --as 5f0c2e81
";
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let squeezed =
        |text: &str| trimmed(text).split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    assert_eq!(squeezed(&show(&project)), squeezed(expected));
    let faulty = wire::Project { fault: Some("git is\nmissing".to_owned()), ..project };
    assert!(show(&faulty).ends_with("\nits files cannot be told: git is missing\n"));
}
