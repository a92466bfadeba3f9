//! Posts that are tried again, and what is printed of ended runs.

use std::collections::BTreeSet;
use std::time::Duration;

use server::wire;

use super::{answers, client_id, post, tell, unsuccessful, wait};
use crate::client::Client;
use crate::client::tests::{Script, Step};
use crate::commands::run::{example, example_message};
use crate::failure::{Failure, Kind};
use crate::progress::Progress;

fn posted(runs: Vec<wire::Run>) -> wire::Posted {
    wire::Posted { message: example_message("@guide hello"), runs }
}

fn run(status: &str) -> wire::Run {
    wire::Run { status: status.to_owned(), replies: Vec::new(), ..example() }
}

fn answer(posted: &wire::Posted) -> Step {
    Step::Answer(200, serde_json::to_string(posted).unwrap())
}

#[test]
fn a_lost_answer_is_asked_for_again_under_the_same_client_id() {
    let expected = posted(vec![run("queued")]);
    let script = Script::play(vec![Step::Drop, Step::Drop, answer(&expected)]);
    let mut client = Client::new(&script.url, "t").unwrap();
    let find = || Client::new(&script.url, "t");
    let body = wire::PostMessage {
        text: "@guide hello".to_owned(),
        client_id: Some("cli-1".to_owned()),
        ..wire::PostMessage::default()
    };
    let actual = post(&mut client, find, "general", &body, &[Duration::ZERO; 3]);
    assert_eq!(actual, Ok(expected));
    let request =
        "POST /api/v1/channels/general/messages Bearer t {\"text\":\"@guide hello\",\"client_id\":\"cli-1\"}";
    assert_eq!(script.requests(), [request; 3]);
}

#[test]
fn a_refused_post_is_not_tried_again() {
    let error = r#"{"code": "not_found", "message": "no such channel: general"}"#.to_owned();
    let script = Script::play(vec![Step::Answer(404, error)]);
    let mut client = Client::new(&script.url, "t").unwrap();
    let find = || Client::new(&script.url, "t");
    let actual = post(&mut client, find, "general", &wire::PostMessage::default(), &[Duration::ZERO; 3]);
    let hint = "highwater channel list shows all channels";
    assert_eq!(actual, Err(Failure::new(Kind::NotFound, "no such channel: general").hint(hint)));
    assert_eq!(script.requests().len(), 1);
}

#[test]
fn waiting_asks_until_every_run_has_ended() {
    let states =
        [posted(vec![run("succeeded"), run("queued")]), posted(vec![run("succeeded"), run("running")])];
    let expected = posted(vec![run("succeeded"), run("cancelled")]);
    let script = Script::play(vec![answer(&states[1]), Step::Drop, answer(&expected)]);
    let mut client = Client::new(&script.url, "t").unwrap();
    let url = script.url.clone();
    let find = || Client::new(&url, "t");
    assert_eq!(wait(&mut client, find, states[0].clone(), &Progress::start()), Ok(expected.clone()));
    let requests = script.requests();
    assert!(requests.iter().all(|request| request.starts_with("GET /api/v1/messages/m17/runs?wait_ms=")));
    assert_eq!(requests.len(), 3);
    // Nothing is asked for when there is nothing to wait for.
    assert_eq!(wait(&mut client, find, expected.clone(), &Progress::start()), Ok(expected));
    assert_eq!(wait(&mut client, find, posted(Vec::new()), &Progress::start()), Ok(posted(Vec::new())));
}

#[test]
fn what_was_posted_is_told() {
    assert_eq!(tell(&posted(Vec::new())), "m17 was posted\n");
    let two = posted(vec![run("queued"), wire::Run { agent: "b\u{1b}".to_owned(), ..run("queued") }]);
    assert_eq!(tell(&two), "m17 was posted, asked @guide (r5), @b⟨U+001B⟩ (r5)\n");
}

#[test]
fn answers_are_printed_and_failures_told() {
    let check = |runs: &[wire::Run], text: &str, failure: Option<Failure>| {
        assert_eq!((answers(runs, None), unsuccessful(runs)), (text.to_owned(), failure));
    };
    let failure = |message: &str| {
        let failure = Failure::new(Kind::RunFailed, message);
        failure.hint("highwater run show r5 tells more; highwater run retry r5 tries it again")
    };
    let because = |status: &str, why: &str| wire::Run { error: Some(why.to_owned()), ..run(status) };
    check(&[], "", None);
    let reply = |kind: &str, name: &str, text: &str| wire::Message {
        author: wire::Author { kind: kind.to_owned(), name: name.to_owned(), person_id: None },
        ..example_message(text)
    };
    let replies = vec![reply("agent", "@guide", "first\nline \u{1b}[2J"), reply("agent", "@guide", "second")];
    let succeeded = wire::Run { replies, ..example() };
    let notice = vec![reply("system", "highwater", "(no reply)")];
    check(&[wire::Run { replies: notice.clone(), ..example() }], "(no reply)\n", None);
    let told_once = wire::Run { replies: notice, ..because("failed", "it exited") };
    check(&[told_once], "", Some(failure("r5 of @guide failed: it exited")));
    check(std::slice::from_ref(&succeeded), "@guide: first\nline ⟨U+001B⟩[2J\n@guide: second\n", None);
    check(&[because("declined", "not mine")], "@guide declined: not mine\n", None);
    check(&[run("declined")], "@guide declined: no reason was given\n", None);
    check(&[because("failed", "it exited")], "", Some(failure("r5 of @guide failed: it exited")));
    check(&[run("cancelled")], "", Some(failure("r5 of @guide was cancelled")));
    let both = failure("r5 of @guide was cancelled").and(failure("r5 of @guide failed: it exited"));
    check(
        &[run("cancelled"), succeeded, because("failed", "it exited")],
        "@guide: first\nline ⟨U+001B⟩[2J\n@guide: second\n",
        Some(both),
    );
}

#[test]
fn client_ids_differ() {
    let ids: BTreeSet<String> = (0..1_000).map(|_| client_id()).collect();
    assert_eq!(ids.len(), 1_000);
    assert!(ids.iter().all(|id| id.len() == 36 && id.starts_with("cli-")));
}
