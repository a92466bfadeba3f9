//! OpenAI's cache: automatic, from a minimum on, shared by all conversations of an organisation.
//!
//! Sources: OpenAI's guide to prompt caching and the description of `PromptCacheOptions` in its API, read in November 2026. Two
//! generations differ: the older rounds what is read down to a multiple of 128 tokens and writes for nothing; the newer reads up
//! to the exact end of an earlier request and bills what it writes. Of the newer one, the implicit breakpoint at the end of each
//! request is modelled, not the explicit ones. Which server a request is routed to, and how busy that is, is not modelled: a
//! prefix that may be found is found.

use std::collections::BTreeMap;

use super::{Outcome, Prompt, Request, Scope};

/// Conversations remembered for one scope; the one that was used longest ago goes first. Each request is compared with each.
const LINES_MAX: usize = 256;

/// Ends remembered of one conversation where any step can be read: as many as may be waiting for their answers at once.
const STEPPED_ENDS_MAX: usize = 16;

/// What changes from model to model, or has changed over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Prompts with fewer tokens are not cached.
    pub minimum_tokens: u64,
    /// Where a prefix may end.
    pub boundary: Boundary,
    /// Forgotten so long after the start of the last request that used it.
    pub idle_ms: u64,
}

/// Where a prefix that is read may end, and with that, whether writing has a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// At any multiple of so many tokens; nothing is billed as written.
    Steps {
        /// The tokens of a step.
        tokens: u64,
    },
    /// At the end of an earlier request, one of the latest ones; what is not read is billed as written.
    Requests {
        /// How many ends of one conversation are remembered.
        latest: usize,
    },
}

/// A conversation that was seen, at its longest. Only who goes on with it keeps it alive: one that shares no more than the
/// beginning has a line of its own for that.
#[derive(Debug)]
struct Line {
    id: u64,
    prompt: Prompt,
    /// The requests that sent it and whose answers have begun, the latest ones.
    ends: Vec<End>,
    used_ms: u64,
}

/// A request, by where it ended.
#[derive(Clone, Copy, Debug)]
struct End {
    tokens: u64,
    usable_from_ms: u64,
}

/// The end of the request to be made readable when the answer begins.
#[derive(Debug)]
pub(super) struct Writes {
    scope: Scope,
    line: u64,
    tokens: u64,
}

/// All conversations, by scope.
#[derive(Debug)]
pub(super) struct State {
    rules: Rules,
    lines: BTreeMap<Scope, Vec<Line>>,
    next_line: u64,
}

impl State {
    pub(super) fn new(rules: Rules) -> State {
        State { rules, lines: BTreeMap::new(), next_line: 0 }
    }

    pub(super) fn begin(&mut self, request: &Request<'_>) -> (Outcome, Writes) {
        let (prompt, started_ms) = (request.prompt, request.started_ms);
        let lines = self.lines.entry(request.scope).or_default();
        lines.retain(|line| started_ms < line.used_ms.saturating_add(self.rules.idle_ms));
        let mut read_tokens = 0;
        let mut extended: Option<usize> = None;
        for (index, line) in lines.iter().enumerate() {
            let common = line.prompt.common_tokens(prompt);
            read_tokens = read_tokens.max(line.readable(common, started_ms, &self.rules));
            let longer = extended.is_none_or(|other| lines[other].prompt.tokens() < common);
            if common == line.prompt.tokens() && longer {
                extended = Some(index);
            }
        }
        let index = extended.unwrap_or_else(|| {
            make_room(lines);
            lines.push(Line::new(self.next_line));
            self.next_line += 1;
            lines.len() - 1
        });
        let line = &mut lines[index];
        line.prompt.become_like(prompt);
        line.used_ms = line.used_ms.max(started_ms);
        let writes = Writes { scope: request.scope, line: line.id, tokens: prompt.tokens() };
        (self.rules.billed(prompt.tokens(), read_tokens), writes)
    }

    pub(super) fn first_byte(&mut self, writes: &Writes, at_ms: u64) {
        let lines = self.lines.get_mut(&writes.scope);
        let Some(line) = lines.and_then(|lines| lines.iter_mut().find(|line| line.id == writes.line)) else {
            return;
        };
        if line.ends.iter().any(|end| end.tokens == writes.tokens && end.usable_from_ms <= at_ms) {
            return;
        }
        line.ends.push(End { tokens: writes.tokens, usable_from_ms: at_ms });
        let latest = match self.rules.boundary {
            Boundary::Steps { .. } => STEPPED_ENDS_MAX,
            Boundary::Requests { latest } => latest,
        };
        let surplus = line.ends.len().saturating_sub(latest);
        line.ends.drain(..surplus);
    }

    pub(super) fn sweep(&mut self, now_ms: u64) {
        for lines in self.lines.values_mut() {
            lines.retain(|line| now_ms < line.used_ms.saturating_add(self.rules.idle_ms));
        }
        self.lines.retain(|_, lines| !lines.is_empty());
    }

    pub(super) fn remembered(&self) -> usize {
        self.lines.values().map(Vec::len).sum()
    }
}

fn make_room(lines: &mut Vec<Line>) {
    if lines.len() < LINES_MAX {
        return;
    }
    let oldest = lines.iter().enumerate().min_by_key(|(_, line)| line.used_ms).map(|(index, _)| index);
    if let Some(index) = oldest {
        lines.swap_remove(index);
    }
}

impl Line {
    fn new(id: u64) -> Line {
        Line { id, prompt: Prompt::default(), ends: Vec::new(), used_ms: 0 }
    }

    /// How much can be read of the `common` tokens that this conversation shares with a request.
    fn readable(&self, common: u64, started_ms: u64, rules: &Rules) -> u64 {
        let ends = self.ends.iter().filter(|end| end.usable_from_ms <= started_ms).map(|end| end.tokens);
        let tokens = match rules.boundary {
            Boundary::Steps { tokens } => {
                let common = common.min(ends.max().unwrap_or(0));
                common - common % tokens.max(1)
            }
            Boundary::Requests { .. } => ends.filter(|end| *end <= common).max().unwrap_or(0),
        };
        if tokens < rules.minimum_tokens { 0 } else { tokens }
    }
}

impl Rules {
    fn billed(&self, total: u64, read_tokens: u64) -> Outcome {
        let rest = total - read_tokens;
        let written_tokens = match self.boundary {
            Boundary::Requests { .. } if total >= self.minimum_tokens => rest,
            Boundary::Requests { .. } | Boundary::Steps { .. } => 0,
        };
        Outcome { read_tokens, written_tokens, written_1h_tokens: 0, uncached_tokens: rest - written_tokens }
    }
}
