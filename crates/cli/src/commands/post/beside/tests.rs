//! Which words are taken for mentions of nobody, and what is asked to know it.

use serde_json::json;
use server::wire;

use super::{nobody, notices, unknown};
use crate::client::Client;
use crate::client::tests::{Script, Step};
use crate::commands::agent;
use crate::commands::run::{example, example_message};

#[test]
fn words_that_mention_nobody() {
    let check = |text: &str, expected: &[&str]| {
        let known = ["guide", "b-", "claude"].into_iter().collect();
        assert_eq!(unknown(text, &known), expected, "{text:?}");
    };
    check("@guide @Claude- hello", &[]);
    check("@ghost and @Ghost, then @spectre_", &["ghost", "spectre"]);
    check("ask @b- or @b", &["b"]);
    check("`@ghost`, mail a@ghost.example, > no\n\n> @ghost said", &[]);
    check("install @agentclientprotocol/claude-agent-acp", &[]);
    check("@ghost/@spectre: which?", &["ghost", "spectre"]);
    check("@ 5 @5 @@", &[]);
}

fn posted(text: &str) -> wire::Posted {
    wire::Posted { message: example_message(text), runs: vec![example()] }
}

/// What is said of a message, given these answers of the server, all of which must be asked for.
fn check(text: &str, answers: &[serde_json::Value], requests: &[&str], expected: Option<&str>) {
    let script = Script::play(answers.iter().map(|body| Step::Answer(200, body.to_string())).collect());
    let client = Client::new(&script.url, "t").unwrap();
    assert_eq!(nobody(&client, &posted(text)).as_deref(), expected, "{text:?}");
    assert_eq!(script.requests(), requests);
}

#[test]
fn only_an_unknown_word_asks_the_server() {
    let channel = |direct: Option<&str>| {
        let agents = vec![agent::example(), wire::Agent { handle: "claude".to_owned(), ..agent::example() }];
        json!(wire::Channel {
            id: "c1".to_owned(),
            name: "general".to_owned(),
            direct: direct.map(ToOwned::to_owned),
            created_at: "2026-11-30T10:00:00.000Z".parse().unwrap(),
            last_seq: 7,
            access: wire::Access::Public,
            topic: String::new(),
            archived_at: None,
            paused_at: None,
            rank: None,
            agents,
        })
    };
    let people =
        json!([{"id": "p1", "name": "aiko", "role": "owner", "created_at": "2026-11-30T10:00:00.000Z"}]);
    let (get_channel, get_people) = ("GET /api/v1/channels/general Bearer t", "GET /api/v1/people Bearer t");
    check("@guide hello", &[], &[], None);
    check("hello", &[], &[], None);
    check("@guide and @claude", &[channel(None)], &[get_channel], None);
    check("@guide and @ghost", &[channel(Some("guide"))], &[get_channel], None);
    check("@guide tell @aiko", &[channel(None), people.clone()], &[get_channel, get_people], None);
    let note = "no @ghost in general; its agents: @claude, @guide";
    check("@ghost tell @aiko", &[channel(None), people], &[get_channel, get_people], Some(note));
}

#[test]
fn notices_of_a_message_stand_right_behind_it() {
    let message = |seq: u64, kind: &str, run: Option<&str>, text: &str| wire::Message {
        seq,
        author: wire::Author { kind: kind.to_owned(), name: "highwater".to_owned(), person_id: None },
        run_id: run.map(ToOwned::to_owned),
        ..example_message(text)
    };
    let check = |history: &[wire::Message], expected: &[&str]| {
        let script = Script::play(vec![Step::Answer(200, json!(history).to_string())]);
        let client = Client::new(&script.url, "t").unwrap();
        assert_eq!(notices(&client, &posted("hello")), expected);
        assert_eq!(script.requests(), ["GET /api/v1/channels/general/messages?limit=50 Bearer t"]);
    };
    let (before, itself) = (message(16, "system", None, "old"), message(17, "user", None, "hello"));
    let notice = message(18, "system", None, "not asked: @echo");
    check(&[], &[]);
    check(&[before.clone(), itself.clone()], &[]);
    check(
        &[before, itself.clone(), notice.clone(), message(19, "agent", Some("r5"), "hi")],
        &["not asked: @echo"],
    );
    check(&[itself.clone(), message(18, "system", Some("r5"), "it failed")], &[]);
    check(&[itself.clone(), message(19, "system", None, "of another")], &[]);
    check(&[itself, notice, message(19, "system", None, "two")], &["not asked: @echo", "two"]);
}
