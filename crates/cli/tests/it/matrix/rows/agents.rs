//! Rows for agents, their runs, what was told, and what takes all of it elsewhere.

use serde_json::json;

use super::{ask, guide, in_data, in_private, of_agent, of_run, row};
use crate::matrix::world::agent;
use crate::matrix::{Ask, Row};

pub(super) fn agents() -> Vec<Row> {
    vec![
        row("list_agents", "all", "++++++++--+-", |_| ask()),
        row("list_agents", "private", "+++++..+--..", |_| ask().query("channel", "vault").hides("vault")),
        row("add_agent", "private", "+----..--+..", |w| in_private(w).body(guide(w))),
        row("add_agent", "public", "+---.-.--+--", |w| {
            ask().at("channel", w.public_channel()).body(guide(w))
        }),
        row("add_agent", "in the data folder", "?----..--?..", |w| in_private(w).body(in_data(w))),
        row("add_agent", "of no preset", "?----..--?..", |w| in_private(w).body(agent("x"))),
        row("remove_agent", "private", "+----..--+..", of_agent),
        row("start_fresh", "private", "++++-..-+-..", of_agent),
        row("list_presets", "", "+--------+--", |_| ask()),
        row("check_up", "", "+--------+--", |_| ask()),
        row("examine_preset", "", "+--------+--", |_| ask().at("preset", "guide")),
    ]
}

pub(super) fn runs() -> Vec<Row> {
    vec![
        row("list_runs", "all", "++++++++--+-", |_| ask().query("limit", "10000")),
        row("list_runs", "private", "+++++..+--..", |_| ask().query("channel", "vault").hides("vault")),
        row("show_run", "private", "+++++..+--..", |w| ask().at("run", &w.run).hides(&w.run)),
        row("cancel_run", "that waits", "++++-..-+-..", |w| of_run(&w.waiting_run())),
        row("cancel_run", "that ended", "!!!!-..-!-..", |w| of_run(&w.run)),
        row("retry_run", "that was cancelled", "++++-..-+-..", |w| of_run(&w.cancelled_run())),
        row("retry_run", "that succeeded", "!!!!-..-!-..", |w| of_run(&w.run)),
        row("steer_run", "that runs", "-+++-..---..", |w| of_run(&w.steerable).body(json!({"text": "hi"}))),
        row("steer_run", "that waits", "-!!!-..---..", |w| {
            of_run(&w.waiting_run()).body(json!({"text": "hi"}))
        }),
        row("steer_run", "without a text", "-???-..---..", |w| {
            of_run(&w.steerable).body(json!({"text": " "}))
        }),
        row("steer_run", "with an author", "????????????", |w| {
            of_run(&w.steerable).body(json!({"text": "hi", "author": "aiko"}))
        }),
        row("resume_run", "that is held", "++++-..-+-..", |w| of_run(&w.held_run())),
        row("resume_run", "that is not held", "!!!!-..-!-..", |w| of_run(&w.waiting_run())),
    ]
}

pub(super) fn usage() -> Vec<Row> {
    vec![
        row("show_usage", "all", "++++++++--+-", |_| ask().query("by", "run").query("limit", "10000")),
        row("show_usage", "private", "+++++..+--..", |_| ask().query("channel", "vault").hides("vault")),
        row("list_spending_limits", "", "++++++++--+-", |_| ask()),
        row("set_spending_limit", "of all", "+--------+--", |_| ask().body(json!({"tokens": 1_000_000_000}))),
        row("set_spending_limit", "private", "++---..-+-..", |w| {
            let channel = w.private_channel();
            ask().body(json!({"channel": channel, "tokens": 5})).hides(&channel)
        }),
        row("set_spending_limit", "of nothing", "?--------?--", |_| ask().body(json!({"tokens": 0}))),
        row("show_usage", "since no day", "????????????", |_| ask().query("since", "yesterday")),
    ]
}

/// Whoever pauses all agents lets them go on in the next row.
pub(super) fn pauses() -> Vec<Row> {
    vec![
        row("show_pause", "", "++++++++--+-", |_| ask()),
        row("pause_agents", "", "+--------+--", |_| ask()),
        row("resume_agents", "", "+--------+--", |_| ask()),
        row("pause_channel", "private", "++---..-+-..", in_private),
        row("pause_channel", "public", "++--.-.-+---", |w| ask().at("channel", w.public_channel())),
        row("resume_channel", "private", "++---..-+-..", in_private),
        row("resume_channel", "public", "++--.-.-+---", |w| ask().at("channel", w.public_channel())),
    ]
}

pub(super) fn permissions() -> Vec<Row> {
    vec![
        row("list_permissions", "all", "++++++++--+-", |_| {
            ask().query("limit", "200").query("pending", "true")
        }),
        row("list_permissions", "private", "+++++..+--..", |_| {
            ask().query("channel", "vault").hides("vault")
        }),
        row("show_permission", "private", "+++++..+--..", |w| of_permission(&w.permission)),
        row("answer_permission", "that waits", "+----..-+-..", |w| {
            of_permission(&w.waiting_permission("owners")).body(json!({"option": 2}))
        }),
        row("answer_permission", "of managers", "++---..-+-..", |w| {
            of_permission(&w.waiting_permission("managers")).body(json!({"option": 2}))
        }),
        row("answer_permission", "of members", "++++-..-+-..", |w| {
            of_permission(&w.waiting_permission("members")).body(json!({"option": 2}))
        }),
        row("answer_permission", "for ever", "+----..---..", |w| {
            of_permission(&w.waiting_permission("members")).body(json!({"option": 1}))
        }),
        row("answer_permission", "that was decided", "!----..-!-..", |w| {
            of_permission(&w.permission).body(json!({"option": 2}))
        }),
        row("answer_permission", "by no option", "?----..-?-..", |w| {
            of_permission(&w.waiting_permission("owners")).body(json!({"option": 9}))
        }),
        row("change_permission_rules", "private", "+----..--+..", |w| {
            of_agent(w)
                .body(json!({"answered_by": "members", "tools": {"execute": "ask", "read": "default"}}))
        }),
        row("change_agent", "private", "+----..--+..", |w| {
            of_agent(w).body(json!({"session": "saved", "env": [{"name": "A", "value": "b"}]}))
        }),
        row("change_agent", "that cannot hold", "?----..--?..", |w| {
            of_agent(w).body(json!({"unset_env": ["NO_SUCH"]}))
        }),
        row("change_limits", "private", "+----..--+..", |w| {
            of_agent(w).body(json!({"turn_limit_ms": 60_000, "memory_limit_bytes": 0}))
        }),
        row("change_limits", "that cannot hold", "?----..--?..", |w| {
            of_agent(w).body(json!({"memory_limit_bytes": 1}))
        }),
        row("change_permission_rules", "that cannot hold", "?----..--?..", |w| {
            of_agent(w).body(json!({"tools": {"execute": "inside"}}))
        }),
    ]
}

fn of_permission(permission: &str) -> Ask {
    ask().at("permission", permission).hides(permission)
}

pub(super) fn transfers() -> Vec<Row> {
    vec![
        row("back_up", "", "+--------+--", |_| ask()),
        row("export_channels", "all", "+--------+--", |_| ask()),
        row("export_channels", "private", "+--------+--", |_| ask().query("channel", "vault")),
        // What an owner brings is tried with whole servers; this is no export.
        row("import_channels", "no lines", "?-----------", |_| ask().body(json!({}))),
    ]
}

pub(super) fn watching() -> Vec<Row> {
    vec![row("healthz", "", "++++++++++++", |_| ask()), row("metrics", "", "+-----------", |_| ask())]
}

pub(super) fn watermarks() -> Vec<Row> {
    vec![
        row("export_watermarks", "", "++++++++--+-", |_| ask()),
        row("import_watermarks", "none", "+-----------", |_| ask().body(json!({}))),
    ]
}
