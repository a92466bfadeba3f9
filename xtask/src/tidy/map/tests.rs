//! Tables for the rules on the map.

use super::*;
use crate::tidy::check;

#[test]
fn paths_of_the_map_exist() {
    let check_map = |text: &str, expected: &[&str]| {
        let files = [
            (MAP, text),
            (".ci/run", ""),
            ("crates/agents/Cargo.toml", ""),
            ("crates/agents/src/spawn.rs", ""),
            ("xtask/Cargo.toml", ""),
            ("xtask/src/main.rs", ""),
        ];
        check(paths, &files, expected);
    };
    check_map(
        "Processes start in `crates/agents/src/spawn.rs`, in `crates/agents`, `crates/agents/`, `.ci/run`.",
        &[],
    );
    check_map("`spawn.rs`, `session/prompt`, `/api/spawn.rs`, `crates/*/gone.rs`, `cargo run`, `a.b.c`", &[]);
    check_map(
        "**`crates/agents`** starts processes\n(`src/spawn.rs`, `src/`).\n\n## `xtask`\n\n`src/main.rs`",
        &[],
    );
    check_map("**`xtask`** has `src/spawn.rs`.", &["ARCHITECTURE.md:1: there is no `src/spawn.rs`"]);
    check_map("```\ncrates/gone\n`crates/gone`\n```\n", &[]);
    check_map("plain crates/gone.rs", &[]);
    check_map(
        "`crates/gone`\n\n`old.rs` and\n`src/spawn.rs`",
        &[
            "ARCHITECTURE.md:1: there is no `crates/gone`",
            "ARCHITECTURE.md:3: there is no `old.rs`",
            "ARCHITECTURE.md:4: there is no `src/spawn.rs`",
        ],
    );
}

#[test]
fn every_package_has_a_paragraph() {
    let check_map = |text: &str, expected: &[&str]| {
        let files = [(MAP, text), ("crates/agents/Cargo.toml", ""), ("xtask/Cargo.toml", "")];
        check(packages, &files, expected);
    };
    check_map("# Map\n\n### `agents`\n\nText.\n\n## xtask: what CI does\n", &[]);
    check_map("## `crates/agents`: processes\n\n### `xtask`\n", &[]);
    check_map("**`crates/agents`** runs processes.\n\n**`xtask`**, what CI does\n", &[]);
    check_map(
        "# agents\n\nThe xtask\n\n## The agents\n\n```\n## xtask\n```\n",
        &[
            "ARCHITECTURE.md: a paragraph **`agents`** is missing",
            "ARCHITECTURE.md: a paragraph **`xtask`** is missing",
        ],
    );
}

#[test]
fn every_invariant_has_a_test() {
    let test = |text: &str| format!("{text}\nfn other() {{}}\n");
    let check_held = |test_file: (&str, &str), expected: &[&str]| {
        let map = "1. **I1** Nothing is lost.\n2. **I2** Nothing is said twice.\n";
        let other = ("crates/b/tests/it/i2.rs", "");
        check(invariants, &[(MAP, map), test_file, other], expected);
    };
    let missing: &[&str] = &["ARCHITECTURE.md:1: no test names `I1`"];
    check_held(("crates/a/src/b/tests.rs", &test("/// Holds I1.")), &[]);
    check_held(("crates/a/src/b/tests.rs", &test("fn i1_nothing_is_lost() {")), &[]);
    check_held(("crates/a/tests/it/main.rs", &test("fn nothing_is_lost() { // I1")), &[]);
    check_held(("crates/a/src/b/tests.rs", &test("/// Holds I12.")), missing);
    check_held(("crates/a/src/b/tests.rs", &test("let i1 = 1;")), missing);
    check_held(("crates/a/src/b.rs", &test("/// Holds I1.")), missing);
}

#[test]
fn invariants_are_listed_in_order() {
    let check_listed = |map: &str, expected: &[&str]| {
        check(invariants, &[(MAP, map), ("a/tests.rs", "// I1 I2 I3")], expected);
    };
    check_listed("- I1: a\n- **I2.** b\n* **I3** c\n", &[]);
    check_listed(
        "I1 is the first; 1. see **I2**\n",
        &["ARCHITECTURE.md: a list of the invariants is missing: `1. **I1** …`"],
    );
    check_listed("1. **I1** a\n2. **I3** c\n", &["ARCHITECTURE.md:2: `I3` stands where `I2` is due"]);
    check_listed("1. **I1** a\n2. **I1** c\n", &["ARCHITECTURE.md:2: `I1` stands where `I2` is due"]);
}
