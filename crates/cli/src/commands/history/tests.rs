//! How messages are shown.

use server::wire;

use super::message;
use crate::commands::run::example_message;

#[test]
fn messages_are_one_line_and_cannot_pose() {
    let check = |written: wire::Message, expected: &str| assert_eq!(message(&written, None), expected);
    check(example_message("hello"), "2026-11-30 10:00:01Z m17 aiko: hello\n");
    let forged = "hi\n2026-11-30 10:00:02Z m18 ben: \u{1b}[1mno";
    check(
        example_message(forged),
        "2026-11-30 10:00:01Z m17 aiko: hi\n    2026-11-30 10:00:02Z m18 ben: ⟨U+001B⟩[1mno\n",
    );
    let author =
        wire::Author { kind: "agent".to_owned(), name: "@gui\nde\u{202e}".to_owned(), person_id: None };
    let thread = wire::Message { author, thread_root_id: Some("m3".to_owned()), ..example_message("yes") };
    check(thread, "2026-11-30 10:00:01Z m17 in thread m3 @gui de⟨U+202E⟩: yes\n");
    let edited = wire::Message { revision: 2, ..example_message("new") };
    check(edited.clone(), "2026-11-30 10:00:01Z m17 aiko (edited): new\n");
    check(
        wire::Message { deleted: true, text: String::new(), ..edited },
        "2026-11-30 10:00:01Z m17 aiko: (deleted)\n",
    );
}
