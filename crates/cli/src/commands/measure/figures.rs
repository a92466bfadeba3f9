//! What a played channel comes to: of each turn and in all, and where a prefix broke.

use std::collections::{BTreeMap, BTreeSet};

use cost::price::{Money, Table};
use provider::{Ended, Kept, Prefix, Told};
use serde::Serialize;

/// Characters of a piece that are told of a break.
const TOLD_CHARS: usize = 240;

/// Of these, the ones before the first difference.
const BEFORE_CHARS: usize = 60;

/// A channel that was played.
#[derive(Clone, Debug, Default)]
pub(super) struct Played {
    /// One for each mention, in order.
    pub(super) turns: Vec<Turn>,
    /// Methods and paths that were asked for and are none of the provider's. `CONNECT`: another host, through a proxy.
    pub(super) strays: Vec<String>,
}

/// A mention, and all that the provider was asked from it to the next one.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) message_id: String,
    /// `cold`, `restored` or `warm`.
    pub(super) lease: String,
    /// When it was posted, by the provider's clock.
    pub(super) posted_ms: u64,
    /// Of the agent's processes after it.
    pub(super) memory_bytes: Option<u64>,
    pub(super) requests: Vec<Kept>,
}

/// Figures of one combination of profile and strategy. Tokens are those of requests, answers not among them but for
/// `output_tokens`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Figures {
    /// All requests to the provider.
    pub(super) requests: u64,
    /// Those of them that are no part of a mention's own turn: titles, suggestions, classifiers.
    pub(super) side_requests: u64,
    /// Of all requests.
    pub(super) input_tokens: u64,
    pub(super) side_input_tokens: u64,
    pub(super) cache_read_tokens: u64,
    pub(super) cache_written_tokens: u64,
    /// Neither read nor written.
    pub(super) uncached_tokens: u64,
    pub(super) output_tokens: u64,
    /// Tokens that were not read from the cache, in the mean of the warm mentions; none without one.
    pub(super) uncached_per_warm_mention: Option<u64>,
    /// At the models' prices; none if one of them is not in the table.
    pub(super) cost_usd: Option<f64>,
    /// Models that have no price.
    pub(super) unpriced: Vec<String>,
    /// Median, over the mentions, of the time from the post to the first byte of the provider's answer.
    pub(super) first_byte_ms: Option<u64>,
    /// Of the agent's processes, at most.
    pub(super) memory_bytes: Option<u64>,
    /// What the provider refused or failed.
    pub(super) failed_requests: u64,
    /// Methods and paths that were asked for and are none of the provider's, `CONNECT` of what the agent would have sent elsewhere.
    pub(super) strays: Vec<String>,
    /// Where a request of a turn is not the one before it and something more.
    pub(super) prefix_breaks: Vec<Break>,
    pub(super) turns: Vec<TurnFigures>,
}

/// Figures of one mention.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct TurnFigures {
    /// Counted from 1.
    pub(super) mention: u64,
    pub(super) message_id: String,
    pub(super) lease: String,
    pub(super) requests: u64,
    pub(super) side_requests: u64,
    pub(super) input_tokens: u64,
    pub(super) cache_read_tokens: u64,
    pub(super) cache_written_tokens: u64,
    pub(super) uncached_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cost_usd: Option<f64>,
    pub(super) first_byte_ms: Option<u64>,
    pub(super) memory_bytes: Option<u64>,
}

/// A request that is different from the one before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Break {
    /// The mention, counted from 1.
    pub(super) mention: u64,
    /// The provider's number of the request.
    pub(super) request: u64,
    /// Pieces that both have in common.
    pub(super) common_pieces: u64,
    /// Of how many that the earlier one had.
    pub(super) of_pieces: u64,
    /// Where the first different piece stood.
    pub(super) path: String,
    /// Around the first difference.
    pub(super) before: String,
    /// The same of the later one; empty if it ends before.
    pub(super) after: String,
}

/// Sums of some requests.
#[derive(Clone, Debug, Default)]
struct Sums {
    requests: u64,
    side_requests: u64,
    input: u64,
    side_input: u64,
    read: u64,
    written: u64,
    uncached: u64,
    output: u64,
    money: Money,
    unpriced: BTreeSet<String>,
}

impl Sums {
    fn add(&mut self, kept: &Kept, is_main: bool, prices: &Table) {
        let tokens = kept.billed.total_tokens();
        self.requests += 1;
        self.input += tokens;
        if !is_main {
            self.side_requests += 1;
            self.side_input += tokens;
        }
        self.read += kept.billed.read_tokens;
        self.written += kept.billed.written_tokens + kept.billed.written_1h_tokens;
        self.uncached += kept.billed.uncached_tokens;
        self.output += kept.output_tokens;
        match prices.price(&kept.model) {
            Some(price) => self.money += price.of(kept.billed, kept.output_tokens),
            None => drop(self.unpriced.insert(kept.model.clone())),
        }
    }

    fn dollars(&self) -> Option<f64> {
        self.unpriced.is_empty().then(|| self.money.dollars())
    }
}

impl Played {
    /// What it comes to at these prices.
    pub(super) fn figures(&self, prices: &Table) -> Figures {
        let mains = self.mains();
        let is_main = |kept: &Kept| mains.contains(&kept.number);
        let (mut all, mut warm, mut turns) = (Sums::default(), (0, 0), Vec::new());
        for (at, turn) in self.turns.iter().enumerate() {
            let mut sums = Sums::default();
            for kept in &turn.requests {
                sums.add(kept, is_main(kept), prices);
                all.add(kept, is_main(kept), prices);
            }
            if turn.lease == "warm" {
                warm = (warm.0 + 1, warm.1 + sums.written + sums.uncached);
            }
            turns.push(TurnFigures {
                mention: at as u64 + 1,
                message_id: turn.message_id.clone(),
                lease: turn.lease.clone(),
                requests: sums.requests,
                side_requests: sums.side_requests,
                input_tokens: sums.input,
                cache_read_tokens: sums.read,
                cache_written_tokens: sums.written,
                uncached_tokens: sums.uncached,
                output_tokens: sums.output,
                cost_usd: sums.dollars(),
                first_byte_ms: turn.first_byte_ms(is_main),
                memory_bytes: turn.memory_bytes,
            });
        }
        let requests = || self.turns.iter().flat_map(|turn| &turn.requests);
        let failed = requests().filter(|kept| matches!(kept.end, Ended::Failed(..))).count();
        Figures {
            requests: all.requests,
            side_requests: all.side_requests,
            input_tokens: all.input,
            side_input_tokens: all.side_input,
            cache_read_tokens: all.read,
            cache_written_tokens: all.written,
            uncached_tokens: all.uncached,
            output_tokens: all.output,
            uncached_per_warm_mention: rounded(warm.1, warm.0),
            cost_usd: all.dollars(),
            unpriced: all.unpriced.into_iter().collect(),
            first_byte_ms: median(turns.iter().filter_map(|turn| turn.first_byte_ms).collect()),
            memory_bytes: self.turns.iter().filter_map(|turn| turn.memory_bytes).max(),
            failed_requests: failed as u64,
            strays: self.strays.clone(),
            prefix_breaks: self.breaks(&mains),
            turns,
        }
    }

    /// The numbers of the requests that are the mentions' own turns. Such a one answers the user turn with the mention's id, is made
    /// to the model that most of these are made to, and has tools if any of them has.
    fn mains(&self) -> BTreeSet<u64> {
        let told = |turn: &Turn, kept: &Kept| {
            kept.turn.text.contains(&format!("\"message_id\":\"{}\"", turn.message_id))
        };
        let candidates = || {
            let of = |turn| move |kept: &&Kept| told(turn, kept);
            self.turns.iter().flat_map(move |turn| turn.requests.iter().filter(of(turn)))
        };
        let has_tools = candidates().any(|kept| !kept.turn.tools.is_empty());
        let may_be = |kept: &&Kept| !has_tools || !kept.turn.tools.is_empty();
        let mut models: BTreeMap<&str, usize> = BTreeMap::new();
        candidates().filter(may_be).for_each(|kept| *models.entry(&kept.model).or_default() += 1);
        let model = models.into_iter().max_by_key(|(_, requests)| *requests).map(|(model, _)| model);
        let mains = candidates().filter(may_be).filter(|kept| Some(&*kept.model) == model);
        mains.map(|kept| kept.number).collect()
    }

    /// Where the turns' own requests do not go on from one another, each session for itself.
    fn breaks(&self, mains: &BTreeSet<u64>) -> Vec<Break> {
        let mut last: BTreeMap<Option<&str>, &Kept> = BTreeMap::new();
        let mut breaks = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            for kept in turn.requests.iter().filter(|kept| mains.contains(&kept.number)) {
                if let Some(before) = last.insert(kept.session.as_deref(), kept) {
                    breaks.extend(broken(at as u64 + 1, kept.number, &before.told, &kept.told));
                }
            }
        }
        breaks
    }
}

impl Turn {
    /// From the post to the first byte of the first answer of its own.
    fn first_byte_ms(&self, is_main: impl Fn(&Kept) -> bool) -> Option<u64> {
        let first = self.requests.iter().find(|kept| is_main(kept))?;
        first.first_byte_ms?.checked_sub(self.posted_ms)
    }
}

fn broken(mention: u64, request: u64, earlier: &Told, later: &Told) -> Option<Break> {
    match Prefix::between(earlier, later) {
        Prefix::Extends { .. } => None,
        Prefix::Breaks { common_pieces, before, after } => {
            let after_json = after.as_ref().map_or("", |after| &after.json);
            let (before_told, after_told) = around_difference(&before.json, after_json);
            Some(Break {
                mention,
                request,
                common_pieces: common_pieces as u64,
                of_pieces: earlier.pieces.len() as u64,
                path: before.path,
                before: before_told,
                after: after_told,
            })
        }
    }
}

/// What two texts are like where they begin to differ, cut to size.
fn around_difference(one: &str, two: &str) -> (String, String) {
    let common = one.chars().zip(two.chars()).take_while(|(one, two)| one == two).count();
    let from = common.saturating_sub(BEFORE_CHARS);
    let cut = |text: &str| {
        let mut chars = text.chars().skip(from);
        let mut told = if from > 0 { "…".to_owned() } else { String::new() };
        told.extend(chars.by_ref().take(TOLD_CHARS));
        if chars.next().is_some() {
            told.push('…');
        }
        told
    };
    (cut(one), cut(two))
}

/// A mean without its fraction; none of nothing.
fn rounded(sum: u64, of: u64) -> Option<u64> {
    (sum + of / 2).checked_div(of)
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
pub(super) mod tests;
