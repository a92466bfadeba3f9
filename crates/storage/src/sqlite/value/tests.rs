//! Ids and words as columns.

use delivery::Policy;

use super::*;
use crate::contract::check;

#[test]
fn an_id_has_one_form() {
    for (text, row) in [
        ("m1", Some(1)),
        ("m90", Some(90)),
        ("m9223372036854775807", Some(i64::MAX)),
        ("m9223372036854775808", None),
        ("m0", None),
        ("m01", None),
        ("m+1", None),
        ("m-1", None),
        ("m 1", None),
        ("m1 ", None),
        ("M1", None),
        ("m", None),
        ("1", None),
        ("c1", None),
        ("", None),
        ("m१", None),
    ] {
        check(text, MessageId::from(text).row().ok(), row);
        let back = row.map(|row| MessageId::of(row).0);
        check(text, back, row.map(|_| text.to_owned()));
    }
}

#[test]
fn what_is_no_word_is_an_error() {
    check("word", Word::<Policy>::column_result(ValueRef::Text(b"lean")).unwrap().0, Policy::Lean);
    for other in [ValueRef::Text(b"leaner"), ValueRef::Text(b"\xff"), ValueRef::Integer(1), ValueRef::Null] {
        check(other, Word::<Policy>::column_result(other).is_err(), true);
    }
    check("a struct is none", Word(vec![1]).to_sql().is_err(), true);
}
