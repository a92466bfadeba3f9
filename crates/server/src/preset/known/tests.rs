//! What is known fits what is installed.

use agents::Versions;

use super::known;
use crate::preset::presets;

/// The version that a preset's command installs is one that it was tried with.
#[test]
fn what_is_installed_was_tried() {
    let mut found = 0;
    for preset in presets(&[]) {
        let Some(install) = preset.install else {
            assert!(known(preset.name).is_none(), "{}", preset.name);
            continue;
        };
        let versions = Versions::new(known(preset.name).unwrap().versions).unwrap();
        let (_, installed) = install.rsplit_once('@').unwrap();
        assert!(versions.hold(installed), "{install}");
        found += 1;
    }
    assert_eq!(found, 4);
}
