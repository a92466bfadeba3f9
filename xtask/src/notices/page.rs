//! Which packages the web page is made of, as its build noted them.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Entry;
use super::packages::Package;
use super::texts;

/// Written by the build of the page (web/bundled.ts), so that no Node is needed to read it.
const FILE: &str = "web/dist/bundled.json";

#[derive(Deserialize)]
struct Bundled {
    name: String,
    version: String,
    license: String,
    texts: Vec<String>,
}

pub(super) fn of_page(root: &Path) -> Result<Vec<Entry>> {
    let text = std::fs::read_to_string(root.join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    parse(&text)
}

pub(super) fn parse(text: &str) -> Result<Vec<Entry>> {
    let bundled: Vec<Bundled> = serde_json::from_str(text).with_context(|| format!("cannot read {FILE}"))?;
    Ok(bundled.into_iter().map(entry).collect())
}

fn entry(bundled: Bundled) -> Entry {
    let Bundled { name, version, license, texts } = bundled;
    let origin = format!("the package {name} of the npm registry");
    let name = format!("npm:{name}");
    let package = Package { name, version, license, origin, folder: Default::default(), license_file: None };
    Entry { package, texts: texts.iter().map(|text| texts::tidied(text)).collect() }
}
