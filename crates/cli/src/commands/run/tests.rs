//! The list of runs, and when a run has ended.

use server::wire;

use super::{cancelled, example, has_ended, list};

#[test]
fn runs_are_listed() {
    let waiting = wire::Run {
        id: "r6".to_owned(),
        status: "queued".to_owned(),
        lease: None,
        started_at: None,
        ended_at: None,
        waiting: Some("behind r5".to_owned()),
        ..example()
    };
    let expected = "\
RUN  STATUS     CHANNEL  AGENT   MESSAGE  LEASE  CREATED  TOOK   WHY
r6   queued     general  @guide  m17             2m ago          behind r5
r5   succeeded  general  @guide  m17      warm   2m ago   2.2 s
";
    let now = "2026-11-30T10:02:30.000Z".parse().unwrap();
    assert_eq!(list(&[waiting, example()], now), expected);
}

#[test]
fn runs_end_with_one_of_four_words() {
    let ended = ["queued", "running", "succeeded", "failed", "cancelled", "declined", "resting"]
        .map(|status| has_ended(&wire::Run { status: status.to_owned(), ..example() }));
    assert_eq!(ended, [false, false, true, true, true, true, false]);
}

#[test]
fn a_run_that_still_runs_is_being_cancelled() {
    let check = |status: &str, expected: &str| {
        assert_eq!(cancelled(&wire::Run { status: status.to_owned(), ..example() }), expected);
    };
    check("running", "r5 is being cancelled\n");
    check("cancelled", "r5 is cancelled\n");
}
