//! The web client: installed from its lock file, checked, built, and tried in a browser.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process;
use crate::tools;

/// Builds `web/dist` anew.
pub(crate) fn build(root: &Path) -> Result<()> {
    install(root)?;
    verify(root)?;
    vite(root, &root.join("web/dist"))
}

/// Fails when the client has a fault, or when `web/dist` is not what would be built.
pub(crate) fn check(root: &Path) -> Result<()> {
    install(root)?;
    verify(root)?;
    let due = tempfile::tempdir().context("cannot make a folder to build in")?;
    vite(root, due.path())?;
    match difference(&root.join("web/dist"), due.path())? {
        Some(difference) => bail!("web/dist is stale: {difference}; run `cargo xtask web` and commit it"),
        None => {
            println!("web/dist is what would be built");
            Ok(())
        }
    }
}

/// Runs the tests that drive the program `highwater` through a browser. The program is built by then.
pub(crate) fn browse(root: &Path, program: &Path) -> Result<()> {
    install(root)?;
    let browser = tools::chromium()?;
    let mut command = npm(root)?;
    command.args(["run", "browser"]).env("HIGHWATER_PROGRAM", program).env("HIGHWATER_BROWSER", browser);
    process::run(&mut command)
}

/// Exactly what the lock file says. Scripts of packages do not run: nothing that is needed here has one.
fn install(root: &Path) -> Result<()> {
    let lock =
        std::fs::read(root.join("web/package-lock.json")).context("cannot read web/package-lock.json")?;
    let stamp = root.join("web/node_modules/.installed-by-xtask");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    process::run(npm(root)?.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))?;
    std::fs::write(&stamp, lock).with_context(|| format!("cannot write {}", stamp.display()))
}

fn verify(root: &Path) -> Result<()> {
    process::run(npm(root)?.args(["run", "check"]))?;
    process::run(npm(root)?.args(["run", "unit"]))
}

fn vite(root: &Path, out: &Path) -> Result<()> {
    let out = out.to_str().context("the folder to build in has a name that is not UTF-8")?;
    process::run(npm(root)?.args(["run", "build", "--", "--emptyOutDir", "--outDir", out]))
}

fn npm(root: &Path) -> Result<std::process::Command> {
    Ok(process::command(tools::npm()?, &root.join("web")))
}

/// The first file that differs between two folders. None: no difference.
fn difference(present: &Path, due: &Path) -> Result<Option<String>> {
    let (have, want) = (files(present)?, files(due)?);
    for path in have.union(&want) {
        let name = path.display();
        if !have.contains(path) {
            return Ok(Some(format!("{name} is missing")));
        }
        if !want.contains(path) {
            return Ok(Some(format!("{name} is left over")));
        }
        let read =
            |folder: &Path| std::fs::read(folder.join(path)).with_context(|| format!("cannot read {name}"));
        if read(present)? != read(due)? {
            return Ok(Some(format!("{name} differs")));
        }
    }
    Ok(None)
}

/// The files below a folder, relative to it.
fn files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))? {
            let path = entry.with_context(|| format!("cannot read {}", next.display()))?.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(path) = path.strip_prefix(folder) {
                found.insert(path.to_owned());
            }
        }
    }
    Ok(found)
}
