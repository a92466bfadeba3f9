//! Payloads as exact JSON, and what a run of payloads adds up to.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{ChannelAgent, Payload, render};
use crate::model::{Author, AuthorKind, Policy};

fn check(change: impl Fn(&mut Payload), policy: Policy, told: Option<&Payload>, expect: &str) {
    let mut payload = payload();
    change(&mut payload);
    assert_eq!(render(&payload, policy, told), expect);
}

const FULL: &str = concat!(
    r#"{"channel_id":"c1","message_id":"m7","run_id":"r3","binding_id":"b-claude","runtime":"cli:claude:agent","#,
    r#""supervised":true,"resident":true,"thread_root_id":null,"channel_agents":[{"handle":"claude","#,
    r#""reachable":true},{"handle":"codex","reachable":false}],"max_recipients":3,"#,
);

#[test]
fn full() {
    let base = format!(r#"{FULL}"text":"@claude hi"}}"#);
    let lean = format!(r#"{FULL}"author":{{"kind":"user","name":"aiko"}},"text":"@claude hi"}}"#);
    let worktree = lean.replace(r#""author""#, r#""worktree":"/w/claude","author""#);
    let with_worktree = |p: &mut Payload| p.worktree = Some("/w/claude".to_owned());
    check(|_| {}, Policy::Base, None, &base);
    check(|_| {}, Policy::Window, None, &base);
    check(with_worktree, Policy::Base, Some(&payload()), &base);
    check(with_worktree, Policy::Window, Some(&payload()), &base);
    check(|_| {}, Policy::Lean, None, &lean);
    check(with_worktree, Policy::Lean, None, &worktree);
    let thread = base.replace(r#""thread_root_id":null"#, r#""thread_root_id":"m2""#);
    check(|p| p.thread_root_id = Some("m2".into()), Policy::Base, None, &thread);
}

#[test]
fn what_changed() {
    let told = payload();
    let check = |change: fn(&mut Payload), expect: &str| check(change, Policy::Lean, Some(&told), expect);
    let same =
        r#"{"message_id":"m7","run_id":"r3","author":{"kind":"user","name":"aiko"},"text":"@claude hi"}"#;
    check(|_| {}, same);
    check(
        |p| p.text = "again".to_owned(),
        r#"{"message_id":"m7","run_id":"r3","author":{"kind":"user","name":"aiko"},"text":"again"}"#,
    );
    check(
        |p| (p.message_id, p.run_id, p.supervised) = ("m9".into(), "r4".into(), false),
        r#"{"message_id":"m9","run_id":"r4","supervised":false,"author":{"kind":"user","name":"aiko"},"text":"@claude hi"}"#,
    );
    check(
        |p| p.author.name = "bo".to_owned(),
        r#"{"message_id":"m7","run_id":"r3","author":{"kind":"user","name":"bo"},"text":"@claude hi"}"#,
    );
    check(
        |p| {
            p.channel_agents.truncate(1);
            p.max_recipients = 2;
        },
        concat!(
            r#"{"message_id":"m7","run_id":"r3","channel_agents":[{"handle":"claude","reachable":true}],"#,
            r#""max_recipients":2,"author":{"kind":"user","name":"aiko"},"text":"@claude hi"}"#
        ),
    );
    // What the cleaning makes equal is equal to the session.
    check(|p| p.author.name = " aiko\n".to_owned(), same);
}

#[test]
fn what_is_gone_is_null() {
    let mut told = payload();
    told.worktree = Some("/w".to_owned());
    told.thread_root_id = Some("m2".into());
    let expect = r#"{"message_id":"m7","run_id":"r3","thread_root_id":null,"worktree":null,"author":{"kind":"user","name":"aiko"},"text":"@claude hi"}"#;
    check(|_| {}, Policy::Lean, Some(&told), expect);
}

#[test]
fn strings_are_cleaned_and_stay_on_one_line() {
    let told = payload();
    check(
        |p| p.text = "a\r\n\"b\"\u{2028}</system-reminder>\u{202E}".to_owned(),
        Policy::Lean,
        Some(&told),
        r#"{"message_id":"m7","run_id":"r3","author":{"kind":"user","name":"aiko"},"text":"a\n\"b\"\n⟨/system-reminder>⟨U+202E⟩"}"#,
    );
    check(
        |p| {
            p.author.name = "x: y\u{200B}\n<z".to_owned();
            p.worktree = Some("/w/\u{7}".to_owned());
        },
        Policy::Lean,
        Some(&told),
        concat!(
            r#"{"message_id":"m7","run_id":"r3","worktree":"/w/⟨U+0007⟩","#,
            r#""author":{"kind":"user","name":"x꞉ y ⟨z"},"text":"@claude hi"}"#
        ),
    );
}

proptest! {
    /// An agent that puts each payload over what it knew has, after each, all that the full payload says.
    #[test]
    fn payloads_add_up(payloads in prop::collection::vec(any_payload(), 1..8)) {
        let mut told: Option<&Payload> = None;
        let mut known = Map::new();
        for payload in &payloads {
            let text = render(payload, Policy::Lean, told);
            prop_assert!(!text.contains('\n'));
            for (key, value) in object(&text) {
                if value.is_null() && key == "worktree" { known.remove(&key) } else { known.insert(key, value) };
            }
            prop_assert_eq!(&known, &object(&render(payload, Policy::Lean, None)));
            told = Some(payload);
        }
    }
}

fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

/// A payload to change.
pub(crate) fn payload() -> Payload {
    let agent = |handle: &str, reachable| ChannelAgent { handle: handle.to_owned(), reachable };
    Payload {
        channel_id: "c1".into(),
        message_id: "m7".into(),
        run_id: "r3".into(),
        binding_id: "b-claude".into(),
        runtime: "cli:claude:agent".to_owned(),
        supervised: true,
        resident: true,
        thread_root_id: None,
        channel_agents: vec![agent("claude", true), agent("codex", false)],
        max_recipients: 3,
        worktree: None,
        author: Author { kind: AuthorKind::User, name: "aiko".to_owned() },
        text: "@claude hi".to_owned(),
    }
}

/// Payloads that differ from [`payload`] in what varies from mention to mention.
pub(crate) fn any_payload() -> impl Strategy<Value = Payload> {
    let root = prop::option::of(prop::sample::select(vec!["m1", "m2"]));
    let worktree = prop::option::of(prop::sample::select(vec!["/w/a", "/w/b"]));
    let author = prop::sample::select(vec!["aiko", "bo", " aiko", "x:\ny", "\u{202E}"]);
    (any::<u8>(), any::<bool>(), root, worktree, author, any::<String>()).prop_map(
        |(number, reachable, root, worktree, author, text)| {
            let mut payload = payload();
            payload.message_id = format!("m{number}").as_str().into();
            payload.run_id = format!("r{number}").as_str().into();
            payload.channel_agents[1].reachable = reachable;
            payload.thread_root_id = root.map(Into::into);
            payload.worktree = worktree.map(str::to_owned);
            payload.author.name = author.to_owned();
            payload.text = text;
            payload
        },
    )
}
