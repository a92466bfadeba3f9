//! The licence texts and notices that a package carries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::packages::Package;

/// How the names of such files begin, in upper case.
const BEGINNINGS: &[&str] = &["LICENSE", "LICENCE", "UNLICENSE", "COPYING", "COPYRIGHT", "NOTICE"];

/// A file that ends so is a program or a setting, whatever its name begins with.
const NO_PROSE: &[&str] = &["rs", "toml", "json", "yml", "yaml", "sh", "py", "html"];

/// Every text in the package's folder, in the order of the names, and the one that its manifest names.
pub(super) fn carried_by(package: &Package) -> Result<Vec<String>> {
    let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
    for entry in std::fs::read_dir(&package.folder).with_context(|| reading(&package.folder))? {
        let path = entry.with_context(|| reading(&package.folder))?.path();
        if is_text(&path) && path.is_file() {
            paths.insert(path);
        }
    }
    paths.extend(package.license_file.as_ref().map(|file| package.folder.join(file)));
    paths.iter().map(PathBuf::as_path).map(read).collect()
}

fn reading(path: &Path) -> String {
    format!("cannot read {}", path.display())
}

pub(super) fn is_text(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
    let end = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) && !NO_PROSE.contains(&end.as_str())
}

fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| reading(path))?;
    // A name in an old encoding must not keep the rest of the text away.
    Ok(tidied(&String::from_utf8_lossy(&bytes)))
}

/// Without what differs from editor to editor: line ends, trailing blanks, empty lines around.
pub(super) fn tidied(text: &str) -> String {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// What makes two texts the same: their words, however they are set.
pub(super) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
