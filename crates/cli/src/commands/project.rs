//! `highwater project`: gives channels their projects, shows and trusts them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use server::wire;

use super::Format;
use crate::client::{Call, Client};
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;

/// Give channels a project, show it, trust it
///
/// A project is a git repository on the server's machine. Each agent of the channel works in a git worktree of its own,
/// on a branch of its own.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: highwater project set general ~/src/app")]
pub(crate) enum Project {
    Set(Set),
    /// Show a channel's project, and what its agents load from it
    Show(Place),
    Trust(Trust),
    /// Take trust back: all that agents load from the project is withheld again
    Distrust(Place),
    /// Take a channel's project away; worktrees stay until they are removed
    Remove(Place),
}

/// Give a channel a project, or change it
///
/// What is not given is not kept: --setup and --copy as well.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: highwater project set general ~/src/app --setup 'npm ci' --copy .env --copy 'config/*.local'"
)]
pub(crate) struct Set {
    /// Name of the channel
    #[arg(value_parser = input::name)]
    channel: String,
    /// Top folder of the repository
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Line for the shell that is run once in each new worktree, once the project is trusted
    #[arg(long, value_name = "LINE")]
    setup: Option<String>,
    /// Ignored files that are copied into each new worktree: a path within the project, with *, ? and **. May be repeated
    #[arg(long = "copy", value_name = "PATTERN")]
    copies: Vec<String>,
    #[command(flatten)]
    format: Format,
}

/// Trust a channel's project with the files that agents load from it
///
/// They get these files from then on, in the form that they have now. A file that changes is withheld again until it is
/// trusted.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater project trust general --as 5f0c2e81")]
pub(crate) struct Trust {
    /// Name of the channel
    #[arg(value_parser = input::name)]
    channel: String,
    /// Only if the files are still those that project show listed with this fingerprint
    #[arg(long = "as", value_name = "FINGERPRINT")]
    fingerprint: Option<String>,
    #[command(flatten)]
    format: Format,
}

/// A channel.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Name of the channel
    #[arg(value_parser = input::name)]
    channel: String,
    #[command(flatten)]
    format: Format,
}

impl Project {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        match self {
            Self::Set(Set { channel, folder, setup, copies, format }) => {
                let folder = input::folder(&folder, context.base())?;
                let new = wire::SetProject { folder, setup, copies };
                let set: wire::Project = client.send(&Call::put(&address(&channel)), &new)?;
                format.print(&set, show)
            }
            Self::Show(Place { channel, format }) => format.print(&of(&client, &channel)?, show),
            Self::Trust(Trust { channel, fingerprint, format }) => {
                let project = of(&client, &channel)?;
                let trusted = trust(&client, &channel, project, fingerprint.as_deref())?;
                format.print(&trusted, show)
            }
            Self::Distrust(Place { channel, format }) => {
                let call = Call::delete(&["channels", &channel, "project", "trust"]);
                format.print(&client.call::<wire::Project>(&call)?, show)
            }
            Self::Remove(Place { channel, format }) => {
                let done: wire::Done = client.call(&Call::delete(&address(&channel)))?;
                format.print(&done, |_| display::line(&format!("{channel} has no project any more")) + "\n")
            }
        }
    }
}

fn address(channel: &str) -> [&str; 3] {
    ["channels", channel, "project"]
}

fn of(client: &Client, channel: &str) -> Result<wire::Project, Failure> {
    client.call(&Call::get(&address(channel)))
}

/// Trusts what was just listed: what changes after that is not meant.
fn trust(
    client: &Client,
    channel: &str,
    project: wire::Project,
    fingerprint: Option<&str>,
) -> Result<wire::Project, Failure> {
    if let Some(fault) = project.fault {
        return Err(Failure::new(Kind::Conflict, format!("its files cannot be told: {fault}")));
    }
    if fingerprint.is_some_and(|asked| asked != project.fingerprint) {
        let told = format!(
            "the files are others than those with the fingerprint {}; look at them with: highwater project show {channel}",
            fingerprint.unwrap_or_default()
        );
        return Err(Failure::new(Kind::Conflict, told));
    }
    let files = project.files.into_iter().filter(|file| file.can_be_trusted);
    let files = files.map(|file| wire::TrustFile { path: file.path, hash: file.hash }).collect();
    let call = Call::put(&["channels", channel, "project", "trust"]);
    client.send(&call, &wire::TrustProject { files })
}

fn show(project: &wire::Project) -> String {
    let mut text = format!("project of {}: {}\n", project.channel, project.folder);
    text.push_str(&match project.trusted_at {
        Some(at) => format!("trusted since {}\n", display::time(at)),
        None => "not trusted: its agents load nothing from it, and its set-up line is not run\n".to_owned(),
    });
    if let Some(setup) = &project.setup {
        text.push_str(&format!("set-up: {}\n", display::line(setup)));
    }
    if !project.copies.is_empty() {
        text.push_str(&format!("copied files: {}\n", display::line(&project.copies.join(" "))));
    }
    if let Some(fault) = &project.fault {
        text.push_str(&format!("its files cannot be told: {}\n", display::line(fault)));
        return display::block(&text);
    }
    let rows: Vec<_> = project.files.iter().map(row).collect();
    text.push_str("\nfiles from which agents load settings, commands, instructions or environment:\n");
    text = display::block(&text);
    text.push_str(&display::table(["FILE", "HASH", "WHERE", "GIVEN TO AGENTS"], &rows, "none"));
    if project.trusted_at.is_none() || project.files.iter().any(|file| !file.trusted && file.can_be_trusted) {
        text.push_str(&format!(
            "\ntrust them as they are: highwater project trust {} --as {}\n",
            display::line(&project.channel),
            display::line(&project.fingerprint)
        ));
    }
    text
}

fn row(file: &wire::ProjectFile) -> [String; 4] {
    let given = match (file.trusted, file.can_be_trusted) {
        (true, _) => "yes",
        (false, true) => "no",
        (false, false) => "no: a link that leads elsewhere",
    };
    let hash = file.hash.get(..12).unwrap_or(&file.hash).to_owned();
    let place = file.worktree.clone().unwrap_or_else(|| "commit".to_owned());
    [file.path.clone(), hash, place, given.to_owned()]
}

#[cfg(test)]
mod tests;
