//! Secrets are found whole and in pieces.

use super::*;

/// Redacts `text` whole and in pieces of every length; all must agree.
fn check(secrets: &[&str], text: &str, expect: &str) {
    let secrets = Secrets::new(secrets.iter().map(|&secret| secret.to_owned()));
    assert_eq!(secrets.redact(text), expect, "whole");
    let chars: Vec<char> = text.chars().collect();
    for size in 1..=chars.len() {
        let mut stream = secrets.stream();
        let mut shown = String::new();
        for piece in chars.chunks(size) {
            shown.push_str(&stream.push(&piece.iter().collect::<String>()));
        }
        shown.push_str(&stream.flush());
        assert_eq!(shown, expect, "pieces of {size}");
    }
}

#[test]
fn secrets_are_replaced_wherever_pieces_cut_them() {
    check(&[], "nothing to hide", "nothing to hide");
    check(&["sk-12345678"], "key sk-12345678!", "key [redacted]!");
    check(&["sk-12345678"], "sk-12345678sk-12345678", "[redacted][redacted]");
    check(&["sk-12345678"], "sk-1234567 sk-12345678", "sk-1234567 [redacted]");
    check(&["12345678", "12345678-long"], "a 12345678-long b 12345678 c", "a [redacted] b [redacted] c");
    check(&["12345678-long", "long-tail"], "12345678-long-tail", "[redacted]-tail");
    check(&["geheimnisß"], "äöü geheimnisß äöü", "äöü [redacted] äöü");
    check(&["two\nlines!"], "x two\nlines! y", "x [redacted] y");
}

#[test]
fn lines_of_a_secret_are_secrets() {
    let key = "-----BEGIN KEY-----\r\n  first-line-of-it\nshort\nsecond-line-of-it\n";
    check(&[key], "a first-line-of-it b", "a [redacted] b");
    check(&[key], &format!("<{key}>"), "<[redacted]>");
    check(
        &[key],
        "-----BEGIN KEY-----\n> first-line-of-it\n> short\n> second-line-of-it",
        "[redacted]\n> [redacted]\n> short\n> [redacted]",
    );
    // A value of one line counts as it is, and without the blanks around it.
    check(&[" blank-12 "], "x blank-12 y blank-12", "x[redacted]y [redacted]");
}

#[test]
fn only_what_may_begin_a_secret_is_held_back() {
    let secrets = Secrets::new(["sk-12345678".to_owned(), "ask-me-later".to_owned()]);
    let mut stream = secrets.stream();
    for (piece, shown) in [
        ("hello", "hello"),
        (" s", " "),
        ("k", ""),
        ("ip", "skip"),
        (" ask-", " "),
        ("12345678a", "a[redacted]"),
    ] {
        assert_eq!(stream.push(piece), shown, "{piece:?}");
    }
    assert_eq!(stream.flush(), "a");
}

#[test]
fn short_values_are_no_secrets() {
    check(&["true", "1234567", ""], "true 1234567", "true 1234567");
}

#[test]
fn debug_tells_no_secret() {
    let secrets = Secrets::new(["sk-12345678".to_owned()]);
    assert_eq!(format!("{secrets:?}"), "Secrets(1)");
}
