//! The files of the repository, read once, as the tidy rules see them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use crate::process;

/// Paths are relative to the root, with `/` between their parts.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, File>,
}

#[derive(Debug)]
struct File {
    bytes: u64,
    /// None: not UTF-8, so no text.
    text: Option<String>,
}

impl Tree {
    /// Everything that git tracks, and what it would track if it were added now: a rule that only noticed a new file
    /// after its commit would come too late.
    pub(crate) fn read(root: &Path) -> Result<Tree> {
        let listed = process::output(process::command("git", root).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))
        .context("the rules read the files that git knows; run them in a clone")?;
        let mut tree = Tree::default();
        for path in listed.split_terminator('\0') {
            let full = root.join(path);
            // Deleted but not yet committed, or a link: nothing to read here.
            if full.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                let bytes = std::fs::read(&full).with_context(|| format!("cannot read {path}"))?;
                tree.insert(path, bytes);
            }
        }
        Ok(tree)
    }

    /// A tree of these files, for tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.insert(path, text.as_bytes().to_vec());
        }
        tree
    }

    fn insert(&mut self, path: &str, bytes: Vec<u8>) {
        let file = File { bytes: bytes.len() as u64, text: String::from_utf8(bytes).ok() };
        self.files.insert(path.to_owned(), file);
    }

    /// The text of one file, if it is there.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.text.as_deref()
    }

    /// Every text file, in the order of the paths.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, file)| Some((path.as_str(), file.text.as_deref()?)))
    }

    /// The text files whose name ends so (`.rs`).
    pub(crate) fn ending(&self, end: &'static str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| path.ends_with(end))
    }

    /// Every file with its size in bytes.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (&str, u64)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file.bytes))
    }

    /// Whether there is such a file or folder.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.keys().any(|file| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    }

    /// The names of the packages: the folders below `crates`, then `xtask`.
    pub(crate) fn packages(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.keys().filter_map(|path| {
            let folder = path.strip_suffix("/Cargo.toml")?;
            let name = folder.strip_prefix("crates/").unwrap_or(folder);
            (!name.contains('/')).then_some((name, path.as_str()))
        })
    }
}
