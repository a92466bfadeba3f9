//! The vocabularies that the crate `cost` carries: made from those of OpenAI's own tokenizer, and compared with them.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::{process, recount};

const SCRIPT: &str = "bench/recount/vocabulary.py";

/// Where the files are committed.
const FOLDER: &str = "crates/cost/data";

/// What the script writes.
const FILES: [&str; 3] = ["cl100k_base.bin", "o200k_base.bin", "vocabulary-license.txt"];

/// Writes them anew.
pub(crate) fn write(root: &Path) -> Result<()> {
    make(root, Path::new(FOLDER))?;
    println!("{FOLDER}: wrote {}", FILES.join(", "));
    Ok(())
}

/// Fails when one of them is not what would be written.
pub(crate) fn check(root: &Path) -> Result<()> {
    let due = tempfile::tempdir().context("cannot make a folder to write to")?;
    make(root, due.path())?;
    for name in FILES {
        let read =
            |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        if read(&due.path().join(name))? != read(&root.join(FOLDER).join(name))? {
            bail!("{FOLDER}/{name} is not what `cargo xtask vocabulary` would write");
        }
    }
    println!("{}: as OpenAI's tokenizer has them", FILES.join(", "));
    Ok(())
}

fn make(root: &Path, folder: &Path) -> Result<()> {
    let python = recount::environment(root)?;
    process::run(process::command(python, root).arg(SCRIPT).arg(folder))
}
