//! Changes as people see them.

use super::*;

#[track_caller]
fn check(old: Option<&str>, new: &str, expected: &[&str]) {
    assert_eq!(diff(old, new).split('\n').collect::<Vec<_>>(), expected);
}

#[test]
fn all_that_changes_is_shown() {
    check(None, "a\nb\n", &["+a", "+b"]);
    check(None, "", &["@ a new, empty file"]);
    check(None, "a", &["+a (no line end)"]);
    check(Some("a\n"), "", &["-a"]);
    check(Some("a\n"), "a\n", &["@ nothing changes"]);
    check(Some("a\n"), "a\r\n", &["@ line ends or what hides changes, nothing else"]);
    check(Some("a\n"), "a", &["-a", "+a (no line end)"]);
    check(Some("a\nb\nc\n"), "a\nx\nc\n", &[" a", "-b", "+x", " c"]);
    check(Some("a\na\n"), "a\na\na\n", &[" a", " a", "+a"]);
    let long = |middle: &str| format!("1\n2\n3\n4\n5\n{middle}6\n7\n8\n9\n");
    let around =
        ["@ 2 more lines that stay", " 3", " 4", " 5", "+new", " 6", " 7", " 8", "@ 1 more lines that stay"];
    check(Some(&long("")), &long("new\n"), &around);
}

#[test]
fn no_line_poses_as_another() {
    check(None, "x\r+y\u{2028}@ z\n", &["+x", "++y", "+@ z"]);
    check(None, "a\u{202e}b\u{1b}[2J\n", &["+a⟨U+202E⟩b⟨U+001B⟩[2J"]);
}
