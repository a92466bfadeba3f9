//! The models of the provider: each with its counter and its cache, by the rules of `cost`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cost::cache::{Cache, Outcome, Refusal, Request, Scope, Session, Writes};
use cost::models::Catalogue;
use cost::tokens::Counter;

use crate::ledger::Api;
use crate::prompt::{Tokens, Told};

/// How tokens are counted.
#[derive(Clone, Default)]
pub enum Counting {
    /// As `cost` estimates those of the model.
    #[default]
    Model,
    /// A token for each four bytes begun, of whatever model: comparable between models, and with figures that others published.
    QuarterBytes,
    /// By this.
    By(Arc<dyn Counter + Send + Sync>),
}

/// Four bytes, one token.
struct QuarterBytes;

impl Counter for QuarterBytes {
    fn count(&self, text: &str) -> u64 {
        text.len().div_ceil(4) as u64
    }

    fn ids(&self, _text: &str) -> Option<Vec<u32>> {
        None
    }
}

/// One model.
pub(crate) struct Model {
    pub(crate) tokens: Tokens,
    cache: Mutex<Cache>,
}

/// All models that were asked for so far. Nothing is shared between two of them.
pub(crate) struct Models {
    catalogue: Catalogue,
    day: String,
    counting: Counting,
    by_name: Mutex<BTreeMap<(Api, String), Arc<Model>>>,
}

impl Models {
    pub(crate) fn new(day: &str, counting: Counting) -> Models {
        let (catalogue, by_name) = (Catalogue::built_in(), Mutex::default());
        Models { catalogue, day: day.to_owned(), counting, by_name }
    }

    /// The model of this name. One that nobody knows works like a known one of its API.
    pub(crate) fn model(&self, api: Api, name: &str) -> Arc<Model> {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        let model = by_name.entry((api, name.to_owned())).or_insert_with(|| Arc::new(self.made(api, name)));
        Arc::clone(model)
    }

    fn made(&self, api: Api, name: &str) -> Model {
        let known = self.catalogue.model(name, &self.day);
        let known = known.or_else(|| self.catalogue.model(stand_in(api), &self.day));
        let rules = known.as_ref().map_or(cost::cache::Model::None, |known| known.cache.clone());
        let counter: Arc<dyn Counter + Send + Sync> = match (&self.counting, known) {
            (Counting::By(counter), _) => Arc::clone(counter),
            (Counting::Model, Some(known)) => Arc::new(known.counter),
            (Counting::QuarterBytes, _) | (Counting::Model, None) => Arc::new(QuarterBytes),
        };
        Model { tokens: Tokens::new(counter), cache: Mutex::new(Cache::new(rules)) }
    }
}

/// The model whose rules hold for unknown ones.
fn stand_in(api: Api) -> &'static str {
    match api {
        Api::Anthropic => "claude-opus-5-5",
        Api::OpenAi => "gpt-6-sol",
        Api::Gemini => "gemini-3.1-pro-preview",
    }
}

impl Model {
    /// A request arrives: how it is billed, and what it will have written when its answer begins.
    pub(crate) fn begin(&self, told: &Told, scope: &str, now_ms: u64) -> Result<(Outcome, Writes), Refusal> {
        let (prompt, marks) = told.prompt(&self.tokens);
        let request = Request {
            scope: Scope::of(scope),
            session: Session(0),
            prompt: &prompt,
            marks: &marks,
            automatic: told.automatic,
            started_ms: now_ms,
        };
        self.cache().begin(&request)
    }

    /// How many tokens a prompt has.
    pub(crate) fn count(&self, told: &Told) -> u64 {
        told.prompt(&self.tokens).0.tokens()
    }

    /// The first byte of the answer leaves.
    pub(crate) fn first_byte(&self, writes: Writes, now_ms: u64) {
        self.cache().first_byte(writes, now_ms);
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
