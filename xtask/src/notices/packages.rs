//! Which packages the binary is made of, as cargo resolves them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process;

/// The package of our one binary.
const BINARY: &str = "cli";

/// Where the binary runs. A package that only another platform needs is in nobody's hands.
const PLATFORMS: &[&str] = &["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"];

/// A package of somebody else.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// The licence expression, or what stands for one.
    pub(super) license: String,
    /// Where its source is at home.
    pub(super) origin: String,
    /// Where its source is on this machine.
    pub(super) folder: PathBuf,
    /// A text that the manifest names, relative to the folder.
    pub(super) license_file: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Described>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Described {
    id: String,
    name: String,
    version: String,
    /// None: a package of this workspace.
    source: Option<String>,
    license: Option<String>,
    license_file: Option<PathBuf>,
    repository: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    /// None: a normal dependency.
    kind: Option<String>,
}

/// The packages of others that the binary is built from, by name and version.
pub(super) fn of_binary(root: &Path) -> Result<Vec<Package>> {
    let mut command = process::cargo(root);
    command.args(["metadata", "--locked", "--format-version", "1"]);
    for platform in PLATFORMS {
        command.args(["--filter-platform", platform]);
    }
    parse(&process::output(&mut command)?)
}

/// The answer of `cargo metadata`, followed from the binary through normal and build dependencies. Cargo unites the
/// features of all crates and their tests here, so that the list may name a package too many, never one too few.
pub(super) fn parse(metadata: &str) -> Result<Vec<Package>> {
    let metadata: Metadata =
        serde_json::from_str(metadata).context("cannot read what `cargo metadata` says")?;
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let binary = metadata.packages.iter().find(|package| package.name == BINARY && package.source.is_none());
    let mut open = vec![binary.with_context(|| format!("there is no package `{BINARY}`"))?.id.as_str()];
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            let edges = nodes.get(id).map(|node| node.deps.as_slice()).unwrap_or_default();
            open.extend(edges.iter().filter(|edge| is_built_in(edge)).map(|edge| edge.pkg.as_str()));
        }
    }
    let of_others = |package: &&Described| package.source.is_some() && reached.contains(package.id.as_str());
    let mut packages: Vec<Package> = metadata.packages.iter().filter(of_others).map(package).collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(packages)
}

fn is_built_in(edge: &Edge) -> bool {
    edge.dep_kinds.iter().any(|kind| matches!(kind.kind.as_deref(), None | Some("build")))
}

fn package(described: &Described) -> Package {
    let Described { name, version, license, license_file, repository, manifest_path, .. } = described;
    Package {
        name: name.clone(),
        version: version.clone(),
        license: license.clone().unwrap_or_else(|| "a licence of its own".to_owned()),
        origin: repository.clone().unwrap_or_else(|| "its page in the package registry".to_owned()),
        folder: manifest_path.parent().unwrap_or(manifest_path).to_owned(),
        license_file: license_file.clone(),
    }
}
