//! The repository's own rules: what no compiler and no lint checks.

mod dependencies;
mod documents;
mod faults;
mod files;
mod map;
mod reports;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

use crate::tree::Tree;

/// Something that breaks a rule, with what to do about it.
#[derive(Debug)]
struct Finding {
    path: String,
    /// Counted from one. None: the file as a whole.
    line: Option<usize>,
    message: String,
}

impl Finding {
    fn file(path: &str, message: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line: None, message: message.into() }
    }

    /// `index` counts lines from zero, as `enumerate` does.
    fn line(path: &str, index: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line: Some(index + 1), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.path, self.message),
            None => write!(out, "{}: {}", self.path, self.message),
        }
    }
}

const RULES: &[fn(&Tree) -> Vec<Finding>] = &[
    dependencies::shape,
    dependencies::walls,
    dependencies::versions,
    faults::feature,
    files::openings,
    files::lengths,
    files::weights,
    files::words,
    files::spawning,
    documents::present,
    documents::links,
    documents::decisions,
    documents::machine_paths,
    map::paths,
    map::packages,
    map::invariants,
    reports::held,
];

/// Prints each finding; fails if there is one.
pub(crate) fn run(root: &Path) -> Result<()> {
    let tree = Tree::read(root)?;
    let findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    for finding in &findings {
        eprintln!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} findings break the repository's rules; each line above says what to do", findings.len());
    }
    println!("{} rules hold over {} files", RULES.len(), tree.sizes().count());
    Ok(())
}

/// What a rule says of a tree of these files, line by line.
#[cfg(test)]
fn check(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)], expected: &[&str]) {
    let found: Vec<String> = rule(&Tree::of(files)).iter().map(Finding::to_string).collect();
    assert_eq!(found, expected, "for {files:#?}");
}
