//! The list of runs, and when a run has ended.

use server::wire;

use super::{example, has_ended, list};

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
RUN  STATUS     CHANNEL  AGENT   MESSAGE  LEASE  CREATED               TOOK   WHY
r6   queued     general  @guide  m17             2026-11-30 10:00:01Z         behind r5
r5   succeeded  general  @guide  m17      warm   2026-11-30 10:00:01Z  2.2 s
";
    assert_eq!(list(&[waiting, example()]), expected);
}

#[test]
fn runs_end_with_one_of_four_words() {
    let ended = ["queued", "running", "succeeded", "failed", "cancelled", "declined", "resting"]
        .map(|status| has_ended(&wire::Run { status: status.to_owned(), ..example() }));
    assert_eq!(ended, [false, false, true, true, true, true, false]);
}
