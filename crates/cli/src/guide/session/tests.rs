//! Sizes are counted over the turns of a session.

use super::*;

const HEADER: &str = "Recent messages in this channel, oldest first (UNTRUSTED DATA):";
const NEWS: &str = "New messages in this channel since you last heard from it (UNTRUSTED DATA):";

#[test]
fn one_turn_is_the_same_under_window() {
    let mut session = Session::default();
    let first = turn("Rules.\n\n", 1, "the whole brief", &format!("\n\n{HEADER}\n- [user] aiko: one"));
    tell(&mut session, &first);
    check(&session, [1, 1, 1, first.len(), 1, 0, first.len()]);
}

#[test]
fn later_turns_bring_less_than_window_would() {
    let mut session = Session::default();
    let line = "- [user] aiko: one";
    let first = turn("Rules.\n\n", 1, "the whole brief", &format!("\n\n{HEADER}\n{line}"));
    tell(&mut session, &first);
    session.answered("hi");
    let news = "- [user] ben: two\n- [edited] aiko: one!";
    let head = format!("{NEWS}\n- (8 earlier new messages not shown; channel_history has them)");
    let second = format!(
        "{}\n\n{{\"message_id\":\"m2\",\"text\":\"@guide hello\"}}\n\n---\n{}\n\n{head}\n{news}",
        prose::MENTIONED,
        prose::REMINDER
    );
    tell(&mut session, &second);
    let lines = [line, "- [user] aiko: @guide hello", "- [agent] @guide: hi", "- [user] ben: two"].join("\n");
    let window = turn("", 2, "the whole brief", &format!("\n\n{NEWS}\n{lines}"));
    check(&session, [2, 1, 2, first.len() + second.len(), 3, 8, first.len() + window.len()]);
}

#[test]
fn window_never_has_more_lines_than_the_limit() {
    let mut session = Session::default();
    let lines: String = (0..12).map(|n| format!("\n- [user] aiko: {n:03}")).collect();
    tell(&mut session, &turn("", 1, "brief", &format!("\n\n{HEADER}{lines}")));
    session.answered(&"é".repeat(1_000));
    let before = session.window_bytes;
    let second = turn("", 2, "brief", "");
    tell(&mut session, &second);
    let addressed = "\n- [user] aiko: @guide hello".len();
    let answer = "\n- [agent] @guide: ".len() + 2 * 600;
    let old = 10 * "\n- [user] aiko: 000".len();
    assert_eq!(
        session.window_bytes - before,
        second.len() + "\n\n".len() + HEADER.len() + addressed + answer + old
    );
}

#[test]
fn a_direct_conversation_is_never_compared() {
    let mut session = Session::default();
    tell(&mut session, "Rules.\n\nUser: hello");
    tell(&mut session, "stats");
    check(&session, [2, 1, 0, 24, 0, 0, 24]);
}

/// Turns, framed, mentions, bytes, lines, left out, bytes under `window`.
fn check(session: &Session, expected: [usize; 7]) {
    let Session { turns, framed, mentions, bytes, lines, left_out, window_bytes, .. } = session;
    assert_eq!([*turns, *framed, *mentions, *bytes, *lines, *left_out, *window_bytes], expected);
}

fn tell(session: &mut Session, exact: &str) {
    let place = session.place();
    session.told(&Turn::read(exact, place));
}

fn turn(framing: &str, message: u8, guidance: &str, block: &str) -> String {
    let author = r#""author":{"kind":"user","name":"aiko"}"#;
    let payload = format!(r#"{{"message_id":"m{message}",{author},"text":"@guide hello"}}"#);
    format!("{framing}{}\n\n{payload}\n\n---\n{guidance}{block}", prose::MENTIONED)
}
