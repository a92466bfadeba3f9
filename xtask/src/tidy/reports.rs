//! Keeps the page on what users reported true: each test that it names is there, and names the report.

#[cfg(test)]
mod tests;

use super::Finding;
use super::documents::markdown;
use crate::tree::Tree;

/// The page. Its first table has a report in the first column and tests in the last.
const PAGE: &str = "docs/public-reports.md";

/// How a test names the reports that it holds, in either case, before their ids.
const NAMES: &str = "public report";

/// Each test in the last column of a row exists, and its comment names the row's report.
pub(super) fn held(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(PAGE) else { return Vec::new() };
    let mut findings = Vec::new();
    for (index, line) in markdown::prose(page) {
        let Some((id, tests)) = row(line) else { continue };
        for span in markdown::code_spans(tests).filter(|span| span.contains("::")) {
            let name = span.rsplit("::").next().unwrap_or(span);
            let found: Vec<&str> = code(tree).flat_map(|text| tests_called(text, name)).collect();
            if found.is_empty() {
                findings.push(Finding::line(PAGE, index, format!("there is no test `{span}`")));
            } else if !found.iter().any(|test| is_named(test, id)) {
                findings.push(Finding::line(PAGE, index, format!("`{span}` does not name {NAMES} {id}")));
            }
        }
    }
    findings
}

/// `B11` and the last cell of `| B11 | what happened | rule | tests |`.
fn row(line: &str) -> Option<(&str, &str)> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
    let [id, _, _, tests] = cells[..] else { return None };
    let number = id.strip_prefix(|c: char| c.is_ascii_uppercase())?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some((id, tests))
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

fn is_named(test: &str, id: &str) -> bool {
    test.lines().any(|line| {
        let small = line.to_ascii_lowercase();
        let ids = small.split_once(NAMES).map_or("", |(_, ids)| ids);
        ids.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part.eq_ignore_ascii_case(id))
    })
}
