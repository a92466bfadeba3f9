//! The protocol is spoken through memory.

use super::*;

#[test]
fn a_conversation() {
    let said = speak(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
{"jsonrpc":"2.0","id":"two","method":"session/new","params":{"cwd":"/","mcpServers":[]}}
{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"},{"type":"resource_link","name":"a","uri":"file:///a"}]}}
{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}
{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s2","prompt":[{"type":"text","text":"show"}]}}
"#
        .as_bytes(),
    );
    let (answers, updates): (Vec<_>, Vec<_>) = said.iter().partition(|message| message.get("id").is_some());
    assert_eq!(
        answers,
        [
            &json!({"jsonrpc": "2.0", "id": 0, "result": capabilities()}),
            &json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s1"}}),
            &json!({"jsonrpc": "2.0", "id": "two", "result": {"sessionId": "s2"}}),
            &json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}),
            &json!({"jsonrpc": "2.0", "id": 4, "result": {"stopReason": "end_turn"}}),
        ]
    );
    let first = text_of(&updates, "s1");
    assert!(first.len() > 1 && first.concat().starts_with("Hello! I am Highwater's guide"), "{first:?}");
    let second = text_of(&updates, "s2").concat();
    assert_eq!(second, "This turn exactly as I got it, 4 bytes, about 1 token:\n\n```text\nshow\n```");
    assert_eq!(said.last(), answers.last().copied());
}

#[test]
fn a_session_goes_on_in_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::at(folder.path());
    let prompt = |id: u32, text: &str| {
        let params = json!({"sessionId": "s1", "prompt": [{"type": "text", "text": text}]});
        format!("{}\n", json!({"id": id, "method": "session/prompt", "params": params}))
    };
    let new = "{\"id\":1,\"method\":\"session/new\"}\n".to_owned();
    speak_with(&shelf, (new + &prompt(2, "hello") + &prompt(3, "hello")).as_bytes());
    let load = "{\"id\":1,\"method\":\"session/load\",\"params\":{\"sessionId\":\"s1\"}}\n".to_owned();
    let said = speak_with(&shelf, (load + &prompt(2, "hello") + &prompt(3, "stats")).as_bytes());
    let kinds: Vec<&str> = said
        .iter()
        .map(|said| said["params"]["update"]["sessionUpdate"].as_str().unwrap_or("answer"))
        .collect();
    assert_eq!(kinds[..3], ["user_message_chunk", "user_message_chunk", "answer"]);
    assert_eq!(said[2], json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    let all = text_of(&said.iter().collect::<Vec<_>>(), "s1").concat();
    assert!(all.starts_with("Hello again!\n\nThis turn was **restored**"), "{all}");
    assert!(all.contains("- 4 turns"), "{all}");
    assert!(all.matches("restored").count() == 1, "only the first turn after it: {all}");
}

#[test]
fn what_cannot_be_answered() {
    let table: [(&[u8], Value); 11] = [
        (b"{", json!([null, PARSE_ERROR])),
        (b"\xff\xfe", json!([null, PARSE_ERROR])),
        (b"[]", json!([null, INVALID_REQUEST])),
        (b"{\"id\":7}", json!([7, INVALID_REQUEST])),
        (br#"{"id":8,"method":"session/resume","params":{}}"#, json!([8, METHOD_NOT_FOUND])),
        (br#"{"id":8,"method":"session/load","params":{}}"#, json!([8, INVALID_PARAMS])),
        (
            br#"{"id":8,"method":"session/load","params":{"sessionId":"s9","cwd":"/","mcpServers":[]}}"#,
            json!([8, RESOURCE_NOT_FOUND]),
        ),
        (br#"{"id":9,"method":"session/prompt","params":{"sessionId":1}}"#, json!([9, INVALID_PARAMS])),
        (br#"{"id":9,"method":"session/prompt"}"#, json!([9, INVALID_PARAMS])),
        (
            br#"{"id":10,"method":"session/prompt","params":{"sessionId":"s9","prompt":[]}}"#,
            json!([10, RESOURCE_NOT_FOUND]),
        ),
        (br#"{"id":11,"method":"\ud800"}"#, json!([null, PARSE_ERROR])),
    ];
    let failed = table.clone().map(|(line, _)| {
        let said = speak(line);
        let [only] = said.as_slice() else { panic!("one answer to {line:?}, not {said:?}") };
        (line, json!([only["id"], only["error"]["code"]]))
    });
    assert_eq!(failed, table);
}

#[test]
fn what_needs_no_answer_gets_none() {
    for line in
        ["", "\n", "  \r\n", r#"{"method":"unknown"}"#, r#"{"id":1,"result":null}"#, r#"{"id":1,"error":{}}"#]
    {
        assert_eq!(speak(line.as_bytes()), Vec::<Value>::new(), "{line}");
    }
}

#[test]
fn a_line_without_end_costs_only_itself() {
    let mut input = vec![b'x'; usize::try_from(LINE_BYTES_MAX).unwrap() + 9];
    input.extend(b"\n{\"id\":1,\"method\":\"session/new\"}\n");
    let codes: Vec<_> = speak(&input).iter().map(|said| said["error"]["code"].clone()).collect();
    assert_eq!(codes, [json!(PARSE_ERROR), Value::Null]);
}

#[test]
fn the_oldest_of_too_many_sessions_goes() {
    let mut input = "{\"id\":0,\"method\":\"session/new\"}\n".repeat(SESSIONS_MAX + 1);
    for id in ["s1", "s2"] {
        let params = json!({"sessionId": id, "prompt": [{"type": "text", "text": "help"}]});
        input += &format!("{}\n", json!({"id": id, "method": "session/prompt", "params": params}));
    }
    let said = speak(input.as_bytes());
    let prompted = said.iter().filter(|said| said["id"].is_string());
    let codes: Vec<_> = prompted.map(|said| said["error"]["code"].clone()).collect();
    assert_eq!(codes, [json!(RESOURCE_NOT_FOUND), Value::Null]);
}

#[test]
fn pieces_join_to_the_whole() {
    let text = format!("one\n\n{}\n\ntwo", "é".repeat(PIECE_BYTES_MAX));
    let pieces = pieces(&text);
    assert_eq!((pieces.concat(), pieces.len()), (text.clone(), 5));
    assert!(pieces.iter().all(|piece| piece.len() <= PIECE_BYTES_MAX));
}

#[test]
fn session_ids_differ() {
    assert_ne!(super::super::session_id(), super::super::session_id());
}

/// All that is said to an input, a message a line.
fn speak(input: &[u8]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    speak_with(&Shelf::at(folder.path()), input)
}

fn speak_with(shelf: &Shelf, input: &[u8]) -> Vec<Value> {
    let mut output = Vec::new();
    let mut named = 0;
    let name = || {
        named += 1;
        format!("s{named}")
    };
    serve(input, &mut output, shelf, name).unwrap();
    output
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

fn text_of<'a>(updates: &[&'a Value], session: &str) -> Vec<&'a str> {
    let of = updates.iter().filter(|update| {
        update["method"] == "session/update"
            && update["params"]["sessionId"] == session
            && update["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
    });
    of.map(|update| update["params"]["update"]["content"]["text"].as_str().unwrap()).collect()
}
