//! Versions of agents: which ones something was tried with.

use std::fmt;

use semver::{Version, VersionReq};

/// The versions that an agent was tried with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions(VersionReq);

impl Versions {
    /// Out of a requirement such as `>=1.2.0, <1.3.0`; `None` if it is none.
    pub fn new(requirement: &str) -> Option<Self> {
        VersionReq::parse(requirement).ok().map(Self)
    }

    /// Whether a version is one of them; one that is no version is not.
    pub fn hold(&self, version: &str) -> bool {
        Version::parse(version).is_ok_and(|version| self.0.matches(&version))
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests;
