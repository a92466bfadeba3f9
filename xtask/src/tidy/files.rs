//! Rules for single files: how they open, how long they are, what they may not say.

#[cfg(test)]
mod tests;

use super::Finding;
use crate::tree::Tree;

/// Longer, and a file has more than one subject.
const LINES_MAX: usize = 500;

/// Larger files make every clone slow for ever; generated data belongs into a test or a release.
const BYTES_MAX: u64 = 1 << 20;

/// Larger all the same: what every user needs, and never changes.
const LARGE: &[&str] = &["crates/cost/data/o200k_base.bin"];

/// A file that begins so was written by a program and is not read as prose.
const GENERATED: &str = "// @generated";

/// What is written by hand and built; texts, fixtures and notices may say what they like.
const CODE: &[&str] = &[".rs", ".toml", ".sql", ".ts", ".svelte", ".css", ".ci/run"];

/// Words that put work off. (Split, for this file is checked too.)
const PUT_OFF: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Code that must not stay.
const LEFT_BEHIND: &[&str] = &[concat!("#[ig", "nore"), concat!("db", "g!(")];

/// The only places, tests and benchmarks apart, where a process is started: for agents; by the program that plays an
/// agent in tests, whose children must die with it; for the tools of `cargo xtask`.
const SPAWNS: &[&str] = &[
    "crates/agents/src/spawn.rs",
    "crates/agents/src/bin/scripted-agent/daemon.rs",
    "crates/agents/src/bin/scripted-agent/tool_client.rs",
    "xtask/src/process.rs",
];

/// Split as above.
const SPAWN: &str = concat!("Command", "::new(");

/// Each Rust file opens with a sentence that says what it is for.
pub(super) fn openings(tree: &Tree) -> Vec<Finding> {
    let unopened = |(_, text): &(&str, &str)| !text.starts_with(GENERATED) && !opens_with_sentence(text);
    let message = "open the file with a `//!` sentence that ends in a full stop";
    tree.ending(".rs").filter(unopened).map(|(path, _)| Finding::line(path, 0, message)).collect()
}

fn opens_with_sentence(text: &str) -> bool {
    let paragraph: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
    paragraph.last().is_some_and(|line| line.trim_end().ends_with('.'))
}

/// No Rust file is too long. (Functions are measured by clippy.)
pub(super) fn lengths(tree: &Tree) -> Vec<Finding> {
    let written = tree.ending(".rs").filter(|(_, text)| !text.starts_with(GENERATED));
    let counted = written.map(|(path, text)| (path, text.lines().count()));
    let long = counted.filter(|(_, lines)| *lines > LINES_MAX);
    long.map(|(path, lines)| {
        Finding::file(path, format!("{lines} lines; at most {LINES_MAX}: split it by subject"))
    })
    .collect()
}

/// No file is too large.
pub(super) fn weights(tree: &Tree) -> Vec<Finding> {
    let large = tree.sizes().filter(|(path, bytes)| *bytes > BYTES_MAX && !LARGE.contains(path));
    large.map(|(path, bytes)| Finding::file(path, format!("{bytes} bytes; at most {BYTES_MAX}"))).collect()
}

/// Nothing is put off in a comment, no test is switched off, no debugging aid stays.
pub(super) fn words(tree: &Tree) -> Vec<Finding> {
    let code = tree.texts().filter(|(path, _)| CODE.iter().any(|end| path.ends_with(end)));
    let mut findings = Vec::new();
    for (path, text) in code {
        for (index, line) in text.lines().enumerate() {
            for word in PUT_OFF.iter().filter(|word| has_word(line, word)) {
                findings.push(Finding::line(path, index, format!("`{word}`: do it, or file an issue")));
            }
            for code in LEFT_BEHIND.iter().filter(|code| line.contains(**code)) {
                findings.push(Finding::line(path, index, format!("`{code}` must not stay")));
            }
        }
    }
    findings
}

/// Whether `word` stands in `line` on its own, not as a part of a longer word.
fn has_word(line: &str, word: &str) -> bool {
    line.split(|character: char| !character.is_alphanumeric()).any(|part| part == word)
}

/// Processes are started in one file, so that none can outlive its owner unnoticed.
pub(super) fn spawning(tree: &Tree) -> Vec<Finding> {
    let bound = tree.ending(".rs").filter(|(path, _)| !SPAWNS.contains(path) && !is_test(path));
    let message = format!("start processes in {} alone", SPAWNS[0]);
    let mut findings = Vec::new();
    for (path, text) in bound {
        let starts = |line: &str| line.contains(SPAWN) && !line.trim_start().starts_with("//");
        let lines = text.lines().enumerate().filter(|(_, line)| starts(line));
        findings.extend(lines.map(|(index, _)| Finding::line(path, index, &message)));
    }
    findings
}

/// Whether a Rust file holds tests or benchmarks, by where it lies.
pub(super) fn is_test(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "bench" | "benches"))
}
