//! What is read out of a stream of events.

use serde_json::json;

use super::*;

#[test]
fn events_are_read_and_what_is_none_ends_them() {
    let check = |stream: &'static str, expected: &[Value]| {
        let mut events = Events { lines: BufReader::new(Box::new(stream.as_bytes())) };
        let read: Vec<Value> = std::iter::from_fn(|| events.next()).collect();
        assert_eq!(read, expected, "{stream:?}");
    };
    check("", &[]);
    check(": ping\n\nid: x\nevent: hello\ndata: {\"kind\":\"hello\"}\n\n", &[json!({ "kind": "hello" })]);
    check("data:1\n\ndata: 2\r\n\r\ndata: 3\n", &[json!(1), json!(2), json!(3)]);
    check("data: 1\n\ndata: 2", &[json!(1)]);
    check("data: 1\n\ndata: {broken\n\ndata: 3\n\n", &[json!(1)]);
}
