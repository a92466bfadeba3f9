//! A run as a span, by the conventions for generative AI (`gen_ai.*`).

use delivery::Timestamp;
use delivery::model::RunId;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use storage::{Read, RunStatus};

use crate::error::ApiError;
use crate::view;

/// A client's span: the agent is another program.
const KIND_CLIENT: u8 = 3;
const STATUS_OK: u8 = 1;
const STATUS_ERROR: u8 = 2;

/// A run that had a turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span(Value);

/// Of a run that has ended; `None` where it never had a turn.
pub(super) fn of_run(store: &dyn Read, id: &RunId, origin: [u8; 8]) -> Result<Option<Span>, ApiError> {
    let run = store.run(id)?;
    let (Some(began), Some(ended)) = (run.started_at, run.ended_at) else { return Ok(None) };
    let spec = store.binding(&run.key.binding)?.spec;
    let turns = store.turns(id)?;
    let model = turns.iter().rev().find_map(|turn| turn.took.model.clone());
    let usage = run.usage.unwrap_or_default();
    let failed = match run.status {
        RunStatus::Failed | RunStatus::Cancelled => Some(view::status(run.status)),
        RunStatus::Succeeded | RunStatus::Declined | RunStatus::Queued | RunStatus::Running => None,
    };
    let staged = run.staged.as_ref();
    let text = |value: &str| json!({"stringValue": value});
    // As the protocol's JSON has integers of 64 bits.
    let number = |value: u64| json!({"intValue": value.to_string()});
    let attributes = [
        ("gen_ai.operation.name", Some(text("invoke_agent"))),
        ("gen_ai.provider.name", provider(&spec.preset).map(text)),
        ("gen_ai.agent.id", Some(text(run.key.binding.as_str()))),
        ("gen_ai.agent.name", Some(text(&spec.handle))),
        ("gen_ai.conversation.id", staged.map(|staged| text(staged.native.as_str()))),
        ("gen_ai.request.model", spec.model.as_deref().map(text)),
        ("gen_ai.response.model", model.as_deref().map(text)),
        // All that was put in, cached or not.
        ("gen_ai.usage.input_tokens", usage.prompt().map(number)),
        ("gen_ai.usage.output_tokens", usage.output.map(number)),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached_read.map(number)),
        ("gen_ai.usage.cache_creation.input_tokens", usage.cached_write.map(number)),
        ("error.type", failed.map(text)),
        ("highwater.run.id", Some(text(id.as_str()))),
        ("highwater.channel.id", Some(text(run.key.channel.as_str()))),
        ("highwater.run.status", Some(text(view::status(run.status)))),
        ("highwater.lease", staged.map(|staged| text(view::lease(staged.lease)))),
        ("highwater.cost.micros", usage.cost.map(|cost| number(cost.micros))),
        ("highwater.cost.currency", usage.cost.map(|cost| text(&cost.currency.to_string()))),
    ];
    let attributes: Vec<Value> = attributes
        .into_iter()
        .filter_map(|(key, value)| Some(json!({"key": key, "value": value?})))
        .collect();
    let name = hash(origin, id);
    Ok(Some(Span(json!({
        "traceId": &name[..32],
        "spanId": &name[32..48],
        "name": format!("invoke_agent {}", spec.handle),
        "kind": KIND_CLIENT,
        "startTimeUnixNano": nanos(began),
        "endTimeUnixNano": nanos(ended),
        "attributes": attributes,
        "status": {"code": if failed.is_some() { STATUS_ERROR } else { STATUS_OK }},
    }))))
}

/// The body of a request that tells of spans.
pub(super) fn request(spans: &[Span]) -> String {
    let spans: Vec<&Value> = spans.iter().map(|span| &span.0).collect();
    let version = env!("CARGO_PKG_VERSION");
    let about = [("service.name", "highwater"), ("service.version", version)];
    let about: Vec<Value> =
        about.iter().map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": about},
        "scopeSpans": [{"scope": {"name": "highwater", "version": version}, "spans": spans}],
    }]})
    .to_string()
}

/// The provider by its name in the conventions, of agents that have one alone.
fn provider(preset: &str) -> Option<&'static str> {
    match preset {
        "claude" => Some("anthropic"),
        "codex" => Some("openai"),
        "gemini" => Some("gcp.gemini"),
        _ => None,
    }
}

/// A name for a run that no other database has for one of its own, in hexadecimal digits.
fn hash(origin: [u8; 8], run: &RunId) -> String {
    let digest = Sha256::new().chain_update(origin).chain_update(run.as_str()).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn nanos(at: Timestamp) -> String {
    (i128::from(at.ms) * 1_000_000).to_string()
}
