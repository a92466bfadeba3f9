//! The real agents that tests drive, installed from their lock file in the folder of tools.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{process, tools};

/// What is installed.
const SOURCE: &str = "tests/agents";
const FILES: [&str; 2] = ["package.json", "package-lock.json"];

/// Turns the tests on that need them; without it, `cargo test` needs no agent.
pub(crate) const FEATURE: [&str; 2] = ["--features", "cli/real-agents"];
/// Tells those tests where the agents' programs are.
pub(crate) const VARIABLE: &str = "HIGHWATER_REAL_AGENTS";

/// Where the agents' programs are.
pub(crate) fn programs() -> Result<PathBuf> {
    Ok(folder()?.join("node_modules").join(".bin"))
}

fn folder() -> Result<PathBuf> {
    Ok(tools::folder()?.join("agents"))
}

/// Exactly what the lock file says. No package runs a script of its own but Node's, which puts its program in place.
pub(crate) fn install(root: &Path) -> Result<()> {
    let npm = tools::npm()?;
    let (source, folder) = (root.join(SOURCE), folder()?);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for file in FILES {
        std::fs::copy(source.join(file), folder.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    let stamp = folder.join("installed");
    let lock = std::fs::read(source.join("package-lock.json")).context("cannot read the lock file")?;
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    println!("the real agents are not in {}: installing them, once", folder.display());
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    process::run(process::command(&npm, &folder).args(arguments))?;
    process::run(process::command(&npm, &folder).args(["rebuild", "node"]))?;
    std::fs::write(&stamp, lock).with_context(|| format!("cannot write {}", stamp.display()))
}
