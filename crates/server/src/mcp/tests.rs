//! What every session pays for, word by word, and how calls are read.

use agents::Secrets;
use delivery::model::{Epoch, Key};
use serde_json::{Value, json};

use super::{Grant, NAMES, Tokens, catalogue, tool};
use crate::engine::Tool;

/// The tools as they go over the wire. Changing any of it breaks the provider's cache for every session that lives.
const SNAPSHOT: &str = include_str!("tests/tools.json");

/// Public report G65: tools are the same bytes in the same order for every session.
/// Cache breaks T5, B1.6, B2.18, B2.19, B2.20, B2.23, B2.27, B2.29 and B4.59.
#[test]
fn texts_and_order_are_those_of_this_version() {
    let tools = serde_json::to_value(catalogue::tools()).unwrap();
    let written = serde_json::to_string_pretty(&tools).unwrap();
    assert_eq!(written, SNAPSHOT.trim_end(), "{written}");
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, NAMES);
    assert_eq!(catalogue::tools(), catalogue::tools(), "nothing varies");
    assert!(written.is_ascii() && written.len() < 4_000, "{}", written.len());
}

fn grant() -> Grant {
    let key = Key { channel: "c1".into(), binding: "b-claude".into() };
    Grant { key, epoch: Epoch(3), secrets: Secrets::new(["geheim-4711".to_owned()]) }
}

#[test]
fn calls_are_read_strictly() {
    let check = |name: &str, arguments: Value, expect: Result<Tool, &str>| {
        let got = tool(name, arguments.clone(), &grant()).map_err(|error| error.code.as_str());
        assert_eq!(got, expect, "{name} {arguments}");
    };
    let nothing = Tool::History { before: None, thread: None, limit: None };
    check("channel_history", json!({}), Ok(nothing));
    let all = Tool::History { before: Some("m7".into()), thread: Some("m1".into()), limit: Some(100) };
    check("channel_history", json!({"before": "m7", "thread_root_id": "m1", "limit": 100}), Ok(all));
    check("channel_history", json!({"before": 7}), Err("invalid"));
    check("channel_history", json!({"limit": -1}), Err("invalid"));
    check("channel_history", json!({"channel": "c2"}), Err("invalid"));
    check("channel_roster", json!({}), Ok(Tool::Roster));
    check("channel_roster", json!({"x": 1}), Err("invalid"));
    check("project_activity", json!({}), Ok(Tool::Activity));
    let post = Tool::Post { text: "it is [redacted]".to_owned(), to: vec![], thread: None };
    check("channel_post", json!({"text": "it is geheim-4711"}), Ok(post.clone()));
    check("channel_post", json!({"text": "it is geheim-4711", "to": null, "thread_root_id": null}), Ok(post));
    let to = Tool::Post { text: "a".to_owned(), to: vec!["codex".to_owned()], thread: Some("m1".into()) };
    check("channel_post", json!({"text": "a", "to": ["codex"], "thread_root_id": "m1"}), Ok(to));
    check("channel_post", json!({}), Err("invalid"));
    check("channel_post", json!({"text": "a", "to": "codex"}), Err("invalid"));
    check("decline", json!({"reason": "geheim-4711"}), Ok(Tool::Decline { reason: "[redacted]".to_owned() }));
    check("decline", json!({}), Err("invalid"));
    check("delete_everything", json!({}), Err("not_found"));
}

#[test]
fn a_token_is_good_while_its_process_lives() {
    let tokens = Tokens::default();
    let made: Vec<String> = (0..3).map(|_| Tokens::make().unwrap()).collect();
    assert!(made.iter().all(|token| token.len() == 64) && made[0] != made[1]);
    for (token, epoch) in made.iter().zip([3, 4]) {
        tokens.open(token.clone(), Grant { epoch: Epoch(epoch), ..grant() });
    }
    let epochs = |tokens: &Tokens| -> Vec<Option<u64>> {
        made.iter().map(|token| tokens.grant(token).map(|grant| grant.epoch.0)).collect()
    };
    assert_eq!(epochs(&tokens), [Some(3), Some(4), None]);
    for wrong in ["", &made[0][..63], &format!("{}0", made[0]), &made[0].to_uppercase()] {
        assert_eq!(tokens.grant(wrong).map(|grant| grant.epoch), None, "{wrong}");
    }
    tokens.close(&Key { channel: "c2".into(), ..grant().key }, Epoch(3));
    tokens.close(&grant().key, Epoch(5));
    assert_eq!(epochs(&tokens), [Some(3), Some(4), None]);
    tokens.close(&grant().key, Epoch(3));
    assert_eq!(epochs(&tokens), [None, Some(4), None]);
    assert_eq!(format!("{tokens:?}"), "Tokens(1)");
}
