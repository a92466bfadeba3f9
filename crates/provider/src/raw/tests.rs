//! What is kept of JSON as it was sent.

use super::*;

fn check(json: &str, without: &[&str], expected: &str) {
    let value: &RawValue = serde_json::from_str(json).unwrap();
    assert_eq!(Fields::of(value).unwrap().without(without), expected, "for {json}");
}

#[test]
fn order_and_bytes_are_kept() {
    check(r#"{"b":1.0,"a":{"z":1, "y":2}}"#, &[], r#"{"b":1.0,"a":{"z":1, "y":2}}"#);
    check(r#"{ "b" : 1 , "a" : "\u00e9" }"#, &[], r#"{"b":1,"a":"\u00e9"}"#);
    check(r#"{"b":1,"cache_control":{"type":"ephemeral"},"a":2}"#, &["cache_control"], r#"{"b":1,"a":2}"#);
    check(r#"{"é\n":1}"#, &[], r#"{"é\n":1}"#);
    check("{}", &["a"], "{}");
}

#[test]
fn values_are_found_by_name() {
    let value: &RawValue =
        serde_json::from_str(r#"{"a":"x","a":"y","n":1,"list":[1,{}],"yes":true}"#).unwrap();
    let fields = Fields::of(value).unwrap();
    assert_eq!(fields.text("a").as_deref(), Some("y"), "the later one counts");
    assert_eq!(fields.text("n"), None);
    assert_eq!(fields.items("list").len(), 2);
    assert!(fields.items("a").is_empty() && fields.items("gone").is_empty());
    assert!(fields.is_true("yes") && !fields.is_true("n"));
    assert!(Fields::of(serde_json::from_str("[1]").unwrap()).is_none());
}
