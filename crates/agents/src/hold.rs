//! The holder: stands between the server and one agent and ends the agent's whole tree when either ends.
//!
//! It copies nothing: the agent inherits its standard streams. It needs no runtime and little memory.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Once;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{WaitOptions, WaitStatus};

use crate::environment::reachable;
use crate::message::Hide;
use crate::platform::{self, Force};
use crate::report::Report;
use crate::spawn;

#[cfg(test)]
mod tests;

/// How long descendants have between being asked and being killed.
const ASK_LIMIT: Duration = Duration::from_millis(500);

/// How long between two rounds of killing: a descendant may have made another meanwhile.
const ROUND: Duration = Duration::from_millis(10);

/// The exit code when the agent could not be started, as a shell's.
const CODE_NOT_STARTED: u8 = 127;

/// The exit code for wrong arguments, and without a server.
const CODE_USAGE: u8 = 2;

/// Runs the holder: `[--hide FOLDER --but FOLDER] -- COMMAND [ARG…]`. Gives the agent's exit code, or 128 and the
/// number of the signal that ended it, when nothing is left of its tree.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Some(plan) = Plan::parse(arguments) else {
        eprintln!("usage: hold [--hide FOLDER --but FOLDER] -- COMMAND [ARG…]");
        return ExitCode::from(CODE_USAGE);
    };
    let control = match spawn::control() {
        Ok(control) => control,
        Err(error) => {
            eprintln!("the holder is started by the server alone: {error}");
            return ExitCode::from(CODE_USAGE);
        }
    };
    if !let_go(&control) {
        return ExitCode::from(CODE_USAGE);
    }
    match start(&plan) {
        Ok(agent) => {
            tell(&Report::Started(platform::name_of(agent)), &control);
            hold(agent, &control)
        }
        Err(refused) => {
            tell(&refused, &control);
            ExitCode::from(CODE_NOT_STARTED)
        }
    }
}

/// Waits until the server has recorded this process; false when it is gone instead.
fn let_go(mut control: &UnixStream) -> bool {
    control.read_exact(&mut [0]).is_ok()
}

/// Holds until nothing is left of the agent's tree.
fn hold(agent: u32, control: &UnixStream) -> ExitCode {
    release_streams();
    let mut ended = None;
    let watched = control.try_clone();
    thread::spawn(move || {
        // Whatever comes, an end or an error, there is no server any more or it wants the end.
        let _ = watched.and_then(|mut watched| watched.read(&mut [0]));
        end_tree(agent);
    });
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if u32::try_from(pid.as_raw_nonzero().get()) == Ok(agent) => {
                tell(&Report::ended(status), control);
                ended = Some(status);
                thread::spawn(move || end_tree(agent));
            }
            // An orphan that was adopted.
            Ok(_) | Err(Errno::INTR) => {}
            // No child is left.
            Err(_) => {
                tell(&Report::TreeGone, control);
                return ExitCode::from(code(ended));
            }
        }
    }
}

/// Ends what is left of the tree; does not return, since the process ends with the last child. Descendants that
/// left their group or session are adopted when their parents end, and so found again.
fn end_tree(agent: u32) {
    static ENDING: Once = Once::new();
    ENDING.call_once(|| {
        let holder = std::process::id();
        platform::signal_tree(holder, Some(agent), Force::Ask);
        thread::sleep(ASK_LIMIT);
        loop {
            platform::signal_tree(holder, Some(agent), Force::Kill);
            thread::sleep(ROUND);
        }
    });
}

fn code(ended: Option<WaitStatus>) -> u8 {
    let code = ended.map_or(1, |status| match status.terminating_signal() {
        Some(signal) => 128 + signal,
        None => status.exit_status().unwrap_or(1),
    });
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Lets go of the agent's streams: its end has to be seen as their end.
fn release_streams() {
    // Only a system without /dev/null refuses; then their end is seen when the holder ends.
    if let Ok(null) = std::fs::File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

fn tell(report: &Report, control: &UnixStream) {
    // A server that is gone need not be told.
    let _ = report.write(control);
}

/// What to do.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    hide: Option<Hide>,
    program: OsString,
    arguments: Vec<OsString>,
}

impl Plan {
    fn parse(arguments: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut arguments = arguments.into_iter();
        let mut first = arguments.next()?;
        let mut hide = None;
        if first == "--hide" {
            let folder = arguments.next()?.into();
            if arguments.next()? != "--but" {
                return None;
            }
            hide = Some(Hide { folder, but: arguments.next()?.into() });
            first = arguments.next()?;
        }
        if first != "--" {
            return None;
        }
        Some(Self { hide, program: arguments.next()?, arguments: arguments.collect() })
    }
}

/// Starts the agent; gives its process id.
fn start(plan: &Plan) -> Result<u32, Report> {
    let fail = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| Report::Failed(format!("{what}: {error}"))
    };
    platform::block_signals().map_err(fail("the holder could not block signals"))?;
    // A session of its own: a terminal's Ctrl-C is for the server, which then ends its agents in order.
    rustix::process::setsid()
        .map_err(io::Error::from)
        .map_err(fail("the holder got no session of its own"))?;
    platform::adopt_orphans().map_err(fail("the holder could not become a subreaper"))?;
    if let Some(hide) = &plan.hide {
        platform::hide(hide).map_err(Report::Exposed)?;
    }
    spawn::agent(&plan.program, &plan.arguments)
        .map_err(|error| Report::Failed(not_started(&plan.program.to_string_lossy(), &error)))
}

/// Why a program could not be started, for people.
fn not_started(program: &str, error: &io::Error) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    if error.kind() != io::ErrorKind::NotFound {
        return format!("cannot start `{program}`: {error}");
    }
    if reachable(program, &path) {
        return format!("cannot start `{program}`: the interpreter that its first line names is missing");
    }
    if program.contains('/') {
        return format!("cannot start `{program}`: there is no such file");
    }
    format!("cannot start `{program}`: not found on PATH of the agent ({path})")
}
