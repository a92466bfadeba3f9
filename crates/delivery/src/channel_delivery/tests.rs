//! Edges of sections 4 and 5 that the published cases leave open.

use super::{Case, render};
use crate::model::{Author, AuthorKind, Limits, MessageId, Policy, Row};
use crate::time::Timestamp;
use crate::watermark::Watermark;

/// A case from a few words. Rows: `3 aiko: text`, agents as `@name`, the host as `!`, then `by=NATIVE`,
/// `edited=N`, `deleted=N` before the colon; a row's id is its number, its time its number in seconds, or `at=N`.
fn case(policy: Policy, rows: &[&str], addressed: &str) -> Case {
    Case {
        policy,
        rows: rows.iter().map(|words| row(words)).collect(),
        earlier: 0,
        addressed: addressed.into(),
        native: "s-1".into(),
        watermark: None,
        keeps_session: true,
        pending: vec![],
        in_thread: false,
        root_given: false,
        limits: Limits::default(),
    }
}

fn row(words: &str) -> Row {
    let (head, text) = words.split_once(": ").unwrap();
    let mut head = head.split(' ');
    let seq: u64 = head.next().unwrap().parse().unwrap();
    let name = head.next().unwrap();
    let kind = match name.chars().next().unwrap() {
        '@' => AuthorKind::Agent,
        '!' => AuthorKind::System,
        _ => AuthorKind::User,
    };
    let mut row = Row {
        id: seq.to_string().as_str().into(),
        seq,
        created_at: seconds(seq),
        author: Author { kind, name: name.to_owned() },
        native: None,
        text: text.to_owned(),
        edited_seq: None,
        deleted_seq: None,
    };
    for (key, value) in head.map(|word| word.split_once('=').unwrap()) {
        match key {
            "by" => row.native = Some(value.into()),
            "edited" => row.edited_seq = Some(value.parse().unwrap()),
            "deleted" => row.deleted_seq = Some(value.parse().unwrap()),
            "at" => row.created_at = seconds(value.parse().unwrap()),
            _ => panic!("no field of a row: {key}"),
        }
    }
    row
}

fn seconds(n: u64) -> Timestamp {
    Timestamp { ms: i64::try_from(n).unwrap() * 1000 }
}

fn ids(words: &str) -> Vec<MessageId> {
    words.split_whitespace().map(MessageId::from).collect()
}

/// A record of `s-1` up to this time and number.
fn mark(last: u64, shown: &str, waiting: &str) -> Option<Watermark> {
    Some(Watermark {
        native: "s-1".into(),
        last_at: seconds(last),
        last_seq: Some(last),
        ids: ids(shown),
        waiting: ids(waiting),
    })
}

/// What is told (lines without the header, joined by `|`, a delta with `…` in front), and the record.
fn check(case: &Case, told: Option<&str>, watermark: Option<Watermark>) {
    let rendered = render(case);
    let block = rendered.block.as_deref().map(|block| {
        let (header, lines) = block.split_once('\n').unwrap_or((block, ""));
        let front = if header.starts_with("New ") { "…" } else { "" };
        assert_eq!(header.contains("this thread"), case.in_thread, "{header}");
        format!("{front}{}", lines.replace('\n', "|"))
    });
    assert_eq!((block.as_deref(), rendered.watermark), (told, watermark));
}

fn with_limit(lines: usize) -> Limits {
    Limits { lines, ..Limits::default() }
}

#[test]
fn base_looks_at_nothing_but_time_and_ids() {
    let rows =
        ["1 aiko: a", "2 @claude by=s-1: b", "3 aiko: c", "4 !: joined", "5 aiko deleted=6: e", "7 aiko: f"];
    let first = Case { pending: ids("3"), ..case(Policy::Base, &rows, "7") };
    check(&first, Some("- [user] aiko: a|- [agent] @claude: b|- [user] aiko: c"), mark(3, "1 2 3", ""));
    let later = Case { watermark: mark(2, "1 2", ""), ..first };
    check(&later, Some("…- [user] aiko: c"), mark(3, "1 2 3", ""));
    let by_id = Case { watermark: mark(1, "1 3", ""), ..later.clone() };
    check(&by_id, Some("…- [agent] @claude: b"), mark(2, "1 3 2", ""));
    let fresh = Case { keeps_session: false, ..later.clone() };
    check(&fresh, Some("- [user] aiko: a|- [agent] @claude: b|- [user] aiko: c"), None);
    let window = Case { policy: Policy::Window, in_thread: true, ..later };
    check(&window, Some("- [user] aiko: a|- [agent] @claude: b|- [user] aiko: c"), None);
}

#[test]
fn base_shows_nothing_and_leaves_the_record() {
    let alone = case(Policy::Base, &["5 aiko: @claude go"], "5");
    check(&alone, None, None);
    let other = mark(9, "1", "").map(|mark| Watermark { native: "s-0".into(), last_seq: None, ..mark });
    check(&Case { watermark: other.clone(), ..alone.clone() }, None, other);
    let own = mark(3, "1 3", "2");
    check(&Case { watermark: own.clone(), ..alone }, None, own);
}

#[test]
fn base_records_fall_neither_in_time_nor_in_number() {
    let rows = ["1 aiko at=8: late", "2 aiko at=6: later", "9 aiko: @claude go"];
    let given = Case { watermark: mark(5, "", ""), ..case(Policy::Base, &rows, "9") };
    let after = mark(8, "1 2", "").map(|mark| Watermark { last_seq: Some(5), ..mark });
    check(&given, Some("…- [user] aiko: late|- [user] aiko: later"), after);
}

#[test]
fn lean_counts_what_stood_there() {
    let rows = ["1 aiko: a", "2 aiko: b", "3 aiko: @claude go", "4 aiko deleted=9: d", "8 !: left"];
    let given = case(Policy::Lean, &rows, "3");
    let stood = |shown| mark(8, shown, "").map(|mark| Watermark { last_seq: Some(9), ..mark });
    check(&given, Some("- [user] aiko: a|- [user] aiko: b"), stood("1 2 3"));
    check(&Case { watermark: mark(50, "1", ""), ..given }, None, mark(50, "1 3", ""));
}

/// Rule 4.6 and public reports B17, B19: what the limit left out is told, and no other number looks like it.
#[test]
fn lean_tells_how_much_is_missing() {
    let rows = ["6 aiko: a", "7 aiko: b", "8 aiko: @claude go"];
    let given = Case { watermark: mark(2, "", ""), earlier: 3, ..case(Policy::Lean, &rows, "8") };
    let line = |n| format!("…- ({n} earlier new messages not shown; channel_history has them)");
    check(&given, Some(&(line(3) + "|- [user] aiko: a|- [user] aiko: b")), mark(8, "6 7 8", ""));
    let one = Case { limits: with_limit(1), ..given.clone() };
    check(&one, Some(&(line(4) + "|- [user] aiko: b")), mark(8, "7 8", ""));
    let none = Case { limits: with_limit(0), ..given.clone() };
    check(&none, Some(&line(5)), mark(8, "8", ""));
    let snapshot = Case { watermark: None, ..none };
    check(&snapshot, None, mark(8, "8", ""));
    let only_earlier = Case { rows: vec![row("8 aiko: @claude go")], ..given };
    check(&only_earlier, Some(&line(3)), mark(8, "8", ""));
}

#[test]
fn lean_goes_by_time_after_an_import() {
    let rows = [
        "1 aiko edited=3: a",
        "2 aiko: b",
        "4 aiko at=4: c",
        "5 aiko at=4: d",
        "6 aiko edited=7: e",
        "8 aiko: @claude go",
    ];
    let imported = mark(4, "1 4", "").map(|mark| Watermark { last_seq: None, ..mark });
    let given = Case { watermark: imported, ..case(Policy::Lean, &rows, "8") };
    check(&given, Some("…- [user] aiko: e"), mark(8, "1 4 6 8", ""));
    let later = Case { rows: vec![row("1 aiko edited=7: a"), row("4 aiko: c"), row("8 aiko: go")], ..given };
    check(&later, Some("…- [edited] aiko: a"), mark(8, "4 1 8", ""));
}

/// Rule 4.9 and public report B29: told as changed, once.
#[test]
fn lean_tells_changes_of_what_it_told_in_their_place() {
    let rows = [
        "1 aiko edited=6: a",
        "2 ben deleted=8: b",
        "3 @claude by=s-1 edited=9: own",
        "4 @claude by=s-1 deleted=10: own",
        "5 aiko edited=7: unseen",
        "11 aiko: x",
        "12 aiko: @claude go",
    ];
    let told = Case { watermark: mark(4, "1 2 3 4", ""), ..case(Policy::Lean, &rows, "12") };
    let lines = "…- [user] aiko: unseen|- [edited] aiko: a|- [deleted] ben deleted a message you were shown|- [user] aiko: x";
    check(&told, Some(lines), mark(12, "3 4 5 1 2 11 12", ""));
    let forgotten = Case { watermark: mark(4, "", ""), ..told };
    check(&forgotten, Some("…- [user] aiko: unseen|- [user] aiko: x"), mark(12, "5 11 12", ""));
}

/// Rule 4.5 and public report B16: what comes as a payload is no line as well.
#[test]
fn lean_remembers_what_waits() {
    let rows = [
        "1 aiko edited=7: was edited",
        "2 aiko deleted=8: gone",
        "3 aiko: still queued",
        "4 aiko: told, then queued again",
        "5 aiko: counted, then queued again",
        "6 aiko: x",
        "9 aiko: queued now",
        "10 aiko: @claude go",
    ];
    let given = Case {
        watermark: mark(6, "4 6", "1 2 3"),
        pending: ids("10 9 5 4 3 elsewhere"),
        ..case(Policy::Lean, &rows, "10")
    };
    check(&given, Some("…- [user] aiko: was edited"), mark(10, "4 6 1 10", "3 9"));
}

/// Rule 4.10 and public report B25: the root and the newest replies.
#[test]
fn threads_begin_with_their_root() {
    let rows = ["1 aiko edited=2: root", "3 ben: a", "4 ben: b", "5 ben: @claude go"];
    let thread = Case { in_thread: true, limits: with_limit(2), ..case(Policy::Lean, &rows, "5") };
    check(&thread, Some("- [user] aiko: root|- [user] ben: b"), mark(5, "1 4 5", ""));
    let channel = Case { in_thread: false, ..thread.clone() };
    check(&channel, Some("- [user] ben: a|- [user] ben: b"), mark(5, "3 4 5", ""));
    let one = Case { limits: with_limit(1), ..thread.clone() };
    check(&one, Some("- [user] aiko: root"), mark(5, "1 5", ""));
    check(&Case { limits: with_limit(0), ..thread.clone() }, None, mark(5, "5", ""));
    let given = Case { root_given: true, ..thread.clone() };
    check(&given, Some("- [user] ben: a|- [user] ben: b"), mark(5, "3 4 5", ""));
    let mut own = thread.clone();
    own.rows[0].native = Some("s-1".into());
    check(&own, Some("- [user] ben: a|- [user] ben: b"), mark(5, "3 4 1 5", ""));
    let mut deleted = thread.clone();
    deleted.rows[0].deleted_seq = Some(2);
    check(&deleted, Some("- [user] ben: a|- [user] ben: b"), mark(5, "3 4 5", ""));
    let other = mark(4, "1", "").map(|mark| Watermark { native: "s-0".into(), ..mark });
    check(
        &Case { watermark: other, ..thread },
        Some("- [user] aiko: root|- [user] ben: b"),
        mark(5, "1 4 5", ""),
    );
}

/// Rule 4.10 and public report B18: replies alone.
/// Cache break B3.32.
#[test]
fn threads_go_on_with_replies_and_changes_of_their_root() {
    let rows = ["1 aiko edited=4: root", "2 ben: a", "3 ben: b", "5 ben: @claude go"];
    let thread = Case { in_thread: true, watermark: mark(2, "1 2", ""), ..case(Policy::Lean, &rows, "5") };
    check(&thread, Some("…- [user] ben: b|- [edited] aiko: root"), mark(5, "2 3 1 5", ""));
    let cut = Case { watermark: mark(2, "2", ""), ..thread.clone() };
    check(&cut, Some("…- [user] ben: b"), mark(5, "2 3 5", ""));
    let waited = Case { watermark: mark(2, "2", "1"), ..thread };
    check(&waited, Some("…- [user] aiko: root|- [user] ben: b"), mark(5, "2 1 3 5", ""));
    check(&Case { root_given: true, ..waited }, Some("…- [user] ben: b"), mark(5, "2 3 5", ""));
}

#[test]
fn rows_that_make_no_sense_make_no_trouble() {
    let nothing = case(Policy::Lean, &[], "1");
    check(&nothing, None, None);
    check(&Case { watermark: mark(5, "1 2", "3"), ..nothing }, None, mark(5, "2 1", ""));
}
