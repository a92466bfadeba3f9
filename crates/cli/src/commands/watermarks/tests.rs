//! The file of watermarks.

use super::{Nested, count, write};

#[test]
fn files_have_the_nested_shape() {
    let text = r#"{"b-guide":{"c1":{"":{"native":"s1","last_at":"2026-11-30T10:00:01.000Z","ids":["m1"]},
            "m1":{"native":"s1","last_at":"2026-11-30T10:00:01.000Z","last_seq":4,"ids":[],"waiting":["m2"]}}}}"#;
    assert_eq!(count(&serde_json::from_str::<Nested>(text).unwrap()), 2);
    assert!(serde_json::from_str::<Nested>(r#"{"b-guide":{"c1":{"":{"ids":[]}}}}"#).is_err());
}

#[test]
fn an_export_replaces_the_file_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("channel-watermarks.json");
    for text in ["{}\n", "{\"b\":{}}\n"] {
        write(&path, text).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    assert!(write(folder.path(), "{}").is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
