//! One agent process: its task moves lines, orders, time and events between the session and the outside.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use delivery::model::{MessageId, RunId};
use tokio::io::AsyncReadExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::fault::Fault;
use crate::lines::{Line, LineReader};
use crate::mark::Mark;
use crate::memory::Keeper;
use crate::message::{EventKind, Spec, Update};
use crate::platform;
use crate::record::Record;
use crate::redact::Secrets;
use crate::report::Report;
use crate::session::{Output, Session};
use crate::tail::Tail;

mod bound;
mod errand;
mod open;
mod outlet;
mod probe;
mod waiting;

use bound::Bound;
pub use errand::{Errand, Returned};
pub use open::{Trial, trial};
pub(crate) use outlet::Outlet;
pub use probe::{Login, LoginBy, Modes, Probe, Refused, Seen};
use waiting::{Waiting, write};

/// How long an agent may live on after closing its input or output.
const CLOSED_GRACE: Duration = Duration::from_secs(1);

/// How long the holder may take to end the tree; it takes 0.5 s itself before it forces.
const FORCE_LIMIT: Duration = Duration::from_secs(3);

/// How long what a dead process left in its pipes is read.
const DRAIN_LIMIT: Duration = Duration::from_secs(1);

/// Bytes that wait to be written while the agent is still read. An agent that asks without reading the answers
/// waits for its own answers.
const WAITING_BYTES_MAX: usize = 1024 * 1024;

/// Bytes of standard error read at a time.
const STDERR_BYTES: usize = 4 * 1024;

/// A command for one process.
#[derive(Debug)]
pub(crate) enum Order {
    /// Send a prompt.
    Prompt {
        /// Its run.
        run: RunId,
        /// The exact text.
        text: String,
    },
    /// Cancel the turn of this run.
    Cancel(RunId),
    /// Answer a permission.
    Answer {
        /// The run that asked for it.
        run: RunId,
        /// Its number.
        ask: u64,
        /// Which of its options.
        choice: Option<usize>,
    },
    /// Put a message into the turn of this run.
    Steer {
        /// The run.
        run: RunId,
        /// The message.
        message: MessageId,
        /// The exact text.
        text: String,
    },
    /// Prove that it is alive.
    Prove,
    /// It has too much memory.
    TooLarge,
    /// End the process.
    End,
}

/// Runs one process from start to end; the last event is `Exited`. `runs` is told its holder, and its limit of memory
/// with who keeps it.
pub(crate) async fn run(
    holder: &Arc<[String]>,
    spec: &Spec,
    mark: Mark,
    mut orders: mpsc::Receiver<Order>,
    mut outlet: Outlet,
    runs: impl FnOnce(u32, Option<(u64, Keeper)>),
) {
    let reason = match before(spec, &mut orders, &mut outlet).await {
        Ready::Yes => match open::open(holder, spec, &mark).await {
            Ok(opened) => {
                runs(opened.pid, opened.bound.as_ref().map(Bound::limit));
                Live::new(opened, spec, mark, orders).run(&mut outlet).await
            }
            Err(reason) => Some(spec.secrets.redact(&reason)),
        },
        Ready::Failed(reason) => Some(spec.secrets.redact(&reason)),
        Ready::Ended => None,
    };
    outlet.push(EventKind::Exited { reason });
    outlet.flush().await;
}

/// Whether a process can start.
enum Ready {
    Yes,
    Failed(String),
    /// It was ended before.
    Ended,
}

/// Does what comes before the start, unless the process is to end.
async fn before(spec: &Spec, orders: &mut mpsc::Receiver<Order>, outlet: &mut Outlet) -> Ready {
    let Some(before) = spec.first() else { return Ready::Yes };
    let work = before.begin();
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done.map_or_else(Ready::Failed, |()| Ready::Yes),
            order = orders.recv() => match order {
                Some(Order::End) | None => return Ready::Ended,
                Some(Order::Prompt { run, .. }) => {
                    let reason = "the agent's session has not begun".to_owned();
                    outlet.push(EventKind::TurnFailed { run, reason, fault: Fault::Other });
                    outlet.flush().await;
                }
                // There is no turn, and nothing yet that could prove anything.
                Some(
                    Order::Cancel(_)
                    | Order::Answer { .. }
                    | Order::Steer { .. }
                    | Order::Prove
                    | Order::TooLarge,
                ) => {}
            },
        }
    }
}

/// A process that runs.
struct Live {
    child: Child,
    pid: u32,
    /// `None` once closed.
    stdin: Option<ChildStdin>,
    stdout: LineReader<ChildStdout>,
    stderr: ChildStderr,
    reports: LineReader<OwnedReadHalf>,
    /// While it lives, the holder keeps the tree alive.
    control: Option<OwnedWriteHalf>,
    record: Option<Record>,
    /// How much memory it may have.
    bound: Option<Bound>,
    orders: mpsc::Receiver<Order>,
    session: Session,
    mark: Mark,
    waiting: Waiting,
    tail: Tail,
    secrets: Secrets,
    grace: Duration,
    ending: Ending,
    reading: Reading,
    /// Whether its end was ordered.
    end_ordered: bool,
    /// Why it had to be ended.
    unfit: Option<String>,
}

/// How far the end has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// It lives.
    Not,
    /// Its input is closed; it may go by itself until then.
    Asked(Instant),
    /// The holder ends the tree; it has until then.
    Forced(Instant),
    /// Everything was killed from here.
    Killed,
}

/// Which streams are open.
#[derive(Clone, Copy)]
struct Reading {
    stdout: bool,
    stderr: bool,
    orders: bool,
}

impl Live {
    fn new(opened: open::Opened, spec: &Spec, mark: Mark, orders: mpsc::Receiver<Order>) -> Self {
        let open::Opened {
            child, pid, stdin, stdout, stderr, reports, control, record, bound, notices, ..
        } = opened;
        Self {
            child,
            pid,
            stdin: Some(stdin),
            stdout: LineReader::new(stdout),
            stderr,
            reports,
            control: Some(control),
            record,
            bound,
            orders,
            session: Session::new(spec, pid, notices, Instant::now()),
            mark,
            waiting: Waiting::default(),
            tail: Tail::default(),
            secrets: spec.secrets.clone(),
            grace: spec.limits.grace,
            ending: Ending::Not,
            reading: Reading { stdout: true, stderr: true, orders: true },
            end_ordered: false,
            unfit: None,
        }
    }

    /// Until the tree is gone; gives the reason of its end.
    async fn run(mut self, outlet: &mut Outlet) -> Option<String> {
        let mut stderr_bytes = [0; STDERR_BYTES];
        let status = loop {
            self.carry(outlet);
            let now = Instant::now();
            let wake = self.next_timeout();
            let reads = self.reading.stdout && outlet.is_empty() && self.waiting.bytes < WAITING_BYTES_MAX;
            tokio::select! {
                status = self.child.wait() => break status,
                order = self.orders.recv(), if self.reading.orders => self.obey(order),
                line = self.stdout.next(), if reads => self.heard(line.unwrap_or(Line::End)),
                written = write(&mut self.stdin, &self.waiting), if self.stdin.is_some() && !self.waiting.is_empty() =>
                    self.wrote(written),
                read = self.stderr.read(&mut stderr_bytes), if self.reading.stderr => {
                    let read = read.unwrap_or(0);
                    self.reading.stderr = read > 0;
                    self.tail.push(&stderr_bytes[..read]);
                }
                () = outlet.send(), if !outlet.is_empty() => self.session.excuse_silence(Instant::now()),
                () = sleep_until(wake.unwrap_or(now)), if wake.is_some() => self.timed_out(),
            }
        };
        self.finish(status.ok(), outlet).await
    }

    /// Does what the session wants done.
    fn carry(&mut self, outlet: &mut Outlet) {
        while let Some(output) = self.session.next_output() {
            match output {
                Output::Line(line) => self.waiting.push(line, None),
                Output::Prompt { line, run } => self.waiting.push(line, Some(run)),
                Output::Event(kind) => self.tell(kind, outlet),
                Output::Unfit(reason) => {
                    self.unfit.get_or_insert(reason);
                    self.force();
                }
            }
        }
    }

    /// Tells an event; what ended a turn may be that a process of the agent's had too much memory.
    fn tell(&mut self, kind: EventKind, outlet: &mut Outlet) {
        let mut news = || self.bound.as_mut().and_then(Bound::news);
        match kind {
            EventKind::TurnFailed { run, reason, fault } => {
                let reason = news().map_or(reason.clone(), |news| format!("{reason}; {news}"));
                outlet.push(EventKind::TurnFailed { run, reason, fault });
            }
            EventKind::TurnEnded { run, turn } => {
                if let Some(news) = news() {
                    outlet.push(EventKind::Update { run: run.clone(), update: Update::Notice(news) });
                }
                outlet.push(EventKind::TurnEnded { run, turn });
            }
            kind @ (EventKind::Started(_)
            | EventKind::ReloadFailed { .. }
            | EventKind::PromptWritten { .. }
            | EventKind::Update { .. }
            | EventKind::PermissionAsked { .. }
            | EventKind::PermissionClosed { .. }
            | EventKind::Steered { .. }
            | EventKind::TreeLost
            | EventKind::Exited { .. }) => outlet.push(kind),
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        match self.ending {
            Ending::Not => self.session.next_timeout(),
            Ending::Asked(until) | Ending::Forced(until) => Some(until),
            Ending::Killed => None,
        }
    }

    fn timed_out(&mut self) {
        let now = Instant::now();
        match self.ending {
            Ending::Not => self.session.handle_timeout(now),
            Ending::Asked(until) if until <= now => {
                if !self.end_ordered {
                    self.unfit.get_or_insert_with(|| {
                        "the agent closed its standard input or output but did not end".to_owned()
                    });
                }
                self.force();
            }
            Ending::Forced(until) if until <= now => self.kill(),
            Ending::Asked(_) | Ending::Forced(_) | Ending::Killed => {}
        }
    }

    fn obey(&mut self, order: Option<Order>) {
        let now = Instant::now();
        match order {
            Some(Order::Prompt { run, text }) if self.ending == Ending::Not => {
                self.session.prompt(run, &text, now);
            }
            // The coming `Exited` answers it.
            Some(Order::Prompt { .. }) => {}
            Some(Order::Cancel(run)) => self.session.cancel(&run, now),
            Some(Order::Answer { run, ask, choice }) => self.session.answer(&run, ask, choice, now),
            Some(Order::Steer { run, message, text }) => self.session.steer(&run, message, &text),
            Some(Order::Prove) => self.session.prove(now),
            Some(Order::TooLarge) => {
                self.unfit = self.bound.as_ref().map(Bound::reason);
                self.force();
            }
            Some(Order::End) => self.end(),
            None => {
                self.reading.orders = false;
                self.end();
            }
        }
    }

    /// Asks the agent to end by closing its input.
    fn end(&mut self) {
        self.end_ordered = true;
        self.session.lost("the agent's process was ended during the turn");
        self.close_input();
        match self.ending {
            Ending::Not | Ending::Asked(_) => self.ending = Ending::Asked(Instant::now() + self.grace),
            Ending::Forced(_) | Ending::Killed => {}
        }
    }

    /// The agent closed one of its streams: it is ending, or it has to.
    fn closed(&mut self) {
        self.close_input();
        if self.ending == Ending::Not {
            self.ending = Ending::Asked(Instant::now() + CLOSED_GRACE);
        }
    }

    fn close_input(&mut self) {
        self.stdin = None;
        self.waiting = Waiting::default();
    }

    /// Has the holder end the tree.
    fn force(&mut self) {
        self.close_input();
        self.control = None;
        // A holder that the agent stopped would not see it.
        platform::go_on(self.pid);
        if self.ending != Ending::Killed {
            self.ending = Ending::Forced(Instant::now() + FORCE_LIMIT);
        }
    }

    /// The holder did not end the tree: ends it from here.
    fn kill(&mut self) {
        self.ending = Ending::Killed;
        platform::kill_tree(self.pid);
        if let Err(error) = self.child.start_kill() {
            tracing::warn!(%error, pid = self.pid, "the holder could not be killed");
        }
    }

    fn heard(&mut self, line: Line) {
        match line {
            Line::Text(line) => self.session.handle_line(&line, Instant::now()),
            Line::TooLong => {
                self.reading.stdout = false;
                self.session.broken("the agent wrote a line of more than 16 MiB");
            }
            Line::End => {
                self.reading.stdout = false;
                self.closed();
            }
        }
    }

    fn wrote(&mut self, written: std::io::Result<usize>) {
        match written {
            Ok(bytes) => {
                if let Some(run) = self.waiting.written(bytes) {
                    self.session.written(run);
                }
            }
            Err(error) => {
                tracing::debug!(%error, pid = self.pid, "an agent does not take its input");
                self.closed();
            }
        }
    }

    /// The holder is gone, and with it the tree: takes what is left in the pipes, settles the turn.
    async fn finish(mut self, status: Option<ExitStatus>, outlet: &mut Outlet) -> Option<String> {
        let told = self.last_reports().await;
        if !told.tree_gone {
            platform::kill_tree(self.pid);
            self.mark.sweep().await;
            outlet.push(EventKind::TreeLost);
        }
        self.record.take().into_iter().for_each(Record::close);
        let rest = async {
            while self.reading.stdout {
                let line = self.stdout.next().await.unwrap_or(Line::End);
                self.heard(line);
                self.carry(outlet);
            }
            let mut bytes = [0; STDERR_BYTES];
            while self.reading.stderr {
                let read = self.stderr.read(&mut bytes).await.unwrap_or(0);
                self.reading.stderr = read > 0;
                self.tail.push(&bytes[..read]);
            }
        };
        if timeout(DRAIN_LIMIT, rest).await.is_err() {
            tracing::warn!(pid = self.pid, "something outside its tree holds an agent's pipes open");
        }
        let over = self.bound.as_mut().and_then(|bound| bound.over(&told, &mut self.unfit));
        if let Some(bound) = self.bound.take() {
            bound.close().await;
        }
        let how = told.how().unwrap_or_else(|| match status {
            Some(status) => format!("its holder ended too ({status})"),
            None => "its holder is lost".to_owned(),
        });
        let reason = self.unfit.take().unwrap_or_else(|| format!("the agent's process ended: {how}"));
        let reason = over.map_or(reason.clone(), |over| format!("{reason}; {over}"));
        let reason = match self.tail.shown(&self.secrets) {
            Some(tail) => format!("{reason}; the end of its standard error:\n{tail}"),
            None => reason,
        };
        self.session.lost(&reason);
        self.carry(outlet);
        if self.end_ordered { None } else { Some(reason) }
    }

    /// What the holder told before its end.
    async fn last_reports(&mut self) -> Told {
        let mut told = Told::default();
        while let Ok(Ok(Line::Text(line))) = timeout(DRAIN_LIMIT, self.reports.next()).await {
            match Report::read(&line) {
                Some(Report::Exited(status)) => told.status = Some(status),
                Some(Report::Signaled(signal)) => told.signal = Some(signal),
                Some(Report::TreeGone) => told.tree_gone = true,
                Some(Report::Exposed(_) | Report::Together(_) | Report::Failed(_) | Report::Started(_))
                | None => {}
            }
        }
        told
    }
}

/// What a holder told of the end.
#[derive(Default)]
struct Told {
    /// With which status the agent's main process ended.
    status: Option<i32>,
    /// By which signal it was ended.
    signal: Option<i32>,
    /// Whether nothing is left of its tree. A holder that was killed cannot know.
    tree_gone: bool,
}

impl Told {
    /// How the agent's main process ended, in words.
    fn how(&self) -> Option<String> {
        let status = self.status.map(|status| format!("exit status {status}"));
        status.or_else(|| self.signal.map(|signal| format!("signal {signal}")))
    }
}
