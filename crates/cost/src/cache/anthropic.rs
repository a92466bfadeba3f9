//! Anthropic's cache: entries are written at breakpoints alone, and looked for a few positions back from each.
//!
//! Sources: Anthropic's guide to prompt caching and its API reference, read in November 2026; each rule has its cases, with the
//! source of each, in `tests/cases/anthropic.json`. What the guide leaves open is decided here so: an entry lives up to, not
//! through, the last millisecond of its time; a hit keeps the time to live that the entry was written with; the entry that each
//! breakpoint finds is refreshed, not the highest one alone; a breakpoint before the highest hit that has no entry yet gets one,
//! without charge, since its tokens are billed as read.

use std::collections::BTreeMap;

use super::{Block, Identity, Kind, Mark, Outcome, Prompt, Refusal, Request, Ttl};

/// Breakpoints in one request at most, the automatic one counted.
pub const MARKS_MAX: usize = 4;

/// Entries at which the first sweep is made; after that, whenever they have doubled.
const SWEEP_ENTRIES_MIN: usize = 1024;

/// What changes from model to model, or has changed over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Prefixes with fewer tokens are not written. No error: they are ordinary input.
    pub minimum_tokens: u64,
    /// How many positions a breakpoint looks at, its own being the first.
    pub look_back_positions: usize,
    /// How runs of tool calls are counted there.
    pub tool_runs: ToolRuns,
}

/// How a run of consecutive tool calls, or of consecutive tool results, counts in the look-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRuns {
    /// Each block is a position.
    PositionEach,
    /// The run is one position.
    OnePosition,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    ttl: Ttl,
    /// When the answer of the request that wrote it began.
    usable_from_ms: u64,
    /// Later than the start of the last request that wrote or read it by `ttl`.
    expires_ms: u64,
}

/// Entries to be made when the answer begins.
#[derive(Debug)]
pub(super) struct Writes {
    keys: Vec<(Identity, Ttl)>,
    started_ms: u64,
}

/// All entries, by scope and prefix.
#[derive(Debug)]
pub(super) struct State {
    rules: Rules,
    entries: BTreeMap<Identity, Entry>,
    sweep_entries: usize,
}

/// What the breakpoints of a request found and will write.
struct Search {
    /// Blocks of the longest prefix found.
    hit_blocks: usize,
    writes: Writes,
}

impl State {
    pub(super) fn new(rules: Rules) -> State {
        State { rules, entries: BTreeMap::new(), sweep_entries: SWEEP_ENTRIES_MIN }
    }

    pub(super) fn begin(&mut self, request: &Request<'_>) -> Result<(Outcome, Writes), Refusal> {
        let mut marks = marks(request)?;
        let prompt = request.prompt;
        marks.retain(|mark| prompt.tokens_of(mark.block + 1) >= self.rules.minimum_tokens);
        let search = self.search(request, &marks);
        Ok((billed(prompt, &marks, search.hit_blocks), search.writes))
    }

    fn search(&mut self, request: &Request<'_>, marks: &[Mark]) -> Search {
        let started_ms = request.started_ms;
        let mut search = Search { hit_blocks: 0, writes: Writes { keys: Vec::new(), started_ms } };
        for mark in marks {
            if let Some(blocks) = self.look_back(request, mark.block) {
                search.hit_blocks = search.hit_blocks.max(blocks);
            }
            let key = key(request, mark.block + 1);
            if !self.entries.get(&key).is_some_and(|entry| entry.is_usable(started_ms)) {
                search.writes.keys.push((key, mark.ttl));
            }
        }
        search
    }

    /// The number of blocks of the longest usable prefix at most the allowed positions back from `from`; it is refreshed.
    fn look_back(&mut self, request: &Request<'_>, from: usize) -> Option<usize> {
        let mut positions = 0;
        let mut after: Option<&Block> = None;
        for index in (0..=from).rev() {
            let block = request.prompt.block(index);
            positions += self.rules.steps(block, after);
            if positions > self.rules.look_back_positions {
                return None;
            }
            let entry = self.entries.get_mut(&key(request, index + 1));
            if let Some(entry) = entry.filter(|entry| entry.is_usable(request.started_ms)) {
                entry.refresh(request.started_ms);
                return Some(index + 1);
            }
            after = Some(block);
        }
        None
    }

    pub(super) fn first_byte(&mut self, writes: Writes, at_ms: u64) {
        for (key, ttl) in writes.keys {
            let expires_ms = writes.started_ms.saturating_add(ttl.milliseconds());
            let new = Entry { ttl, usable_from_ms: at_ms, expires_ms };
            let entry = self.entries.entry(key).or_insert(new);
            if entry.expires_ms <= at_ms {
                *entry = new;
            }
            // Another request may have written the same in the meantime: both had to pay, and both keep it alive.
            entry.ttl = entry.ttl.max(ttl);
            entry.usable_from_ms = entry.usable_from_ms.min(at_ms);
            entry.expires_ms = entry.expires_ms.max(expires_ms);
        }
        if self.entries.len() > self.sweep_entries {
            self.sweep(at_ms);
        }
    }

    pub(super) fn sweep(&mut self, now_ms: u64) {
        self.entries.retain(|_, entry| now_ms < entry.expires_ms);
        self.sweep_entries = SWEEP_ENTRIES_MIN.max(2 * self.entries.len());
    }

    pub(super) fn remembered(&self) -> usize {
        self.entries.len()
    }
}

impl Rules {
    /// How many positions further back `block` is than the one `after` it.
    fn steps(&self, block: &Block, after: Option<&Block>) -> usize {
        let joins = after.is_some_and(|after| after.kind == block.kind);
        match (block.kind, self.tool_runs) {
            (Kind::Parameter, _) => 0,
            (Kind::ToolUse | Kind::ToolResult, ToolRuns::OnePosition) if joins => 0,
            (Kind::Content | Kind::Thinking | Kind::ToolUse | Kind::ToolResult, _) => 1,
        }
    }
}

impl Entry {
    fn is_usable(&self, now_ms: u64) -> bool {
        self.usable_from_ms <= now_ms && now_ms < self.expires_ms
    }

    fn refresh(&mut self, started_ms: u64) {
        self.expires_ms = self.expires_ms.max(started_ms.saturating_add(self.ttl.milliseconds()));
    }
}

fn key(request: &Request<'_>, blocks: usize) -> Identity {
    request.scope.0.followed_by(request.prompt.identity_of(blocks))
}

/// The breakpoints of a request, the automatic one among them, in order.
fn marks(request: &Request<'_>) -> Result<Vec<Mark>, Refusal> {
    let mut marks = request.marks.to_vec();
    marks.sort_by_key(|mark| mark.block);
    if let Some(mark) = marks.iter().find(|mark| !is_markable(request.prompt, mark.block)) {
        return Err(Refusal::Unmarkable { block: mark.block });
    }
    if let Some(ttl) = request.automatic
        && let Some(block) = (0..request.prompt.len()).rev().find(|block| is_markable(request.prompt, *block))
    {
        match marks.last().filter(|last| last.block == block) {
            Some(last) if last.ttl != ttl => return Err(Refusal::TwoTtls { block }),
            Some(_) => {}
            None => marks.push(Mark { block, ttl }),
        }
    }
    if marks.len() > MARKS_MAX {
        return Err(Refusal::TooManyMarks { found: marks.len() });
    }
    let long_after_short = |pair: &&[Mark]| pair[0].ttl < pair[1].ttl;
    match marks.windows(2).find(long_after_short) {
        Some(pair) => Err(Refusal::LongAfterShort { block: pair[1].block }),
        None => Ok(marks),
    }
}

fn is_markable(prompt: &Prompt, block: usize) -> bool {
    block < prompt.len() && {
        let block = prompt.block(block);
        match block.kind {
            Kind::Content | Kind::ToolUse | Kind::ToolResult => block.tokens > 0,
            Kind::Thinking | Kind::Parameter => false,
        }
    }
}

/// Up to the highest hit is read; from there to the last breakpoint of an hour is written for an hour, from there to the last
/// breakpoint for five minutes; the rest is ordinary input. `marks` are those that reach the minimum.
fn billed(prompt: &Prompt, marks: &[Mark], hit_blocks: usize) -> Outcome {
    let end = |ttl: Ttl| {
        let last = marks.iter().rfind(|mark| mark.ttl == ttl);
        last.map_or(0, |mark| prompt.tokens_of(mark.block + 1))
    };
    let read = prompt.tokens_of(hit_blocks);
    let hour = end(Ttl::OneHour).max(read);
    let last = end(Ttl::FiveMinutes).max(hour);
    Outcome {
        read_tokens: read,
        written_tokens: last - hour,
        written_1h_tokens: hour - read,
        uncached_tokens: prompt.tokens() - last,
    }
}
