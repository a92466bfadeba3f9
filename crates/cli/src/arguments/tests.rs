//! The command line is sound, and what must not be said cannot be.

use clap::CommandFactory as _;
use clap::Parser as _;
use clap::error::ErrorKind;

use super::Arguments;

fn check(line: &[&str], expected: Result<(), ErrorKind>) {
    let words = ["highwater"].iter().chain(line);
    assert_eq!(
        Arguments::try_parse_from(words).map(|_| ()).map_err(|error| error.kind()),
        expected,
        "{line:?}"
    );
}

#[test]
fn the_definition_is_sound() {
    Arguments::command().debug_assert();
}

#[test]
fn commands_are_understood() {
    for line in [
        &["serve"][..],
        &["serve", "--data", "d", "--listen", "127.0.0.1:0", "--config", "c.toml"],
        &["--data", "d", "serve"],
        &["channel", "add", "general"],
        &["channel", "add", "talk", "--direct", "@guide", "--json"],
        &["channel", "list"],
        &["channel", "show", "general"],
        &["channel", "add", "app", "--private", "--project", "/srv/app"],
        &["project", "set", "app", ".", "--setup", "npm ci", "--copy", ".env", "--copy", "config/*"],
        &["project", "show", "app", "--json"],
        &["project", "trust", "app", "--as", "5f0c2e81"],
        &["project", "distrust", "app"],
        &["project", "remove", "app"],
        &["worktree", "list", "--channel", "app"],
        &["worktree", "remove", "w1", "--force", "--json"],
        &["person", "add", "aiko"],
        &["person", "list", "--json"],
        &["post", "general", "@guide hello", "--wait"],
        &["post", "general", "-", "--as", "aiko", "--thread", "m1", "--json", "--data", "d"],
        &["post", "general", "--wait", "--", "--text that looks like a flag"],
        &["post", "general", "--wait", "--text that looks like a flag"],
        &["post", "general", "-5 degrees", "--wait", "--as", "aiko"],
        &["post", "general", ""],
        &["history", "general", "--thread", "m1", "--before", "m9", "--limit", "1000", "--json"],
        &["edit", "m1", "new text"],
        &["edit", "m1", "- a list", "--json"],
        &["delete", "m1"],
        &["run", "list", "--channel", "general", "--limit", "3", "--json"],
        &["run", "show", "r1", "--json"],
        &["run", "cancel", "r1"],
        &["run", "retry", "r1"],
        &["search", "words", "--channel", "general", "--json"],
        &["render"],
        &["measure"],
        &[
            "measure",
            "--agent",
            "codex",
            "--mentions",
            "8",
            "--profile",
            "own,tidy",
            "--strategy",
            "window",
            "--json",
        ],
        &["measure", "--own-home", "--pauses", "channel", "--tokens", "model", "--jobs", "3", "--turns"],
        &["watermarks", "export"],
        &["watermarks", "export", "channel-watermarks.json"],
        &["watermarks", "import", "-"],
        &["backup", "file.db"],
        &["backup", "file.db", "--overwrite", "--data", "d"],
        &["restore", "file.db", "--data", "d"],
        &["export"],
        &["export", "--channel", "general", "--channel", "board", "file.jsonl", "--overwrite"],
        &["import", "-"],
        &["import", "file.jsonl", "--json"],
    ] {
        check(line, Ok(()));
    }
}

#[test]
fn agent_commands_are_understood() {
    for line in [
        &["agent", "add", "@claude", "--channel", "general", "--preset", "claude", "--delivery", "base"][..],
        &[
            "agent",
            "add",
            "bot",
            "--channel",
            "general",
            "--session",
            "fresh",
            "--unsupervised",
            "--",
            "my-agent",
            "--acp",
        ],
        &[
            "agent",
            "add",
            "bot",
            "--channel",
            "general",
            "--env",
            "A",
            "--env",
            "B=c=d",
            "--model",
            "m",
            "--cwd",
            ".",
            "--",
            "./my-agent",
        ],
        &[
            "agent",
            "add",
            "bot",
            "--channel",
            "general",
            "--session",
            "saved",
            "--when-cold",
            "fresh",
            "--delivery",
            "window",
            "--preset",
            "p",
        ],
        &["agent", "list", "--channel", "general"],
        &["agent", "list", "--wide"],
    ] {
        check(line, Ok(()));
    }
}

#[test]
fn what_is_done_with_agents_is_understood() {
    for line in [
        &["agent", "presets"][..],
        &[
            "agent",
            "change",
            "bot",
            "--channel",
            "general",
            "--profile",
            "tidy",
            "--model",
            "",
            "--env",
            "A=b",
        ],
        &["agent", "change", "bot", "--channel", "general", "--unset-env", "A", "--session", "saved"],
        &["agent", "presets", "--quick"],
        &["agent", "login", "claude", "--method", "console-login"],
        &["doctor"],
        &["doctor", "claude", "codex", "--json"],
        &["agent", "remove", "bot", "--channel", "general"],
        &["agent", "fresh", "bot", "--channel", "general"],
    ] {
        check(line, Ok(()));
    }
}

#[test]
fn commands_about_people_are_understood() {
    for line in [
        &["channel", "add", "board", "--private"][..],
        &["channel", "members", "board", "--json"],
        &["channel", "join", "general"],
        &["channel", "invite", "board", "aiko"],
        &["channel", "leave", "board"],
        &["channel", "leave", "board", "aiko"],
        &["channel", "topic", "board", "who and what"],
        &["channel", "rename", "board", "council"],
        &["channel", "archive", "board", "--undo"],
        &["person", "add", "gus", "--role", "guest"],
        &["person", "deactivate", "aiko"],
        &["person", "activate", "aiko"],
        &["person", "rename", "aiko", "kobo"],
        &["person", "role", "aiko", "owner"],
        &["person", "password", "aiko"],
        &["invite", "gus", "--role", "guest", "--expires", "2d", "--json"],
        &["token", "create", "ci"],
        &[
            "token",
            "create",
            "ci",
            "--for",
            "aiko",
            "--scope",
            "read",
            "--scope",
            "write",
            "--expires",
            "30d",
        ],
        &["token", "list", "--for", "aiko"],
        &["token", "revoke", "t1"],
        &["agent", "add", "bot", "--channel", "general", "--preset", "guide", "--addressed-by", "everyone"],
    ] {
        check(line, Ok(()));
    }
}

#[test]
fn wrong_usage_is_refused() {
    check(&[], Err(ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand));
    check(&["--version"], Err(ErrorKind::DisplayVersion));
    check(&["post", "--help"], Err(ErrorKind::DisplayHelp));
    check(&["pots", "general", "x"], Err(ErrorKind::InvalidSubcommand));
    check(&["post", "general"], Err(ErrorKind::MissingRequiredArgument));
    check(&["post", "general", "x", "--wiat"], Err(ErrorKind::UnknownArgument));
    check(&["post", "", "x"], Err(ErrorKind::ValueValidation));
    check(&["agent", "add", "@", "--channel", "general"], Err(ErrorKind::ValueValidation));
    check(&["agent", "add", "bot"], Err(ErrorKind::MissingRequiredArgument));
    check(&["agent", "add", "bot", "--channel", "c"], Err(ErrorKind::MissingRequiredArgument));
    check(&["agent", "add", "bot", "--channel", "c", "--env", "=x"], Err(ErrorKind::ValueValidation));
    check(&["agent", "add", "bot", "--channel", "c", "--delivery", "thin"], Err(ErrorKind::InvalidValue));
    check(
        &["agent", "add", "bot", "--channel", "c", "--preset", "p", "--", "x"],
        Err(ErrorKind::ArgumentConflict),
    );
    check(&["token", "create", "ci", "--expires", "soon"], Err(ErrorKind::ValueValidation));
    check(&["token", "create", "ci", "--scope", "all"], Err(ErrorKind::InvalidValue));
    check(&["invite", "gus", "--role", "king"], Err(ErrorKind::InvalidValue));
    check(&["channel", "add", "x", "--direct", "guide", "--private"], Err(ErrorKind::ArgumentConflict));
    check(&["history", "general", "--limit", "few"], Err(ErrorKind::ValueValidation));
    check(&["watermarks", "import"], Err(ErrorKind::MissingRequiredArgument));
}

#[test]
fn every_command_explains_itself() {
    let mut open = vec![Arguments::command()];
    while let Some(command) = open.pop() {
        assert!(command.get_about().is_some(), "{} says nothing of itself", command.get_name());
        open.extend(command.get_subcommands().cloned());
    }
}
