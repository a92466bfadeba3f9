//! `highwater worktree`: lists and removes the worktrees of agents.

use clap::{Args, Subcommand};
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// List and remove the worktrees of agents
///
/// They are git worktrees of a channel's project: git knows them too.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: highwater worktree list --channel general")]
pub(crate) enum Worktree {
    /// List worktrees, those of removed agents too
    List(List),
    Remove(Remove),
}

/// Arguments of `worktree list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only those of this channel
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: Option<String>,
    #[command(flatten)]
    format: Format,
}

/// Remove a worktree from the disk
///
/// One that holds work that is nowhere else is kept. Commits on its branch stay there in any case.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// Id, as worktree list shows it
    #[arg(value_parser = input::name)]
    id: String,
    /// Also if it holds work that is nowhere else, which is lost then
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    format: Format,
}

impl Worktree {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        match self {
            Self::List(List { channel, format }) => {
                let call = Call::get(&["worktrees"]).with("channel", channel);
                let worktrees: Vec<wire::Worktree> = client.call(&call)?;
                format.print(&worktrees, |worktrees| list(worktrees))
            }
            Self::Remove(Remove { id, force, format }) => {
                let call = Call::delete(&["worktrees", &id]).with("force", force.then_some("true"));
                let removed: wire::Worktree = client.call(&call)?;
                format.print(&removed, |removed| {
                    let kept = match removed.ahead {
                        0 => String::new(),
                        _ => format!("; its commits are on the branch {}", removed.branch),
                    };
                    display::line(&format!("worktree {} of @{} was removed{kept}", removed.id, removed.agent))
                        + "\n"
                })
            }
        }
    }
}

fn list(worktrees: &[wire::Worktree]) -> String {
    let rows: Vec<_> = worktrees
        .iter()
        .map(|worktree| {
            [
                worktree.id.clone(),
                worktree.channel.clone(),
                format!("@{}", worktree.agent),
                worktree.branch.clone(),
                state(worktree),
                size(worktree.bytes),
                worktree.path.clone(),
            ]
        })
        .collect();
    display::table(["ID", "CHANNEL", "AGENT", "BRANCH", "STATE", "SIZE", "PATH"], &rows, "no worktrees")
}

/// How a worktree stands, in a few words.
fn state(worktree: &wire::Worktree) -> String {
    if let Some(fault) = &worktree.fault {
        return format!("unknown: {fault}");
    }
    if !worktree.there && worktree.branch.is_empty() {
        return "not made yet".to_owned();
    }
    let words = [
        (!worktree.there).then(|| "gone".to_owned()),
        (worktree.changed > 0).then(|| "dirty".to_owned()),
        (worktree.ahead > 0).then(|| format!("ahead {}", worktree.ahead)),
        (!worktree.used).then(|| "not used".to_owned()),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    match worktree.changed == 0 && worktree.ahead == 0 && worktree.there {
        true => ["clean".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(", "),
        false => words.join(", "),
    }
}

/// Bytes in the unit that leaves a number of one to four digits.
fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB"];
    let mut number = bytes;
    let mut unit = 0;
    while number >= 10_000 && unit + 1 < units.len() {
        number = number.div_ceil(1_024);
        unit += 1;
    }
    format!("{number} {}", units[unit])
}

#[cfg(test)]
mod tests;
