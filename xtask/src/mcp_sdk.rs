//! The official TypeScript client of the tools' protocol, installed from its lock file for the test that runs it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process;

/// What is installed and run.
const SOURCE: &str = "tests/mcp-sdk";
const FILES: [&str; 3] = ["package.json", "package-lock.json", "client.mjs"];
/// The oldest Node that the packages are made for.
const NODE_MIN: u32 = 20;

/// Turns the test on that needs the client; without it, `cargo test` needs no Node.
pub(crate) const FEATURE: [&str; 2] = ["--features", "cli/mcp-sdk"];
/// Tells that test where the client is.
pub(crate) const VARIABLE: &str = "HIGHWATER_MCP_SDK";

/// Where the client is installed: below cargo's target folder.
pub(crate) fn folder(root: &Path) -> PathBuf {
    process::target(root).join("mcp-sdk")
}

/// Exactly what the lock file says. No package runs a script of its own.
pub(crate) fn install(root: &Path) -> Result<()> {
    check_node(root)?;
    let (source, folder) = (root.join(SOURCE), folder(root));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for file in FILES {
        std::fs::copy(source.join(file), folder.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    let stamp = folder.join("installed");
    let lock = std::fs::read(source.join("package-lock.json")).context("cannot read the lock file")?;
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    process::run(process::command("npm", &folder).args(arguments))?;
    std::fs::write(&stamp, lock).with_context(|| format!("cannot write {}", stamp.display()))
}

fn check_node(root: &Path) -> Result<()> {
    for program in ["node", "npm"] {
        let version = process::output(process::command(program, root).arg("--version"));
        let version = version.with_context(|| missing(program))?;
        if program == "node" && major(&version).is_none_or(|major| major < NODE_MIN) {
            bail!("{}; found {}", missing(program), version.trim());
        }
    }
    Ok(())
}

fn missing(program: &str) -> String {
    format!("`{program}` is missing from PATH: install Node.js {NODE_MIN} or newer, which brings npm")
}

/// 20 of `v20.20.2`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests;
