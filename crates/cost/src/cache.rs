//! Prompt caching: what part of a request a provider still knows, what it writes down, and for how long.
//!
//! One [`Cache`] stands for one model at one provider: nothing is ever shared between models. Its rules are a [`Model`]'s. A
//! request is judged in two steps, because what it writes can be read only once its answer has begun:
//!
//! 1. [`Cache::begin`] when it arrives: how its tokens are billed, or why it is refused;
//! 2. [`Cache::first_byte`] when the first byte of the answer leaves. An answer that never begins writes nothing.
//!
//! Times are milliseconds since any moment; they may repeat, and should not run backwards by more than a request takes.

pub mod anthropic;
mod ideal;
pub mod openai;
mod prompt;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::{Add, AddAssign};

pub use prompt::{Block, Change, Identity, Kind, Layer, Prompt};

/// The rules by which a cache works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// The yardstick: the longest common token prefix with the session's previous request, whatever happened in between.
    Ideal,
    /// Explicit breakpoints.
    Anthropic(anthropic::Rules),
    /// Automatic.
    OpenAi(openai::Rules),
    /// No cache.
    None,
}

/// Who may read what is written: a workspace or an organisation, by whatever isolates the provider's customers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scope(Identity);

impl Scope {
    /// The scope of this name.
    #[must_use]
    pub fn of(name: &str) -> Scope {
        Scope(Identity::of(name.as_bytes()))
    }
}

/// One conversation, as the ideal cache tells them apart. Real ones do not know of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Session(pub u64);

/// How long what was written lives, from the start of the request that wrote or last read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ttl {
    /// 5 minutes.
    FiveMinutes,
    /// 1 hour.
    OneHour,
}

impl Ttl {
    /// In milliseconds.
    #[must_use]
    pub fn milliseconds(self) -> u64 {
        match self {
            Ttl::FiveMinutes => 5 * 60 * 1000,
            Ttl::OneHour => 60 * 60 * 1000,
        }
    }
}

/// A breakpoint: all up to and with this block is to be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The block's number in the prompt, from zero through head and conversation.
    pub block: usize,
    /// For how long.
    pub ttl: Ttl,
}

/// What a provider is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Whose it is.
    pub scope: Scope,
    /// Which conversation it goes on with; only the ideal cache asks.
    pub session: Session,
    /// What is sent.
    pub prompt: &'a Prompt,
    /// Breakpoints on blocks, in the prompt's order; only Anthropic's cache asks.
    pub marks: &'a [Mark],
    /// A breakpoint that the provider itself is to place on the last block that can have one; only Anthropic's cache asks.
    pub automatic: Option<Ttl>,
    /// When it arrived, in milliseconds.
    pub started_ms: u64,
}

/// How a request's tokens are billed; each token is in exactly one of the four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Read from the cache.
    pub read_tokens: u64,
    /// Written for the provider's ordinary time: 5 minutes at Anthropic, half an hour at OpenAI where writing has a price.
    pub written_tokens: u64,
    /// Written for an hour.
    pub written_1h_tokens: u64,
    /// Neither read nor written: ordinary input.
    pub uncached_tokens: u64,
}

impl Outcome {
    /// All tokens of the request.
    #[must_use]
    pub fn total_tokens(self) -> u64 {
        self.read_tokens + self.written_tokens + self.written_1h_tokens + self.uncached_tokens
    }

    /// The tokens that were not read from the cache, written or not.
    #[must_use]
    pub fn unread_tokens(self) -> u64 {
        self.total_tokens() - self.read_tokens
    }
}

impl Add for Outcome {
    type Output = Outcome;

    fn add(self, other: Outcome) -> Outcome {
        Outcome {
            read_tokens: self.read_tokens + other.read_tokens,
            written_tokens: self.written_tokens + other.written_tokens,
            written_1h_tokens: self.written_1h_tokens + other.written_1h_tokens,
            uncached_tokens: self.uncached_tokens + other.uncached_tokens,
        }
    }
}

impl AddAssign for Outcome {
    fn add_assign(&mut self, other: Outcome) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Outcome {
    fn sum<I: Iterator<Item = Outcome>>(outcomes: I) -> Outcome {
        outcomes.fold(Outcome::default(), Add::add)
    }
}

/// Why a provider refuses a request (status 400), before anything is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// More breakpoints than there may be, the automatic one counted.
    TooManyMarks {
        /// How many.
        found: usize,
    },
    /// A breakpoint of one hour after one of five minutes.
    LongAfterShort {
        /// The block of the later one.
        block: usize,
    },
    /// A block that cannot have a breakpoint: thinking, or without content, or not there at all.
    Unmarkable {
        /// The block.
        block: usize,
    },
    /// The automatic breakpoint falls on a block that has one with another time to live.
    TwoTtls {
        /// The block.
        block: usize,
    },
}

impl fmt::Display for Refusal {
    /// In the words of the API, where they are known.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooManyMarks { found } => {
                let max = anthropic::MARKS_MAX;
                write!(out, "A maximum of {max} blocks with cache_control may be provided. Found {found}.")
            }
            Refusal::LongAfterShort { .. } => {
                out.write_str(
                    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ",
                )?;
                out.write_str(
                    "Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
                )
            }
            Refusal::Unmarkable { block } => write!(out, "block {block} cannot have a cache_control"),
            Refusal::TwoTtls { block } => {
                write!(out, "block {block} has a cache_control with another ttl than the request's own")
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// What a request will have written once its answer begins. Dropped, it writes nothing.
#[derive(Debug)]
#[must_use = "nothing is written until `first_byte` has it"]
pub struct Writes(Pending);

#[derive(Debug)]
enum Pending {
    Nothing,
    Anthropic(anthropic::Writes),
    OpenAi(openai::Writes),
}

/// What one model of a provider remembers.
#[derive(Debug)]
pub struct Cache {
    state: State,
}

#[derive(Debug)]
enum State {
    Ideal(ideal::State),
    Anthropic(anthropic::State),
    OpenAi(openai::State),
    None,
}

impl Cache {
    /// An empty cache that works by `model`.
    #[must_use]
    pub fn new(model: Model) -> Cache {
        let state = match model {
            Model::Ideal => State::Ideal(ideal::State::default()),
            Model::Anthropic(rules) => State::Anthropic(anthropic::State::new(rules)),
            Model::OpenAi(rules) => State::OpenAi(openai::State::new(rules)),
            Model::None => State::None,
        };
        Cache { state }
    }

    /// A request arrives: how its tokens are billed, and what it will have written when its answer begins.
    ///
    /// Work and memory grow with what is new in the prompt since the request before, not with its length.
    ///
    /// # Errors
    ///
    /// The request is one that the provider refuses; nothing has changed.
    pub fn begin(&mut self, request: &Request<'_>) -> Result<(Outcome, Writes), Refusal> {
        let (outcome, pending) = match &mut self.state {
            State::Ideal(state) => (state.begin(request), Pending::Nothing),
            State::Anthropic(state) => {
                let (outcome, writes) = state.begin(request)?;
                (outcome, Pending::Anthropic(writes))
            }
            State::OpenAi(state) => {
                let (outcome, writes) = state.begin(request);
                (outcome, Pending::OpenAi(writes))
            }
            State::None => {
                let uncached_tokens = request.prompt.tokens();
                (Outcome { uncached_tokens, ..Outcome::default() }, Pending::Nothing)
            }
        };
        Ok((outcome, Writes(pending)))
    }

    /// The first byte of the answer leaves: what the request wrote can be read from `at_ms` on.
    pub fn first_byte(&mut self, writes: Writes, at_ms: u64) {
        match (&mut self.state, writes.0) {
            (State::Anthropic(state), Pending::Anthropic(writes)) => state.first_byte(writes, at_ms),
            (State::OpenAi(state), Pending::OpenAi(writes)) => state.first_byte(&writes, at_ms),
            (State::Ideal(_) | State::Anthropic(_) | State::OpenAi(_) | State::None, _) => {}
        }
    }

    /// A request whose answer begins as soon as it arrives: both steps in one.
    ///
    /// # Errors
    ///
    /// As [`Cache::begin`].
    pub fn answer(&mut self, request: &Request<'_>) -> Result<Outcome, Refusal> {
        let (outcome, writes) = self.begin(request)?;
        self.first_byte(writes, request.started_ms);
        Ok(outcome)
    }

    /// Forgets what has expired. Real caches do so by themselves now and then; their memory stays bounded without a call.
    pub fn sweep(&mut self, now_ms: u64) {
        match &mut self.state {
            State::Ideal(_) | State::None => {}
            State::Anthropic(state) => state.sweep(now_ms),
            State::OpenAi(state) => state.sweep(now_ms),
        }
    }

    /// A session is over. The ideal cache, in which nothing expires, keeps one prompt for each session until then.
    pub fn forget(&mut self, session: Session) {
        match &mut self.state {
            State::Ideal(state) => state.forget(session),
            State::Anthropic(_) | State::OpenAi(_) | State::None => {}
        }
    }

    /// How many things it remembers: entries, conversations, sessions.
    #[must_use]
    pub fn remembered(&self) -> usize {
        match &self.state {
            State::Ideal(state) => state.remembered(),
            State::Anthropic(state) => state.remembered(),
            State::OpenAi(state) => state.remembered(),
            State::None => 0,
        }
    }
}
