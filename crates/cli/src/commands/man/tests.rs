//! Every command that people see has a page that says what it does.

use std::collections::BTreeMap;
use std::path::Path;

use clap::CommandFactory as _;

use crate::arguments::Arguments;

/// The names of all commands that people see with what they say of themselves: `highwater-channel-add`.
fn visible(command: &clap::Command, name: &str, found: &mut BTreeMap<String, String>) {
    found.insert(name.to_owned(), command.get_about().map(ToString::to_string).unwrap_or_default());
    for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        visible(one, &format!("{name}-{}", one.get_name()), found);
    }
}

#[test]
fn every_command_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    super::write(Arguments::command(), folder.path()).unwrap();
    let mut expected = BTreeMap::new();
    visible(&Arguments::command(), "highwater", &mut expected);
    assert!(expected.len() > 20, "{expected:?}");
    assert_eq!(pages(folder.path()), expected.keys().cloned().collect::<Vec<_>>());
    for (name, about) in expected {
        assert!(!about.is_empty(), "{name} says nothing of itself");
        let page = std::fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap();
        let page = page.replace("\\-", "-").replace("\\*(Aq", "'");
        assert!(page.contains(about.trim_end_matches('.')), "{name}: no {about:?} in {page}");
        let usage = name.replacen('-', " ", 2);
        assert!(page.contains(&usage), "{name}: no {usage:?} in {page}");
    }
}

#[test]
fn hidden_commands_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let hidden = clap::Command::new("inner").hide(true);
    let commands = clap::Command::new("outer").subcommand(hidden).subcommand(clap::Command::new("seen"));
    super::write(commands, folder.path()).unwrap();
    assert_eq!(pages(folder.path()), ["outer", "outer-seen"]);
}

/// The names of a folder's pages.
fn pages(folder: &Path) -> Vec<String> {
    let name = |file: std::fs::DirEntry| file.file_name().into_string().unwrap();
    let files = std::fs::read_dir(folder).unwrap().map(|file| name(file.unwrap()));
    let mut pages: Vec<String> = files.map(|file| file.strip_suffix(".1").unwrap().to_owned()).collect();
    pages.sort();
    pages
}
