//! The final text of streams of pieces, and its bounds.

use proptest::prelude::*;

use super::{ANSWER_BYTES_MAX, Answer};

/// `|` stands for a tool call.
fn check(pieces: &[&str], expect: Option<&str>) {
    assert_eq!(answer(pieces).final_text().as_deref(), expect, "{pieces:?}");
}

/// Rule 2.4 and public report H73: pieces are joined as they are, in the middle of a word too.
#[test]
fn final_text() {
    check(&[], None);
    check(&["Hel", "lo"], Some("Hello"));
    check(&["I look", "|", "Found", " it."], Some("Found it."));
    check(&["one", "|", "two", "|"], Some("two"));
    check(&["one", "|", " \n", "|", "|", "\t"], Some("one"));
    check(&["one", "|", "\n", "two"], Some("\ntwo"));
    check(&["|", " ", "|"], None);
    check(&["  keep\n\nall  \n"], Some("  keep\n\nall  \n"));
}

#[test]
fn long_text_is_kept_to_the_limit() {
    let exact = "a".repeat(ANSWER_BYTES_MAX);
    check(&[&exact], Some(&exact));
    check(&[&exact, "|", " "], Some(&exact));
    let note = |count: usize| format!("\n\n… [{count} more characters were too much to keep]");
    check(&[&exact, "b"], Some(&(exact.clone() + &note(1))));
    check(&[&exact, "bé", "語", "|"], Some(&(exact.clone() + &note(3))));
    check(&[&"語".repeat(1 << 20)], Some(&("語".repeat((1 << 20) / 3) + &note((1 << 20) - (1 << 20) / 3))));
    // A family of four is one grapheme of seven scalar values.
    let family = "👨\u{200D}👩\u{200D}👧\u{200D}👦";
    check(&[&exact[4..], family], Some(&(exact[4..].to_owned() + &note(7))));
    check(&[&exact[4..], family, "|", "short"], Some("short"));
}

#[test]
fn all_bytes_count() {
    assert_eq!(answer(&["abc", "|", "é", "|"]).bytes(), 5);
}

proptest! {
    /// How a text is cut into pieces makes no difference.
    #[test]
    fn pieces_make_no_difference(text in any::<String>(), filler in 0..12usize, at in any::<prop::sample::Index>()) {
        let text = "a".repeat(ANSWER_BYTES_MAX - filler) + &text;
        let (head, tail) = text.split_at(text.floor_char_boundary(at.index(text.len() + 1)));
        prop_assert_eq!(answer(&[head, tail]).final_text(), answer(&[&text]).final_text());
    }
}

fn answer(pieces: &[&str]) -> Answer {
    let mut answer = Answer::default();
    for piece in pieces {
        if *piece == "|" { answer.tool_call() } else { answer.text(piece) }
    }
    answer
}
