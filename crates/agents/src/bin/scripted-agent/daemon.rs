//! A descendant that does not want to be found: it leaves group and session, is orphaned and ignores SIGTERM.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

/// Starts it and waits until its id is in `file`.
#[expect(clippy::disallowed_methods, reason = "a test program that starts a child of its own")]
pub(crate) fn start(file: &str) -> std::io::Result<()> {
    // The shell sets the signals to be ignored, which programs that it turns into inherit.
    let mut parent = Command::new("sh")
        .args(["-c", "trap '' TERM HUP INT; exec \"$0\" daemon"])
        .arg(std::env::current_exe()?)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut pid = String::new();
    if let Some(out) = parent.stdout.take() {
        BufReader::new(out).read_line(&mut pid)?;
    }
    parent.wait()?;
    let written = format!("{file}.new");
    std::fs::write(&written, pid.trim())?;
    std::fs::rename(written, file)
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
