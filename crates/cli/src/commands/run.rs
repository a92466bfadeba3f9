//! `highwater run`: lists and shows runs, cancels and steers them, tries them again.

mod show;
mod steer;

use clap::{Args, Subcommand};
use delivery::Timestamp;
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// List, show, steer, cancel and retry runs
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: highwater run show r5")]
pub(crate) enum Run {
    /// List runs, newest first
    List(List),
    /// Show a run: what was sent, why so, what it showed, what came of it
    #[command(after_help = FACTS)]
    Show(One),
    /// Put a message into the running turn of a run
    #[command(after_help = steer::ABOUT)]
    Steer(steer::Steer),
    /// Cancel a run that is queued or running
    Cancel(One),
    /// Try a run again that failed or was cancelled
    Retry(One),
    /// Let the runs of an agent go on that are held, this one among them
    #[command(after_help = HELD)]
    Resume(One),
}

/// Arguments of `run list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only runs of this channel
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: Option<String>,
    /// Runs at most [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    #[command(flatten)]
    format: Format,
}

/// One run.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// Id of the run
    #[arg(value_parser = input::name)]
    id: String,
    #[command(flatten)]
    format: Format,
}

/// When runs are held.
const HELD: &str = "\
Runs are held behind one that a person cancelled while it ran, and when an
agent's process failed again and again; `run list` says so. A new mention of
the agent lets them go on, too.";

/// What the facts of `run show` mean.
const FACTS: &str = "\
What it shows:
  lease      cold: a new process and session; restored: a new process that
             reloaded its session; warm: the process of the turn before
  native id  the agent's own id of the session that had this turn
  shown      the messages of the channel that the turn brought to the session
  left out   how many new messages were over the limit and so only counted
  mark       the watermark: how far the session had been given the channel
             before the turn, and how far it has been after it
  usage      tokens and cost of its turns, as far as they were told; ~ before
             a cost: by list prices";

impl Run {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        let one = |call: &Call| -> Result<wire::Run, Failure> { client.call(call) };
        match self {
            Self::List(List { channel, limit, format }) => {
                let limit = limit.map(|limit| limit.to_string());
                let call = Call::get(&["runs"]).with("channel", channel).with("limit", limit);
                let runs: Vec<wire::Run> = client.call(&call)?;
                format.print(&runs, |runs| list(runs, display::now()))
            }
            Self::Show(One { id, format }) => {
                let width = display::columns(std::io::stdout());
                format.print(&one(&Call::get(&["runs", &id]))?, |run| show::run(run, width))
            }
            Self::Steer(steer) => steer.run(context, client),
            Self::Cancel(One { id, format }) => {
                let run = one(&Call::post(&["runs", &id, "cancel"]))?;
                format.print(&run, cancelled)
            }
            Self::Retry(One { id, format }) => {
                let run = one(&Call::post(&["runs", &id, "retry"]))?;
                format.print(&run, |run| {
                    format!("{}\n", display::line(&format!("{} tries {id} again: {}", run.id, run.status)))
                })
            }
            Self::Resume(One { id, format }) => {
                let run = one(&Call::post(&["runs", &id, "resume"]))?;
                format.print(&run, |run| {
                    format!("{}\n", display::line(&format!("@{} of {} goes on", run.agent, run.channel)))
                })
            }
        }
    }
}

/// Whether nothing more will happen to a run.
pub(crate) fn has_ended(run: &wire::Run) -> bool {
    matches!(run.status.as_str(), "succeeded" | "failed" | "cancelled" | "declined")
}

/// How a run stands that is to be cancelled: one that runs ends when its agent has stopped.
fn cancelled(run: &wire::Run) -> String {
    let how = if has_ended(run) { run.status.as_str() } else { "being cancelled" };
    format!("{}\n", display::line(&format!("{} is {how}", run.id)))
}

fn list(runs: &[wire::Run], now: Timestamp) -> String {
    let rows: Vec<_> = runs
        .iter()
        .map(|run| {
            let took = match (run.started_at, run.ended_at) {
                (Some(started), Some(ended)) => display::span(started, ended),
                (Some(_) | None, None) | (None, Some(_)) => String::new(),
            };
            [
                run.id.clone(),
                run.status.clone(),
                run.channel.clone(),
                format!("@{}", run.agent),
                run.message_id.clone(),
                run.lease.clone().unwrap_or_default(),
                display::ago(run.created_at, now),
                took,
                run.error.clone().or_else(|| run.waiting.clone()).unwrap_or_default(),
            ]
        })
        .collect();
    let head = ["RUN", "STATUS", "CHANNEL", "AGENT", "MESSAGE", "LEASE", "CREATED", "TOOK", "WHY"];
    display::table(head, &rows, "no runs")
}

/// A message `m17` of aiko.
#[cfg(test)]
pub(crate) fn example_message(text: &str) -> wire::Message {
    wire::Message {
        id: "m17".to_owned(),
        seq: 17,
        created_at: "2026-11-30T10:00:01.000Z".parse().unwrap(),
        author: wire::Author { kind: "user".to_owned(), name: "aiko".to_owned(), person_id: None },
        text: text.to_owned(),
        thread_root_id: None,
        channel: "general".to_owned(),
        run_id: None,
        revision: 1,
        html: None,
        deleted: false,
    }
}

/// A run `r5` of @guide that succeeded.
#[cfg(test)]
pub(crate) fn example() -> wire::Run {
    wire::Run {
        id: "r5".to_owned(),
        status: "succeeded".to_owned(),
        channel: "general".to_owned(),
        agent: "guide".to_owned(),
        binding_id: "b-guide".to_owned(),
        message_id: "m17".to_owned(),
        thread_root_id: None,
        lease: Some("warm".to_owned()),
        lease_why: Some("its process had a turn before".to_owned()),
        native: Some("s1".to_owned()),
        sent: None,
        system: None,
        shown: vec!["m12".to_owned(), "m13".to_owned()],
        omitted: 0,
        watermark_before: None,
        watermark_after: None,
        replies: vec![example_message("hello")],
        error: None,
        usage: None,
        turns: Vec::new(),
        created_at: "2026-11-30T10:00:01.000Z".parse().unwrap(),
        started_at: Some("2026-11-30T10:00:01.500Z".parse().unwrap()),
        ended_at: Some("2026-11-30T10:00:03.700Z".parse().unwrap()),
        waiting: None,
        tries: 0,
        again_at: None,
        retry_of: None,
        events: Vec::new(),
        permissions: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
