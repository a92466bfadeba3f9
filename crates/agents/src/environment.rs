//! The environment of an agent, built from nothing (6.11), and whether a program is found in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use crate::redact::Secrets;

#[cfg(test)]
mod tests;

/// Names that are passed on from the server's environment.
const NAMES: [&str; 21] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TZ",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

/// Beginnings of names that are passed on.
const PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// A variable that a binding sets.
#[derive(Clone, PartialEq, Eq)]
pub enum Own {
    /// With this value.
    Value(String),
    /// With the server's value, if it has one.
    ByName,
}

/// The whole environment of an agent, in the order of names: what is allowed of the server's, then the binding's
/// own over it.
pub fn pick(server: &[(String, String)], own: &[(String, Own)]) -> Vec<(String, String)> {
    let mut picked: BTreeMap<&str, &str> =
        server.iter().filter(|(name, _)| is_allowed(name)).map(|(name, value)| (&**name, &**value)).collect();
    for (name, value) in own_values(server, own) {
        picked.insert(name, value);
    }
    picked.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The values of the binding's own variables, which are never shown.
pub fn secrets(server: &[(String, String)], own: &[(String, Own)]) -> Secrets {
    Secrets::new(own_values(server, own).map(|(_, value)| value.to_owned()))
}

/// Whether a program can be started: `command` with a `/` names a file, else it is looked up on `path` (the value
/// of an agent's `PATH`).
pub fn reachable(command: &str, path: &str) -> bool {
    if command.contains('/') {
        return is_program(Path::new(command));
    }
    !command.is_empty()
        && std::env::split_paths(path).any(|folder: PathBuf| is_program(&folder.join(command)))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

fn is_allowed(name: &str) -> bool {
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn own_values<'a>(
    server: &'a [(String, String)],
    own: &'a [(String, Own)],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    own.iter().filter_map(|(name, own)| {
        let value = match own {
            Own::Value(value) => value,
            Own::ByName => &server.iter().find(|(theirs, _)| theirs == name)?.1,
        };
        Some((&**name, &**value))
    })
}
