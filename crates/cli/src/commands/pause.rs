//! `highwater pause` and `highwater resume`: agents begin nothing for a while.

use clap::Args;
use server::wire;

use super::Format;
use crate::client::{Call, Client};
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Pause agents: mentions wait and nothing begins, until highwater resume
///
/// What runs goes on until it is done; highwater run cancel stops it. All agents are paused by owners, those of a channel
/// by its managers, too.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater pause --channel general")]
pub(crate) struct Pause {
    /// Only the agents of this channel [default: all agents of all channels]
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: Option<String>,
    #[command(flatten)]
    format: Format,
}

/// Let agents go on that were paused
///
/// A channel that was paused by itself stays so when the pause of all agents ends, and the other way round.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater resume --channel general")]
pub(crate) struct Resume {
    /// The agents of this channel [default: all agents of all channels]
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: Option<String>,
    #[command(flatten)]
    format: Format,
}

impl Pause {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        change(&context.client()?, Call::post, self.channel, self.format)
    }
}

impl Resume {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        change(&context.client()?, Call::delete, self.channel, self.format)
    }
}

fn change(
    client: &Client,
    call: fn(&[&str]) -> Call,
    channel: Option<String>,
    format: Format,
) -> Result<(), Failure> {
    if let Some(name) = channel {
        let channel: wire::Channel = client.call(&call(&["channels", &name, "pause"]))?;
        format.print(&channel, of_channel)
    } else {
        let pause: wire::Pause = client.call(&call(&["pause"]))?;
        format.print(&pause, |pause| of_all(*pause))
    }
}

fn of_channel(channel: &wire::Channel) -> String {
    let name = &channel.name;
    let line = match channel.paused_at {
        Some(since) => format!("the agents of {name} are paused since {since}"),
        None => format!("the agents of {name} are not paused"),
    };
    format!("{}\n", display::line(&line))
}

fn of_all(pause: wire::Pause) -> String {
    match pause.paused_at {
        Some(since) => format!("all agents are paused since {since}\n"),
        None => "the pause of all agents is over\n".to_owned(),
    }
}
