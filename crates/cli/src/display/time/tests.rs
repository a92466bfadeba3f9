//! Times and spans are short.

use delivery::Timestamp;

use super::{ago, span, time};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn times_have_no_fractions() {
    assert_eq!(time(at("2026-11-30T10:00:01.250Z")), "2026-11-30 10:00:01Z");
}

#[test]
fn lists_tell_how_long_ago() {
    let check = |then: &str, expected: &str| {
        assert_eq!(ago(at(then), at("2026-11-30T10:00:00.000Z")), expected, "{then}");
    };
    check("2026-11-30T10:00:05.000Z", "now");
    check("2026-11-30T09:59:59.001Z", "now");
    check("2026-11-30T09:59:59.000Z", "1s ago");
    check("2026-11-30T09:59:00.001Z", "59s ago");
    check("2026-11-30T09:57:30.000Z", "2m ago");
    check("2026-11-30T07:00:00.000Z", "3h ago");
    check("2026-11-29T10:00:00.000Z", "1d ago");
    check("2026-11-01T10:00:00.000Z", "29d ago");
    check("2026-10-31T10:00:00.000Z", "2026-10-31");
}

#[test]
fn spans_below_a_second_are_in_milliseconds() {
    let check = |from: &str, to: &str, expected: &str| assert_eq!(span(at(from), at(to)), expected);
    check("2026-11-30T10:00:01.250Z", "2026-11-30T10:01:02.500Z", "61.2 s");
    check("2026-11-30T10:00:01.000Z", "2026-11-30T10:00:02.000Z", "1.0 s");
    check("2026-11-30T10:00:01.000Z", "2026-11-30T10:00:01.999Z", "999 ms");
    check("2026-11-30T10:00:02.000Z", "2026-11-30T10:00:01.000Z", "0 ms");
}
