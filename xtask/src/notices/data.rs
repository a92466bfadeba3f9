//! Data of others that is committed here and built into the binary.

use std::path::Path;

use anyhow::{Context, Result};

use super::Entry;
use super::packages::Package;
use super::texts;

/// By what `cargo xtask vocabulary` wrote: the version of tiktoken is none of the vocabularies', which never change.
const LICENSE: &str = "crates/cost/data/vocabulary-license.txt";

pub(super) fn of_binary(root: &Path) -> Result<Vec<Entry>> {
    let text =
        std::fs::read_to_string(root.join(LICENSE)).with_context(|| format!("cannot read {LICENSE}"))?;
    let package = Package {
        name: "data:tiktoken".to_owned(),
        version: "cl100k_base, o200k_base".to_owned(),
        license: "MIT".to_owned(),
        origin: "https://github.com/openai/tiktoken".to_owned(),
        folder: Default::default(),
        license_file: None,
    };
    Ok(vec![Entry { package, texts: vec![texts::tidied(&text)] }])
}
