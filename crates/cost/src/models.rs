//! What is known of models besides their prices: how to count their tokens, and how their caches work.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::cache::{self, anthropic, openai};
use crate::tokens::{Encoding, Estimate};

/// Facts about models, with the day on which they were gathered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The day, as `2026-11-30`.
    pub date: String,
    /// By the beginning of a model's name.
    models: BTreeMap<String, Facts>,
    /// Counting, by family.
    families: BTreeMap<String, Family>,
    /// When Anthropic's look-back began to count a run of tool calls as one position, as `2026-10-01`.
    tool_runs_count_once_since: String,
}

/// Facts about one model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    /// A name of `families`.
    family: String,
    cache: CacheFacts,
    source: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum CacheFacts {
    Anthropic {
        minimum_tokens: u64,
    },
    OpenaiSteps {
        minimum_tokens: u64,
        step_tokens: u64,
        idle_ms: u64,
    },
    OpenaiRequests {
        minimum_tokens: u64,
        latest: usize,
        idle_ms: u64,
    },
    /// Automatic like OpenAI's older one, with no step that is known of.
    Gemini {
        minimum_tokens: u64,
        idle_ms: u64,
    },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    encoding: Encoding,
    factor_thousandths: u64,
    source: String,
}

/// How many positions an Anthropic breakpoint looks at.
const LOOK_BACK_POSITIONS: usize = 20;

/// One model, ready for use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// How to count its tokens. An estimate but for OpenAI's own.
    pub counter: Estimate,
    /// Where its factor comes from, and how sure that is.
    pub counter_source: String,
    /// How its cache works.
    pub cache: cache::Model,
    /// Where the cache's numbers come from, and how sure they are.
    pub cache_source: String,
}

impl Catalogue {
    /// What comes with the program.
    ///
    /// # Panics
    ///
    /// Never: a test reads it.
    #[must_use]
    pub fn built_in() -> Catalogue {
        serde_json::from_str(include_str!("../data/models.json"))
            .expect("a test reads the built-in catalogue")
    }

    /// The model of this name, or the one that it is a dated version of, by the rules of a day such as `2026-11-30`.
    #[must_use]
    pub fn model(&self, name: &str, day: &str) -> Option<Model> {
        let facts = closest(&self.models, name)?;
        let family = self.families.get(&facts.family)?;
        let counter = Estimate { encoding: family.encoding, factor_thousandths: family.factor_thousandths };
        Some(Model {
            counter,
            counter_source: family.source.clone(),
            cache: self.cache(facts.cache, day),
            cache_source: facts.source.clone(),
        })
    }

    /// The names of all models, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }

    fn cache(&self, facts: CacheFacts, day: &str) -> cache::Model {
        match facts {
            CacheFacts::Anthropic { minimum_tokens } => {
                let once = day >= self.tool_runs_count_once_since.as_str();
                cache::Model::Anthropic(anthropic::Rules {
                    minimum_tokens,
                    look_back_positions: LOOK_BACK_POSITIONS,
                    tool_runs: if once {
                        anthropic::ToolRuns::OnePosition
                    } else {
                        anthropic::ToolRuns::PositionEach
                    },
                })
            }
            CacheFacts::OpenaiSteps { minimum_tokens, step_tokens, idle_ms } => {
                let boundary = openai::Boundary::Steps { tokens: step_tokens };
                cache::Model::OpenAi(openai::Rules { minimum_tokens, boundary, idle_ms })
            }
            CacheFacts::Gemini { minimum_tokens, idle_ms } => {
                let boundary = openai::Boundary::Steps { tokens: 1 };
                cache::Model::OpenAi(openai::Rules { minimum_tokens, boundary, idle_ms })
            }
            CacheFacts::OpenaiRequests { minimum_tokens, latest, idle_ms } => {
                let boundary = openai::Boundary::Requests { latest };
                cache::Model::OpenAi(openai::Rules { minimum_tokens, boundary, idle_ms })
            }
        }
    }
}

/// The value under `name`, else under the key that `name` is a dated version of: followed by `-` or `@` and a day, or by
/// `-latest`. A newer model whose name merely begins like a known one is unknown.
pub(crate) fn closest<'a, T>(map: &'a BTreeMap<String, T>, name: &str) -> Option<&'a T> {
    map.get(name).or_else(|| map.iter().rfind(|(key, _)| is_version(name, key)).map(|(_, value)| value))
}

fn is_version(name: &str, key: &str) -> bool {
    let Some(rest) = name.strip_prefix(key) else { return false };
    let Some(version) = rest.strip_prefix(['-', '@']) else { return false };
    let digits = version.chars().filter(char::is_ascii_digit).count();
    version == "latest" || (digits == 8 && version.chars().all(|part| part.is_ascii_digit() || part == '-'))
}
