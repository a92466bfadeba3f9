//! Rows for channels and their members.

use serde_json::json;

use super::{ask, in_private, of_private, row};
use crate::matrix::Row;

pub(super) fn channels() -> Vec<Row> {
    vec![
        row("list_channels", "", "++++++++--+-", |_| ask()),
        row("add_channel", "public", "++++-+--+--+", |w| ask().body(json!({"name": w.name("new")}))),
        row("add_channel", "private", "++++-+--+--+", |w| {
            ask().body(json!({"name": w.name("new"), "access": "private"}))
        }),
        row("add_channel", "with a bad name", "????-?--?--?", |_| ask().body(json!({"name": "Not A Name"}))),
        row("show_channel", "public", "++++++++--+-", |_| ask().at("channel", "lobby")),
        row("show_channel", "private", "+++++..+--..", |_| ask().at("channel", "vault").hides("vault")),
        row("show_channel", "that is no text", "????????????", |_| ask().at("channel", "%ff")),
        row("change_channel", "topic, public", "++++.-.-+---", |w| {
            ask().at("channel", w.public_channel()).body(json!({"topic": "x"}))
        }),
        row("change_channel", "topic, private", "++++-..-+-..", |w| {
            in_private(w).body(json!({"topic": "x"}))
        }),
        row("change_channel", "name, public", "++--.-.-+---", |w| {
            ask().at("channel", w.public_channel()).body(json!({"name": w.name("new")}))
        }),
        row("change_channel", "name, private", "++---..-+-..", |w| {
            in_private(w).body(json!({"name": w.name("vault")}))
        }),
        row("change_channel", "access, private", "++---..-+-..", |w| {
            in_private(w).body(json!({"access": "public"}))
        }),
        row("change_channel", "archive, private", "++---..-+-..", |w| {
            in_private(w).body(json!({"archived": true}))
        }),
        row("change_channel", "nothing", "????????????", |_| ask().at("channel", "lobby").body(json!({}))),
    ]
}

pub(super) fn members() -> Vec<Row> {
    vec![
        row("list_members", "public", "++++++++--+-", |_| ask().at("channel", "lobby")),
        row("list_members", "private", "+++++..+--..", |_| ask().at("channel", "vault").hides("vault")),
        row("add_member", "another one, public", "++++.-.-+---", |w| {
            ask().at("channel", w.public_channel()).at("person", w.person())
        }),
        row("add_member", "another one, private", "++++-..-+-..", |w| in_private(w).at("person", w.person())),
        row("add_member", "oneself as ben, private", "++++-..-+-..", |w| in_private(w).at("person", "ben")),
        row("add_member", "nobody, private", "....-..-.-..", |w| in_private(w).at("person", "void")),
        row("remove_member", "another one, private", "++---..-+-..", of_private),
        row("remove_member", "oneself as ben, private", "++---..-+-..", |w| {
            in_private(w).at("person", "ben")
        }),
    ]
}
