//! Starts cargo, git and the tools, without standard input.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A command that works in `folder` and cannot wait for somebody to type.
#[expect(clippy::disallowed_methods, reason = "what xtask starts are build tools, which end by themselves")]
pub(crate) fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Cargo's target folder, below which all lies that is made and can be made again.
pub(crate) fn target(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The cargo that runs us, so that every step uses one toolchain.
pub(crate) fn cargo(folder: &Path) -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), folder)
}

/// Says what it starts, and fails unless it succeeds. What it prints goes straight through.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// What a command prints on standard output; its standard error goes straight through.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        bail!("`{line}` failed ({})", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed something that is not UTF-8"))
}

/// A command as one would type it; programs by name alone, since their folders differ from machine to machine.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
