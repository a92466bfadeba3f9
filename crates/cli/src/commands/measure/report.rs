//! The report of a measurement: as JSON, and as tables for a terminal.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use server::wire;
use sim::report::grouped;

use super::figures::{Break, Figures, TurnFigures};
use super::{Combination, Pauses, Strategy};
use crate::display;

/// What was measured, and how.
#[derive(Clone, Debug)]
pub(super) struct Report {
    /// The preset.
    pub(super) agent: String,
    /// The command that installs the version that Highwater was tried with.
    pub(super) install: Option<String>,
    /// Messages that were posted, answers not counted.
    pub(super) messages: u64,
    pub(super) mentions: u64,
    /// How tokens were counted.
    pub(super) tokens: &'static str,
    /// Whose time passed.
    pub(super) pauses: Pauses,
    /// The preset's first profile.
    pub(super) first: wire::Profile,
    /// In the order of the table.
    pub(super) measured: Vec<Measured>,
}

/// A combination with its figures.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) combination: Combination,
    pub(super) figures: Figures,
}

impl Report {
    /// The figures of a combination, if it was played.
    pub(super) fn figures(&self, profile: wire::Profile, strategy: Strategy) -> Option<&Figures> {
        let wanted = Combination { profile, strategy };
        self.measured.iter().find(|measured| measured.combination == wanted).map(|measured| &measured.figures)
    }

    /// What all others are compared with: the agent as it is, told the window, if it was played.
    pub(super) fn yardstick(&self) -> Option<&Figures> {
        self.figures(wire::Profile::Own, Strategy::Window)
    }

    /// `profiles` has all that was played, by profile and strategy; `strategies` those of the preset's own choice of a profile,
    /// else of the first that was played.
    pub(super) fn json(&self) -> Value {
        let mut profiles: Map<String, Value> = Map::new();
        for Measured { combination, figures } in &self.measured {
            let profile = profiles.entry(display::word(&combination.profile));
            let strategies = &mut profile.or_insert_with(|| json!({"strategies": {}}))["strategies"];
            strategies[combination.strategy.name()] = json!(figures);
        }
        let played = |profile: &wire::Profile| profiles.contains_key(&display::word(profile));
        let first = self.measured.first().map(|measured| measured.combination.profile);
        let profile = Some(self.first).filter(played).or(first).map(|profile| display::word(&profile));
        let strategies = profile.as_ref().and_then(|profile| profiles.get(profile));
        json!({
            "agent": self.agent,
            "tried_with": self.install,
            "messages": self.messages,
            "mentions": self.mentions,
            "tokens": self.tokens,
            "pauses": self.pauses.name(),
            "profile": profile,
            "strategies": strategies.map(|of| of["strategies"].clone()),
            "profiles": profiles,
        })
    }

    /// Tables: all combinations, the turns of each if they are asked for, and what broke.
    pub(super) fn text(&self, turns: bool) -> String {
        let mut out = format!("{}\n\n", self.head());
        let rows: Vec<_> = self.measured.iter().map(|measured| self.row(measured)).collect();
        let head = [
            "PROFILE",
            "STRATEGY",
            "REQUESTS",
            "SIDE",
            "TOKENS",
            "OF OWN WINDOW",
            "READ",
            "WRITTEN",
            "UNCACHED",
            "NEW A WARM MENTION",
            "OF OWN WINDOW",
            "COST",
            "FIRST BYTE",
            "MEMORY",
            "BREAKS",
        ];
        out.push_str(&display::table(head, &rows, "nothing was played"));
        for Measured { combination, figures } in &self.measured {
            let name = combination.name();
            if turns {
                let rows: Vec<_> = figures.turns.iter().map(turn_row).collect();
                let head = [
                    "MENTION",
                    "LEASE",
                    "REQUESTS",
                    "SIDE",
                    "TOKENS",
                    "READ",
                    "WRITTEN",
                    "UNCACHED",
                    "COST",
                    "FIRST BYTE",
                    "MEMORY",
                ];
                let _ = write!(out, "\n{name}\n{}", display::table(head, &rows, "no mention"));
            }
            figures.prefix_breaks.iter().for_each(|broken| out.push_str(&told(&name, broken)));
            if figures.failed_requests > 0 {
                let _ = writeln!(out, "\n{name}: the provider failed {} requests", figures.failed_requests);
            }
            if !figures.unpriced.is_empty() {
                let models = figures.unpriced.join(", ");
                let _ = writeln!(out, "\n{name}: {} has no price in the table", display::line(&models));
            }
        }
        out
    }

    fn head(&self) -> String {
        let counted = match self.tokens {
            "bytes/4" => "four bytes count as a token",
            _ => "tokens as the model about counts them",
        };
        let pauses = match self.pauses {
            Pauses::Channel => "with the channel's pauses",
            Pauses::None => "without pauses",
        };
        format!(
            "{}: {} messages, {} of which mention it, {pauses}; {counted}",
            display::line(&self.agent),
            grouped(self.messages),
            grouped(self.mentions),
        )
    }

    fn row(&self, measured: &Measured) -> [String; 15] {
        let Measured { combination, figures } = measured;
        let [requests, side, tokens, of, read, written, uncached, new, new_of, cost, first, memory] =
            self.numbers(figures);
        let (profile, strategy) =
            (display::word(&combination.profile), combination.strategy.name().to_owned());
        let breaks = grouped(figures.prefix_breaks.len() as u64);
        [
            profile, strategy, requests, side, tokens, of, read, written, uncached, new, new_of, cost, first,
            memory, breaks,
        ]
    }

    /// The figures of a combination as they are shown, in the order of the columns.
    pub(super) fn numbers(&self, figures: &Figures) -> [String; 12] {
        let yardstick = self.yardstick();
        let share = |part: Option<u64>, whole: fn(&Figures) -> Option<u64>| {
            ratio(part, yardstick.and_then(whole)).map_or_else(String::new, |ratio| format!("{ratio:.3}"))
        };
        [
            grouped(figures.requests),
            grouped(figures.side_requests),
            grouped(figures.input_tokens),
            share(Some(figures.input_tokens), |whole| Some(whole.input_tokens)),
            grouped(figures.cache_read_tokens),
            grouped(figures.cache_written_tokens),
            grouped(figures.uncached_tokens),
            figures.uncached_per_warm_mention.map_or_else(String::new, grouped),
            share(figures.uncached_per_warm_mention, |whole| whole.uncached_per_warm_mention),
            dollars(figures.cost_usd),
            figures.first_byte_ms.map_or_else(String::new, |ms| format!("{} ms", grouped(ms))),
            memory(figures.memory_bytes),
        ]
    }
}

fn turn_row(turn: &TurnFigures) -> [String; 11] {
    [
        turn.mention.to_string(),
        turn.lease.clone(),
        grouped(turn.requests),
        grouped(turn.side_requests),
        grouped(turn.input_tokens),
        grouped(turn.cache_read_tokens),
        grouped(turn.cache_written_tokens),
        grouped(turn.uncached_tokens),
        dollars(turn.cost_usd),
        turn.first_byte_ms.map_or_else(String::new, |ms| format!("{} ms", grouped(ms))),
        memory(turn.memory_bytes),
    ]
}

/// Where a prefix broke, in lines.
fn told(name: &str, broken: &Break) -> String {
    let Break { mention, request, common_pieces, of_pieces, path, before, after } = broken;
    let after = if after.is_empty() { "(nothing: the request ends)" } else { after };
    format!(
        "\n{name}: mention {mention}, request {request} breaks at {}, after {common_pieces} of {of_pieces} pieces\n  \
         before: {}\n  after:  {}\n",
        display::line(path),
        display::line(before),
        display::line(after),
    )
}

#[expect(clippy::cast_precision_loss, reason = "a ratio to read")]
fn ratio(part: Option<u64>, whole: Option<u64>) -> Option<f64> {
    Some(part? as f64 / whole.filter(|whole| *whole > 0)? as f64)
}

fn dollars(of: Option<f64>) -> String {
    of.map_or_else(String::new, |dollars| format!("${dollars:.2}"))
}

fn memory(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| format!("{} MiB", bytes.div_ceil(1 << 20)))
}
