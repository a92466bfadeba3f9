//! Joining, inviting, leaving; topics, names and archives.

use clap::Args;
use server::wire;

use crate::client::{Call, Client};
use crate::commands::Format;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Arguments of `channel join`.
#[derive(Debug, Args)]
pub(crate) struct Join {
    /// Name of the channel
    #[arg(value_parser = input::name)]
    channel: String,
    #[command(flatten)]
    format: Format,
}

/// Arguments of `channel invite`.
#[derive(Debug, Args)]
pub(crate) struct Invite {
    /// Name of the channel
    #[arg(value_parser = input::name)]
    channel: String,
    /// Person who gets in
    #[arg(value_parser = input::handle)]
    person: String,
    #[command(flatten)]
    format: Format,
}

/// Arguments of `channel leave`.
#[derive(Debug, Args)]
pub(crate) struct Leave {
    /// Name of the channel
    #[arg(value_parser = input::name)]
    channel: String,
    /// Person who leaves; for the channel's managers and owners [default: whose token it is]
    #[arg(value_parser = input::handle)]
    person: Option<String>,
    #[command(flatten)]
    format: Format,
}

/// Arguments of `channel topic`.
#[derive(Debug, Args)]
pub(crate) struct Topic {
    /// Name of the channel
    #[arg(value_parser = input::name)]
    channel: String,
    /// One line; an empty one takes the topic away
    topic: String,
    #[command(flatten)]
    format: Format,
}

/// Arguments of `channel rename`.
#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// Name of the channel
    #[arg(value_parser = input::name)]
    channel: String,
    /// New name: 1 to 64 of a-z, 0-9, - and _
    #[arg(value_parser = input::name)]
    to: String,
    #[command(flatten)]
    format: Format,
}

/// Arguments of `channel archive`.
#[derive(Debug, Args)]
pub(crate) struct Archive {
    /// Name of the channel
    #[arg(value_parser = input::name)]
    channel: String,
    /// Open it again
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    format: Format,
}

impl Join {
    pub(super) fn run(self, client: &Client) -> Result<(), Failure> {
        let me = me(client)?;
        add(client, &self.channel, &me, self.format)
    }
}

impl Invite {
    pub(super) fn run(self, client: &Client) -> Result<(), Failure> {
        add(client, &self.channel, &self.person, self.format)
    }
}

impl Leave {
    pub(super) fn run(self, client: &Client) -> Result<(), Failure> {
        let Self { channel, person, format } = self;
        let person = person.map_or_else(|| me(client), Ok)?;
        let done: wire::Done = client.call(&Call::delete(&["channels", &channel, "members", &person]))?;
        format.print(&done, |_| display::line(&format!("{person} is not in {channel} any more")) + "\n")
    }
}

impl Topic {
    pub(super) fn run(self, client: &Client) -> Result<(), Failure> {
        let change = wire::ChangeChannel { topic: Some(self.topic), ..Default::default() };
        change_channel(client, &self.channel, &change, self.format, |channel| {
            format!("topic of {}: {}", channel.name, channel.topic)
        })
    }
}

impl Rename {
    pub(super) fn run(self, client: &Client) -> Result<(), Failure> {
        let change = wire::ChangeChannel { name: Some(self.to), ..Default::default() };
        let old = self.channel.clone();
        change_channel(client, &self.channel, &change, self.format, |channel| {
            format!("{old} is called {} now", channel.name)
        })
    }
}

impl Archive {
    pub(super) fn run(self, client: &Client) -> Result<(), Failure> {
        let change = wire::ChangeChannel { archived: Some(!self.undo), ..Default::default() };
        change_channel(client, &self.channel, &change, self.format, |channel| match channel.archived_at {
            Some(_) => format!("{} was archived: it takes no more posts", channel.name),
            None => format!("{} takes posts again", channel.name),
        })
    }
}

/// The people of a channel as a table.
pub(super) fn list(members: &[wire::Member]) -> String {
    let rows: Vec<_> = members
        .iter()
        .map(|member| {
            [
                member.person.name.clone(),
                display::word(&member.person.role),
                display::word(&member.rank),
                display::time(member.since),
            ]
        })
        .collect();
    display::table(["NAME", "ROLE", "RANK", "SINCE"], &rows, "nobody")
}

/// Name of the person whose token it is.
fn me(client: &Client) -> Result<String, Failure> {
    let me: wire::Me = client.call(&Call::get(&["me"]))?;
    Ok(me.person.name)
}

fn add(client: &Client, channel: &str, person: &str, format: Format) -> Result<(), Failure> {
    let member: wire::Member = client.call(&Call::put(&["channels", channel, "members", person]))?;
    format.print(&member, |member| display::line(&format!("{} is in {channel}", member.person.name)) + "\n")
}

fn change_channel(
    client: &Client,
    channel: &str,
    change: &wire::ChangeChannel,
    format: Format,
    tell: impl FnOnce(&wire::Channel) -> String,
) -> Result<(), Failure> {
    let changed: wire::Channel = client.send(&Call::patch(&["channels", channel]), change)?;
    format.print(&changed, |changed| display::line(&tell(changed)) + "\n")
}
