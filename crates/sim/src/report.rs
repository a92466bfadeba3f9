//! What was played and what it came to, as JSON, CSV and Markdown.

use std::fmt::Write as _;

use serde::Serialize;
use serde::ser::SerializeMap as _;

use crate::bill::Bill;
use crate::channel::Channel;
use crate::figures::Figures;
use crate::play::Played;
use crate::strategy::Strategy;
use crate::texts::Texts;

/// A body of more characters is a long one.
const LONG_CHARS: usize = 600;

/// What was played, before the strategies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Material {
    /// Messages of all channels.
    pub messages: usize,
    /// Turns that they make.
    pub mentions: usize,
    /// Messages of more than 600 characters.
    pub long: usize,
    /// Agents that are mentioned.
    pub residents: usize,
    /// Channels.
    pub channels: usize,
    /// Messages between two mentions of one channel.
    pub gaps: Option<Gaps>,
    /// Tokens of the prefix: the agent's own system text and tools, and Highwater's framing.
    pub prefix_tokens: u64,
    /// Tokens of the brief.
    pub brief_tokens: u64,
}

/// How many messages stand between two mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Gaps {
    /// The fewest.
    pub min: u64,
    /// The middle one; of two middle ones the lower.
    pub median: u64,
    /// The most.
    pub max: u64,
}

impl Material {
    /// What these channels are.
    pub fn of(channels: &[Channel], texts: &Texts) -> Self {
        let mut gaps = Vec::new();
        let mut long = 0;
        for channel in channels {
            let mut places: Vec<u64> =
                channel.mentions().iter().map(|mention| u64::from(mention.message)).collect();
            places.dedup();
            gaps.extend(places.windows(2).map(|pair| pair[1].abs_diff(pair[0]) - 1));
            let indices = 0..u32::try_from(channel.len()).unwrap_or(u32::MAX);
            long += indices.filter(|index| channel.text(*index).chars().nth(LONG_CHARS).is_some()).count();
        }
        gaps.sort_unstable();
        let middle = gaps.len().saturating_sub(1) / 2;
        Self {
            messages: channels.iter().map(Channel::len).sum(),
            mentions: channels.iter().map(|channel| channel.mentions().len()).sum(),
            long,
            residents: channels.iter().map(|channel| channel.agents().len()).sum(),
            channels: channels.len(),
            gaps: gaps.get(middle).map(|median| Gaps {
                min: gaps.first().copied().unwrap_or_default(),
                median: *median,
                max: gaps.last().copied().unwrap_or_default(),
            }),
            prefix_tokens: texts.prefix_tokens(),
            brief_tokens: texts.brief_tokens(),
        }
    }
}

/// All that a simulation found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What was played.
    pub played: Material,
    /// What each strategy came to, in the order in which they were asked for.
    #[serde(serialize_with = "by_name")]
    pub strategies: Vec<(Strategy, Played)>,
}

fn by_name<S: serde::Serializer>(strategies: &[(Strategy, Played)], out: S) -> Result<S::Ok, S::Error> {
    let mut map = out.serialize_map(Some(strategies.len()))?;
    for (strategy, played) in strategies {
        map.serialize_entry(strategy.name(), played)?;
    }
    map.end()
}

/// What a row of the table tells: of figures, and of a bill if there is one.
type Cell = fn(&Figures, Option<&Bill>) -> Option<String>;

/// A row's name where there is room, its name in 80 columns, and what it tells.
type Row = (&'static str, &'static str, Cell);

/// The rows of the table, as published, and those that the table has beside them.
const ROWS: [Row; 11] = [
    ("input tokens, all turns", "input tokens", |figures, _| Some(grouped(figures.input_tokens))),
    ("cacheable prefix", "cacheable prefix", |figures, _| Some(grouped(figures.cacheable_tokens))),
    ("ratio", "ratio", |figures, _| Some(format!("{:.3}", figures.ratio()))),
    ("uncached tokens per warm turn", "uncached, warm turn", |figures, _| {
        let mean = figures.uncached_per_warm_turn();
        Some(mean.map_or("-".to_owned(), grouped_mean))
    }),
    ("channel context tokens", "context tokens", |figures, _| Some(grouped(figures.context_tokens))),
    ("already seen", "already seen", |figures, _| {
        Some(share(figures.already_seen_tokens, figures.context_tokens))
    }),
    ("channel lines", "channel lines", |figures, _| Some(grouped(figures.lines))),
    ("addressed messages told twice", "triggers told twice", |figures, _| {
        Some(grouped(figures.repeated_triggers))
    }),
    ("messages not shown", "messages not shown", |figures, _| Some(grouped(figures.unshown))),
    ("gaps without a word", "silent gaps", |figures, _| Some(grouped(figures.silent_gaps))),
    ("sessions begun", "sessions begun", |figures, _| Some(grouped(figures.cold_turns))),
];

/// The rows of a bill.
const BILL_ROWS: [Row; 5] = [
    ("read from the cache", "read from cache", |_, bill| Some(grouped(bill?.billed.read_tokens))),
    ("written to the cache", "written to cache", |_, bill| {
        Some(grouped(bill?.billed.written_tokens + bill?.billed.written_1h_tokens))
    }),
    ("ordinary input", "ordinary input", |_, bill| Some(grouped(bill?.billed.uncached_tokens))),
    ("output", "output", |_, bill| Some(grouped(bill?.output_tokens))),
    ("price", "price", |_, bill| Some(format!("{:.4}", bill?.money?))),
];

impl Report {
    /// The table: what a row tells, then a cell for each strategy. Rows of a bill stand there if there is one.
    fn rows(&self) -> Vec<(&'static str, &'static str, Vec<String>)> {
        let cells = |cell: Cell| {
            let of = self.strategies.iter().map(|(_, played)| cell(&played.figures, played.bill.as_ref()));
            of.collect::<Option<Vec<String>>>()
        };
        let rows = ROWS.iter().chain(&BILL_ROWS);
        rows.filter_map(|(long, short, cell)| Some((*long, *short, cells(*cell)?))).collect()
    }

    /// The table for a terminal: columns that stand to the right, 80 wide with all strategies.
    pub fn text(&self) -> String {
        let rows = self.rows();
        let first = rows.iter().map(|(_, name, _)| name.len()).max().unwrap_or(0);
        let names = self.strategies.iter().map(|(strategy, _)| strategy.name());
        let widths: Vec<usize> = names
            .clone()
            .enumerate()
            .map(|(at, name)| {
                let cells = rows.iter().filter_map(|(_, _, cells)| cells.get(at)).map(String::len);
                cells.max().unwrap_or(0).max(name.len())
            })
            .collect();
        let mut out = " ".repeat(first);
        names.zip(&widths).for_each(|(name, width)| {
            let _ = write!(out, "  {name:>width$}");
        });
        for (_, name, cells) in &rows {
            let _ = write!(out, "\n{name:first$}");
            cells.iter().zip(&widths).for_each(|(cell, width)| {
                let _ = write!(out, "  {cell:>width$}");
            });
        }
        out.push('\n');
        out
    }

    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("| {} mentions |", grouped(self.played.mentions as u64));
        self.strategies.iter().for_each(|(strategy, _)| {
            let _ = write!(out, " {} |", strategy.name());
        });
        out.push_str("\n| --- |");
        self.strategies.iter().for_each(|_| out.push_str(" ---: |"));
        for (name, _, cells) in self.rows() {
            let _ = write!(out, "\n| {name} | {} |", cells.join(" | "));
        }
        out.push('\n');
        out
    }

    /// A line for each strategy, under a line of names: those of the JSON.
    pub fn csv(&self) -> String {
        let mut out = String::new();
        for (number, (strategy, played)) in self.strategies.iter().enumerate() {
            let fields = fields(played);
            if number == 0 {
                let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
                let _ = writeln!(out, "strategy,{}", names.join(","));
            }
            let values: Vec<&str> = fields.iter().map(|(_, value)| value.as_str()).collect();
            let _ = writeln!(out, "{},{}", strategy.name(), values.join(","));
        }
        out
    }
}

/// Names and values of the JSON, those of a bill too; empty where it has null. No value needs quotes.
fn fields(played: &Played) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    if let Ok(serde_json::Value::Object(object)) = serde_json::to_value(played) {
        for (name, value) in object {
            match value {
                serde_json::Value::Object(bill) => {
                    fields
                        .extend(bill.into_iter().map(|(name, value)| (format!("bill_{name}"), text(&value))));
                }
                serde_json::Value::Null
                | serde_json::Value::Bool(_)
                | serde_json::Value::Number(_)
                | serde_json::Value::String(_)
                | serde_json::Value::Array(_) => fields.push((name, text(&value))),
            }
        }
    }
    fields
}

fn text(value: &serde_json::Value) -> String {
    if value.is_null() { String::new() } else { value.to_string() }
}

/// A number with a comma after every three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A mean without its fraction.
fn grouped_mean(mean: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a mean of counts is neither negative nor beyond them"
    )]
    let whole = mean.round() as u64;
    grouped(whole)
}

/// A part of a whole, with its share of a hundred if there is any.
fn share(part: u64, whole: u64) -> String {
    match (part, whole) {
        (0, _) | (_, 0) => grouped(part),
        _ => format!("{} ({} %)", grouped(part), (part * 100 + whole / 2) / whole),
    }
}

#[cfg(test)]
mod tests;
