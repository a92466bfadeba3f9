//! `highwater agent policy`: who answers an agent's permission cards, and what is decided without people.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::{Args, ValueEnum};
use server::wire::{self, AnsweredBy, NewRule, ToolKind};

use super::place;
use crate::client::Call;
use crate::commands::Format;
use crate::config::parse_duration;
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;

/// Show or change who answers an agent's permission requests, and what is decided without people
///
/// What a supervised agent asks permission for becomes a card in its channel. What an unsupervised one asks for is decided
/// by a rule for the kind of tool; unless told otherwise, reading and searching in its own working folder is allowed, and
/// all else rejected. Without options it shows what holds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  highwater agent policy claude --channel general
  highwater agent policy claude --channel general --answered-by members --answer-within 2h
  highwater agent policy bot --channel general --allow execute --allow-inside edit")]
pub(crate) struct Policy {
    /// Handle, with or without @
    #[arg(value_parser = input::handle)]
    handle: String,
    /// Channel
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: String,
    #[command(flatten)]
    rules: Rules,
    /// As if nothing had been said of this kind of tool. May be repeated
    #[arg(long, value_name = "KIND", value_enum)]
    default: Vec<ToolWord>,
    #[command(flatten)]
    format: Format,
}

/// Options that `agent add` has too.
#[derive(Debug, Args)]
pub(super) struct Rules {
    /// Who answers its permission cards [default: owners]
    #[arg(long, value_name = "WHO", value_enum)]
    answered_by: Option<Who>,
    /// How long a permission card waits before it is rejected, such as 10m; 0s is the server's permission_limit
    #[arg(long, value_name = "TIME", value_parser = time)]
    answer_within: Option<Duration>,
    /// Without supervision: allow this kind of tool, anywhere. May be repeated
    #[arg(long, value_name = "KIND", value_enum)]
    allow: Vec<ToolWord>,
    /// Without supervision: allow it where all that is named lies in the agent's own working folder. May be repeated
    #[arg(long, value_name = "KIND", value_enum)]
    allow_inside: Vec<ToolWord>,
    /// Without supervision: ask people about it. May be repeated
    #[arg(long, value_name = "KIND", value_enum)]
    ask: Vec<ToolWord>,
    /// Without supervision: reject it. May be repeated
    #[arg(long, value_name = "KIND", value_enum)]
    reject: Vec<ToolWord>,
}

/// [`AnsweredBy`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Who {
    /// Owners alone
    Owners,
    /// The channel's managers, and owners
    Managers,
    /// Members of the channel, not guests
    Members,
}

/// [`ToolKind`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ToolWord {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    Other,
}

impl Policy {
    /// Carries it out.
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let Self { handle, channel, rules, default, format } = self;
        let client = context.client()?;
        let change = rules.change(&default)?;
        let agent = if change == wire::ChangePermissionRules::default() {
            let agents: Vec<wire::Agent> =
                client.call(&Call::get(&["agents"]).with("channel", Some(&channel)))?;
            let found = agents.into_iter().find(|agent| agent.handle == handle);
            let missing = || Failure::new(Kind::NotFound, format!("no agent @{handle} in channel {channel}"));
            found.ok_or_else(missing)?
        } else {
            client.send(&Call::patch(&["channels", &channel, "agents", &handle, "permissions"]), &change)?
        };
        format.print(&agent, shown)
    }
}

impl Rules {
    /// For an agent that is new.
    pub(super) fn of_new(self) -> Result<wire::PermissionRules, Failure> {
        let wire::ChangePermissionRules { answered_by, limit_ms, tools } = self.change(&[])?;
        let tools = tools.into_iter().filter_map(|(kind, rule)| Some((kind, rule.rule()?)));
        Ok(wire::PermissionRules {
            answered_by: answered_by.unwrap_or_default(),
            limit_ms: limit_ms.filter(|ms| *ms > 0),
            tools: tools.collect(),
        })
    }

    fn change(self, default: &[ToolWord]) -> Result<wire::ChangePermissionRules, Failure> {
        let mut tools: BTreeMap<ToolKind, NewRule> = BTreeMap::new();
        let lists = [
            (&self.allow[..], NewRule::Allow),
            (&self.allow_inside, NewRule::Inside),
            (&self.ask, NewRule::Ask),
            (&self.reject, NewRule::Reject),
            (default, NewRule::Default),
        ];
        for (kinds, rule) in lists {
            for kind in kinds {
                if tools.insert(kind.kind(), rule).is_some_and(|before| before != rule) {
                    let word = kind.kind().as_str();
                    return Err(Failure::new(Kind::Invalid, format!("{word} has two rules; give it one")));
                }
            }
        }
        let answered_by = self.answered_by.map(|who| match who {
            Who::Owners => AnsweredBy::Owners,
            Who::Managers => AnsweredBy::Managers,
            Who::Members => AnsweredBy::Members,
        });
        let limit_ms = self.answer_within.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        Ok(wire::ChangePermissionRules { answered_by, limit_ms, tools })
    }
}

impl ToolWord {
    fn kind(self) -> ToolKind {
        match self {
            Self::Read => ToolKind::Read,
            Self::Edit => ToolKind::Edit,
            Self::Delete => ToolKind::Delete,
            Self::Move => ToolKind::Move,
            Self::Search => ToolKind::Search,
            Self::Execute => ToolKind::Execute,
            Self::Think => ToolKind::Think,
            Self::Fetch => ToolKind::Fetch,
            Self::SwitchMode => ToolKind::SwitchMode,
            Self::Other => ToolKind::Other,
        }
    }
}

/// What holds for an agent.
fn shown(agent: &wire::Agent) -> String {
    let rules = &agent.permissions;
    let limit = rules.limit_ms.map_or_else(
        || "as long as the server's permission_limit says".to_owned(),
        |ms| format!("{} s", ms / 1_000),
    );
    let mut text = format!(
        "{}\ncards are answered by {}, and wait {limit}\n",
        place(agent),
        display::word(&rules.answered_by)
    );
    if agent.supervised {
        text.push_str("it is supervised: every request becomes a card, and what follows is not used\n");
    } else {
        text.push_str("it is unsupervised: this is done with its requests\n");
    }
    let rows: Vec<_> =
        rules.tools.iter().map(|(kind, rule)| [kind.as_str().to_owned(), words(*rule).to_owned()]).collect();
    text + &display::table(["KIND", "RULE"], &rows, "")
}

fn words(rule: wire::Rule) -> &'static str {
    match rule {
        wire::Rule::Allow => "allowed",
        wire::Rule::Inside => "allowed in its own working folder",
        wire::Rule::Ask => "people are asked",
        wire::Rule::Reject => "rejected",
    }
}

fn time(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "it is a time such as 90s, 10m or 2h".to_owned())
}

#[cfg(test)]
mod tests;
