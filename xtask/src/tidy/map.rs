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

/// Every path in backticks exists: relative to the root if it has a `/`, anywhere if it is a mere file name.
pub(super) fn paths(tree: &Tree) -> Vec<Finding> {
    let spans = tree.text(MAP).into_iter().flat_map(markdown::code_spans);
    let stale = spans.filter(|(_, span)| is_path(tree, span) && !exists(tree, span));
    stale.map(|(index, span)| Finding::line(MAP, index, format!("there is no `{span}`"))).collect()
}

/// A span is meant as a path if it begins in a folder of the root or ends as our files do. Routes and the protocol's
/// methods have slashes too, so a slash alone proves nothing.
fn is_path(tree: &Tree, span: &str) -> bool {
    let plain = |character: char| character.is_alphanumeric() || "._-/".contains(character);
    if !span.chars().all(plain) || span.starts_with(['/', '-']) {
        return false;
    }
    let in_folder = span.split_once('/').is_some_and(|(first, _)| tree.holds(first));
    in_folder || FILE_ENDS.iter().any(|end| span.ends_with(end))
}

fn exists(tree: &Tree, span: &str) -> bool {
    let is_named = |path: &str| path.rsplit('/').next() == Some(span);
    tree.holds(span) || (!span.contains('/') && tree.sizes().any(|(path, _)| is_named(path)))
}

/// Every package has a paragraph under a heading that begins with its name.
pub(super) fn packages(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(MAP) else { return Vec::new() };
    let named: Vec<&str> = markdown::headings(text).filter_map(headed_package).collect();
    let missing = tree.packages().filter(|(package, _)| !named.contains(package));
    missing
        .map(|(package, _)| Finding::file(MAP, format!("a heading `{package}` with a paragraph is missing")))
        .collect()
}

/// `server` of "`crates/server`: the service".
fn headed_package(title: &str) -> Option<&str> {
    let word = title.split_whitespace().next()?.trim_matches(['`', ':', ',', '*']);
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
