//! What there is to say of an agent of a channel.

use delivery::Policy;
use delivery::model::SessionPolicy;
use storage::{NewBinding, Profile};

use super::{found, remedy};
use crate::preset;
use crate::wire::{Finding, Level};

/// What an agent is known by here beside how it was added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    /// Whether its command can be started.
    pub(crate) reachable: bool,
    /// Variables that the server is to pass on and does not have.
    pub(crate) missing: &'a [String],
}

/// What there is to say; nothing of one that is all right.
pub(crate) fn findings(spec: &NewBinding, seen: Seen<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !seen.reachable {
        let program = spec.command.first().map_or("", String::as_str);
        let install = preset::install(&spec.preset).map_or_else(
            || "install it where the server finds it, or add the agent with another command".to_owned(),
            |install| format!("install it: {install}"),
        );
        findings.push(remedy(Level::Fault, format!("{program} was not found"), install));
    }
    for name in seen.missing {
        findings.push(remedy(
            Level::Fault,
            format!("the server's environment has no {name}, which the agent is to get"),
            format!("set {name} where highwater serve is started"),
        ));
    }
    if spec.profile == Profile::Own && preset::has_profile(&spec.preset, Profile::Tidy) {
        findings.push(remedy(
            Level::Warning,
            "its profile is own: what your configuration wastes is paid for with each mention",
            "highwater agent change … --profile tidy (docs/agents.md says what that leaves out)",
        ));
    }
    match spec.delivery {
        Policy::Lean => {}
        Policy::Base | Policy::Window => findings.push(remedy(
            Level::Warning,
            "its delivery tells it again what it knows",
            "highwater agent change … --delivery lean",
        )),
    }
    match spec.session {
        SessionPolicy::Resident | SessionPolicy::Saved => {}
        SessionPolicy::Fresh => findings.push(found(
            Level::Note,
            "each of its runs is a new session: it remembers nothing, and the provider caches little of it",
        )),
    }
    findings
}
