//! Spools read as they were written, and leave nothing.

use std::io;

use super::*;

fn spool(folder: &Path, text: &[u8]) -> Spool {
    Spool::written::<io::Error>(folder, |out| out.write_all(text)).unwrap()
}

#[track_caller]
fn check(text: &[u8], expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let spool = spool(folder.path(), text);
    for _ in 0..2 {
        let lines = spool.lines().map(|line| match line {
            Ok(line) => String::from_utf8(line).unwrap(),
            Err(error) => error.to_string(),
        });
        assert_eq!(lines.collect::<Vec<_>>(), expected, "{text:?}");
    }
}

#[test]
fn lines_come_in_order_without_their_ends() {
    check(b"", &[]);
    check(b"one", &["one"]);
    check(b"one\n", &["one"]);
    check(b"one\n\ntwo", &["one", "", "two"]);
    let long = "x".repeat(usize::try_from(LINE_BYTES_MAX).unwrap());
    check(format!("{long}\nnext").as_bytes(), &[&long, "next"]);
    let folder = tempfile::tempdir().unwrap();
    let spool = spool(folder.path(), format!("{long}x\n").as_bytes());
    let error = spool.lines().next().unwrap().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn no_name_stays() {
    let folder = tempfile::tempdir().unwrap();
    let written = spool(folder.path(), b"text");
    let made = Spool::made::<io::Error>(folder.path(), |path| std::fs::write(path, "other")).unwrap();
    let failed = Spool::made::<io::Error>(folder.path(), |path| {
        std::fs::write(path, "half")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert!(failed.is_err());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    assert_eq!((written.bytes(), written.chunk(1, 2).unwrap()), (4, b"ex".to_vec()));
    assert_eq!((made.bytes(), made.chunk(5, 9).unwrap()), (5, Vec::new()));
    std::fs::write(folder.path().join("spool-1-1"), "left").unwrap();
    sweep(folder.path());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
