//! What agents tell of tokens and of money.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::message::{ModelUsage, Money, Usage};

/// Models of one turn that are kept: no turn asks more.
const MODELS_MAX: usize = 16;
/// Bytes of a model's or a currency's name that are kept.
const NAME_BYTES_MAX: usize = 200;

/// Tokens of an answer to `session/prompt`. Nothing but zeros tells nothing: that is what an agent says of a turn whose
/// requests it does not know of.
pub(super) fn of_answer(usage: Option<&RawValue>, meta: Option<&RawValue>) -> Option<Usage> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Tokens {
        input_tokens: u64,
        output_tokens: u64,
        cached_read_tokens: Option<u64>,
        cached_write_tokens: Option<u64>,
        total_tokens: u64,
    }
    let models = meta.map(models).unwrap_or_default();
    let own = usage.and_then(|raw| serde_json::from_str::<Tokens>(raw.get()).ok());
    let usage = match own {
        Some(own) => Usage {
            input: own.input_tokens,
            output: own.output_tokens,
            cached_read: own.cached_read_tokens,
            cached_write: own.cached_write_tokens,
            total: own.total_tokens,
            models,
        },
        None => Usage { models, ..Usage::default() },
    };
    let counts = [Some(usage.input), Some(usage.output), usage.cached_read, usage.cached_write];
    let nothing = counts.iter().flatten().all(|count| *count == 0) && usage.total == 0;
    (!nothing || !usage.models.is_empty()).then_some(usage)
}

/// `_meta.quota.model_usage`, as Claude Code's adapter, Codex's and Gemini tell it, each with names of its own.
fn models(meta: &RawValue) -> Vec<ModelUsage> {
    #[derive(Deserialize)]
    struct Meta {
        quota: Quota,
    }
    #[derive(Deserialize)]
    struct Quota {
        model_usage: Vec<OfModel>,
    }
    #[derive(Deserialize)]
    struct OfModel {
        model: String,
        token_count: Counts,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Counts {
        #[serde(alias = "input_tokens")]
        input_tokens: u64,
        #[serde(alias = "output_tokens")]
        output_tokens: u64,
        cached_input_tokens: Option<u64>,
        #[serde(alias = "cacheWriteInputTokens")]
        cached_write_tokens: Option<u64>,
    }
    let Ok(meta) = serde_json::from_str::<Meta>(meta.get()) else { return Vec::new() };
    let told = meta.quota.model_usage.into_iter().take(MODELS_MAX);
    let told = told.filter(|one| one.model.len() <= NAME_BYTES_MAX);
    let read = told.map(|OfModel { model, token_count: counts }| ModelUsage {
        model,
        input: counts.input_tokens,
        output: counts.output_tokens,
        cached_read: counts.cached_input_tokens,
        cached_write: counts.cached_write_tokens,
    });
    let counts = |one: &ModelUsage| [Some(one.input), Some(one.output), one.cached_read, one.cached_write];
    read.filter(|one| counts(one).iter().flatten().any(|count| *count > 0)).collect()
}

/// What a session has cost by now, of the parameters of `session/update`, if it is a `usage_update` that tells so.
pub(crate) fn cost(params: &RawValue) -> Option<Money> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        update: Told<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Told<'a> {
        #[serde(borrow)]
        session_update: Cow<'a, str>,
        cost: Option<Cost>,
    }
    #[derive(Deserialize)]
    struct Cost {
        amount: f64,
        currency: String,
    }
    let told = serde_json::from_str::<Params<'_>>(params.get()).ok()?.update;
    let cost = told.cost.filter(|_| told.session_update == "usage_update")?;
    let known = cost.currency.len() <= NAME_BYTES_MAX && cost.amount.is_finite() && cost.amount >= 0.0;
    known.then(|| Money { micros: micros(cost.amount), currency: cost.currency })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is finite and not negative; what is too large becomes the largest"
)]
fn micros(amount: f64) -> u64 {
    (amount * 1e6).round() as u64
}

#[cfg(test)]
mod tests;
