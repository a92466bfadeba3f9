//! `highwater permission`: lists and shows what agents ask people for, and answers it.

mod card;

use clap::{Args, Subcommand};
use server::wire::{self, ChoiceKind};

pub(super) use self::card::{card, decided, status};
use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;

/// List, show and answer what agents ask permission for
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: highwater permission answer k3 allow")]
pub(crate) enum Permission {
    /// List what waits for an answer, newest first
    List(List),
    /// Show all that an agent asks for
    Show(One),
    Answer(Answer),
}

/// Arguments of `permission list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only of this channel
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: Option<String>,
    /// Also what was decided
    #[arg(long)]
    all: bool,
    /// Permissions at most [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    #[command(flatten)]
    format: Format,
}

/// One permission.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// Id of the permission
    #[arg(value_parser = input::name)]
    id: String,
    #[command(flatten)]
    format: Format,
}

/// Answer what an agent asks permission for
///
/// The first answer counts. Who may answer, the agent says: highwater agent policy. What allows for more than this once is
/// for owners alone.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  highwater permission answer k3 allow
  highwater permission answer k3 2")]
pub(crate) struct Answer {
    /// Id of the permission
    #[arg(value_parser = input::name)]
    id: String,
    /// Number of the option, or: allow (once), reject
    option: Choice,
    #[command(flatten)]
    format: Format,
}

/// An option by its number or by what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Number(u32),
    Allow,
    Reject,
}

impl std::str::FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "allow" => Ok(Self::Allow),
            "reject" => Ok(Self::Reject),
            number => {
                number.parse().map(Self::Number).map_err(|_| "it is a number, allow or reject".to_owned())
            }
        }
    }
}

impl Permission {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        match self {
            Self::List(List { channel, all, limit, format }) => {
                let pending = if all { None } else { Some("true") };
                let limit = limit.map(|limit| limit.to_string());
                let call = Call::get(&["permissions"]).with("channel", channel).with("pending", pending);
                let cards: Vec<wire::Permission> = client.call(&call.with("limit", limit))?;
                format.print(&cards, |cards| list(cards))
            }
            Self::Show(One { id, format }) => {
                let card: wire::Permission = client.call(&Call::get(&["permissions", &id]))?;
                format.print(&card, |one| {
                    let end = decided(one).map(|end| end + "\n").unwrap_or_default();
                    self::card(one) + &end
                })
            }
            Self::Answer(Answer { id, option, format }) => {
                let option = match option {
                    Choice::Number(number) => number,
                    Choice::Allow | Choice::Reject => {
                        let card: wire::Permission = client.call(&Call::get(&["permissions", &id]))?;
                        meant(&card, option)?
                    }
                };
                let call = Call::post(&["permissions", &id, "answer"]);
                let card: wire::Permission = client.send(&call, &wire::AnswerPermission { option })?;
                format.print(&card, |card| decided(card).map(|text| text + "\n").unwrap_or_default())
            }
        }
    }
}

/// The number of the option that is meant: for this once, and for a no else for ever.
fn meant(card: &wire::Permission, choice: Choice) -> Result<u32, Failure> {
    let of_kind = |kind| card.options.iter().find(|option| option.kind == kind).map(|option| option.n);
    let (found, word) = match choice {
        Choice::Number(number) => return Ok(number),
        Choice::Allow => (of_kind(ChoiceKind::AllowOnce), "allows it once"),
        Choice::Reject => {
            (of_kind(ChoiceKind::RejectOnce).or_else(|| of_kind(ChoiceKind::RejectAlways)), "rejects it")
        }
    };
    found.ok_or_else(|| {
        Failure::new(Kind::Invalid, format!("no option of {} {word}", card.id))
            .hint(format!("choose one by its number: highwater permission show {}", card.id))
    })
}

fn list(cards: &[wire::Permission]) -> String {
    let now = display::now();
    let rows: Vec<_> = cards
        .iter()
        .map(|card| {
            [
                card.id.clone(),
                status(card).to_owned(),
                card.channel.clone(),
                format!("@{}", card.agent),
                card.run_id.clone(),
                card.tool_kind.clone(),
                display::ago(card.asked_at, now),
                card.title.clone(),
            ]
        })
        .collect();
    let head = ["PERMISSION", "STATUS", "CHANNEL", "AGENT", "RUN", "KIND", "ASKED", "WHAT"];
    display::table(head, &rows, "nothing waits for an answer")
}

/// A card `k3` of @guide that waits.
#[cfg(test)]
pub(super) fn example() -> wire::Permission {
    let option = |n, name: &str, kind, owners_only| wire::PermissionOption {
        n,
        name: name.to_owned(),
        kind,
        owners_only,
    };
    let detail = |what, path: Option<&str>, text: &str| wire::PermissionDetail {
        what,
        path: path.map(str::to_owned),
        text: text.to_owned(),
    };
    wire::Permission {
        id: "k3".to_owned(),
        run_id: "r5".to_owned(),
        channel: "general".to_owned(),
        agent: "guide".to_owned(),
        binding_id: "b-guide".to_owned(),
        message_id: "m17".to_owned(),
        thread_root_id: None,
        title: "Clean up".to_owned(),
        tool_kind: "execute".to_owned(),
        tool: Some("Bash".to_owned()),
        details: vec![
            detail(wire::DetailKind::Command, None, "rm -rf build\nls"),
            detail(wire::DetailKind::Path, None, "/work/build"),
            detail(wire::DetailKind::Diff, Some("a.txt"), "-a\n+b"),
        ],
        options: vec![
            option(1, "Always", ChoiceKind::AllowAlways, true),
            option(2, "Yes", ChoiceKind::AllowOnce, false),
            option(3, "No", ChoiceKind::RejectOnce, false),
        ],
        asked_at: "2026-11-30T10:00:01.000Z".parse().unwrap(),
        until: "2026-11-30T10:30:01.000Z".parse().unwrap(),
        status: wire::PermissionStatus::Pending,
        option: None,
        decided_by: None,
        decided_at: None,
        why: None,
    }
}

#[cfg(test)]
mod tests;
