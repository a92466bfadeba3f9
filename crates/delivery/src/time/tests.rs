//! Timestamps print and parse.

use super::Timestamp;

fn check(text: &str, expect: Result<&str, ()>) {
    let got = text.parse::<Timestamp>().map(|t| t.to_string()).map_err(|_| ());
    assert_eq!(got, expect.map(str::to_owned), "{text}");
}

#[test]
fn timestamps() {
    check("2026-11-30T10:00:01.000Z", Ok("2026-11-30T10:00:01.000Z"));
    check("1970-01-01T00:00:00Z", Ok("1970-01-01T00:00:00.000Z"));
    check("2024-02-29T23:59:59.9Z", Ok("2024-02-29T23:59:59.900Z"));
    check("1969-12-31T23:59:59.123456Z", Ok("1969-12-31T23:59:59.123Z"));
    check("2025-02-29T00:00:00Z", Err(()));
    check("2025-13-01T00:00:00Z", Err(()));
    check("2025-01-01 00:00:00Z", Err(()));
    check("2025-01-01T00:00:00.Z", Err(()));
    check("2025-01-01T00:00:00+01:00", Err(()));
    check("yesterday", Err(()));
}
