//! Requests that Highwater counted, counted once more by OpenAI's own tokenizer, in a Python environment of its own.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process;

const REQUIREMENTS: &str = "bench/recount/requirements.txt";
const SCRIPT: &str = "bench/recount/recount.py";

/// What CI runs: texts that are hard to count, in both encodings, and every request of the built-in simulation.
pub(crate) fn check(root: &Path) -> Result<()> {
    let hard = process::target(root).join("recount/hard-texts");
    let mut command = process::cargo(root);
    command.args(["run", "--quiet", "--locked", "--package", "cost", "--example", "hard-texts", "--"]);
    process::run(command.arg(&hard))?;
    let simulated = process::target(root).join("recount/simulated");
    if simulated.exists() {
        std::fs::remove_dir_all(&simulated)
            .with_context(|| format!("cannot empty {}", simulated.display()))?;
    }
    let mut command = process::cargo(root);
    command.args(["run", "--quiet", "--locked", "--package", "cli", "--", "sim", "--requests"]);
    process::run(command.arg(&simulated))?;
    folders(root, &[hard, simulated])
}

/// Recounts the requests below `folders`; fails at a single token of difference.
pub(crate) fn folders(root: &Path, folders: &[PathBuf]) -> Result<()> {
    let python = environment(root)?;
    process::run(process::command(python, root).arg(SCRIPT).args(folders))
}

/// The environment's Python; the environment is made anew when what it needs has changed.
pub(crate) fn environment(root: &Path) -> Result<PathBuf> {
    let folder = process::target(root).join("recount/python");
    let python = folder.join("bin/python");
    let wanted = std::fs::read_to_string(root.join(REQUIREMENTS))
        .with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    let installed = folder.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    let mut venv = process::command("python3", root);
    process::run(venv.args(["-m", "venv", "--clear"]).arg(&folder))
        .context("the recount needs python3 3.11 to 3.14 with its module venv")?;
    let mut pip = process::command(&python, root);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--only-binary", ":all:", "--require-hashes", "--requirement", REQUIREMENTS]);
    process::run(&mut pip).context(
        "the recount needs tiktoken, regex and litellm, as pinned in bench/recount/requirements.txt, from the index that \
         pip is set up for",
    )?;
    std::fs::write(&installed, wanted).with_context(|| format!("cannot write {}", installed.display()))?;
    Ok(python)
}
