//! No control character gets through, and JSON stays exact.

use delivery::Timestamp;

use super::{block, indented, json, line, span, table, time};

#[test]
fn what_hides_is_shown() {
    let check = |text: &str, as_block: &str, as_line: &str| {
        assert_eq!((block(text).as_str(), line(text).as_str()), (as_block, as_line), "{text:?}");
    };
    check("plain, größer, 消息 👩‍💻", "plain, größer, 消息 👩‍💻", "plain, größer, 消息 👩‍💻");
    check("a\nb\tc", "a\nb\tc", "a b c");
    check("a\r\nb\rc", "a\nb⟨U+000D⟩c", "a b⟨U+000D⟩c");
    check("\u{1b}[31mred\u{7}", "⟨U+001B⟩[31mred⟨U+0007⟩", "⟨U+001B⟩[31mred⟨U+0007⟩");
    check(
        "c1 \u{9b}2J, del \u{7f}, nul \0",
        "c1 ⟨U+009B⟩2J, del ⟨U+007F⟩, nul ⟨U+0000⟩",
        "c1 ⟨U+009B⟩2J, del ⟨U+007F⟩, nul ⟨U+0000⟩",
    );
    check("\u{202e}evil\u{2066}", "⟨U+202E⟩evil⟨U+2066⟩", "⟨U+202E⟩evil⟨U+2066⟩");
    check("a\u{2028}b\u{85}c\u{b}", "a⟨U+2028⟩b⟨U+0085⟩c⟨U+000B⟩", "a⟨U+2028⟩b⟨U+0085⟩c⟨U+000B⟩");
}

#[test]
fn no_control_character_reaches_a_terminal() {
    let all: String = (0..=u32::from(char::MAX)).filter_map(char::from_u32).collect();
    assert!(!line(&all).chars().any(char::is_control));
    assert!(!indented(&all, "  ").chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
    let written = json(&all).unwrap();
    assert!(!written.trim_end_matches('\n').chars().any(char::is_control));
    assert!(serde_json::from_str::<String>(&written).unwrap() == all);
}

#[test]
fn later_lines_are_indented() {
    assert_eq!(indented("a\nb\r\nc", "> "), "a\n> b\n> c");
}

#[test]
fn times_and_spans_are_short() {
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    assert_eq!(time(at("2026-11-30T10:00:01.250Z")), "2026-11-30 10:00:01Z");
    assert_eq!(span(at("2026-11-30T10:00:01.250Z"), at("2026-11-30T10:01:02.500Z")), "61.2 s");
    assert_eq!(span(at("2026-11-30T10:00:02.000Z"), at("2026-11-30T10:00:01.000Z")), "0.0 s");
}

#[test]
fn tables_line_up_and_stay_clean() {
    let rows = [["guide".to_owned(), "a\nb".to_owned()], ["x".to_owned(), "\u{1b}".to_owned()]];
    assert_eq!(table(["NAME", "WHAT"], &rows, "none"), "NAME   WHAT\nguide  a b\nx      ⟨U+001B⟩\n");
    assert_eq!(table(["NAME", "WHAT"], &[], "no agents"), "no agents\n");
}
