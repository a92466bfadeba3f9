//! Pages with a few rows, and the tests that they name.

use super::*;
use crate::tidy;

fn check(row: &str, tests: &str, expected: &[&str]) {
    let page = format!("# Page\n\n| report | what | rule | test |\n| --- | --- | --- | --- |\n{row}\n");
    tidy::check(
        held,
        &[("docs/public-reports.md", &page), ("crates/x/src/tests.rs", tests), ("web/a.test.ts", tests)],
        expected,
    );
}

#[test]
fn a_test_is_there_and_names_its_report() {
    let rust = "/// Rule 4.4 and public reports B11, B12: once.\n#[test]\nfn told_once() {\n    go();\n}\n";
    check("| B11 | twice | 4.4 | `engine::told_once` |", rust, &[]);
    check("| B12 | twice | 4.4 | `engine::told_once`, by `cargo` |", rust, &[]);
    check(
        "| B1 | twice | 4.4 | `a::told_once` |",
        rust,
        &["docs/public-reports.md:5: `a::told_once` does not name public report B1"],
    );
    check(
        "| B11 | twice | 4.4 | `a::told_twice` |",
        rust,
        &["docs/public-reports.md:5: there is no test `a::told_twice`"],
    );
    check("| A7 | images | Highwater sends none |", rust, &[]);
    check(
        "| C32 | silence | 5.5 | `live::it ends` |",
        "// Public report C32\ntest(\"it ends\", () => {\n});\n",
        &[],
    );
    check(
        "| I83 | told | 7.3 | `a::b` |",
        "#[test]\nfn b() {\n    // public report I83\n    go();\n}\n",
        &[],
    );
}

#[test]
fn a_neighbours_name_does_not_count() {
    let tests = "/// Public report B11\n#[test]\nfn one() {\n}\n\n#[test]\nfn two() {\n}\n\n/// Public report B11\nfn three() {\n}\n";
    check(
        "| B11 | twice | 4.4 | `a::two` |",
        tests,
        &["docs/public-reports.md:5: `a::two` does not name public report B11"],
    );
}

#[test]
fn faults_are_numbers() {
    let check = |row: &str, expected: &[&str]| {
        let page = format!("| | fault | has to come of it | test |\n| --- | --- | --- | --- |\n{row}\n");
        let tests = "/// Fault experiment 3: told.\n#[test]\nfn full() {\n}\n";
        tidy::check(held, &[("docs/faults.md", &page), ("crates/x/src/tests.rs", tests)], expected);
    };
    check("| 3 | a full disk | refused | `storage::full` |", &[]);
    check(
        "| 4 | a full disk | refused | `storage::full` |",
        &["docs/faults.md:3: `storage::full` does not name fault experiment 4"],
    );
}

#[test]
fn cache_breaks_have_a_list_and_a_number() {
    let check = |row: &str, expected: &[&str]| {
        let page = format!("| case | what | rule | test |\n| --- | --- | --- | --- |\n{row}\n");
        let tests = "/// Cache breaks T7, B1.6 and B3.46. All is kept.\n#[test]\nfn kept() {\n}\n";
        tidy::check(held, &[("docs/cache-breaks.md", &page), ("crates/x/src/tests.rs", tests)], expected);
    };
    let path = "docs/cache-breaks.md:3:";
    for id in ["T7", "B1.6", "B3.46"] {
        check(&format!("| {id} | a clock | 3.1 | `engine::kept` |"), &[]);
    }
    for id in ["T6", "B1.4", "B3.4"] {
        let expected = format!("{path} `engine::kept` does not name cache break {id}");
        check(&format!("| {id} | a clock | 3.1 | `engine::kept` |"), &[&expected]);
    }
    check("| B1.6 | a clock | 3.1 | by the kernel |", &[&format!("{path} cache break B1.6 has no test")]);
    check("| T7, B1.6 | a clock | no row of a case | `engine::gone` |", &[]);
}
