//! Rules for the documents: they are there, their links lead somewhere, and they name no single machine.

pub(super) mod markdown;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::Finding;
use crate::tree::Tree;

/// What must be there, and what must stand in it.
const PRESENT: &[(&str, &[&str])] = &[
    ("README.md", &["cargo run --release -- serve", "cargo xtask test"]),
    ("ARCHITECTURE.md", &[]),
    ("CONTRIBUTING.md", &["cargo xtask test"]),
    ("CHANGELOG.md", &[]),
    ("LICENSE-APACHE", &[]),
    ("LICENSE-MIT", &[]),
    ("THIRD-PARTY-NOTICES", &[]),
];

/// How the folders of one person or one machine begin.
const MACHINE_PATHS: &[&str] = &["/root/", "/home/", "/Users/"];

/// The documents that every reader looks for are there, with the commands that every reader needs.
pub(super) fn present(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, commands) in PRESENT {
        let Some(text) = tree.text(path) else {
            findings.push(Finding::file(path, "the file is missing"));
            continue;
        };
        for command in commands.iter().filter(|command| !text.contains(**command)) {
            findings.push(Finding::file(path, format!("the command `{command}` is missing")));
        }
    }
    findings
}

/// A link to a file leads to one that a clone has.
pub(super) fn links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".md") {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (index, target) in markdown::links(text) {
            if leads_elsewhere(target) {
                continue;
            }
            let file = target.split('#').next().unwrap_or_default();
            if !joined(folder, file).is_some_and(|found| tree.holds(&found)) {
                findings.push(Finding::line(path, index, format!("the link `{target}` leads nowhere")));
            }
        }
    }
    findings
}

/// To the web, to a mailbox, or within the page.
fn leads_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:") || target.starts_with('#')
}

/// A relative link as a path from the root. None: it leaves the repository.
fn joined(folder: &str, link: &str) -> Option<String> {
    if link.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// A decision is called by its number: no two have the same, and its page begins with it.
pub(super) fn decisions(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, text) in tree.ending(".md") {
        let Some(name) = path.strip_prefix("docs/decisions/") else { continue };
        let number = name.split('-').next().unwrap_or_default();
        let Ok(counted) = number.parse::<u32>() else {
            findings.push(Finding::file(path, "its name has to begin with its number, such as `0007-`"));
            continue;
        };
        if let Some(other) = taken.insert(number, path) {
            findings.push(Finding::file(path, format!("{other} has the number {number} already")));
        }
        if !text.starts_with(&format!("# {counted}. ")) {
            findings.push(Finding::file(path, format!("it has to begin with `# {counted}. `")));
        }
    }
    findings
}

/// A reader has other folders than the writer.
pub(super) fn machine_paths(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".md") {
        for (index, line) in text.lines().enumerate() {
            for start in MACHINE_PATHS.iter().filter(|start| begins_path(line, start)) {
                let message = format!(
                    "`{start}…` is a folder of one machine; name it in words, or relative to the root"
                );
                findings.push(Finding::line(path, index, message));
            }
        }
    }
    findings
}

/// Whether an absolute path begins with `start`, rather than that it is the middle of a relative path or an address.
fn begins_path(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|character| character.is_alphanumeric() || "._-~}>*/$".contains(character))
    })
}
