//! A configuration file that is cut or changed anywhere: read, or refused with its place.

use super::*;

const WHOLE: &str = "data = \"/srv/highwater\"\nlisten = \"127.0.0.1:7800\"\npool_size = 8\nidle_limit = \"1h30m\"\n\
                     allowed_hosts = [\"a.example\", \"b.example:80\"]\npublic_url = \"https://a.example\"\nlog_level = \"info\"\n";

/// Fault experiment 5: a configuration is refused with what is wrong and where, or read.
#[test]
fn a_damaged_file_is_read_or_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let flags = Flags { config: Some(path.clone()), ..Flags::default() };
    let check = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let Err(failure) = settings(&flags, &home(), Path::new(BASE), programs()) else { return true };
        let told = format!("{failure:?}");
        // What does not go together has no single place.
        assert!(
            told.contains("config.toml") || told.contains("public_url"),
            "{}: {told}",
            String::from_utf8_lossy(bytes)
        );
        false
    };
    assert!(check(WHOLE.as_bytes()));
    let mut read = 0;
    for at in 0..WHOLE.len() {
        let mut bytes = WHOLE.as_bytes().to_vec();
        read += usize::from(check(&bytes[..at]));
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            read += usize::from(check(&bytes));
            bytes[at] ^= 1 << bit;
        }
    }
    assert!(read > 100 && read < 8 * WHOLE.len(), "{read}");
}
