//! What is printed of an event.

use super::*;
use crate::commands::run::example_message;

#[test]
fn messages_are_lines_and_the_rest_is_quiet() {
    let check = |channel: Option<&str>, what: Happened, expected: Option<&str>| {
        let format = Format { json: false };
        let tail = Tail { channel: channel.map(str::to_owned), since: None, format };
        let event = Event { cursor: None, at: None, channel: None, channel_id: None, what };
        assert_eq!(tail.line(&event).as_deref(), expected);
    };
    let message = example_message("hello");
    let deleted = server::wire::Message { deleted: true, text: String::new(), ..message.clone() };
    let line = "2026-11-30 10:00:01Z m17 aiko: hello\n";
    check(Some("general"), Happened::MessageAdded { message: message.clone() }, Some(line));
    check(None, Happened::MessageAdded { message: message.clone() }, Some(&format!("#general {line}")));
    let edited = server::wire::Message { revision: 2, ..message };
    let line = "2026-11-30 10:00:01Z m17 aiko (edited): hello\n";
    check(Some("general"), Happened::MessageEdited { message: edited }, Some(line));
    check(Some("general"), Happened::MessageAdded { message: deleted.clone() }, None);
    check(Some("general"), Happened::MessageEdited { message: deleted.clone() }, None);
    let line = "2026-11-30 10:00:01Z m17 aiko: (deleted)\n";
    check(Some("general"), Happened::MessageDeleted { message: deleted }, Some(line));
    check(None, Happened::Hello, None);
    check(None, Happened::Unknown, None);
}
