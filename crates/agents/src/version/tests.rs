//! Which versions hold.

use super::Versions;

#[test]
fn versions_hold_between_their_bounds() {
    let versions = Versions::new(">=0.101.0, <0.102.0").unwrap();
    let check = |version: &str, holds: bool| assert_eq!(versions.hold(version), holds, "{version}");
    check("0.101.0", true);
    check("0.101.7", true);
    check("0.102.0", false);
    check("0.100.9", false);
    check("1.0.0", false);
    check("0.101", false);
    check("latest", false);
    assert_eq!(versions.to_string(), ">=0.101.0, <0.102.0");
    assert_eq!(Versions::new("any"), None);
}
