//! Hits on one line each, around the match.

use super::{list, snippet};
use crate::commands::run::example_message;

#[test]
fn hits_are_listed() {
    let now = "2026-11-30T10:02:30.000Z".parse().unwrap();
    let expected = "\
MESSAGE  CHANNEL  AUTHOR  WRITTEN  TEXT
m17      general  aiko    2m ago   the deploy is red
";
    assert_eq!(list(&[example_message("the deploy\nis red")], "red", now), expected);
    assert_eq!(list(&[], "red", now), "nothing was found\n");
}

#[test]
fn snippets_stand_around_the_match() {
    let check = |text: &str, query: &str, expected: &str| assert_eq!(snippet(text, query), expected);
    check("short", "short", "short");
    check("short", "elsewhere", "short");
    let long = format!("{}the ÄRGER of all{}", "before ".repeat(20), " after".repeat(20));
    check(
        &long,
        "nothing \"ärger\"",
        "…fore before the ÄRGER of all after after after after after after after a…",
    );
    check(&long, "before", "before before before before before before before before before before be…");
    let end = format!("{}match", "x ".repeat(100));
    check(&end, "match", &format!("…{}match", " x".repeat(33) + " "));
}
