//! Everything that CI runs, in order, up to the first failure.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{mcp_sdk, notices, process, real_agents, recount, tidy, tools, vocabulary, web, world};

struct Step {
    name: &'static str,
    /// What to do when it fails.
    remedy: &'static str,
    run: fn(&Path) -> Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "format", remedy: "run `cargo fmt --all`", run: format },
    Step {
        name: "lints",
        remedy: "mend what clippy names; suppress with a reason or not at all",
        run: lints,
    },
    Step {
        name: "packages of the official tool client",
        remedy: "install what is named above; the packages are those of tests/mcp-sdk/package-lock.json",
        run: mcp_sdk::install,
    },
    Step {
        name: "real agents",
        remedy: "install what is named above; the packages are those of tests/agents/package-lock.json",
        run: real_agents::install,
    },
    Step { name: "tests", remedy: "run the failed test alone: `cargo test -p CRATE NAME`", run: tests },
    Step {
        name: "world",
        remedy: "play the seed again that is named above: `cargo xtask world --seeds 1 --from SEED`",
        run: world::check,
    },
    Step {
        name: "web client",
        remedy: "mend what is named, then run `cargo xtask web` and commit web/dist",
        run: web::check,
    },
    Step {
        name: "web client in a browser",
        remedy: "run it alone: `cargo xtask web --browse`; web/README.md says how to run one test",
        run: browse,
    },
    Step {
        name: "vocabularies",
        remedy: "run `cargo xtask vocabulary`; Python or its packages may be missing: see above",
        run: vocabulary::check,
    },
    Step {
        name: "recount",
        remedy: "a count differs from tiktoken's, or Python or its packages are missing: see above",
        run: recount::check,
    },
    Step {
        name: "documentation",
        remedy: "mend the links and comments that rustdoc names",
        run: documentation,
    },
    Step {
        name: "tidy",
        remedy: "mend what the lines above name; `cargo xtask tidy` checks again",
        run: tidy::run,
    },
    Step { name: "licences, bans and sources", remedy: "see deny.toml; prefer another library", run: deny },
    Step { name: "unused dependencies", remedy: "take them out of the crate's Cargo.toml", run: unused },
    Step { name: "notices", remedy: "run `cargo xtask notices` and commit the file", run: notices::check },
];

/// Runs the steps; the first that fails is the last. The times are printed in either case.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut taken = Vec::new();
    for (index, step) in STEPS.iter().enumerate() {
        println!("\n==> {}/{} {}", index + 1, STEPS.len(), step.name);
        let begun = Instant::now();
        let result = (step.run)(root);
        taken.push((step.name, begun.elapsed()));
        if result.is_err() {
            print!("\n{}", times(&taken));
            return result.with_context(|| format!("{} failed: {}", step.name, step.remedy));
        }
    }
    print!("\n{}", times(&taken));
    println!("all {} steps succeeded", STEPS.len());
    Ok(())
}

/// One line per step, the seconds in a column.
fn times(taken: &[(&str, Duration)]) -> String {
    taken.iter().map(|(name, time)| format!("{:8.1} s  {name}\n", time.as_secs_f64())).collect()
}

/// `--locked` everywhere: a Cargo.lock that does not match is a failure, not something to mend in silence.
fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = process::cargo(root);
    command.args(arguments);
    command
}

fn format(root: &Path) -> Result<()> {
    process::run(&mut cargo(root, &["fmt", "--all", "--check"]))
}

fn lints(root: &Path) -> Result<()> {
    let mut command = cargo(root, &["clippy", "--locked", "--workspace", "--all-targets"]);
    process::run(command.args(mcp_sdk::FEATURE).args(real_agents::FEATURE).args(["--", "-D", "warnings"]))
}

fn tests(root: &Path) -> Result<()> {
    // All programs first: a test of one crate may start the program of another, which `cargo test` would not build.
    let mut build = cargo(root, &["build", "--locked", "--workspace", "--all-targets"]);
    process::run(build.args(mcp_sdk::FEATURE).args(real_agents::FEATURE))?;
    let mut test = cargo(root, &["test", "--locked", "--workspace"]);
    test.args(mcp_sdk::FEATURE).env(mcp_sdk::VARIABLE, mcp_sdk::folder(root));
    test.args(real_agents::FEATURE).env(real_agents::VARIABLE, real_agents::programs()?);
    match real_agents::guarded(root) {
        Some(folder) => drop(test.env(real_agents::GUARDED, folder)),
        None => println!(
            "LEFT OUT: two tests of Gemini CLI, which reads its defaults only where root alone can write: run this as root to \
             have them, too"
        ),
    }
    process::run(&mut test)
}

/// With the program of the development profile, built if it is not.
pub(crate) fn browse(root: &Path) -> Result<()> {
    process::run(&mut cargo(root, &["build", "--locked", "-p", "cli", "-p", "agents", "--bins"]))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |set| root.join(set));
    web::browse(root, &target.join("debug/highwater"))
}

fn documentation(root: &Path) -> Result<()> {
    let mut command = cargo(root, &["doc", "--locked", "--workspace", "--no-deps"]);
    process::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Advisories are left to the release: they need a database from the network, and a new one must not fail old work.
fn deny(root: &Path) -> Result<()> {
    let program = tools::program(&tools::DENY)?;
    let arguments = ["--locked", "check", "bans", "licenses", "sources"];
    process::run(process::command(program, root).args(arguments))
}

fn unused(root: &Path) -> Result<()> {
    let program = tools::program(&tools::MACHETE)?;
    process::run(&mut process::command(program, root))
}
