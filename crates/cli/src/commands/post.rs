//! `highwater post`: posts a message and, if asked, waits for the answers of the agents that it mentions.

mod beside;

use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use clap::Args;
use server::wire;

use super::Format;
use super::run;
use crate::client::{Call, Client, persist};
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;
use crate::progress::Progress;

/// Post a message
///
/// A message that mentions an agent of the channel makes a run for it. With --wait, the answers are printed when all
/// its runs have ended; the exit code is 9 if one of them failed or was cancelled. Ctrl-C ends the wait, not the runs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  highwater post general '@guide hello' --wait
  git log -5 | highwater post general - --as aiko")]
pub(crate) struct Post {
    /// Channel
    #[arg(value_parser = input::name)]
    channel: String,
    /// Text; - reads standard input, without its final line break
    #[arg(allow_hyphen_values = true)]
    text: OsString,
    /// Person who writes, for owners alone [default: whose token it is]
    #[arg(long = "as", value_name = "PERSON", value_parser = input::name)]
    author: Option<String>,
    /// Post in the thread that hangs on this message
    #[arg(long, value_name = "ID", value_parser = input::name)]
    thread: Option<String>,
    /// Wait until every run that it made has ended, and print the answers
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    format: Format,
}

/// Pauses before a post is tried again: long enough for a server that is started anew, short enough to tell soon
/// that there is none.
pub(super) const POST_PAUSES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(500)];

/// Pauses while waiting for runs: they go on, or are taken up again, when the server is back.
const WAIT_PAUSES: [Duration; 12] = {
    let mut pauses = [Duration::from_secs(1); 12];
    pauses[0] = Duration::from_millis(100);
    pauses[1] = Duration::from_millis(300);
    pauses
};

/// How long one request waits for runs to end; the server allows 30 s.
const WAIT: Duration = Duration::from_secs(25);

/// The same while somebody watches: a change of state is told soon.
const WAIT_WATCHED: Duration = Duration::from_secs(1);

impl Post {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let body = wire::PostMessage {
            text: input::message(&self.text)?,
            author: self.author,
            thread_root_id: self.thread,
            client_id: Some(client_id()),
        };
        let mut client = context.client()?;
        let posted = post(&mut client, || context.client(), &self.channel, &body, &POST_PAUSES)?;
        if !self.wait {
            if let Some(note) = beside::nobody(&client, &posted) {
                display::note(&note);
            }
            return self.format.print(&posted, tell);
        }
        let progress = Progress::start();
        progress.end_on_interrupt()?;
        progress.show(&posted.runs);
        tell_beside(&client, &posted);
        let ended = wait(&mut client, || context.client(), posted, &progress)?;
        drop(progress);
        if self.format.is_json() {
            display::print(&display::json(&whole(&client, ended.clone())?)?)?;
        } else {
            display::print(&answers(&ended.runs, display::columns(std::io::stdout())))?;
        }
        unsuccessful(&ended.runs).map_or(Ok(()), Err)
    }
}

/// Posts; a lost answer is asked for again under the same client id, which cannot post twice.
fn post(
    client: &mut Client,
    find: impl Fn() -> Result<Client, Failure>,
    channel: &str,
    body: &wire::PostMessage,
    pauses: &[Duration],
) -> Result<wire::Posted, Failure> {
    let call = Call::post(&["channels", channel, "messages"]);
    persist(client, find, pauses, |client| client.send(&call, body))
}

/// What a wait begins with: who was not asked, and why.
fn tell_beside(client: &Client, posted: &wire::Posted) {
    let notices = beside::notices(client, posted);
    let nobody = beside::nobody(client, posted);
    if posted.runs.is_empty() && nobody.is_none() && notices.is_empty() {
        display::note("no agent was mentioned");
    }
    for note in notices.iter().chain(&nobody) {
        display::note(note);
    }
}

/// Waits until all runs have ended.
fn wait(
    client: &mut Client,
    find: impl Fn() -> Result<Client, Failure>,
    mut posted: wire::Posted,
    progress: &Progress,
) -> Result<wire::Posted, Failure> {
    let limit = if progress.is_seen() { WAIT_WATCHED } else { WAIT };
    let call = Call::get(&["messages", &posted.message.id, "runs"]).waiting(limit);
    while !posted.runs.iter().all(run::has_ended) {
        progress.show(&posted.runs);
        posted = persist(client, &find, &WAIT_PAUSES, |client| client.call(&call))?;
    }
    Ok(posted)
}

/// The same with everything that is known of each run: the text sent, the steps.
fn whole(client: &Client, posted: wire::Posted) -> Result<wire::Posted, Failure> {
    let one = |run: &wire::Run| client.call(&Call::get(&["runs", &run.id]));
    let runs = posted.runs.iter().map(one).collect::<Result<_, _>>()?;
    Ok(wire::Posted { runs, ..posted })
}

/// What was posted, without waiting.
fn tell(posted: &wire::Posted) -> String {
    let runs: Vec<String> = posted.runs.iter().map(|run| format!("@{} ({})", run.agent, run.id)).collect();
    let asked = if runs.is_empty() { String::new() } else { format!(", asked {}", runs.join(", ")) };
    format!("{}\n", display::line(&format!("{} was posted{asked}", posted.message.id)))
}

/// Answers, notices of runs that succeeded without one, and the reasons of runs that were declined, for a terminal of
/// this width.
fn answers(runs: &[wire::Run], width: Option<usize>) -> String {
    let mut text = String::new();
    for run in runs {
        let agent = display::line(&run.agent);
        let succeeded = run.status == "succeeded";
        for reply in &run.replies {
            let head = match reply.author.kind.as_str() {
                "agent" => format!("@{agent}: "),
                // A notice of the end of any other run tells what is told as its reason.
                _ if succeeded => String::new(),
                _ => continue,
            };
            text.push_str(&display::prose(&head, &reply.text, "", width));
            text.push('\n');
        }
        if run.status == "declined" {
            let reason = run.error.as_deref().unwrap_or("no reason was given");
            text.push_str(&display::prose(&format!("@{agent} declined: "), reason, "", width));
            text.push('\n');
        }
    }
    text
}

/// Runs that failed or were cancelled, as one failure.
fn unsuccessful(runs: &[wire::Run]) -> Option<Failure> {
    let failures = runs.iter().filter_map(|run| {
        let what = match run.status.as_str() {
            "failed" => "failed",
            "cancelled" => "was cancelled",
            _ => return None,
        };
        let reason = run.error.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        let failure = Failure::new(Kind::RunFailed, format!("{} of @{} {what}{reason}", run.id, run.agent));
        Some(failure.hint(format!(
            "highwater run show {id} tells more; highwater run retry {id} tries it again",
            id = run.id
        )))
    });
    failures.reduce(Failure::and)
}

/// An id that no other post has: 128 bits keyed by the randomness of the operating system.
pub(super) fn client_id() -> String {
    let random = RandomState::new();
    format!("cli-{:016x}{:016x}", random.hash_one(0), random.hash_one(1))
}

#[cfg(test)]
mod tests;
