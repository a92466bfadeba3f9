//! The one binary: every command of Highwater, and the programs that it starts for its agents.

mod arguments;
mod bridge;
mod client;
mod commands;
mod config;
mod context;
mod display;
mod failure;
mod guide;
mod input;
mod interrupt;
mod log;
mod progress;
mod transfer;

use std::process::ExitCode;

use clap::Parser as _;

/// Tests of the rules may break them; the program cannot, whatever else it is built with.
const _: () =
    assert!(!delivery::faults::BREAKABLE, "`highwater` is built with the feature `faults` of `delivery`");

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let first = words.next();
    // These live as long as an agent, once or twice per agent: nothing else is set up for them.
    if first.as_deref() == Some("hold".as_ref()) {
        return agents::hold::run(words);
    }
    if first.as_deref() == Some("guide".as_ref()) {
        return guide::run();
    }
    if first.as_deref() == Some("mcp".as_ref()) {
        return bridge::run();
    }
    match arguments::Arguments::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Standard error may be closed; the exit code still tells.
            let _ = failure.print(&mut std::io::stderr().lock(), display::columns(std::io::stderr()));
            failure.kind().exit_code()
        }
    }
}
