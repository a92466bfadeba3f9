//! THIRD-PARTY-NOTICES: what the binary is made of, under which licences, with their texts.

mod data;
mod packages;
mod page;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

use packages::Package;

const FILE: &str = "THIRD-PARTY-NOTICES";

const OPENING: &str = "\
THIRD-PARTY NOTICES

The program `highwater` contains the packages below, or was built with them, on Linux or macOS. Each is named with its
licence and the numbers of the texts that it carries; the texts follow. The Rust standard library is part of it too,
under MIT OR Apache-2.0, and so is SQLite (in libsqlite3-sys), which is in the public domain. Names that begin with `data:`
are no packages, but data made from one. The web page that it serves contains those whose name begins with `npm:`.

This file is written by `cargo xtask notices`.
";

/// Writes the file anew.
pub(crate) fn write(root: &Path) -> Result<()> {
    let text = generate(root)?;
    std::fs::write(root.join(FILE), &text).with_context(|| format!("cannot write {FILE}"))?;
    println!("wrote {FILE}: {} bytes", text.len());
    Ok(())
}

/// Fails when the file is not what `write` would write.
pub(crate) fn check(root: &Path) -> Result<()> {
    let due = generate(root)?;
    let present = std::fs::read_to_string(root.join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    if let Some(difference) = difference(&present, &due) {
        bail!("{FILE} is stale: {difference}; run `cargo xtask notices`");
    }
    println!("{FILE} is up to date");
    Ok(())
}

/// The first line that differs. None: no difference.
fn difference(present: &str, due: &str) -> Option<String> {
    if present == due {
        return None;
    }
    let (mut present, mut due) = (present.lines(), due.lines());
    let mut number = 1;
    loop {
        match (present.next(), due.next()) {
            (Some(have), Some(want)) if have == want => number += 1,
            (Some(have), Some(want)) => return Some(format!("line {number} is `{have}`, not `{want}`")),
            (None, Some(want)) => return Some(format!("line {number} is missing: `{want}`")),
            (Some(have), None) => return Some(format!("line {number} is left over: `{have}`")),
            (None, None) => return Some("its line ends differ".to_owned()),
        }
    }
}

fn generate(root: &Path) -> Result<String> {
    let apache =
        std::fs::read_to_string(root.join("LICENSE-APACHE")).context("cannot read LICENSE-APACHE")?;
    let mut entries = Vec::new();
    for package in packages::of_binary(root)? {
        let mut texts = texts::carried_by(&package)?;
        if texts.is_empty() && package.license.contains("Apache-2.0") {
            // This licence names no holder, so its text is the same for everybody.
            texts.push(texts::tidied(&apache));
        }
        entries.push(Entry { package, texts });
    }
    entries.extend(data::of_binary(root)?);
    entries.extend(page::of_page(root)?);
    Ok(render(&entries))
}

struct Entry {
    package: Package,
    texts: Vec<String>,
}

/// The entries in their order; texts are numbered as they first occur, and one that several packages carry is there once.
fn render(entries: &[Entry]) -> String {
    let mut numbers = BTreeMap::new();
    let mut ordered = Vec::new();
    let mut list = String::new();
    for Entry { package, texts } in entries {
        let mut own = Vec::new();
        for text in texts {
            let number = *numbers.entry(texts::words(text)).or_insert_with(|| {
                ordered.push(text);
                ordered.len()
            });
            if !own.contains(&number) {
                own.push(number);
            }
        }
        list.push_str(&listed(package, &own));
    }
    let mut out = format!("{OPENING}\n{list}");
    for (index, text) in ordered.into_iter().enumerate() {
        out.push_str(&format!("\n{:-<100}\n{text}\n", format!("-- [{}] ", index + 1)));
    }
    out
}

fn listed(package: &Package, numbers: &[usize]) -> String {
    let Package { name, version, license, origin, .. } = package;
    let numbers: String = numbers.iter().map(|number| format!(" [{number}]")).collect();
    if numbers.is_empty() {
        format!("- {name} {version}: {license} (carries no text; see {origin})\n")
    } else {
        format!("- {name} {version}: {license}{numbers}\n")
    }
}
