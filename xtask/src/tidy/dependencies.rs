//! Rules for manifests: which crate may use which, what each keeps to itself, where versions stand.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::Finding;
use crate::tree::Tree;

/// The drawing of ARCHITECTURE.md: a crate may use what its arrows reach, in one step or several. A crate that is drawn
/// before it is built is no error; one that is built but not drawn is.
const ARROWS: &[(&str, &[&str])] = &[
    ("cli", &["server", "sim", "provider"]),
    ("server", &["agents", "storage", "cost"]),
    ("agents", &["delivery"]),
    ("storage", &["delivery"]),
    ("sim", &["delivery", "cost"]),
    ("provider", &["cost"]),
    ("bench", &["server", "sim", "world"]),
    ("world", &["server"]),
    ("delivery", &[]),
    ("cost", &[]),
    ("xtask", &[]),
];

/// A library that shapes all code around it, and the crates that are built with it. What tests alone use is free.
struct Wall {
    library: &'static str,
    within: &'static [&'static str],
    reason: &'static str,
}

const PROTOCOL: &str = "its types change often and stay behind `agents`";

const WALLS: &[Wall] = &[
    Wall {
        library: "axum",
        within: &["server", "provider"],
        reason: "HTTP is the server's affair, and the emulated provider's",
    },
    Wall { library: "tower-http", within: &["server"], reason: "HTTP is the server's affair" },
    Wall {
        library: "rusqlite",
        within: &["storage", "bench"],
        reason: "nothing above `storage` assumes SQLite",
    },
    Wall { library: "rmcp", within: &["server"], reason: "agents' tools are served by the server" },
    Wall { library: "agent-client-protocol", within: &["agents"], reason: PROTOCOL },
    Wall { library: "agent-client-protocol-schema", within: &["agents"], reason: PROTOCOL },
    Wall {
        library: "tokio",
        within: &["agents", "server", "cli", "provider", "bench"],
        reason: "the core, the storage and the simulation are synchronous",
    },
    Wall {
        library: "anyhow",
        within: &["cli", "xtask", "bench"],
        reason: "elsewhere somebody branches on the error",
    },
];

/// All that each pure crate is built with. None of it reads a clock, a file or the environment.
const PURE: &[(&str, &[&str])] = &[
    ("delivery", &["pulldown-cmark", "serde", "serde_json", "unicode-segmentation"]),
    ("cost", &["serde", "serde_json", "unicode-general-category"]),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Normal,
    Build,
    Dev,
}

struct Dependency {
    name: String,
    kind: Kind,
    from_workspace: bool,
}

struct Manifest<'a> {
    package: &'a str,
    path: &'a str,
    dependencies: Vec<Dependency>,
}

impl Manifest<'_> {
    /// Findings for the dependencies that `message` has something to say about.
    fn findings(&self, message: impl Fn(&Dependency) -> Option<String>) -> Vec<Finding> {
        self.dependencies.iter().filter_map(message).map(|text| Finding::file(self.path, text)).collect()
    }
}

/// Arrows are followed, never turned: agents and storage, for one, do not know each other.
pub(super) fn shape(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in manifests(tree) {
        let package = manifest.package;
        if arrows(package).is_none() {
            let message =
                format!("`{package}` is not drawn: add it to ARCHITECTURE.md and to the arrows in xtask");
            findings.push(Finding::file(manifest.path, message));
            continue;
        }
        let reached = reached(package);
        findings.extend(manifest.findings(|dependency| {
            let name = dependency.name.as_str();
            let against = arrows(name).is_some() && !reached.contains(name);
            against.then(|| format!("`{package}` must not use `{name}`: no arrow of the drawing leads there"))
        }));
    }
    findings
}

fn arrows(package: &str) -> Option<&'static [&'static str]> {
    ARROWS.iter().find(|(from, _)| *from == package).map(|(_, to)| *to)
}

fn reached(package: &str) -> BTreeSet<&'static str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = arrows(package).unwrap_or_default().to_vec();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(arrows(next).unwrap_or_default());
        }
    }
    reached
}

/// Libraries stay within the crates that may be shaped by them.
pub(super) fn walls(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in manifests(tree) {
        findings.extend(manifest.findings(|dependency| {
            let name = dependency.name.as_str();
            if dependency.kind == Kind::Dev {
                return None;
            }
            let package = manifest.package;
            let pure = PURE.iter().find(|(pure, _)| *pure == package);
            if pure.is_some_and(|(_, within)| arrows(name).is_none() && !within.contains(&name)) {
                return Some(format!("`{package}` is pure: it must not use `{name}`"));
            }
            let wall = WALLS.iter().find(|wall| wall.library == name)?;
            let outside = !wall.within.contains(&manifest.package);
            outside.then(|| format!("`{name}` belongs to {} alone: {}", wall.within.join(", "), wall.reason))
        }));
    }
    findings
}

/// Versions stand in the workspace table, under the library's own name, and nowhere else.
pub(super) fn versions(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (package, path) in tree.packages() {
        if tree.text(path).is_none_or(|text| text.parse::<Table>().is_err()) {
            findings.push(Finding::file(path, format!("the manifest of `{package}` is no TOML")));
        }
    }
    for manifest in manifests(tree) {
        findings.extend(manifest.findings(|dependency| {
            let name = &dependency.name;
            let message = format!("write `{name}.workspace = true`; the version stands in the root's table");
            (!dependency.from_workspace).then_some(message)
        }));
    }
    for (name, spec) in workspace_table(tree) {
        if spec.get("package").is_some() {
            let message =
                format!("`{name}` is a renamed package; the rules and their readers go by the real name");
            findings.push(Finding::file("Cargo.toml", message));
        }
    }
    findings
}

fn workspace_table(tree: &Tree) -> Table {
    let root = tree.text("Cargo.toml").and_then(|text| text.parse::<Table>().ok()).unwrap_or_default();
    root.get("workspace").map(|workspace| table(workspace, "dependencies")).unwrap_or_default()
}

/// A manifest that is no TOML is skipped here; `versions` reports it.
fn manifests(tree: &Tree) -> Vec<Manifest<'_>> {
    let parsed = tree.packages().filter_map(|(package, path)| {
        let manifest: Value = tree.text(path)?.parse::<Table>().ok()?.into();
        Some(Manifest { package, path, dependencies: dependencies(&manifest) })
    });
    parsed.collect()
}

/// What a manifest names, for every platform.
fn dependencies(manifest: &Value) -> Vec<Dependency> {
    let platforms = table(manifest, "target");
    let mut found = Vec::new();
    for section in std::iter::once(manifest).chain(platforms.values()) {
        let kinds = [
            ("dependencies", Kind::Normal),
            ("build-dependencies", Kind::Build),
            ("dev-dependencies", Kind::Dev),
        ];
        for (key, kind) in kinds {
            for (name, spec) in table(section, key) {
                found.push(Dependency { name, kind, from_workspace: is_from_workspace(&spec) });
            }
        }
    }
    found
}

fn table(value: &Value, key: &str) -> Table {
    value.get(key).and_then(Value::as_table).cloned().unwrap_or_default()
}

fn is_from_workspace(spec: &Value) -> bool {
    spec.get("workspace").and_then(Value::as_bool) == Some(true)
}
