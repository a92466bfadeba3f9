//! Tables for the rules on manifests.

use super::*;
use crate::tidy::check;

/// A manifest that takes each of `names` from the workspace table.
fn taking(section: &str, names: &[&str]) -> String {
    let lines: Vec<String> = names.iter().map(|name| format!("{name}.workspace = true\n")).collect();
    format!("[package]\nname = \"any\"\n\n[{section}]\n{}", lines.concat())
}

fn check_taking(
    rule: fn(&Tree) -> Vec<Finding>,
    package: &str,
    section: &str,
    names: &[&str],
    expected: &[&str],
) {
    let path =
        if package == "xtask" { "xtask/Cargo.toml".into() } else { format!("crates/{package}/Cargo.toml") };
    let expected: Vec<String> = expected.iter().map(|message| format!("{path}: {message}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(rule, &[(&path, &taking(section, names))], &expected);
}

#[test]
fn arrows_are_followed() {
    check_taking(shape, "cli", "dependencies", &["server", "storage", "agents", "delivery"], &[]);
    check_taking(shape, "server", "dependencies", &["agents", "storage", "delivery", "cost"], &[]);
    check_taking(shape, "storage", "dev-dependencies", &["delivery"], &[]);
    check_taking(shape, "sim", "dependencies", &["delivery", "cost", "serde"], &[]);
}

/// Holds I13: storage and agents, among others, cannot come to know each other.
#[test]
fn arrows_are_not_turned() {
    let turned: &[(&str, &str)] = &[
        ("storage", "agents"),
        ("agents", "storage"),
        ("delivery", "cost"),
        ("agents", "server"),
        ("server", "cli"),
        ("sim", "storage"),
        ("xtask", "delivery"),
    ];
    for (from, to) in turned {
        let expected = format!("`{from}` must not use `{to}`: no arrow of the drawing leads there");
        for section in
            ["dependencies", "build-dependencies", "dev-dependencies", "target.'cfg(unix)'.dependencies"]
        {
            check_taking(shape, from, section, &[to], &[&expected]);
        }
    }
}

#[test]
fn every_crate_is_drawn() {
    let expected = "`helpers` is not drawn: add it to ARCHITECTURE.md and to the arrows in xtask";
    check_taking(shape, "helpers", "dependencies", &["delivery"], &[expected]);
}

#[test]
fn libraries_stay_within_their_walls() {
    check_taking(walls, "server", "dependencies", &["axum", "tokio", "tower-http"], &[]);
    check_taking(walls, "storage", "dependencies", &["rusqlite"], &[]);
    check_taking(walls, "storage", "dev-dependencies", &["anyhow"], &[]);
    check_taking(walls, "delivery", "dependencies", &["serde", "unicode-segmentation"], &[]);
    check_taking(walls, "delivery", "dev-dependencies", &["proptest"], &[]);
    check_taking(
        walls,
        "delivery",
        "dependencies",
        &["rand"],
        &["`delivery` is pure: it must not use `rand`"],
    );
    check_taking(
        walls,
        "agents",
        "dependencies",
        &["axum", "rusqlite"],
        &[
            "`axum` belongs to server, provider alone: HTTP is the server's affair, and the emulated provider's",
            "`rusqlite` belongs to storage, bench alone: nothing above `storage` assumes SQLite",
        ],
    );
    check_taking(
        walls,
        "storage",
        "build-dependencies",
        &["anyhow", "tokio"],
        &[
            "`anyhow` belongs to cli, xtask, bench alone: elsewhere somebody branches on the error",
            "`tokio` belongs to agents, server, cli, provider, bench alone: \
             the core, the storage and the simulation are synchronous",
        ],
    );
}

#[test]
fn versions_stand_in_one_place() {
    let message = "write `serde.workspace = true`; the version stands in the root's table";
    let expected = &[&*format!("crates/cli/Cargo.toml: {message}")];
    let taken = "[dependencies]\nserde = { workspace = true, features = [\"rc\"] }\n";
    check(versions, &[("crates/cli/Cargo.toml", taken)], &[]);
    for own in [
        "serde = \"1\"",
        "serde = { version = \"1\" }",
        "serde = { path = \"../serde\" }",
        "serde.git = \"x\"",
    ] {
        check(versions, &[("crates/cli/Cargo.toml", &format!("[dependencies]\n{own}\n"))], expected);
        check(versions, &[("crates/cli/Cargo.toml", &format!("[dev-dependencies]\n{own}\n"))], expected);
    }
    let renamed = "[workspace.dependencies]\nweb = { package = \"axum\", version = \"1\" }\nserde = \"1\"\n";
    let message = "Cargo.toml: `web` is a renamed package; the rules and their readers go by the real name";
    check(versions, &[("Cargo.toml", renamed)], &[message]);
    let broken = "crates/cli/Cargo.toml: the manifest of `cli` is no TOML";
    check(versions, &[("crates/cli/Cargo.toml", "[dependencies")], &[broken]);
}
