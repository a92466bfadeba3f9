//! Rows for people, their ways in, and the server itself.

use serde_json::json;

use super::{ask, of_token, row};
use crate::matrix::Row;

pub(super) fn sign_in() -> Vec<Row> {
    vec![
        row("openapi", "", "++++++++++++", |_| ask()),
        row("health", "", "++++++++++++", |_| ask()),
        row("sign_in", "by a link", "++++++++++++", |w| ask().body(json!({"code": w.code()}))),
        row("sign_in", "by a code that was never given", "000000000000", |_| {
            ask().body(json!({"code": "0"}))
        }),
        row("sign_in", "by neither", "????????????", |_| ask().body(json!({}))),
        row("sign_out", "", "!!+!!!!!!!!!", |_| ask()),
        row("me", "", "++++++++++++", |_| ask()),
    ]
}

pub(super) fn people() -> Vec<Row> {
    vec![
        row("list_people", "", "++++++++--+-", |_| ask()),
        row("add_person", "", "+--------+--", |w| ask().body(json!({"name": w.name("person")}))),
        row("change_person", "name", "+---.-.--+--", |w| {
            ask().at("person", w.person()).body(json!({"name": w.name("person")}))
        }),
        row("change_person", "role", "+--------+--", |w| {
            ask().at("person", w.person()).body(json!({"role": "guest"}))
        }),
        row("change_person", "deactivate", "+--------+--", |w| {
            ask().at("person", w.person()).body(json!({"active": false}))
        }),
        row("change_person", "two things at once", "????????????", |w| {
            ask().at("person", w.person()).body(json!({"role": "guest", "active": false}))
        }),
        row("change_person", "nobody", "........--.-", |_| {
            ask().at("person", "void").body(json!({"name": "nobody"}))
        }),
        row("set_password", "of another one", "+---.-.-----", |w| {
            ask().at("person", w.person()).body(json!({"password": "correct horse"}))
        }),
        row("set_password", "too short", "?---.-.-----", |w| {
            ask().at("person", w.person()).body(json!({"password": "x"}))
        }),
        row("add_invite", "a new person", "+--------+--", |w| ask().body(json!({"name": w.name("person")}))),
    ]
}

pub(super) fn tokens() -> Vec<Row> {
    vec![
        row("list_tokens", "one's own", "+++-+++-----", |_| ask()),
        row("list_tokens", "of another one", "+---.-.-----", |w| ask().query("person", w.person())),
        row("add_token", "one's own", "+++-+++-----", |_| {
            ask().body(json!({"label": "x", "scopes": ["read"]}))
        }),
        row("add_token", "for another one", "+---.-.-----", |w| {
            ask().body(json!({"label": "x", "person": w.person(), "scopes": ["read"]}))
        }),
        row("add_token", "with every scope", "+++-+++-----", |_| {
            ask().body(json!({"label": "x", "scopes": ["read", "write", "admin"]}))
        }),
        row("revoke_token", "of aiko", "+.+-...--+..", of_token),
    ]
}
