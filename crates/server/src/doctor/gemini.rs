//! Whether Gemini CLI reads the defaults that Highwater gives it: only from where root alone can write.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{Doctor, remedy};
use crate::wire::{Finding, Level};

/// Nothing where they are read.
pub(super) fn defaults(doctor: &Doctor) -> Option<Finding> {
    let folder = doctor.hidden.as_deref().unwrap_or(&doctor.folder);
    if folder.ancestors().all(is_roots_alone) {
        return None;
    }
    Some(remedy(
        Level::Warning,
        "it reads no defaults of Highwater's, since others than root can write where they are: it asks another model before each \
         turn if none is named, reports to its maker, and a session can be reloaded once",
        r#"put into ~/.gemini/settings.json: {"general": {"sessionRetention": {"enabled": false}}, "model": {"name": "pro"}, "privacy": {"usageStatisticsEnabled": false}}"#,
    ))
}

/// What is not there yet is made by the server.
fn is_roots_alone(folder: &Path) -> bool {
    match std::fs::metadata(folder) {
        Ok(seen) => seen.uid() == 0 && seen.mode() & 0o022 == 0,
        Err(_) => true,
    }
}
