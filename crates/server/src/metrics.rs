//! What can be measured from outside: counters and gauges in Prometheus' text format.
//!
//! No label holds anything that people chose: routes are templates, and everything else is one of a few words.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use delivery::residency::State;
use prometheus_client::encoding::{EncodeLabelSet, prometheus_text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::engine::{Board, Tally};

/// What the answer's header says of its form.
pub(crate) const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// From a read out of memory to a long wait for runs.
const REQUEST_S: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];
/// From one fsync of a good disk to a stuck one.
const BATCH_S: [f64; 9] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 2.5];
/// Up to what one batch takes at most.
const BATCH_SIZES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// An answer to a request.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answer {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Telling {
    told: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Process {
    state: &'static str,
}

/// The metrics of one server. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    requests: Family<Answer, Counter>,
    request_seconds: Family<Route, Histogram, fn() -> Histogram>,
    posts: Counter,
    runs: Family<Outcome, Counter>,
    tokens: Family<Kind, Counter>,
    cost: Counter<f64, AtomicU64>,
    turns_ended: Family<Telling, Counter>,
    limited: Counter,
    cache_alerts: Counter,
    turns: Counter,
    prompt_bytes: Counter,
    batch_size: Histogram,
    batch_seconds: Histogram,
    queued: Gauge,
    processes: Family<Process, Gauge>,
    followers: Gauge,
    database: Gauge,
    memory: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Arc::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(|| Histogram::new(REQUEST_S)),
            posts: Counter::default(),
            runs: Family::default(),
            tokens: Family::default(),
            cost: Counter::default(),
            turns_ended: Family::default(),
            limited: Counter::default(),
            cache_alerts: Counter::default(),
            turns: Counter::default(),
            prompt_bytes: Counter::default(),
            batch_size: Histogram::new(BATCH_SIZES),
            batch_seconds: Histogram::new(BATCH_S),
            queued: Gauge::default(),
            processes: Family::default(),
            followers: Gauge::default(),
            database: Gauge::default(),
            memory: Gauge::default(),
        };
        metrics.registry = Arc::new(metrics.registered());
        metrics.tally(&Tally::default(), &Tally::default());
        metrics
    }

    fn registered(&self) -> Registry {
        let mut all = Registry::with_prefix("highwater");
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        all.register("build", "This server", build);
        all.register("http_requests", "Requests that were answered", self.requests.clone());
        all.register_with_unit(
            "http_request_duration",
            "Time until an answer began",
            Unit::Seconds,
            self.request_seconds.clone(),
        );
        all.register("posts", "Messages that people posted", self.posts.clone());
        all.register("runs", "Runs that ended, by outcome", self.runs.clone());
        all.register("tokens", "Tokens that agents reported", self.tokens.clone());
        all.register_with_unit(
            "cost",
            "Money that agents reported, or tokens at list prices; dollars alone",
            Unit::Other("dollars".to_owned()),
            self.cost.clone(),
        );
        all.register(
            "turns_ended",
            "Turns that ended, by whether it was told what they took",
            self.turns_ended.clone(),
        );
        all.register(
            "runs_limited",
            "Runs that did not begin since a spending limit was reached",
            self.limited.clone(),
        );
        all.register(
            "cache_alerts",
            "Notices of turns that read too little from the provider's cache",
            self.cache_alerts.clone(),
        );
        all.register("turns", "Prompts that were sent to agents", self.turns.clone());
        all.register_with_unit(
            "prompt",
            "Text that was sent to agents",
            Unit::Bytes,
            self.prompt_bytes.clone(),
        );
        all.register("engine_batch_size", "Requests and events in one commit", self.batch_size.clone());
        all.register_with_unit(
            "engine_batch_duration",
            "Time of one commit with its steps",
            Unit::Seconds,
            self.batch_seconds.clone(),
        );
        all.register("runs_queued", "Runs that wait for their turn", self.queued.clone());
        all.register("agent_processes", "Processes of agents, by state", self.processes.clone());
        all.register("events_followers", "Readers of live events", self.followers.clone());
        all.register_with_unit(
            "agent_memory",
            "Memory of all processes of agents together",
            Unit::Bytes,
            self.memory.clone(),
        );
        all.register_with_unit(
            "database",
            "Size of the database with its log",
            Unit::Bytes,
            self.database.clone(),
        );
        all
    }

    /// A request was answered. `route` is a template, never an address.
    pub(crate) fn answered(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let (method, route) = (method_name(method), route.to_owned());
        let at = Route { method, route: route.clone() };
        self.requests.get_or_create(&Answer { method, route, status: status.as_u16() }).inc();
        self.request_seconds.get_or_create(&at).observe(took.as_secs_f64());
    }

    /// A prompt was handed to an agent.
    pub(crate) fn prompted(&self, bytes: usize) {
        self.turns.inc();
        self.prompt_bytes.inc_by(bytes as u64);
    }

    /// A batch was committed.
    pub(crate) fn committed(&self, jobs: u32, took: Duration) {
        self.batch_size.observe(f64::from(jobs));
        self.batch_seconds.observe(took.as_secs_f64());
    }

    /// What the engine counted between two moments.
    pub(crate) fn tally(&self, before: &Tally, after: &Tally) {
        let more = |before: u64, after: u64| after.saturating_sub(before);
        self.posts.inc_by(more(before.posts, after.posts));
        let (old, new) = (before.ended, after.ended);
        for (outcome, count) in [
            ("succeeded", more(old.succeeded, new.succeeded)),
            ("failed", more(old.failed, new.failed)),
            ("cancelled", more(old.cancelled, new.cancelled)),
            ("declined", more(old.declined, new.declined)),
        ] {
            self.runs.get_or_create(&Outcome { outcome }).inc_by(count);
        }
        let (old, new) = (before.tokens, after.tokens);
        for (kind, count) in [
            ("input", more(old.input, new.input)),
            ("output", more(old.output, new.output)),
            ("cached_read", more(old.cached_read, new.cached_read)),
            ("cached_write", more(old.cached_write, new.cached_write)),
        ] {
            self.tokens.get_or_create(&Kind { kind }).inc_by(count);
        }
        self.cost.inc_by(dollars(more(before.cost_usd_micros, after.cost_usd_micros)));
        self.limited.inc_by(more(before.limited, after.limited));
        self.cache_alerts.inc_by(more(before.cache_alerts, after.cache_alerts));
        let (old, new) = (before.turns, after.turns);
        for (told, count) in [("yes", more(old.told, new.told)), ("no", more(old.untold, new.untold))] {
            self.turns_ended.get_or_create(&Telling { told }).inc_by(count);
        }
    }

    /// All of it as text, with how processes, queues, readers and the database stand now.
    pub(crate) fn text(
        &self,
        board: &Board,
        followers: usize,
        database_bytes: u64,
    ) -> Result<String, std::fmt::Error> {
        let open: usize = board.queues.iter().map(|(_, runs)| runs.len()).sum();
        let count =
            |wanted: &[State]| board.states.iter().filter(|(_, state)| wanted.contains(state)).count();
        let busy = count(&[State::Busy]);
        self.queued.set(gauge(open.saturating_sub(busy)));
        for (state, states) in [
            ("waiting", &[State::WaitingForPlace]),
            ("starting", &[State::Starting]),
            ("warm", &[State::Idle]),
            ("working", &[State::Busy]),
            ("ending", &[State::Ending]),
        ] {
            self.processes.get_or_create(&Process { state }).set(gauge(count(states)));
        }
        self.followers.set(gauge(followers));
        self.memory.set(i64::try_from(board.memory.values().sum::<u64>()).unwrap_or(i64::MAX));
        self.database.set(i64::try_from(database_bytes).unwrap_or(i64::MAX));
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "a figure to watch; the exact sums are in the database")]
fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// A method by name; anybody may make one up, which must not make a series of its own.
pub(crate) fn method_name(method: &Method) -> &'static str {
    let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    known.into_iter().find(|name| method.as_str() == *name).unwrap_or("other")
}

#[cfg(test)]
mod tests;
