//! Open runs in words.

use super::{describe, going_on};
use crate::commands::run::example;

#[test]
fn open_runs_are_described() {
    let queued = server::wire::Run { status: "queued".to_owned(), agent: "b".to_owned(), ..example() };
    let waiting = server::wire::Run { waiting: Some("behind r3".to_owned()), ..queued.clone() };
    let running = server::wire::Run { status: "running".to_owned(), ..example() };
    let text = describe(&[example(), running, queued, waiting]);
    assert_eq!(text, "r5: @guide is working; r5: @b is queued; r5: @b is queued, behind r3");
}

#[test]
fn a_run_that_goes_on_can_be_cancelled() {
    assert_eq!(going_on("r34"), "r34 goes on; cancel it with: highwater run cancel r34");
}
