//! What was measured, as a table for a terminal and as JSON.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use anyhow::Result;
use serde_json::{Value, json};

use crate::sample::Sample;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
    /// Posts per second.
    PerSecond,
    /// Mebibytes.
    Mebibytes,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Micros => "µs",
            Self::Millis => "ms",
            Self::PerSecond => "/s",
            Self::Mebibytes => "MiB",
        }
    }

    fn decimals(self) -> usize {
        match self {
            Self::Micros | Self::PerSecond => 0,
            Self::Millis | Self::Mebibytes => 1,
        }
    }
}

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(limit) => format!("at most {limit}"),
            Self::AtLeast(limit) => format!("at least {limit}"),
        }
    }
}

/// A figure beside its target.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    what: &'static str,
    value: f64,
    target: Target,
}

impl Verdict {
    pub(crate) fn new(what: &'static str, value: f64, target: Target) -> Self {
        Self { what, value, target }
    }

    fn word(&self) -> &'static str {
        if self.target.is_met(self.value) { "met" } else { "MISSED" }
    }
}

/// What one benchmark found.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    title: String,
    lines: Vec<(String, Unit, Sample)>,
    verdicts: Vec<Verdict>,
}

impl Report {
    pub(crate) fn new(title: &str) -> Self {
        Self { title: title.to_owned(), lines: Vec::new(), verdicts: Vec::new() }
    }

    pub(crate) fn line(&mut self, what: &str, unit: Unit, sample: Sample) {
        self.lines.push((what.to_owned(), unit, sample));
    }

    pub(crate) fn verdict(&mut self, verdict: Verdict) {
        self.verdicts.push(verdict);
    }

    /// Whether a target is missed.
    pub(crate) fn misses(&self) -> bool {
        self.verdicts.iter().any(|verdict| !verdict.target.is_met(verdict.value))
    }
}

/// All reports as a table: medians, and in brackets the tenth and the ninetieth of a hundred.
pub(crate) fn table(machine: &str, measured: &[(&str, Result<Report>)]) -> String {
    let mut text = format!("{machine}\n");
    for (name, result) in measured {
        match result {
            Ok(report) => push_report(&mut text, name, report),
            Err(error) => text.push_str(&format!("\n{name}: NOT MEASURED: {error:#}\n")),
        }
    }
    text
}

fn push_report(text: &mut String, name: &str, report: &Report) {
    let _ = writeln!(text, "\n{name}: {}", report.title);
    for (what, unit, sample) in &report.lines {
        let decimals = unit.decimals();
        let (median, (low, high)) = (sample.median(), sample.spread());
        let _ = write!(text, "  {what:<44}{median:>10.decimals$} {:<4}", unit.name());
        if sample.len() > 1 {
            let _ = write!(text, "({low:.decimals$} to {high:.decimals$}; {} times)", sample.len());
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    for verdict in &report.verdicts {
        let target = verdict.target.text();
        let _ =
            writeln!(text, "  {:<44}{:>10.2}     {target}: {}", verdict.what, verdict.value, verdict.word());
    }
}

/// The same as JSON, with the numbers in full.
pub(crate) fn json(machine: &str, measured: &[(&str, Result<Report>)]) -> Value {
    let one = |(name, result): &(&str, Result<Report>)| match result {
        Ok(report) => json!({
            "name": name,
            "title": report.title,
            "figures": report.lines.iter().map(figure).collect::<Vec<_>>(),
            "verdicts": report.verdicts.iter().map(judged).collect::<Vec<_>>(),
        }),
        Err(error) => json!({"name": name, "error": format!("{error:#}")}),
    };
    json!({"machine": machine, "benchmarks": measured.iter().map(one).collect::<Vec<_>>()})
}

fn figure((what, unit, sample): &(String, Unit, Sample)) -> Value {
    let (low, high) = sample.spread();
    json!({
        "what": what, "unit": unit.name(), "times": sample.len(),
        "median": sample.median(), "p10": low, "p90": high,
    })
}

fn judged(verdict: &Verdict) -> Value {
    let target = verdict.target.text();
    json!({"what": verdict.what, "value": verdict.value, "target": target, "verdict": verdict.word()})
}
