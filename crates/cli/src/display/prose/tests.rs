//! Where lines break.

use super::prose;

fn check(head: &str, text: &str, indent: &str, width: Option<usize>, expected: &str) {
    assert_eq!(prose(head, text, indent, width), expected, "{text:?}");
}

#[test]
fn without_a_width_only_the_indent_is_added() {
    let long = "word ".repeat(100);
    check("hint: ", &long, "  ", None, &format!("hint: {long}"));
    check("", "a\nb\r\n\u{1b}", "> ", None, "a\n> b\n> ⟨U+001B⟩");
}

#[test]
fn lines_wrap_at_words() {
    check("hint: ", "start one with it", "  ", Some(17), "hint: start one\n  with it");
    check("hint: ", "start one with it", "  ", Some(15), "hint: start one\n  with it");
    check("hint: ", "start one with it", "  ", Some(14), "hint: start\n  one with it");
    check("", "two\n\nparagraphs of text", "", Some(12), "two\n\nparagraphs\nof text");
    check("", "消息 消息 消息", "", Some(10), "消息 消息\n消息");
}

#[test]
fn what_cannot_be_wrapped_stays_whole() {
    let address = "http://127.0.0.1:7717/a/long/address";
    check("", &format!("see {address} there"), " ", Some(12), &format!("see\n {address}\n there"));
    check("", "  let x = 1 + 2 + 3;", "", Some(8), "  let x = 1 + 2 + 3;");
    check("", "```\na b c d\n```\na b c d", "", Some(4), "```\na b c d\n```\na b\nc d");
}
