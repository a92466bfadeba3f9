//! What is read out of a stream of events.

use std::io::Write as _;

use serde_json::json;

use super::*;

#[test]
fn events_are_read_and_what_is_none_ends_them() {
    let check = |stream: &'static str, expected: &[Value]| {
        let mut events = Events::of(stream.as_bytes(), SILENCE_MAX);
        let read: Vec<Value> = std::iter::from_fn(|| events.next()).collect();
        assert_eq!(read, expected, "{stream:?}");
    };
    check("", &[]);
    check(": ping\n\nid: x\nevent: hello\ndata: {\"kind\":\"hello\"}\n\n", &[json!({ "kind": "hello" })]);
    check("data:1\n\ndata: 2\r\n\r\ndata: 3\n", &[json!(1), json!(2), json!(3)]);
    check("data: 1\n\ndata: 2", &[json!(1)]);
    check("data: 1\n\ndata: {broken\n\ndata: 3\n\n", &[json!(1)]);
}

/// Public report C32: a connection over which nothing comes any more, not even a sign of life, is given up, though it
/// never ends.
#[test]
fn a_connection_that_falls_silent_ends() {
    let (body, mut server) = io::pipe().unwrap();
    let mut events = Events::of(body, Duration::from_secs(1));
    server.write_all(b"data: 1\n\n: a sign of life\n\ndata: 2\n\n").unwrap();
    let read: Vec<Value> = std::iter::from_fn(|| events.next()).collect();
    assert_eq!(read, [json!(1), json!(2)]);
    // It was there all the while.
    server.write_all(b"data: 3\n\n").unwrap();
}
