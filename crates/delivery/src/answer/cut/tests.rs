//! Where long texts are cut, and that nothing is lost.

use proptest::prelude::*;

use super::split;
use crate::answer::MESSAGE_BYTES_MAX;

fn check(text: &str, bytes_max: usize, expect: &[&str]) {
    assert_eq!(split(text, bytes_max), expect, "{text:?} at {bytes_max}");
}

#[test]
fn cuts() {
    check("", 10, &[]);
    check(" \n ", 10, &[]);
    check("short", 10, &["short"]);
    check(" as it is \n", 20, &[" as it is \n"]);
    check("one two\nthree", 10, &["one two", "three"]);
    check("one two three", 10, &["one two", "three"]);
    check("one two", 3, &["one", "two"]);
    check("0123456789", 4, &["0123", "4567", "89"]);
    check("a\nlong long line", 10, &["a", "long long", "line"]);
    check("語語語", 7, &["語語", "語"]);
    check("語語", 0, &["語", "語"]);
    check("abce\u{301}x", 5, &["abc", "e\u{301}x"]);
    check("e\u{301}\u{302}\u{303}", 4, &["e\u{301}", "\u{302}\u{303}"]);
    check(&format!("one{}two", "\n".repeat(40)), 10, &["one\n\n\n\n\n\n\n", "two"]);
}

/// Rule 2.4 and public report H72: a long answer is cut with its fences whole.
#[test]
fn fences_are_closed_and_opened_again() {
    let line = "x".repeat(99);
    let code = |count: usize| vec![line.as_str(); count].join("\n");
    let parts = [code(2), code(2), code(1)];
    let text = format!("see\n```rust\n{}\n```\ndone", parts.join("\n"));
    check(
        &text,
        260,
        &[
            &format!("see\n```rust\n{}\n```", parts[0]),
            &format!("```rust\n{}\n```", parts[1]),
            &format!("```rust\n{}\n```\ndone", parts[2]),
        ],
    );
    let text = format!("  ~~~~ a\n{}\n```\n~~~\n{}\n  ~~~~\n{}", code(1), code(1), code(2));
    check(&text, 300, &[&format!("  ~~~~ a\n{}\n```\n~~~\n{}\n  ~~~~", code(1), code(1)), &code(2)]);
    // Neither an inline code span nor a marker of enormous length is a fence to care for.
    check(&format!("``` a ` b\n{}", code(4)), 260, &[&format!("``` a ` b\n{}", code(2)), &code(2)]);
    let marker = "`".repeat(40);
    check(&format!("{marker}\n{}", code(4)), 260, &[&format!("{marker}\n{line}"), &code(2), &line]);
    // Of a long opening line the marker is said again.
    let info = "i".repeat(70);
    let expect =
        [&format!("```{info}\n{line}\n```"), &format!("```\n{}\n```", code(2)), &format!("```\n{line}")];
    check(&format!("```{info}\n{}", code(4)), 256, &expect.map(String::as_str));
}

#[test]
fn a_message_of_the_greatest_size_stays_whole() {
    let text = "語".repeat(MESSAGE_BYTES_MAX / 3);
    check(&text, MESSAGE_BYTES_MAX, &[&text]);
    let longer = text + "xyz";
    let messages = split(&longer, MESSAGE_BYTES_MAX);
    assert_eq!((messages.len(), messages.concat()), (2, longer));
}

proptest! {
    /// Without fences the messages are the text, but for the white space between them.
    #[test]
    fn nothing_is_lost(text in "([a-z語é👩\u{200D}\u{301}]{0,12}[ \n]{0,2}){0,60}", bytes_max in 4..400usize) {
        let mut rest = text.as_str();
        for message in split(&text, bytes_max) {
            prop_assert!(message.len() <= bytes_max && !message.trim().is_empty());
            let at = rest.find(message.as_str());
            prop_assert!(at.is_some_and(|at| rest[..at].trim().is_empty()), "{:?} in {:?}", message, rest);
            rest = &rest[at.unwrap() + message.len()..];
        }
        prop_assert!(rest.trim().is_empty());
    }

    /// With fences the other lines are all there, no message is too long, and none but the last is left open.
    #[test]
    fn no_line_is_lost(lines in prop::collection::vec(line(), 0..60), bytes_max in 256..600usize) {
        let text = lines.join("\n");
        let messages = split(&text, bytes_max);
        prop_assert!(messages.iter().all(|message| message.len() <= bytes_max && !message.trim().is_empty()));
        let joined = messages.join("\n");
        prop_assert_eq!(words(&joined), words(&text));
        for message in messages.iter().rev().skip(1) {
            prop_assert_eq!(message.lines().filter(|line| line.starts_with("```")).count() % 2, 0, "{}", message);
        }
    }

    #[test]
    fn any_text(text in any::<String>(), bytes_max in 0..300usize) {
        let messages = split(&text, bytes_max);
        prop_assert!(messages.iter().all(|message| message.len() <= bytes_max.max(4)));
    }
}

/// Lines of prose and code, and fence lines of one kind.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z ]{0,90}", 1 => Just("```".to_owned())]
}

/// The words of all lines that are no fence.
fn words(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with("```")).flat_map(str::split_whitespace).collect()
}
