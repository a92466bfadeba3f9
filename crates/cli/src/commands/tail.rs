//! `highwater tail`: follows what happens, over restarts of the server.

mod answers;

use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::Value;
use server::wire::{Event, Happened, Permission, PermissionStatus, Reason};
use tokio::signal::unix::{SignalKind, signal};

use self::answers::Answers;
use super::{Format, history, permission};
use crate::client::{Call, Client};
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;

/// Follow what happens
///
/// Prints messages as they come, until Ctrl-C. In a terminal, answers show while they are written. When the server
/// goes away, tail waits for it and goes on where it was: nothing is lost or told twice. With --json, prints each
/// event (docs/events.md) on a line of its own; its "cursor" is what --since takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  highwater tail general
  highwater tail --json | jq -r 'select(.kind == \"run_ended\").run.status'")]
pub(crate) struct Tail {
    /// Channel [default: all]
    #[arg(value_parser = input::name)]
    channel: Option<String>,
    /// Begin after the event with this cursor [default: with what happens from now on]
    #[arg(long, value_name = "CURSOR", value_parser = input::name)]
    since: Option<String>,
    #[command(flatten)]
    format: Format,
}

/// Pauses before a server that went away is looked for again; the last one repeats.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(300), Duration::from_secs(1)];

/// Why one connection ended.
enum End {
    /// The server ended it, or went away.
    Lost,
    /// Nobody reads what is printed any more.
    Unread,
}

impl Tail {
    /// Carries it out, until a signal or a closed standard output ends it.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let mut answers = Answers::start();
        end_with_signal(answers.clone())?;
        let mut client = context.client()?;
        let mut place = self.since.clone();
        // How often in a row the server was not there; `None` until it was there once.
        let mut lost: Option<usize> = None;
        loop {
            match self.follow(&client, &mut place, &mut answers, &mut lost) {
                Ok(End::Unread) => return Ok(()),
                Ok(End::Lost) => {}
                Err(failure) if lost.is_some() && is_passing(&failure) => {}
                Err(failure) => return Err(failure),
            }
            answers.clear();
            let times = lost.unwrap_or(0);
            if times == PAUSES.len() {
                display::note("the server went away; waiting for it");
            }
            thread::sleep(PAUSES[times.min(PAUSES.len() - 1)]);
            lost = Some(times + 1);
            // Not found (yet): the old one is asked again. A server that was started anew may have another address.
            if let Ok(found) = context.client() {
                client = found;
            }
        }
    }

    /// Follows over one connection, from `place` on and moving it.
    fn follow(
        &self,
        client: &Client,
        place: &mut Option<String>,
        answers: &mut Answers,
        lost: &mut Option<usize>,
    ) -> Result<End, Failure> {
        let call =
            Call::get(&["events"]).with("channel", self.channel.as_ref()).with("since", place.as_ref());
        let mut events = client.follow(&call)?;
        while let Some(value) = events.next() {
            *lost = Some(0);
            let event: Event = serde_json::from_value(value.clone()).map_err(|error| {
                Failure::new(Kind::Internal, format!("this event is not understood: {error}"))
                    .hint("the server may be of another version: highwater --version")
            })?;
            if !self.show(&event, &value, answers)? {
                return Ok(End::Unread);
            }
            if event.cursor.is_some() {
                place.clone_from(&event.cursor);
            }
        }
        Ok(End::Lost)
    }

    /// Shows an event; whether somebody still reads.
    fn show(&self, event: &Event, value: &Value, answers: &mut Answers) -> Result<bool, Failure> {
        if let Happened::Resync { reason: Reason::TooOld | Reason::Unknown } = event.what {
            display::note(
                "some of what happened may be missing here: the server does not know it from this cursor",
            );
        }
        if self.format.is_json() {
            return print(&display::json(value)?);
        }
        answers.take_in(&event.what);
        match self.line(event) {
            Some(line) => answers.aside(|| print(&line)),
            None => Ok(true),
        }
    }

    /// What is printed of an event: messages, like `history` has them.
    fn line(&self, event: &Event) -> Option<String> {
        let message = match &event.what {
            // Deleted since, by the time that it is read: its deletion follows, and there is nothing to show.
            Happened::MessageAdded { message } | Happened::MessageEdited { message } if message.deleted => {
                return None;
            }
            Happened::MessageAdded { message }
            | Happened::MessageEdited { message }
            | Happened::MessageDeleted { message } => message,
            Happened::PermissionAsked { permission: card } => return Some(self.card(card)),
            Happened::PermissionDecided { permission: card } => return self.decided(card),
            Happened::Hello
            | Happened::Resync { .. }
            | Happened::Heartbeat
            | Happened::ChannelAdded { .. }
            | Happened::ChannelChanged { .. }
            | Happened::ChannelClosed
            | Happened::MemberAdded { .. }
            | Happened::MemberRemoved { .. }
            | Happened::PersonAdded { .. }
            | Happened::PersonChanged { .. }
            | Happened::AgentAdded { .. }
            | Happened::AgentChanged { .. }
            | Happened::AgentRemoved { .. }
            | Happened::RunQueued { .. }
            | Happened::RunStarted { .. }
            | Happened::RunEnded { .. }
            | Happened::RunUsage { .. }
            | Happened::RunStep { .. }
            | Happened::Permission { .. }
            | Happened::PauseChanged { .. }
            | Happened::Answer { .. }
            | Happened::AgentState { .. }
            | Happened::Unknown => return None,
        };
        let place = self.place(&message.channel);
        let width = display::columns(io::stdout()).map(|columns| columns.saturating_sub(place.len()));
        Some(format!("{place}{}", history::message(message, width)))
    }
}

impl Tail {
    /// What stands before each line, where it does not go without saying.
    fn place(&self, channel: &str) -> String {
        match self.channel {
            Some(_) => String::new(),
            None => format!("#{} ", display::line(channel)),
        }
    }

    /// A permission card: all of it while it waits. One that was decided by the time that it is read is told by that.
    fn card(&self, card: &Permission) -> String {
        let place = self.place(&card.channel);
        match card.status {
            PermissionStatus::Pending => place + &permission::card(card),
            PermissionStatus::Allowed
            | PermissionStatus::Rejected
            | PermissionStatus::TimedOut
            | PermissionStatus::Cancelled
            | PermissionStatus::Withdrawn
            | PermissionStatus::Lost => {
                let asks = format!(
                    "{} {} @{} asked: {}",
                    display::time(card.asked_at),
                    card.id,
                    card.agent,
                    card.title
                );
                place + &display::line(&asks) + "\n"
            }
        }
    }

    fn decided(&self, card: &Permission) -> Option<String> {
        Some(self.place(&card.channel) + &permission::decided(card)? + "\n")
    }
}

/// A server that restarts looks like this for a while.
fn is_passing(failure: &Failure) -> bool {
    match failure.kind() {
        Kind::NoServer | Kind::Unreachable => true,
        Kind::Internal
        | Kind::NotFound
        | Kind::Conflict
        | Kind::Invalid
        | Kind::Denied
        | Kind::StorageFull
        | Kind::RunFailed => false,
    }
}

/// Ctrl-C and SIGTERM are how this command is meant to end: exit code 0.
fn end_with_signal(answers: Answers) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(Kind::Internal, format!("signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let (mut interrupt, mut terminate) = {
        let _guard = runtime.enter();
        (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?)
    };
    thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        });
        answers.end();
        std::process::exit(0);
    });
    Ok(())
}

/// Prints; whether somebody still reads.
fn print(text: &str) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::new(Kind::Internal, format!("standard output: {error}"))),
    }
}

#[cfg(test)]
mod tests;
