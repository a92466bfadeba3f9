//! Who may build code in which rules can be broken: the world, by name, and nothing that is shipped.

#[cfg(test)]
mod tests;

use toml::{Table, Value};

use super::Finding;
use crate::tree::Tree;

/// The feature.
const FAULTS: &str = "faults";

/// The package that tries it, whose feature of the same name hands it on.
const WORLD: &str = "world";

/// No manifest asks for the feature but the world's, and there it is no default: a build of the whole workspace would unite
/// the features of its packages.
pub(super) fn feature(tree: &Tree) -> Vec<Finding> {
    let packages = tree.packages().chain([("", "Cargo.toml")]);
    let mut findings = Vec::new();
    for (package, path) in packages {
        let Some(manifest) = tree.text(path).and_then(|text| text.parse::<Table>().ok()) else { continue };
        let mut asked = Vec::new();
        ask("", &Value::Table(manifest), &mut asked);
        let is_allowed = |place: &str| package == WORLD && place == "features.faults";
        let message = |place: &str| format!("`{place}` asks for `{FAULTS}`: the world alone may break rules");
        let wrong = asked.iter().filter(|place| !is_allowed(place));
        findings.extend(wrong.map(|place| Finding::file(path, message(place))));
    }
    findings
}

/// Where a manifest has the feature as a value: `features = ["faults"]`, `default = ["delivery/faults"]`.
fn ask(place: &str, value: &Value, asked: &mut Vec<String>) {
    match value {
        Value::String(text) if text.rsplit('/').next() == Some(FAULTS) && !place.ends_with(".path") => {
            asked.push(place.to_owned());
        }
        Value::Array(values) => values.iter().for_each(|value| ask(place, value, asked)),
        Value::Table(table) => {
            for (key, value) in table {
                let within = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                ask(&within, value, asked);
            }
        }
        Value::String(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
    }
}
