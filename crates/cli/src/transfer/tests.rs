//! Drafts become files when they are whole, and leave nothing when they are not.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{Draft, Overwrite};
use crate::failure::{Failure, Kind};

fn write(path: &Path, overwrite: Overwrite) -> Result<(), Failure> {
    let (draft, mut file) = Draft::new(path, overwrite)?;
    file.write_all(b"new").unwrap();
    draft.keep(&file)
}

#[test]
fn a_file_is_whole_private_and_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    drop(Draft::new(&path, Overwrite::Never).unwrap());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "what was broken off leaves nothing");
    fs::write(&path, "old").unwrap();
    assert_eq!(write(&path, Overwrite::Never).map_err(|error| error.kind()), Err(Kind::Conflict));
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    write(&path, Overwrite::Always).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}
