//! What the web client needs that cargo cannot bring: Node to build it, a browser to try it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process;

/// The oldest Node that the client's tools run on.
const NODE: (u32, u32) = (20, 19);

/// Names that Chromium goes by.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The program npm, beside a Node that is new enough.
pub(crate) fn npm() -> Result<PathBuf> {
    let (major, minor) = NODE;
    let missing = format!(
        "Node {major}.{minor} or later with npm is needed to build and test the web client; install it (Debian's own is too \
         old: see nodejs.org) so that `node` and `npm` are on the PATH. Everything else builds without it"
    );
    let Some(node) = found("node") else { bail!("no `node` was found. {missing}") };
    let version = process::output(process::command(&node, Path::new(".")).arg("--version"))?;
    if !is_new_enough(&version) {
        bail!("`{}` is {}. {missing}", node.display(), version.trim());
    }
    found("npm").with_context(|| format!("no `npm` was found. {missing}"))
}

/// `v20.20.2` and the like.
pub(super) fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= NODE,
        _ => false,
    }
}

/// Chromium's program: the one that HIGHWATER_BROWSER names, else one on the PATH, else Debian's, which is installed
/// first if that can be done without asking.
pub(crate) fn chromium() -> Result<PathBuf> {
    if let Some(named) = env::var_os("HIGHWATER_BROWSER").filter(|named| !named.is_empty()) {
        return Ok(named.into());
    }
    if let Some(browser) = BROWSERS.iter().find_map(|name| found(name)) {
        return Ok(browser);
    }
    let missing = "Chromium is needed to test the web client in a browser: `apt-get install chromium`, or name the program in \
                   HIGHWATER_BROWSER";
    let (Some(apt), true) = (found("apt-get"), is_root()) else { bail!("no browser was found. {missing}") };
    println!("no browser was found: installing Debian's Chromium, once");
    let apt_get = |arguments: &[&str]| {
        let mut command = process::command(&apt, Path::new("/"));
        process::run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt_get(&["update"])?;
    apt_get(&["install", "--yes", "--no-install-recommends", "chromium"]).context(missing)?;
    found("chromium").with_context(|| format!("apt-get left no `chromium` on the PATH. {missing}"))
}

fn is_root() -> bool {
    process::output(process::command("id", Path::new("/")).arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// A program on the PATH.
fn found(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}
