//! When a built client is stale.

use super::*;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn check(present: &[(&str, &str)], due: &[(&str, &str)], expected: Option<&str>) {
    let (present, due) = (folder(present), folder(due));
    assert_eq!(difference(present.path(), due.path()).unwrap().as_deref(), expected);
}

#[test]
fn every_byte_of_every_file_counts() {
    let built = [("index.html", "x"), ("assets/a.js", "y")];
    check(&built, &built, None);
    check(&built[..1], &built, Some("assets/a.js is missing"));
    check(&built, &built[..1], Some("assets/a.js is left over"));
    check(&[("index.html", "x"), ("assets/a.js", "z")], &built, Some("assets/a.js differs"));
}
