//! Errors and the faults that they tell of.

use super::*;

#[test]
fn faults_are_told_by_data_else_by_text() {
    let passing = |kind, retry_after_ms| Fault::Passing { kind, retry_after_ms };
    for (data, text, expected) in [
        (r#"{"errorKind":"rate_limit"}"#, "", passing(Passing::RateLimit, None)),
        (r#"{"errorKind":"rate_limit","retryAfter":30}"#, "", passing(Passing::RateLimit, Some(30_000))),
        (r#"{"errorKind":"rate_limit","retryAfter":"1.5"}"#, "", passing(Passing::RateLimit, Some(1_500))),
        (r#"{"errorKind":"rate_limit","retryAfter":"soon"}"#, "", passing(Passing::RateLimit, None)),
        (r#"{"errorKind":"rate_limit","retryAfter":-3}"#, "", passing(Passing::RateLimit, Some(0))),
        (
            r#"{"errorKind":"overloaded","retryAfterMs":0.2,"retryAfter":9}"#,
            "",
            passing(Passing::Overloaded, Some(1)),
        ),
        (
            r#"{"errorKind":"server_error","retryAfterMs":1e300}"#,
            "",
            passing(Passing::Server, Some(u64::MAX)),
        ),
        (r#"{"errorKind":"server_error"}"#, "invalid_request_error", passing(Passing::Server, None)),
        (r#"{"errorKind":"invalid_request"}"#, "", Fault::Invalid),
        (r#"{"errorKind":"unknown"}"#, r#"API Error: 400 {"type":"invalid_request_error"}"#, Fault::Invalid),
        ("{}", r#"400 {"type":"invalid_request_error"}"#, Fault::Invalid),
        (r#"{"errorKind":"unknown"}"#, "something", Fault::Other),
        (r#"{"errorKind":"authentication"}"#, "invalid_request_error", Fault::Other),
        (r#"{"errorKind":7}"#, "", Fault::Other),
        (r#""rate_limit""#, "rate_limit", Fault::Other),
        ("null", "401 Unauthorized", Fault::Other),
    ] {
        let data = RawValue::from_string(data.to_owned()).unwrap();
        assert_eq!(of_error(Some(&data), text), expected, "{data} {text}");
    }
    assert_eq!(of_error(None, "overloaded"), Fault::Other);
}
