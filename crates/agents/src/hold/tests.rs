//! How the holder reads its arguments.

use super::*;

#[track_caller]
fn check(arguments: &[&str], expect: &Option<Plan>) {
    assert_eq!(&Plan::parse(arguments.iter().map(OsString::from)), expect, "{arguments:?}");
}

#[test]
fn arguments_name_the_agent_and_what_it_must_not_see() {
    let plan = |hide: Option<(&str, &str)>, program: &str, arguments: &[&str]| {
        Some(Plan {
            hide: hide.map(|(folder, but)| Hide { folder: folder.into(), but: but.into() }),
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
        })
    };
    check(&["--", "a"], &plan(None, "a", &[]));
    check(&["--", "a", "--", "-b"], &plan(None, "a", &["--", "-b"]));
    check(&["--hide", "/d", "--but", "/d/a", "--", "a"], &plan(Some(("/d", "/d/a")), "a", &[]));
    for wrong in
        [&[][..], &["a"], &["--"], &["--hide", "/d", "--", "a"], &["--hide", "/d", "--but", "/e", "a"]]
    {
        check(wrong, &None);
    }
}
