//! Benchmarks: builds the programs as they are released, and measures.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::{process, recount};

/// Runs the benchmarks that are named, all without a name. Nothing else goes to standard output, so that the JSON can be
/// read from there.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let mut build = process::cargo(root);
    build.args(["build", "--locked", "--release", "--package", "cli", "--package", "bench", "--bins"]);
    let built = build.status().context("cannot start cargo")?;
    if !built.success() {
        bail!("the programs that are measured could not be built ({built})");
    }
    // Through cargo, which alone knows where it put them.
    let mut bench = process::cargo(root);
    bench.args(["run", "--locked", "--release", "--quiet", "--package", "bench", "--"]).args(arguments);
    // Only one benchmark needs it, and says so where it is missing.
    if arguments.is_empty() || arguments.contains(&"sim") {
        match recount::environment(root) {
            Ok(python) => {
                bench.env("HIGHWATER_BENCH_PYTHON", python);
            }
            Err(error) => eprintln!("no Python with tiktoken: {error:#}"),
        }
    }
    let measured = bench.status().context("cannot start cargo")?;
    match measured.code() {
        Some(0) => Ok(()),
        Some(1) => bail!("a target is missed"),
        Some(_) | None => bail!("not everything could be measured"),
    }
}
