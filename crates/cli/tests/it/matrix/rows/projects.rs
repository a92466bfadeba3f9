//! Rows for projects and worktrees.

use serde_json::json;

use super::{ask, in_private, row};
use crate::matrix::world::World;
use crate::matrix::{Ask, Row};

/// In a fresh private channel with a project.
fn with_project(w: &World) -> Ask {
    let channel = w.private_channel();
    w.give_project(&channel);
    ask().at("channel", &channel).hides(&channel)
}

pub(super) fn projects() -> Vec<Row> {
    vec![
        row("add_channel", "with a project", "+-----------", |w| {
            ask().body(json!({"name": w.name("new"), "project": w.repository()}))
        }),
        row("add_channel", "with what is no project", "?--------?--", |w| {
            ask().body(json!({"name": w.name("new"), "project": w.server.data()}))
        }),
        row("show_project", "private", "+----..--+..", with_project),
        row("show_project", "private, without one", ".----..--...", in_private),
        row("set_project", "private", "+----..--+..", |w| {
            in_private(w).body(json!({"folder": w.repository(), "setup": "true", "copies": [".env"]}))
        }),
        row("set_project", "in the data folder", "?----..--?..", |w| {
            in_private(w).body(json!({"folder": w.server.data()}))
        }),
        row("remove_project", "private", "+----..--+..", with_project),
        row("trust_project", "private", "+----..--+..", |w| {
            with_project(w).body(json!({"files": [{"path": "CLAUDE.md", "hash": "00"}]}))
        }),
        row("distrust_project", "private", "+----..--+..", with_project),
    ]
}

pub(super) fn worktrees() -> Vec<Row> {
    vec![
        row("list_worktrees", "all", "+--------+--", |_| ask()),
        row("list_worktrees", "private", "+-----------", |_| ask().query("channel", "vault").hides("vault")),
        row("remove_worktree", "that holds work", "!--------!--", |w| {
            ask().at("worktree", w.worktree()).query("force", "false")
        }),
        row("remove_worktree", "that there is not", ".--------.--", |_| ask().at("worktree", "w999")),
    ]
}
