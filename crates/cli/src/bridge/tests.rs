//! What the bridge answers by itself; the rest is seen in the tests of the whole program.

use super::{LINE_BYTES_MAX, Server, carry};

/// What comes out when no server listens.
fn check(input: &[u8], expect: &[&str]) {
    let nobody = Server::new("http://127.0.0.1:1/mcp".to_owned(), "t0ken".to_owned());
    let mut output = Vec::new();
    carry(&nobody, &mut &*input, &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), expect.len(), "{output}");
    for (line, expect) in lines.iter().zip(expect) {
        assert!(line.contains(expect), "{line}");
    }
}

#[test]
fn what_cannot_be_carried_is_answered() {
    check(b"", &[]);
    check(b"\n \r\n", &[]);
    check(b"no json\n", &["\"code\":-32600"]);
    check(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, &["\"id\":7"]);
    check(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, &["Highwater does not answer"]);
    check(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, &[]);
    let mut long = vec![b'x'; LINE_BYTES_MAX + 5];
    long.extend(b"\n{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n");
    check(&long, &["1 MiB at most", "\"id\":8"]);
}
