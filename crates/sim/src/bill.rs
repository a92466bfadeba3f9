//! What a real provider would make of the requests: which tokens its cache serves, and what all of it costs.

use std::ops::AddAssign;

use cost::cache::{self, Cache, Mark, Outcome, Request, Scope, Ttl};
use cost::price::{Money, Price};
use serde::Serialize;
use serde::ser::SerializeStruct as _;

/// A provider's cache, and the prices of one of its models.
#[derive(Clone, Debug)]
pub struct Provider {
    /// How its cache works.
    pub cache: cache::Model,
    /// How long what is written lives, where the provider asks.
    pub ttl: Ttl,
    /// What the model costs, if that is known.
    pub price: Option<Price>,
}

/// What the turns of one strategy came to at a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// Tokens of all requests, by how they are billed.
    pub billed: Outcome,
    /// Tokens of all answers.
    pub output_tokens: u64,
    /// The price of all that; `None` without a price of the model.
    pub money: Option<Money>,
}

impl AddAssign for Bill {
    fn add_assign(&mut self, other: Self) {
        self.billed += other.billed;
        self.output_tokens += other.output_tokens;
        self.money = self.money.zip(other.money).map(|(one, two)| one + two);
    }
}

/// A provider while a strategy is played.
pub(crate) struct Till {
    cache: Cache,
    provider: Provider,
    bill: Bill,
}

impl Till {
    pub(crate) fn new(provider: &Provider) -> Self {
        let money = provider.price.map(|_| Money::default());
        Self {
            cache: Cache::new(provider.cache.clone()),
            provider: provider.clone(),
            bill: Bill { money, ..Bill::default() },
        }
    }

    /// Takes a request whose first `head` blocks stand in front of the conversation, and its answer. Agents that mark what is
    /// to be cached mark two places: the end of what every session begins with, and the end of the request.
    pub(crate) fn take(&mut self, request: &Request<'_>, head: usize, output_tokens: u64) {
        let ttl = self.provider.ttl;
        let ends = [head, request.prompt.len()];
        let marks: Vec<Mark> =
            ends.iter().filter_map(|end| end.checked_sub(1)).map(|block| Mark { block, ttl }).collect();
        // Two breakpoints of one kind on content: nothing that a provider refuses.
        let outcome = self.cache.answer(&Request { marks: &marks, ..*request }).unwrap_or_default();
        self.bill.billed += outcome;
        self.bill.output_tokens += output_tokens;
        if let (Some(money), Some(price)) = (&mut self.bill.money, &self.provider.price) {
            *money += price.of(outcome, output_tokens);
        }
    }

    /// A session is over.
    pub(crate) fn forget(&mut self, session: cache::Session) {
        self.cache.forget(session);
    }

    pub(crate) fn bill(&self) -> Bill {
        self.bill
    }
}

/// All sessions are one customer's.
pub(crate) fn scope() -> Scope {
    Scope::of("highwater")
}

impl Serialize for Bill {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Bill", 6)?;
        out.serialize_field("read_tokens", &self.billed.read_tokens)?;
        out.serialize_field("written_tokens", &self.billed.written_tokens)?;
        out.serialize_field("written_1h_tokens", &self.billed.written_1h_tokens)?;
        out.serialize_field("uncached_tokens", &self.billed.uncached_tokens)?;
        out.serialize_field("output_tokens", &self.output_tokens)?;
        out.serialize_field("dollars", &self.money.map(Money::dollars))?;
        out.end()
    }
}
