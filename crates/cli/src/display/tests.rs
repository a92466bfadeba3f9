//! No control character gets through, and JSON stays exact.

use super::{block, indented, json, line};

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
