//! Tables line up, stay clean and fit.

use super::within;

fn check(width: Option<usize>, rows: &[[&str; 3]], expected: &str) {
    let rows: Vec<_> = rows.iter().map(|row| row.map(ToOwned::to_owned)).collect();
    assert_eq!(within(width, ["RUN", "STATUS", "WHY"], &rows, "no runs"), expected, "{width:?}");
}

#[test]
fn tables_line_up_and_stay_clean() {
    check(None, &[], "no runs\n");
    check(Some(10), &[], "no runs\n");
    let rows = [["r1", "failed", "a\nb"], ["r12", "\u{1b}", ""]];
    check(None, &rows, "RUN  STATUS    WHY\nr1   failed    a b\nr12  ⟨U+001B⟩\n");
}

#[test]
fn each_row_is_one_line_of_the_terminal() {
    let rows = [
        ["r1", "failed", "cannot start `no-such-agent`: not found on PATH"],
        ["r12", "queued", "消息消息消息消息消息消息消息消息"],
    ];
    let whole = "\
RUN  STATUS  WHY
r1   failed  cannot start `no-such-agent`: not found on PATH
r12  queued  消息消息消息消息消息消息消息消息
";
    check(None, &rows, whole);
    check(Some(60), &rows, whole);
    let cut = "\
RUN  STATUS  WHY
r1   failed  cannot start…
r12  queued  消息消息消息消…
";
    check(Some(28), &rows, cut);
    // Narrower than that, the table is wider than the terminal.
    let narrow = "RUN  STATUS  WHY\nr1   failed  canno…\nr12  queued  消息…\n";
    check(Some(5), &rows, narrow);
}
