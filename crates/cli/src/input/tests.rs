//! Bad input gets clear words.

use std::ffi::OsString;
use std::path::Path;

use super::{bounded, command, folder, handle, message, small_file, utf8};
use crate::failure::{Failure, Kind};

#[test]
fn texts_are_utf8() {
    let check = |bytes: &[u8], expected: Result<&str, &str>| {
        let expected = match expected {
            Ok(text) => Ok(text.to_owned()),
            Err(message) => Err(Failure::new(Kind::Invalid, message)),
        };
        assert_eq!(utf8("the text", bytes.to_vec()), expected);
    };
    check("grüß dich".as_bytes(), Ok("grüß dich"));
    check(b"", Ok(""));
    check(b"ab\xffc", Err("the text is not UTF-8: byte 0xFF at offset 2"));
    check(b"ab\xe2\x82", Err("the text is not UTF-8: byte 0xE2 at offset 2"));
    assert_eq!(message(&OsString::from("@guide hello\n")), Ok("@guide hello\n".to_owned()));
}

#[test]
fn reading_stops_past_the_limit() {
    assert_eq!(bounded("standard input", &[b'a'; 2048][..], 2048).map(|bytes| bytes.len()), Ok(2048));
    let expected = Err(Failure::new(Kind::Invalid, "standard input has more than 2048 bytes"));
    assert_eq!(bounded("standard input", std::io::repeat(b'a'), 2048), expected);
}

#[test]
fn a_missing_file_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let missing = small_file(&folder.path().join("no.md")).map_err(|failure| failure.kind());
    assert_eq!(missing, Err(Kind::NotFound));
    std::fs::write(folder.path().join("yes.md"), "be brief").unwrap();
    assert_eq!(small_file(&folder.path().join("yes.md")), Ok("be brief".to_owned()));
}

#[test]
fn handles_go_without_their_at() {
    assert_eq!(handle("@claude"), Ok("claude".to_owned()));
    assert_eq!(handle("claude"), Ok("claude".to_owned()));
    assert_eq!(handle("@"), Err("must not be empty".to_owned()));
}

#[test]
fn a_relative_program_is_the_one_here() {
    let check = |program: &str, expected: &str| {
        let words = vec![program.to_owned(), "./file".to_owned()];
        let expected = vec![expected.to_owned(), "./file".to_owned()];
        assert_eq!(command(words, Path::new("/home/aiko")), Ok(expected));
    };
    check("./my-agent", "/home/aiko/my-agent");
    check("bin/./my-agent", "/home/aiko/bin/my-agent");
    check("../my-agent", "/home/aiko/../my-agent");
    check("/opt/my-agent", "/opt/my-agent");
    check("my-agent", "my-agent");
    assert_eq!(command(Vec::new(), Path::new("/home/aiko")), Ok(Vec::new()));
}

#[test]
fn a_working_directory_exists() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path().canonicalize().unwrap();
    std::fs::create_dir(here.join("project")).unwrap();
    std::fs::write(here.join("file"), "").unwrap();
    let check = |path: &str, expected: &Path| {
        assert_eq!(folder(Path::new(path), &here).as_deref(), Ok(expected.to_str().unwrap()), "{path}");
    };
    check(".", &here);
    check("./project/.", &here.join("project"));
    check("project/../project", &here.join("project"));
    check(here.to_str().unwrap(), &here);
    for path in ["none", "file", "none/.."] {
        let failure = folder(Path::new(path), &here).unwrap_err();
        assert_eq!(failure.kind(), Kind::Invalid, "{path}");
    }
}
