//! `highwater usage`: what runs took, added up.

use clap::{Args, ValueEnum};
use server::wire;

use super::Format;
use crate::client::Call;
use crate::context::Context;
use crate::display;
use crate::failure::Failure;
use crate::input;

/// Show what runs took: tokens, how much of them came from the provider's cache, and what it cost
///
/// Of the channels that you may read. Numbers are those that agents tell; what no agent told is shown as -, and the last
/// lines say how many runs told nothing. Days begin at midnight UTC.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  highwater usage --by channel --since 2026-11-01
  highwater usage --by run --channel general --json | jq '.sums[0]'")]
pub(crate) struct Usage {
    /// By what it is added up
    #[arg(long, value_name = "WHAT", default_value = "day")]
    by: By,
    /// Only runs of this channel
    #[arg(long, value_name = "NAME", value_parser = input::name)]
    channel: Option<String>,
    /// Only turns that ended on this day or later, as 2026-11-30
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Lines at most, those that were used last [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    #[command(flatten)]
    format: Format,
}

/// By what usage is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    Run,
    Session,
    Binding,
    Channel,
    Day,
}

impl By {
    fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Session => "session",
            Self::Binding => "binding",
            Self::Channel => "channel",
            Self::Day => "day",
        }
    }
}

impl Usage {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let call = Call::get(&["usage"])
            .with("by", Some(self.by.word().to_owned()))
            .with("channel", self.channel)
            .with("since", self.since)
            .with("limit", self.limit.map(|limit| limit.to_string()));
        let report: wire::UsageReport = context.client()?.call(&call)?;
        self.format.print(&report, |report| text(self.by, report))
    }
}

fn text(by: By, report: &wire::UsageReport) -> String {
    let Some(all) = &report.all else { return "no run has had a turn\n".to_owned() };
    let mut rows: Vec<[String; 10]> = report.sums.iter().map(|sum| row(by, sum)).collect();
    let mut last = row(by, all);
    (last[0], last[1]) = ("all".to_owned(), String::new());
    rows.push(last);
    let head = [head(by), "OF", "RUNS", "TOLD", "INPUT", "READ", "WRITTEN", "OUTPUT", "FROM CACHE", "COST"];
    let mut text = display::table(head, &rows, "");
    for note in notes(all) {
        text.push_str(&format!("{note}\n"));
    }
    text
}

fn head(by: By) -> &'static str {
    match by {
        By::Run => "RUN",
        By::Session => "SESSION",
        By::Binding => "BINDING",
        By::Channel => "CHANNEL",
        By::Day => "DAY",
    }
}

fn row(by: By, sum: &wire::UsageSum) -> [String; 10] {
    let agent = sum.agent.as_ref().map(|agent| format!("@{agent}"));
    let of = match (by, agent, &sum.channel) {
        (By::Channel | By::Day, _, _) => String::new(),
        (_, Some(agent), Some(channel)) => format!("{agent} in {channel}"),
        (_, agent, channel) => agent.or_else(|| channel.clone()).unwrap_or_default(),
    };
    let name = if sum.of.is_empty() { "unknown".to_owned() } else { sum.of.clone() };
    [
        name,
        of,
        sum.runs.to_string(),
        sum.runs.saturating_sub(sum.runs_untold).to_string(),
        tokens(sum.input),
        tokens(sum.cached_read),
        tokens(sum.cached_write),
        tokens(sum.output),
        sum.cache_share.map_or_else(untold, |share| format!("{:.1} %", share * 100.0)),
        if sum.costs.is_empty() {
            untold()
        } else {
            sum.costs.iter().map(cost).collect::<Vec<_>>().join(" + ")
        },
    ]
}

/// What the numbers leave out.
fn notes(all: &wire::UsageSum) -> Vec<String> {
    let mut notes = Vec::new();
    if all.runs_untold > 0 {
        notes.push(format!(
            "{} of {} runs told nothing: what they took is in none of these numbers",
            all.runs_untold, all.runs
        ));
    }
    if !all.costs.is_empty() && all.turns_unpriced > 0 {
        notes.push(format!(
            "{} of {} turns told no cost, and have no known price",
            all.turns_unpriced, all.turns
        ));
    }
    if all.costs.iter().any(|cost| cost.by == wire::CostBy::Price) {
        notes.push("~ is tokens at list prices: no agent told what they cost".to_owned());
    }
    if all.cut > 0 {
        notes.push(format!("{} requests were broken off: nobody tells what those took", all.cut));
    }
    notes
}

/// Tokens in groups of three digits; what was not told is no 0.
pub(crate) fn tokens(count: Option<u64>) -> String {
    let Some(count) = count else { return untold() };
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Money, `~` before what nobody told.
pub(crate) fn cost(cost: &wire::Cost) -> String {
    let about = match cost.by {
        wire::CostBy::Agent => "",
        wire::CostBy::Price => "~",
    };
    let (whole, part) = (cost.micros / 1_000_000, cost.micros % 1_000_000);
    let amount = match whole == 0 && part < 10_000 {
        true => format!("{whole}.{part:06}"),
        false => format!("{whole}.{:04}", part / 100),
    };
    format!("{about}{amount} {}", cost.currency)
}

fn untold() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests;
