//! The seeded world: plays seeds, and breaks rules on purpose to see that it notices.

use std::path::Path;

use anyhow::Result;

use crate::process;

/// Seeds that CI plays; many more are played by hand.
const SEEDS: &str = "1000";

/// Plays what is asked for. The feature is asked for here alone: with the whole workspace it would get into the program.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let mut cargo = process::cargo(root);
    cargo.args(["run", "--locked", "--quiet", "--package", "world", "--features", "faults", "--"]);
    process::run(cargo.args(arguments))
}

/// CI's part: the lints of what only this feature compiles, so many seeds without a breach, and each broken rule is
/// noticed.
pub(crate) fn check(root: &Path) -> Result<()> {
    let mut lints = process::cargo(root);
    lints.args([
        "clippy",
        "--locked",
        "--quiet",
        "--package",
        "world",
        "--features",
        "faults",
        "--all-targets",
    ]);
    process::run(lints.args(["--", "-D", "warnings"]))?;
    run(root, &["--seeds", SEEDS])?;
    run(root, &["--broken"])
}
