//! Halves of characters cost themselves alone, and are joined where both come.

use super::*;

#[track_caller]
fn check(line: &str, expect: &str, first: Option<u16>, last: Option<u16>) {
    let mended = mended(line);
    assert_eq!((&*mended.line, mended.halves), (expect, Halves { first, last }), "{line}");
    if line == expect {
        assert!(matches!(mended.line, Cow::Borrowed(_)), "{line} was copied");
    }
}

#[test]
fn a_half_is_replaced_and_nothing_else() {
    for same in [
        "",
        "npm warn \\",
        r#"{"text":"a\n\"b\"\\"}"#,
        r#"{"text":"\ud83d\ude00 \uD83D\uDE00 \u00e4 \ufffd"}"#,
        r#"{"text":"\\ud83d"}"#,
        r#"{"text":"\ud83"}"#,
        r#"{"text":"\u+83d"}"#,
        "\\ä\\ud83",
    ] {
        check(same, same, None, None);
    }
    check(r#""a\ud83d""#, r#""a\ufffd""#, None, Some(0xd83d));
    check(r#""\uDE00 b""#, r#""\ufffd b""#, Some(0xde00), None);
    check(r#""\ude00 b\ud83d""#, r#""\ufffd b\ufffd""#, Some(0xde00), Some(0xd83d));
    check(r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#, None, Some(0xd83d));
    check(r#""\\\ud83d\n""#, r#""\\\ufffd\n""#, None, Some(0xd83d));
    check(r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#, Some(0xde00), Some(0xd83d));
    check(r#""\ud83d\n\ude00""#, r#""\ufffd\n\ufffd""#, None, None);
}

/// Joins pieces as they would stand in JSON strings.
#[track_caller]
fn check_joined(pieces: &[&str], expect: &[&str]) {
    let mut joiner = Joiner::default();
    let joined: Vec<String> = pieces
        .iter()
        .map(|piece| {
            let line = format!("\"{piece}\"");
            let mended = mended(&line);
            joiner.push(&serde_json::from_str::<String>(&mended.line).unwrap(), mended.halves)
        })
        .collect();
    assert_eq!(joined, &expect[..pieces.len()], "{pieces:?}");
    let rest = joiner.flush().map(String::from);
    assert_eq!(rest.as_deref(), expect.get(pieces.len()).copied(), "{pieces:?}");
    assert_eq!(joiner.flush(), None);
}

#[test]
fn halves_in_two_pieces_make_their_character() {
    check_joined(&["a", "b"], &["a", "b"]);
    check_joined(&[r"a\ud83d", r"\ude00b"], &["a", "😀b"]);
    check_joined(&[r"\ud83d", "", r"\ude00"], &["", "", "😀"]);
    check_joined(&[r"a\ud83d", r"\ude00\ud83d", r"\ude01"], &["a", "😀", "😁"]);
    check_joined(&[r"a\ud83d", "b"], &["a", "\u{fffd}b"]);
    check_joined(&[r"a\ud83d"], &["a", "\u{fffd}"]);
    check_joined(&[r"\ude00a", r"\ud83db"], &["\u{fffd}a", "\u{fffd}b"]);
    check_joined(&[r"a\ud83d", r"b\ude00"], &["a", "\u{fffd}b\u{fffd}"]);
    check_joined(&["a\u{fffd}", r"\ude00"], &["a\u{fffd}", "\u{fffd}"]);
}
