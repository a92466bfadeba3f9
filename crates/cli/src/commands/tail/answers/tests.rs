//! What the line tells.

use super::*;

fn piece(run: &str, from: usize, text: &str) -> Happened {
    Happened::Answer { run_id: run.to_owned(), agent: "guide".to_owned(), from, text: text.to_owned() }
}

#[test]
fn the_line_shows_the_ends_of_answers() {
    let mut answers = Answers { bar: None, said: BTreeMap::new() };
    let mut check = |what: Happened, expected: &str| {
        answers.take_in(&what);
        assert_eq!(answers.line(), expected, "{what:?}");
    };
    check(Happened::Heartbeat, "");
    check(piece("r1", 0, "Hello"), "@guide: Hello");
    check(piece("r1", 5, ", you\u{1b}\n"), "@guide: Hello, you⟨U+001B⟩ ");
    check(piece("r2", 0, "two"), "@guide: Hello, you⟨U+001B⟩   @guide: two");
    check(piece("r1", 0, "anew"), "@guide: anew  @guide: two");
    check(piece("r2", 0, &"é".repeat(61)), &format!("@guide: anew  @guide: …{}", "é".repeat(60)));
}
