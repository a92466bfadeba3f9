//! Rows for messages: read, found, written.

use serde_json::json;

use super::{ask, in_private, of_message, row};
use crate::matrix::Row;

pub(super) fn reading() -> Vec<Row> {
    vec![
        row("list_threads", "public", "++++++++--+-", |_| ask().at("channel", "lobby")),
        row("list_threads", "private", "+++++..+--..", |_| ask().at("channel", "vault").hides("vault")),
        row("list_threads", "too many", "????????????", |_| {
            ask().at("channel", "lobby").query("limit", "1001")
        }),
        row("list_messages", "public", "++++++++--+-", |_| {
            ask().at("channel", "lobby").query("limit", "1").query("html", "true")
        }),
        row("list_messages", "private", "+++++..+--..", |_| ask().at("channel", "vault").hides("vault")),
        row("list_messages", "a page of a private one", "+++++..+--..", |w| {
            ask().at("channel", "vault").query("before", &w.reply).hides("vault").hides(&w.reply)
        }),
        row("list_messages", "a thread of a private one", "+++++..+--..", |w| {
            ask().at("channel", "vault").query("thread", &w.root).hides("vault").hides(&w.root)
        }),
        row("list_messages", "a thread of a private one through a public one", "????...?--.-", |w| {
            ask().at("channel", "general").query("thread", &w.root).hides(&w.root)
        }),
        row(
            "list_messages",
            "before a message of a private one, through a public one",
            "????...?--.-",
            |w| ask().at("channel", "general").query("before", &w.root).hides(&w.root),
        ),
        row("list_messages", "with a bad limit", "????????????", |_| {
            ask().at("channel", "lobby").query("limit", "1001")
        }),
        row("show_message", "private", "+++++..+--..", |w| {
            ask().at("message", &w.root).query("wait_ms", "1").hides(&w.root)
        }),
        row("show_message", "a private reply", "+++++..+--..", |w| {
            ask().at("message", &w.reply).hides(&w.reply)
        }),
        row("search", "everywhere", "++++++++--+-", |_| ask().query("q", "ripe").query("limit", "1000")),
        row("search", "in a private channel", "+++++..+--..", |_| {
            ask().query("q", "ripe").query("channel", "vault").hides("vault")
        }),
    ]
}

pub(super) fn writing() -> Vec<Row> {
    vec![
        row("post_message", "public", "++++.+.-+--+", |w| {
            ask().at("channel", w.public_channel()).body(json!({"text": "hi"}))
        }),
        row("post_message", "private", "-++++..---..", |w| in_private(w).body(json!({"text": "hi"}))),
        row("post_message", "into a private thread", "-......---..", |w| {
            in_private(w).body(json!({"text": "hi", "thread_root_id": w.root})).hides(&w.root)
        }),
        row("post_message", "into a private thread through a public channel", ".......-.--.", |w| {
            ask()
                .at("channel", "general")
                .body(json!({"text": "hi", "thread_root_id": w.root}))
                .hides(&w.root)
        }),
        row("post_message", "under another name", "+-++--------", |w| {
            in_private(w).body(json!({"text": "hi", "author": "aiko"}))
        }),
        row("post_message", "without a text", "-????..---..", |w| in_private(w).body(json!({"text": ""}))),
        row("post_message", "with an unknown field", "????????????", |w| {
            in_private(w).body(json!({"text": "hi", "colour": "red"}))
        }),
        row("edit_message", "private", "+-++-..-+-..", |w| {
            of_message(w).body(json!({"text": "a quince still"}))
        }),
        row("edit_message", "public", "+-++.-.-+---", |w| {
            ask().at("message", w.message("general")).body(json!({"text": "x"}))
        }),
        row("delete_message", "private", "+-++-..-+-..", of_message),
        row("delete_message", "public", "+-++.-.-+---", |w| ask().at("message", w.message("general"))),
    ]
}

pub(super) fn events() -> Vec<Row> {
    vec![
        row("follow_events", "all", "++++++++--+-", |_| ask().query("html", "true")),
        row("follow_events", "after nothing", "++++++++--+-", |_| ask().query("since", "x")),
        row("follow_events", "private", "+++++..+--.-", |_| ask().query("channel", "vault").hides("vault")),
        // Rights come first; then it is no WebSocket.
        row("follow_events_ws", "all", "????????--?-", |_| ask().query("html", "true").query("since", "x")),
        row("follow_events_ws", "private", "?????..?--.-", |_| {
            ask().query("channel", "vault").hides("vault")
        }),
    ]
}
