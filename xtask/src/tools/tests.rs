//! Where the tools are kept.

use super::*;

fn check(variables: &[(&str, &str)], expected: Option<&str>) {
    let value =
        |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
    assert_eq!(cache(value).ok(), expected.map(PathBuf::from), "with {variables:?}");
}

#[test]
fn the_first_variable_that_is_set_names_the_folder() {
    let all = [
        ("HIGHWATER_TOOLS", "/tools"),
        ("XDG_CACHE_HOME", "/xdg"),
        ("HOME", "/me"),
        ("CARGO_HOME", "/cargo"),
    ];
    check(&all, Some("/tools/"));
    check(&all[1..], Some("/xdg/highwater/tools"));
    check(&all[2..], Some("/me/.cache/highwater/tools"));
    check(&all[3..], Some("/cargo/highwater-tools"));
    check(&[("XDG_CACHE_HOME", ""), ("HOME", "/me")], Some("/me/.cache/highwater/tools"));
    check(&[("HIGHWATER_TOOLS", "tools"), ("HOME", "/me")], None);
    check(&[], None);
}

#[test]
fn node_is_new_enough_from_20_19_on() {
    let cases = [
        ("v20.19.0\n", true),
        ("v20.20.2", true),
        ("v24.0.0", true),
        ("v20.18.9", false),
        ("v18.20.4", false),
        ("", false),
        ("v20", false),
    ];
    for (version, expected) in cases {
        assert_eq!(page::is_new_enough(version), expected, "{version}");
    }
}
