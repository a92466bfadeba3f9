//! Paths inside and outside of a folder, and what only looks like one.

use std::os::unix::fs::symlink;

use super::*;

fn check(folder: &Path, text: &str, expected: bool) {
    assert_eq!(is_inside(folder, text), expected, "{text:?}");
}

#[test]
fn only_what_is_surely_inside_is_inside() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().canonicalize().unwrap().join("work");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/a.rs"), "").unwrap();
    std::fs::create_dir(place.path().join("work2")).unwrap();
    symlink("/etc", folder.join("etc")).unwrap();
    symlink("/nowhere/at/all", folder.join("broken")).unwrap();
    symlink("loop", folder.join("loop")).unwrap();
    symlink("src", folder.join("code")).unwrap();
    let inside = |text: &str| check(&folder, text, true);
    let outside = |text: &str| check(&folder, text, false);
    let whole = |rest: &str| format!("{}{rest}", folder.display());
    for text in
        ["", ".", "src", "./src/a.rs", "src/new/file.rs", "src/**/*.rs", "*.rs", "code/a.rs", "word", "x\ny"]
    {
        inside(text);
    }
    for text in [whole(""), whole("/"), whole("/src/a.rs"), whole("/not/there"), whole("/./src")] {
        inside(&text);
    }
    for text in
        ["/", "/etc/passwd", "/nowhere", "..", "../work2", "src/../../x", "src/..", "etc", "etc/passwd"]
    {
        outside(text);
    }
    for text in
        ["broken", "broken/x", "loop", "src/a.rs/x", "~", "~root/x", "$HOME", "${HOME}/x", "src/$HOME"]
    {
        outside(text);
    }
    for text in
        ["file:/etc/passwd", "file:///etc/passwd", "https://a/b", "{/etc,x}/passwd", "[.][.]/x", "\\../x"]
    {
        outside(text);
    }
    for text in ["-f /etc/passwd", "--file=/etc/passwd", "a:/etc", "@(..)/x", " /etc/passwd", "a//b", "x\0y"]
    {
        outside(text);
    }
    for text in [whole("2"), whole("2/x"), whole("/../work2"), "x".repeat(300), "a/".repeat(3_000)] {
        outside(&text);
    }
}

#[test]
fn a_folder_that_is_a_link_is_what_it_leads_to() {
    let place = tempfile::tempdir().unwrap();
    let real = place.path().canonicalize().unwrap().join("real");
    std::fs::create_dir(&real).unwrap();
    symlink(&real, place.path().join("link")).unwrap();
    let link = place.path().join("link").canonicalize().unwrap();
    check(&link, &real.join("x").display().to_string(), true);
    check(&link, &place.path().join("link/x").display().to_string(), true);
    check(&link, &place.path().join("other").display().to_string(), false);
}
