//! The text, and that nobody outside makes series of their own.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use delivery::model::{BindingId, ChannelId, Key, RunId};
use delivery::residency::State;

use super::*;
use crate::engine::{Ended, Tokens, Turns};

fn key(name: &str) -> Key {
    Key { channel: ChannelId("c1".to_owned()), binding: BindingId(name.to_owned()) }
}

#[test]
fn the_text_tells_what_happened() {
    let metrics = Metrics::new();
    metrics.answered(&Method::GET, "/api/v1/channels/{channel}", StatusCode::OK, Duration::from_millis(3));
    metrics.answered(&Method::from_bytes(b"S3CRET").unwrap(), "none", StatusCode::FORBIDDEN, Duration::ZERO);
    metrics.prompted(120);
    metrics.committed(3, Duration::from_millis(2));
    let before = Tally { posts: 1, ..Tally::default() };
    let after = Tally {
        posts: 3,
        ended: Ended { succeeded: 1, declined: 2, ..Ended::default() },
        tokens: Tokens { input: 10, cached_read: 90, ..Tokens::default() },
        cost_usd_micros: 1_250_000,
        turns: Turns { told: 2, untold: 1 },
        limited: 3,
        cache_alerts: 4,
    };
    metrics.tally(&before, &after);
    let runs = |ids: &[&str]| ids.iter().map(|id| RunId((*id).to_owned())).collect();
    let board = Board {
        states: vec![(key("a"), State::Busy), (key("b"), State::Idle), (key("c"), State::WaitingForPlace)],
        queues: vec![(key("a"), runs(&["r1", "r2"])), (key("c"), runs(&["r3"]))],
        memory: [(key("a"), 5 << 20), (key("b"), 1)].into(),
        ..Board::default()
    };
    let text = metrics.text(&board, 7, 4_096).unwrap();
    for line in [
        &format!("highwater_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION")),
        "highwater_http_requests_total{method=\"GET\",route=\"/api/v1/channels/{channel}\",status=\"200\"} 1",
        "highwater_http_requests_total{method=\"other\",route=\"none\",status=\"403\"} 1",
        "highwater_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/v1/channels/{channel}\",le=\"0.005\"} 1",
        "highwater_posts_total 2",
        "highwater_runs_total{outcome=\"succeeded\"} 1",
        "highwater_runs_total{outcome=\"failed\"} 0",
        "highwater_runs_total{outcome=\"declined\"} 2",
        "highwater_tokens_total{kind=\"input\"} 10",
        "highwater_tokens_total{kind=\"cached_read\"} 90",
        "highwater_cost_dollars_total 1.25",
        "highwater_turns_ended_total{told=\"yes\"} 2",
        "highwater_turns_ended_total{told=\"no\"} 1",
        "highwater_runs_limited_total 3",
        "highwater_cache_alerts_total 4",
        "highwater_turns_total 1",
        "highwater_prompt_bytes_total 120",
        "highwater_engine_batch_size_bucket{le=\"4\"} 1",
        "highwater_engine_batch_duration_seconds_count 1",
        "highwater_runs_queued 2",
        "highwater_agent_processes{state=\"working\"} 1",
        "highwater_agent_processes{state=\"warm\"} 1",
        "highwater_agent_processes{state=\"waiting\"} 1",
        "highwater_agent_memory_bytes 5242881",
        "highwater_events_followers 7",
        "highwater_database_bytes 4096",
    ] {
        assert!(text.lines().any(|one| one == line), "no line {line} in:\n{text}");
    }
    assert!(!text.contains("S3CRET"), "{text}");
}
