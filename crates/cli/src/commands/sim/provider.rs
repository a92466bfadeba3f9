//! How tokens are counted and billed: `--model`, `--cache` and `--ttl`.

use clap::ValueEnum;
use cost::cache::{Model, Ttl, anthropic, openai};
use cost::models::Catalogue;
use cost::price::Table;
use cost::tokens::{Counter, Encoding};
use sim::bill::Provider;

use crate::failure::{Failure, Kind};

/// How a cache works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CacheName {
    /// Serves the longest common prefix, always
    Ideal,
    /// Serves what was marked, for a time
    Anthropic,
    /// Serves prefixes in steps of 128 tokens, for a time
    Openai,
    /// Serves nothing
    None,
}

/// How long a cache keeps what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TtlName {
    /// Five minutes
    #[value(name = "5m")]
    FiveMinutes,
    /// One hour
    #[value(name = "1h")]
    OneHour,
}

/// What is asked of a model that is not named: prefixes of fewer tokens are not cached by most.
const MINIMUM_TOKENS: u64 = 1_024;

/// Positions that a breakpoint looks back.
const LOOK_BACK_POSITIONS: usize = 20;

/// Tokens of a step of OpenAI's older cache.
const STEP_TOKENS: u64 = 128;

/// How long that cache keeps what nobody uses.
const IDLE_MS: u64 = 10 * 60 * 1_000;

/// How tokens are counted, and at which provider they are billed.
pub(super) struct Counting {
    pub(super) counter: Box<dyn Counter>,
    /// In words.
    pub(super) name: String,
    /// The encoding, if the tokens are exactly its own.
    pub(super) encoding: Option<&'static str>,
    pub(super) provider: Option<Provider>,
}

/// What is asked for.
pub(super) fn counting(
    model: Option<&str>,
    cache: Option<CacheName>,
    ttl: TtlName,
) -> Result<Counting, Failure> {
    let ttl = match ttl {
        TtlName::FiveMinutes => Ttl::FiveMinutes,
        TtlName::OneHour => Ttl::OneHour,
    };
    let Some(name) = model else {
        let encoding = Encoding::Cl100kBase;
        return Ok(Counting {
            counter: Box::new(encoding),
            name: encoding.name().to_owned(),
            encoding: Some(encoding.name()),
            provider: cache.map(|cache| Provider { cache: rules(cache), ttl, price: None }),
        });
    };
    let catalogue = Catalogue::built_in();
    let Some(model) = catalogue.model(name, &catalogue.date) else {
        let known = catalogue.names().collect::<Vec<_>>().join(", ");
        return Err(Failure::new(Kind::NotFound, format!("no model {name} is known"))
            .hint(format!("these are, with or without a date behind: {known}")));
    };
    let encoding = model.counter.encoding.name();
    let is_exact = model.counter.factor_thousandths == 1_000;
    let told = match model.counter.factor_thousandths {
        1_000 => format!("{name} does ({encoding})"),
        factor => format!("{name} about does ({encoding} times {}.{:03})", factor / 1_000, factor % 1_000),
    };
    let price = Table::built_in().price(name).copied();
    let cache = cache.map_or(model.cache, rules);
    Ok(Counting {
        counter: Box::new(model.counter),
        name: told,
        encoding: is_exact.then_some(encoding),
        provider: Some(Provider { cache, ttl, price }),
    })
}

/// The rules of most models with such a cache.
fn rules(cache: CacheName) -> Model {
    match cache {
        CacheName::Ideal => Model::Ideal,
        CacheName::Anthropic => Model::Anthropic(anthropic::Rules {
            minimum_tokens: MINIMUM_TOKENS,
            look_back_positions: LOOK_BACK_POSITIONS,
            tool_runs: anthropic::ToolRuns::OnePosition,
        }),
        CacheName::Openai => Model::OpenAi(openai::Rules {
            minimum_tokens: MINIMUM_TOKENS,
            boundary: openai::Boundary::Steps { tokens: STEP_TOKENS },
            idle_ms: IDLE_MS,
        }),
        CacheName::None => Model::None,
    }
}
