//! Open runs in words.

use super::describe;
use crate::commands::run::example;

#[test]
fn open_runs_are_described() {
    let queued = server::wire::Run { status: "queued".to_owned(), agent: "b".to_owned(), ..example() };
    let waiting = server::wire::Run { waiting: Some("behind r3".to_owned()), ..queued.clone() };
    let running = server::wire::Run { status: "running".to_owned(), ..example() };
    let text = describe(&[example(), running, queued, waiting]);
    assert_eq!(text, "@guide is working, @b is queued, @b is queued: behind r3");
}
