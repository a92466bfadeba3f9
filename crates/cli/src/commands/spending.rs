//! `highwater spending`: what agents may spend in a day.

use clap::{Args, Subcommand};
use server::wire;

use super::Format;
use super::usage::tokens;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};
use crate::input;

/// List, set and remove limits on what agents spend in a day
///
/// A day begins at midnight UTC. Once a limit is reached, runs of those whom it is for do not begin: they fail with a notice
/// that says so, and can be tried again when there is a higher limit or another day. What runs is not stopped. Turns of which
/// nothing is told count for nothing.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  highwater spending set --channel general --agent claude --money 5
  highwater spending set --all --tokens 20000000")]
pub(crate) enum Spending {
    /// List the limits, with what was spent today
    List(List),
    /// Set a limit, in the place of the one that is there
    Set(Set),
    /// Remove a limit
    Remove(Remove),
}

/// Arguments of `spending list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    format: Format,
}

/// Whom a limit is for.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Whose {
    /// All agents together
    #[arg(long, conflicts_with = "channel")]
    all: bool,
    /// The agents of this channel together
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: Option<String>,
    /// One agent there
    #[arg(long, value_name = "HANDLE", value_parser = input::handle, requires = "channel")]
    agent: Option<String>,
}

/// Arguments of `spending set`.
#[derive(Debug, Args)]
pub(crate) struct Set {
    #[command(flatten)]
    whose: Whose,
    /// Tokens a day: input, read from the cache, written to it and output, together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), required_unless_present = "money")]
    tokens: Option<u64>,
    /// Money a day, such as 5 or 0.50; by list prices where an agent does not tell what it costs
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    money: Option<u64>,
    /// The currency that agents tell costs in; list prices are in dollars
    #[arg(long, value_name = "CODE", default_value = "USD", requires = "money")]
    currency: String,
}

/// Arguments of `spending remove`.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    #[command(flatten)]
    whose: Whose,
}

impl Spending {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let client = context.client()?;
        let put = |body: &wire::SetSpendingLimit| -> Result<wire::Done, Failure> {
            client.send(&Call::put(&["spending-limits"]), body)
        };
        match self {
            Self::List(List { format }) => {
                let limits: Vec<wire::SpendingLimit> = client.call(&Call::get(&["spending-limits"]))?;
                format.print(&limits, |limits| list(limits))
            }
            Self::Set(Set { whose, tokens, money, currency }) => {
                let currency = money.map(|_| currency);
                let body = wire::SetSpendingLimit { tokens, micros: money, currency, ..whose.body() };
                put(&body)?;
                display::print(&format!(
                    "the limit holds for runs of {} that begin from now on\n",
                    whose_words(&body)
                ))
            }
            Self::Remove(Remove { whose }) => {
                let body = whose.body();
                let limits: Vec<wire::SpendingLimit> = client.call(&Call::get(&["spending-limits"]))?;
                let is_it =
                    |limit: &wire::SpendingLimit| limit.channel == body.channel && limit.agent == body.agent;
                if !limits.iter().any(is_it) {
                    let message = format!("there is no spending limit of {}", whose_words(&body));
                    return Err(Failure::new(Kind::NotFound, message));
                }
                put(&body)?;
                display::print(&format!("the limit of {} is gone\n", whose_words(&body)))
            }
        }
    }
}

impl Whose {
    /// A limit of theirs without any amount.
    fn body(self) -> wire::SetSpendingLimit {
        let Self { all: _, channel, agent } = self;
        wire::SetSpendingLimit { channel, agent, tokens: None, micros: None, currency: None }
    }
}

fn whose_words(body: &wire::SetSpendingLimit) -> String {
    let words = match (&body.channel, &body.agent) {
        (None, _) => "all agents together".to_owned(),
        (Some(channel), None) => format!("the agents of {channel}"),
        (Some(channel), Some(agent)) => format!("@{agent} in {channel}"),
    };
    display::line(&words)
}

fn list(limits: &[wire::SpendingLimit]) -> String {
    let money = |micros: Option<u64>, limit: &wire::SpendingLimit| match (micros, &limit.currency) {
        (Some(micros), Some(currency)) => format!("{} {currency}", words(micros)),
        (_, _) => String::new(),
    };
    let rows: Vec<[String; 7]> = limits
        .iter()
        .map(|limit| {
            [
                limit.channel.clone().unwrap_or_else(|| "all".to_owned()),
                limit.agent.as_ref().map(|agent| format!("@{agent}")).unwrap_or_default(),
                limit.tokens.map(|most| tokens(Some(most))).unwrap_or_default(),
                tokens(Some(limit.spent_tokens)),
                money(limit.micros, limit),
                money(limit.spent_micros, limit),
                limit.runs_untold.to_string(),
            ]
        })
        .collect();
    let head = ["CHANNEL", "AGENT", "TOKENS", "TODAY", "MONEY", "TODAY", "RUNS UNTOLD"];
    display::table(head, &rows, "no spending limits")
}

/// Millionths as an amount.
fn words(micros: u64) -> String {
    format!("{}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

/// An amount in millionths: `5`, `0.50`.
fn amount(text: &str) -> Result<u64, String> {
    let wrong = || format!("an amount of money is a number such as 5 or 0.50, above 0, not {text:?}");
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.len() <= 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) {
        return Err(wrong());
    }
    let part = format!("{part:0<6}");
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let part: u64 = part.parse().map_err(|_| wrong())?;
    Some(whole * 1_000_000 + part).filter(|micros| *micros > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests;
