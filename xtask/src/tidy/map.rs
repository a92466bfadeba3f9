//! Rules that keep ARCHITECTURE.md true: its paths exist, it names every package, tests hold its invariants.

#[cfg(test)]
mod tests;

use super::Finding;
use super::documents::markdown;
use super::files::is_test;
use crate::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";

/// A name that ends so is a file's.
const FILE_ENDS: &[&str] = &[".rs", ".toml", ".md", ".sql", ".lock", ".svelte", ".ts"];

/// Every path in backticks exists: relative to the root, or to the package whose paragraph it stands in, or anywhere if it
/// is a mere file name.
pub(super) fn paths(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(MAP) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut folder = "";
    for (index, line) in markdown::prose(text) {
        if let Some(opening) = opening(line) {
            let name = named_package(opening);
            folder = tree
                .packages()
                .find(|(package, _)| Some(*package) == name)
                .map_or("", |(_, path)| path.trim_end_matches("Cargo.toml"));
        }
        let stale = markdown::code_spans(line)
            .filter(|span| is_path(tree, folder, span) && !exists(tree, folder, span));
        findings.extend(stale.map(|span| Finding::line(MAP, index, format!("there is no `{span}`"))));
    }
    findings
}

/// A span is meant as a path if it begins in a folder that we have or ends as our files do. Routes and the protocol's
/// methods have slashes too, so a slash alone proves nothing.
fn is_path(tree: &Tree, folder: &str, span: &str) -> bool {
    let plain = |character: char| character.is_alphanumeric() || "._-/".contains(character);
    if !span.chars().all(plain) || span.starts_with(['/', '-']) {
        return false;
    }
    let begins = |first: &str| tree.holds(first) || tree.holds(&format!("{folder}{first}"));
    let in_folder = span.split_once('/').is_some_and(|(first, _)| begins(first));
    in_folder || FILE_ENDS.iter().any(|end| span.ends_with(end))
}

fn exists(tree: &Tree, folder: &str, span: &str) -> bool {
    let is_named = |path: &str| path.rsplit('/').next() == Some(span);
    tree.holds(span)
        || tree.holds(&format!("{folder}{span}"))
        || (!span.contains('/') && tree.sizes().any(|(path, _)| is_named(path)))
}

/// What a line opens: the title of a heading, or a paragraph that begins in bold.
fn opening(line: &str) -> Option<&str> {
    let heading = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with("##"));
    heading.or_else(|| line.strip_prefix("**"))
}

/// Every package has a paragraph that begins with its name in bold, or under a heading that begins with it.
pub(super) fn packages(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(MAP) else { return Vec::new() };
    let openings = markdown::prose(text).filter_map(|(_, line)| opening(line));
    let named: Vec<&str> = openings.filter_map(named_package).collect();
    let missing = tree.packages().filter(|(package, _)| !named.contains(package));
    missing
        .map(|(package, _)| Finding::file(MAP, format!("a paragraph **`{package}`** is missing")))
        .collect()
}

/// `server` of "**`crates/server`** is the service".
fn named_package(opening: &str) -> Option<&str> {
    let word = opening.split_whitespace().next()?.trim_matches(['`', ':', ',', '*']);
    Some(word.strip_prefix("crates/").unwrap_or(word))
}

/// Invariants are numbered I1, I2, … in a list, and each id occurs in a comment, the name or the path of a test.
pub(super) fn invariants(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(MAP) else { return Vec::new() };
    let listed: Vec<(usize, &str)> =
        markdown::prose(text).filter_map(|(index, line)| Some((index, listed_id(line)?))).collect();
    let mut findings = Vec::new();
    if listed.is_empty() {
        findings.push(Finding::file(MAP, "a list of the invariants is missing: `1. **I1** …`"));
    }
    for (position, (index, id)) in listed.into_iter().enumerate() {
        let due = format!("I{}", position + 1);
        if id != due {
            findings.push(Finding::line(MAP, index, format!("`{id}` stands where `{due}` is due")));
        }
        if !tree.ending(".rs").any(|(path, text)| is_test(path) && holds_id(path, text, id)) {
            findings.push(Finding::line(MAP, index, format!("no test names `{id}`")));
        }
    }
    findings
}

/// `I1` of `1. **I1** Text`, `- **I1.** Text` or `- I1: Text`.
fn listed_id(line: &str) -> Option<&str> {
    let (marker, rest) = line.split_once(' ')?;
    let number = marker.strip_suffix('.').is_some_and(is_number);
    if !number && marker != "-" && marker != "*" {
        return None;
    }
    let id = rest.trim_start_matches('*').split([' ', '*', '.', ':']).next()?;
    id.strip_prefix('I').is_some_and(is_number).then_some(id)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn holds_id(path: &str, text: &str, id: &str) -> bool {
    has_part(path, id)
        || text.lines().any(|line| {
            let comment = line.split_once("//").map_or("", |(_, comment)| comment);
            let name = line.split_once("fn ").map_or("", |(_, rest)| rest.split('(').next().unwrap_or(rest));
            has_part(comment, id) || has_part(name, id)
        })
}

/// Whether `id`, in either case, stands in `text` between characters that are neither letters nor digits.
fn has_part(text: &str, id: &str) -> bool {
    text.split(|character: char| !character.is_ascii_alphanumeric()).any(|part| part.eq_ignore_ascii_case(id))
}
