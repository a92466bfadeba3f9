//! Keeps the pages on what users reported, on faults that are tried and on broken caches true: each test that they name is
//! there, and names what it holds.

#[cfg(test)]
mod tests;

use super::Finding;
use super::documents::markdown;
use crate::tree::Tree;

/// A page. Its first table has an id in the first of four columns and tests in the last.
struct Page {
    path: &'static str,
    /// How a test names what it holds, in either case, before the ids.
    names: &'static str,
    is_id: fn(&str) -> bool,
}

const PAGES: [Page; 3] = [
    Page { path: "docs/public-reports.md", names: "public report", is_id: is_report },
    Page { path: "docs/faults.md", names: "fault experiment", is_id: is_number },
    Page { path: "docs/cache-breaks.md", names: "cache break", is_id: is_break },
];

/// Each row has a test in its last column; each of them exists, and its comment names the row's id.
pub(super) fn held(tree: &Tree) -> Vec<Finding> {
    PAGES.iter().flat_map(|page| held_of(tree, page)).collect()
}

fn held_of(tree: &Tree, page: &Page) -> Vec<Finding> {
    let Page { path, names, is_id } = page;
    let Some(page) = tree.text(path) else { return Vec::new() };
    let mut findings = Vec::new();
    for (index, line) in markdown::prose(page) {
        let Some((id, tests)) = row(line, *is_id) else { continue };
        let tests: Vec<&str> = markdown::code_spans(tests).filter(|span| span.contains("::")).collect();
        if tests.is_empty() {
            findings.push(Finding::line(path, index, format!("{names} {id} has no test")));
        }
        for span in tests {
            let name = span.rsplit("::").next().unwrap_or(span);
            let found: Vec<&str> = code(tree).flat_map(|text| tests_called(text, name)).collect();
            if found.is_empty() {
                findings.push(Finding::line(path, index, format!("there is no test `{span}`")));
            } else if !found.iter().any(|test| is_named(test, names, id)) {
                findings.push(Finding::line(path, index, format!("`{span}` does not name {names} {id}")));
            }
        }
    }
    findings
}

/// `B11` and the last cell of `| B11 | what happened | rule | tests |`.
fn row(line: &str, is_id: fn(&str) -> bool) -> Option<(&str, &str)> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
    let [id, _, _, tests] = cells[..] else { return None };
    is_id(id).then_some((id, tests))
}

/// `B11`.
fn is_report(id: &str) -> bool {
    id.strip_prefix(|c: char| c.is_ascii_uppercase()).is_some_and(is_number)
}

/// `B1.6`, `T7`.
fn is_break(id: &str) -> bool {
    match id.split_once('.') {
        Some((list, number)) => list.starts_with('B') && is_report(list) && is_number(number),
        None => id.starts_with('T') && is_report(id),
    }
}

fn is_number(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}

fn code(tree: &Tree) -> impl Iterator<Item = &str> {
    tree.ending(".rs").chain(tree.ending(".ts")).map(|(_, text)| text)
}

/// The functions and tests of a file that are called so, each with its comments, to its end.
fn tests_called<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let whole = |at: usize| {
        let begin = text[..at].rfind("\n\n").unwrap_or(0);
        let end = text[at..].find("\n}").map_or(text.len(), |end| at + end);
        &text[begin..end]
    };
    let opening = [format!("fn {name}("), format!("test(\"{name}\"")];
    opening.iter().flat_map(|opening| text.match_indices(opening.as_str())).map(|(at, _)| whole(at)).collect()
}

fn is_named(test: &str, names: &str, id: &str) -> bool {
    test.lines().any(|line| {
        let small = line.to_ascii_lowercase();
        let ids = small.split_once(names).map_or("", |(_, ids)| ids);
        let mut parts = ids.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        parts.any(|part| part.trim_end_matches('.').eq_ignore_ascii_case(id))
    })
}
