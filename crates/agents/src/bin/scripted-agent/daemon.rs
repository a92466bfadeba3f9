//! Descendants that do not want to be found: they leave group and session, are orphaned and ignore SIGTERM, have no
//! mark in their environment, or are others each moment.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

/// Which environment a descendant has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Environment {
    Inherited,
    Empty,
}

/// Starts one that leaves group and session and ignores signals, and waits until its id is in `file`.
pub(crate) fn start(file: &str, environment: Environment) -> std::io::Result<()> {
    // The shell sets the signals to be ignored, which programs that it turns into inherit.
    let mut parent = shell("trap '' TERM HUP INT; exec \"$0\" daemon");
    parent.arg(std::env::current_exe()?);
    if environment == Environment::Empty {
        parent.env_clear();
    }
    let mut parent = parent.stdout(Stdio::piped()).spawn()?;
    let mut pid = String::new();
    if let Some(out) = parent.stdout.take() {
        BufReader::new(out).read_line(&mut pid)?;
    }
    parent.wait()?;
    let written = format!("{file}.new");
    std::fs::write(&written, pid.trim())?;
    std::fs::rename(written, file)
}

/// Starts lines of processes, each of which ignores SIGTERM, starts the next of its line and ends.
pub(crate) fn start_hydra(lines: u64) -> std::io::Result<()> {
    for _ in 0..lines {
        let script = "trap '' TERM HUP INT; sh -c \"$0\" \"$0\" &";
        shell(script).arg(script).stdout(Stdio::null()).spawn()?.wait()?;
    }
    Ok(())
}

/// What a shell command prints, on both streams; `none` if that is nothing.
pub(crate) fn output(script: &str) -> String {
    let printed = match shell(script).output() {
        Ok(output) => [output.stdout, output.stderr].concat(),
        Err(error) => error.to_string().into_bytes(),
    };
    let printed = String::from_utf8_lossy(&printed).trim().to_owned();
    if printed.is_empty() { "none".to_owned() } else { printed }
}

#[expect(clippy::disallowed_methods, reason = "a test program that starts children of its own")]
fn shell(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).stdin(Stdio::null());
    shell
}

/// The parent: leaves the session, starts the child and ends.
#[expect(clippy::disallowed_methods, reason = "a test program that starts a child of its own")]
pub(crate) fn leave() -> ExitCode {
    let left = rustix::process::setsid().map_err(std::io::Error::from);
    let started = left
        .and_then(|_| std::env::current_exe())
        .and_then(|program| Command::new(program).arg("daemon-leaf").spawn());
    match started {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The child: tells its id and stays.
pub(crate) fn stay() -> ExitCode {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{}", std::process::id()).and_then(|()| out.flush());
    loop {
        std::thread::park();
    }
}
