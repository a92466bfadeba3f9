//! The tools that cargo does not bring: installed when they are missing, in a folder of their own outside the tree.

mod page;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process;

pub(crate) use page::{chromium, npm};

/// A program of the package registry, at one version, so that everyone gets the same findings.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

/// Licences, bans and sources of the dependencies.
pub(crate) const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
/// Dependencies that nothing uses.
pub(crate) const MACHETE: Tool = Tool { name: "cargo-machete", version: "0.9.2" };

/// The tool's program, built first if it is not there. A step whose tool cannot be had fails; it is never skipped.
pub(crate) fn program(tool: &Tool) -> Result<PathBuf> {
    let cache = folder()?;
    let folder = cache.join(format!("{}-{}", tool.name, tool.version));
    let program = folder.join("bin").join(tool.name);
    if program.is_file() {
        return Ok(program);
    }
    println!("{} {} is not in {}: building it, once", tool.name, tool.version, cache.display());
    install(tool, &cache, &folder).with_context(|| missing(tool, &cache))?;
    if !program.is_file() {
        bail!("{}; the installation succeeded, but left no {}", missing(tool, &cache), program.display());
    }
    Ok(program)
}

fn install(tool: &Tool, cache: &Path, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(cache).with_context(|| format!("cannot make {}", cache.display()))?;
    let mut command = process::cargo(cache);
    // Unoptimised, since both run for about a second and an optimised build takes half as long again.
    command.args(["install", "--locked", "--debug", "--root"]).arg(folder);
    command.args(["--version", tool.version, tool.name]);
    // One folder for all: the tools share many of their dependencies.
    command.env("CARGO_TARGET_DIR", cache.join("build")).env("CARGO_PROFILE_DEV_DEBUG", "0");
    // Flags for our own code, such as those for coverage, are no affair of the tools.
    command.env_remove("RUSTFLAGS");
    process::run(&mut command)
}

fn missing(tool: &Tool, cache: &Path) -> String {
    let Tool { name, version } = tool;
    format!("{name} {version} is missing from {}, and `cargo install` could not build it", cache.display())
}

/// The folder in which tools are kept.
pub(crate) fn folder() -> Result<PathBuf> {
    cache(|name| std::env::var_os(name))
}

/// Where the tools are kept: the first of these that is set and not empty.
fn cache(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let set = |name: &str, below: &str| {
        let value = variable(name).filter(|value| !value.is_empty())?;
        Some(Path::new(&value).join(below))
    };
    let found = set("HIGHWATER_TOOLS", "")
        .or_else(|| set("XDG_CACHE_HOME", "highwater/tools"))
        .or_else(|| set("HOME", ".cache/highwater/tools"))
        .or_else(|| set("CARGO_HOME", "highwater-tools"))
        .context(
            "no folder for tools: set HIGHWATER_TOOLS to one (XDG_CACHE_HOME, HOME and CARGO_HOME are unset)",
        )?;
    if found.is_relative() {
        bail!("the folder for tools must be an absolute path, not `{}`", found.display());
    }
    Ok(found)
}
