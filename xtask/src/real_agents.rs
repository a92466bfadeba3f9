//! The real agents that tests drive, installed from their lock file in the folder of tools.

use std::os::unix::fs::MetadataExt;
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

/// Tells those tests a folder of [`guarded`].
pub(crate) const GUARDED: &str = "HIGHWATER_GUARDED";

/// A folder that root alone can change, with all above it; none but root can have one. Gemini CLI reads its defaults nowhere
/// else.
pub(crate) fn guarded(root: &Path) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let all = [Some(root.to_path_buf()), home, Some(PathBuf::from("/run"))];
    all.into_iter().flatten().find(|folder| {
        let is_roots = |folder: &Path| {
            std::fs::metadata(folder).is_ok_and(|seen| seen.uid() == 0 && seen.mode() & 0o022 == 0)
        };
        folder.ancestors().all(is_roots) && tempfile::tempdir_in(folder).is_ok()
    })
}

/// Where the agents' programs are.
pub(crate) fn programs() -> Result<PathBuf> {
    Ok(folder()?.join("node_modules").join(".bin"))
}

fn folder() -> Result<PathBuf> {
    Ok(tools::folder()?.join("agents"))
}

/// opencode's program for this platform, without the package that chooses it and has no lock for all platforms at once.
const OPENCODE: &str = "opencode-linux-x64-baseline";

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
    link_opencode(&folder.join("node_modules"))?;
    std::fs::write(&stamp, lock).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Its package names no program.
fn link_opencode(modules: &Path) -> Result<()> {
    let link = modules.join(".bin").join("opencode");
    let program = Path::new("..").join(OPENCODE).join("bin").join("opencode");
    if !modules.join(OPENCODE).exists() || link.exists() {
        return Ok(());
    }
    std::os::unix::fs::symlink(program, &link).with_context(|| format!("cannot make {}", link.display()))
}
