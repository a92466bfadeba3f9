//! Tables for the rules on documents.

use super::*;
use crate::tidy::check;

#[test]
fn the_documents_are_there() {
    let whole: Vec<(&str, String)> =
        PRESENT.iter().map(|(path, commands)| (*path, commands.join("\n"))).collect();
    let whole: Vec<(&str, &str)> = whole.iter().map(|(path, text)| (*path, text.as_str())).collect();
    check(present, &whole, &[]);
    for (index, (path, _)) in whole.iter().enumerate() {
        let mut rest = whole.clone();
        rest.remove(index);
        check(present, &rest, &[&format!("{path}: the file is missing")]);
    }
    let mut empty = whole.clone();
    empty[0].1 = "Run `cargo xtask test`.";
    check(present, &empty, &["README.md: the command `cargo run --release -- serve` is missing"]);
}

#[test]
fn links_lead_somewhere() {
    let check_page = |text: &str, expected: &[&str]| {
        check(
            links,
            &[("docs/page.md", text), ("docs/decisions/0001-shape.md", ""), ("README.md", "")],
            expected,
        );
    };
    check_page(
        "[a](decisions/0001-shape.md) and [`b`](../README.md#use), [c](decisions/), [d](./page.md \"D\")",
        &[],
    );
    check_page("[a](https://example.org/x) [b](#below) [c](mailto:a@example.org)", &[]);
    check_page("`[a](gone.md)`\n\n```\n[a](gone.md)\n```\n", &[]);
    check_page(
        "[a](gone.md) [b](README.md)\n\n[c](../../outside.md) [d](/README.md)\n[e]: gone.md#x \"E\"\n",
        &[
            "docs/page.md:1: the link `gone.md` leads nowhere",
            "docs/page.md:1: the link `README.md` leads nowhere",
            "docs/page.md:3: the link `../../outside.md` leads nowhere",
            "docs/page.md:3: the link `/README.md` leads nowhere",
            "docs/page.md:4: the link `gone.md#x` leads nowhere",
        ],
    );
}

#[test]
fn decisions_are_numbered() {
    let first = ("docs/decisions/0001-shape.md", "# 1. Shape");
    check(decisions, &[first, ("docs/decisions/0012-page.md", "# 12. Page"), ("docs/page.md", "")], &[]);
    check(
        decisions,
        &[first, ("docs/decisions/0001-talk.md", "# 2. Talk"), ("docs/decisions/talk.md", "# 3. Talk")],
        &[
            "docs/decisions/0001-talk.md: docs/decisions/0001-shape.md has the number 0001 already",
            "docs/decisions/0001-talk.md: it has to begin with `# 1. `",
            "docs/decisions/talk.md: its name has to begin with its number, such as `0007-`",
        ],
    );
}

#[test]
fn documents_name_no_single_machine() {
    for start in MACHINE_PATHS {
        let finding = format!(
            "a.md:2: `{start}…` is a folder of one machine; name it in words, or relative to the root"
        );
        for line in [format!("{start}x"), format!("in `{start}x`"), format!("([x]({start}x))")] {
            check(machine_paths, &[("a.md", &format!("One\n{line}\n"))], &[&finding]);
        }
        check(machine_paths, &[("a.md", &format!("src{start}x, ~{start}x, $HOME{start}x"))], &[]);
        check(machine_paths, &[("a.rs", start)], &[]);
    }
}
