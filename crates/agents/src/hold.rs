//! The holder: stands between the server and one agent and ends the agent's whole tree when either ends.
//!
//! It copies nothing: the agent inherits its standard streams. It needs no runtime and little memory. Where the agent
//! gets a process namespace, the holder is two processes: one outside that waits, and the namespace's first one.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Once;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::environment::reachable;
use crate::message::Sight;
use crate::platform::{self, Force};
use crate::report::Report;
use crate::spawn::{self, Half};

mod plan;

pub(crate) use plan::Plan;
use plan::USAGE;

/// How long descendants have between being asked and being killed.
const ASK_LIMIT: Duration = Duration::from_millis(500);

/// How long between two rounds of killing: a descendant may have made another meanwhile.
const ROUND: Duration = Duration::from_millis(10);

/// How long the first process of a namespace may take to end all others and itself, in seconds.
const INNER_LIMIT_S: i64 = 1;

/// The exit code when the agent could not be started, as a shell's.
const CODE_NOT_STARTED: u8 = 127;

/// The exit code for wrong arguments, and without a server.
const CODE_USAGE: u8 = 2;

/// Runs the holder: `[--hide FOLDER --but FOLDER] [--apart] -- COMMAND [ARG…]`. Gives the agent's exit code, or 128 and
/// the number of the signal that ended it, when nothing is left of its tree. To be called while the process has one
/// thread.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Some(plan) = Plan::parse(arguments) else {
        eprintln!("usage: hold {USAGE}");
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
    match prepare(&plan).and_then(|()| start(&plan, &control)) {
        Ok(code) => code,
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

/// Makes this process one that can hold a tree, and sets it apart.
fn prepare(plan: &Plan) -> Result<(), Report> {
    platform::block_signals().map_err(fail("the holder could not block signals"))?;
    // A session of its own: a terminal's Ctrl-C is for the server, which then ends its agents in order.
    rustix::process::setsid()
        .map_err(io::Error::from)
        .map_err(fail("the holder got no session of its own"))?;
    platform::adopt_orphans().map_err(fail("the holder could not become a subreaper"))?;
    Ok(platform::set_apart(plan.hide.as_ref(), plan.sight)?)
}

/// Starts the agent, and holds until nothing is left of its tree.
fn start(plan: &Plan, control: &UnixStream) -> Result<ExitCode, Report> {
    match plan.sight {
        Sight::All => {
            let agent = start_agent(plan)?;
            tell(&Report::Started(platform::name_of(agent)), control);
            Ok(hold(agent, control, Reach::Tree))
        }
        Sight::Own => {
            let own = std::process::id();
            let handle = platform::handle(rustix::process::getpid())
                .map_err(fail("the holder got no handle of itself"))?;
            match spawn::split().map_err(fail("the holder could not be split"))? {
                Half::Old(inner) => Ok(watch(inner, control)),
                Half::New => {
                    platform::begin(&handle, own).map_err(Report::Together)?;
                    drop(handle);
                    let agent = start_agent(plan)?;
                    // By number it is another in here; and it cannot outlive this process, nor this one the holder.
                    tell(&Report::Started(None), control);
                    Ok(hold(agent, control, Reach::Namespace))
                }
            }
        }
    }
}

fn start_agent(plan: &Plan) -> Result<u32, Report> {
    spawn::agent(&plan.program, &plan.arguments)
        .map_err(|error| Report::Failed(not_started(&plan.program.to_string_lossy(), &error)))
}

/// From outside of a process namespace: waits for its first process. When that ends, the kernel has ended all others.
/// It does so on one thread: a process whose next one begins a namespace gets no second.
fn watch(inner: Pid, control: &UnixStream) -> ExitCode {
    release_streams();
    if let Err(error) = wait_for_end(inner, control) {
        // Without a handle nothing can be waited for.
        tell(&fail("the agent's first process is lost")(error), control);
    }
    let _ = rustix::process::kill_process(inner, Signal::KILL);
    let ended = loop {
        match rustix::process::waitpid(Some(inner), WaitOptions::empty()) {
            Ok(Some((_, status))) => break Some(status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => break None,
        }
    };
    tell(&Report::TreeGone, control);
    ExitCode::from(code(ended))
}

/// Until it has ended, or should have: it sees the end of the server itself, unless somebody stopped it.
fn wait_for_end(inner: Pid, control: &UnixStream) -> io::Result<()> {
    let handle = platform::handle(inner)?;
    let inner_end = || PollFd::new(&handle, PollFlags::IN);
    let mut both = [inner_end(), PollFd::new(control, PollFlags::IN)];
    while let Err(Errno::INTR) = poll(&mut both, None) {}
    if both[0].revents().is_empty() {
        let limit = Timespec { tv_sec: INNER_LIMIT_S, tv_nsec: 0 };
        while let Err(Errno::INTR) = poll(&mut [inner_end()], Some(&limit)) {}
    }
    Ok(())
}

/// What ends with the agent.
#[derive(Clone, Copy)]
enum Reach {
    /// All that came of it.
    Tree,
    /// All of the namespace that this process is the first of.
    Namespace,
}

impl Reach {
    fn signal(self, agent: u32, force: Force) {
        match self {
            Self::Tree => platform::signal_tree(std::process::id(), Some(agent), force),
            Self::Namespace => platform::signal_namespace(force),
        }
    }
}

/// Holds until nothing is left of the agent's tree.
fn hold(agent: u32, control: &UnixStream, reach: Reach) -> ExitCode {
    release_streams();
    let mut ended = None;
    let watched = control.try_clone();
    thread::spawn(move || {
        // Whatever comes, an end or an error, there is no server any more or it wants the end.
        let _ = watched.and_then(|mut watched| watched.read(&mut [0]));
        end(agent, reach);
    });
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if u32::try_from(pid.as_raw_nonzero().get()) == Ok(agent) => {
                tell(&Report::ended(status), control);
                ended = Some(status);
                thread::spawn(move || end(agent, reach));
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
fn end(agent: u32, reach: Reach) {
    static ENDING: Once = Once::new();
    ENDING.call_once(|| {
        reach.signal(agent, Force::Ask);
        thread::sleep(ASK_LIMIT);
        loop {
            reach.signal(agent, Force::Kill);
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

/// Why the holder itself failed.
fn fail(what: &str) -> impl Fn(io::Error) -> Report {
    let what = what.to_owned();
    move |error| Report::Failed(format!("{what}: {error}"))
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
