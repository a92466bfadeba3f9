//! Versions as Node tells them, and the lock file.

use super::*;

#[test]
fn versions() {
    let versions = ["v20.20.2\n", "v8.0.0", "20.1.0", "v", ""];
    assert_eq!(versions.map(major), [Some(20), Some(8), None, None, None]);
}

/// Every package is pinned by its hash, and none by an address: a registry nearby serves as well.
#[test]
fn the_lock_file_pins_hashes_and_names_no_host() {
    let lock = include_str!("../../../tests/mcp-sdk/package-lock.json");
    assert!(!lock.contains("\"resolved\""));
    let packages = lock.matches("    \"node_modules/").count();
    assert!(packages > 0);
    assert_eq!(lock.matches("\"integrity\": \"sha512-").count(), packages);
}
