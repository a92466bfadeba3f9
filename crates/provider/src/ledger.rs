//! All requests that came, each whole, with how it was billed and what became of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cost::cache::Outcome;

use crate::prompt::Told;
use crate::script::Turn;

/// The API that a request was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    OpenAi,
    /// Gemini's `generateContent`.
    Gemini,
}

/// A request to a model.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Counted from one, in the order of arrival, through all models.
    pub number: u64,
    /// When it arrived, in milliseconds of the provider's clock.
    pub at_ms: u64,
    /// How it was made.
    pub api: Api,
    /// The model it names.
    pub model: String,
    /// The conversation it says it belongs to.
    pub session: Option<String>,
    /// Whether the answer was to be streamed.
    pub streamed: bool,
    /// As it was sent.
    pub body: Arc<str>,
    /// What it tells the model.
    pub told: Arc<Told>,
    /// As the script saw it.
    pub turn: Arc<Turn>,
    /// How its tokens are billed. Nothing of a request that was refused.
    pub billed: Outcome,
    /// When the first byte of its answer left; none so far, or never.
    pub first_byte_ms: Option<u64>,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// What became of it.
    pub end: Ended,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It is being answered.
    Not,
    /// It was answered whole.
    Whole,
    /// The answer was not sent to its end: the client left, or the script had it so.
    Cut,
    /// The provider refused it, or failed: the status and the message.
    Failed(u16, String),
}

/// A request that is about nothing the provider knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// The method of HTTP.
    pub method: String,
    /// The path, without what follows a question mark.
    pub path: String,
}

#[derive(Default)]
pub(crate) struct Ledger(Mutex<Pages>);

#[derive(Default)]
struct Pages {
    kept: Vec<Kept>,
    stray: Vec<Stray>,
}

impl Ledger {
    /// Gives the request its number.
    pub(crate) fn keep(&self, mut kept: Kept) -> u64 {
        let mut pages = self.pages();
        kept.number = pages.kept.len() as u64 + 1;
        let number = kept.number;
        pages.kept.push(kept);
        number
    }

    pub(crate) fn change(&self, number: u64, change: impl FnOnce(&mut Kept)) {
        let index = usize::try_from(number - 1).unwrap_or(usize::MAX);
        if let Some(kept) = self.pages().kept.get_mut(index) {
            change(kept);
        }
    }

    pub(crate) fn stray(&self, stray: Stray) {
        self.pages().stray.push(stray);
    }

    pub(crate) fn all(&self) -> Vec<Kept> {
        self.pages().kept.clone()
    }

    pub(crate) fn strays(&self) -> Vec<Stray> {
        self.pages().stray.clone()
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
