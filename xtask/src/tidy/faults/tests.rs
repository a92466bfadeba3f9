//! Tables for who may ask for the feature.

use super::*;
use crate::tidy::check;

#[test]
fn the_world_alone_asks_for_it() {
    let own = "[features]\nfaults = []\n";
    let world = "[features]\nfaults = [\"delivery/faults\"]\n";
    check(feature, &[("crates/delivery/Cargo.toml", own), ("crates/world/Cargo.toml", world)], &[]);
}

#[test]
fn nobody_else_does() {
    let cases = [
        ("crates/cli/Cargo.toml", "[features]\nfaults = [\"delivery/faults\"]\n", "features.faults"),
        (
            "crates/delivery/Cargo.toml",
            "[features]\nfaults = []\ndefault = [\"faults\"]\n",
            "features.default",
        ),
        ("crates/world/Cargo.toml", "[features]\ndefault = [\"delivery/faults\"]\n", "features.default"),
        (
            "crates/server/Cargo.toml",
            "[dependencies]\ndelivery = { workspace = true, features = [\"faults\"] }\n",
            "dependencies.delivery.features",
        ),
        (
            "Cargo.toml",
            "[workspace.dependencies]\ndelivery = { path = \"crates/delivery\", features = [\"faults\"] }\n",
            "workspace.dependencies.delivery.features",
        ),
    ];
    for (path, text, place) in cases {
        let expected = format!("{path}: `{place}` asks for `faults`: the world alone may break rules");
        check(feature, &[(path, text)], &[&expected]);
    }
}
