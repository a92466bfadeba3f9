//! `highwater channel`: makes, shows and changes channels, and says who is in them.

mod change;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use server::wire;

use super::Format;
use super::agent;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Make, show and change channels; join and leave them
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: highwater channel add ideas")]
pub(crate) enum Channel {
    /// Make a channel
    #[command(after_help = "Example: highwater channel add talk --direct guide")]
    Add(Add),
    /// List all channels
    List(Format),
    /// Show a channel and its agents
    Show(Show),
    /// List the people of a channel
    Members(Show),
    /// Join a public channel
    Join(change::Join),
    /// Let somebody into a channel
    #[command(after_help = "Example: highwater channel invite board aiko")]
    Invite(change::Invite),
    /// Leave a channel, or make somebody leave it
    Leave(change::Leave),
    /// Say what a channel is about
    Topic(change::Topic),
    /// Give a channel another name
    Rename(change::Rename),
    /// Take no more posts in a channel, or with --undo take them again
    Archive(change::Archive),
}

/// Arguments of `channel add`.
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Name: 1 to 64 of a-z, 0-9, - and _
    #[arg(value_parser = input::name)]
    name: String,
    /// Make it a direct conversation with this agent: every message is addressed to it
    #[arg(long, value_name = "HANDLE", value_parser = input::handle)]
    direct: Option<String>,
    /// Nobody finds it but those who are invited
    #[arg(long, conflicts_with = "direct")]
    private: bool,
    /// Top folder of a git repository on the server's machine: each agent of the channel works in a git worktree of its own
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

/// Arguments of `channel show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Name of the channel
    #[arg(value_parser = input::name)]
    name: String,
    #[command(flatten)]
    format: Format,
}

impl Channel {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        match self {
            Self::Add(Add { name, direct, private, project, format }) => {
                let access = private.then_some(wire::Access::Private);
                let project = project.map(|folder| input::folder(&folder, context.base())).transpose()?;
                let new = wire::AddChannel { name, direct, access, project };
                let made: wire::Channel = client.send(&Call::post(&["channels"]), &new)?;
                if let Some(handle) = made.direct.as_deref().filter(|_| made.agents.is_empty()) {
                    let agents: Vec<wire::Agent> = client.call(&Call::get(&["agents"]))?;
                    if !agents.iter().any(|agent| agent.handle == handle) {
                        display::note(&format!(
                            "note: there is no agent @{handle} yet; add it with: highwater agent add {handle} --channel \
                             {} --preset NAME, or with -- COMMAND instead of the preset",
                            made.name
                        ));
                    }
                }
                format.print(&made, |made| format!("channel {} was made\n", display::line(&made.name)))
            }
            Self::List(format) => {
                let channels: Vec<wire::Channel> = client.call(&Call::get(&["channels"]))?;
                format.print(&channels, |channels| list(channels))
            }
            Self::Show(Show { name, format }) => {
                let call = Call::get(&["channels", &name]);
                let channel: wire::Channel = client.call(&call)?;
                format.print(&channel, show)
            }
            Self::Members(Show { name, format }) => {
                let call = Call::get(&["channels", &name, "members"]);
                let members: Vec<wire::Member> = client.call(&call)?;
                format.print(&members, |members| change::list(members))
            }
            Self::Join(command) => command.run(&client),
            Self::Invite(command) => command.run(&client),
            Self::Leave(command) => command.run(&client),
            Self::Topic(command) => command.run(&client),
            Self::Rename(command) => command.run(&client),
            Self::Archive(command) => command.run(&client),
        }
    }
}

fn list(channels: &[wire::Channel]) -> String {
    let rows: Vec<_> = channels
        .iter()
        .map(|channel| {
            let agents: Vec<String> =
                channel.agents.iter().map(|agent| format!("@{}", agent.handle)).collect();
            [channel.name.clone(), kind(channel), agents.join(" "), channel.last_seq.to_string()]
        })
        .collect();
    display::table(["CHANNEL", "KIND", "AGENTS", "EVENTS"], &rows, "no channels")
}

fn show(channel: &wire::Channel) -> String {
    let topic = match channel.topic.as_str() {
        "" => String::new(),
        topic => format!("topic: {}\n", display::line(topic)),
    };
    format!(
        "channel {} ({}), {}, made {}, {} events\n{topic}{}",
        display::line(&channel.name),
        display::line(&channel.id),
        display::line(&kind(channel)),
        display::time(channel.created_at),
        channel.last_seq,
        agent::list(&channel.agents)
    )
}

fn kind(channel: &wire::Channel) -> String {
    let kind = match (&channel.direct, channel.access) {
        (Some(handle), _) => format!("direct with @{handle}"),
        (None, wire::Access::Private) => "private channel".to_owned(),
        (None, wire::Access::Public) => "channel".to_owned(),
    };
    match (channel.archived_at, channel.paused_at) {
        (Some(_), _) => format!("{kind}, archived"),
        (None, Some(_)) => format!("{kind}, paused"),
        (None, None) => kind,
    }
}

#[cfg(test)]
mod tests;
