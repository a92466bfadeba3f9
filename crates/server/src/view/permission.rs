//! Permission cards as the API shows them: what agents wrote in them is cleaned, so that nothing forges or hides (4.7).

use delivery::clean;
use storage::{Choice, ChoiceKind, Detail, Outcome, Permission, PermissionRules, Read, ToolKind};

use super::diff;
use crate::error::ApiError;
use crate::wire::{self, DetailKind, PermissionDetail, PermissionOption, PermissionStatus};

/// A card, the names of its channel and agent looked up.
pub(crate) fn permission(store: &dyn Read, stored: Permission) -> Result<wire::Permission, ApiError> {
    let channel = store.channel_by_id(&stored.key.channel)?.name;
    let agent = store.binding(&stored.key.binding)?.spec.handle;
    let status =
        stored.decision.as_ref().map_or(PermissionStatus::Pending, |decision| status(decision.outcome));
    let decision = stored.decision.as_ref();
    Ok(wire::Permission {
        id: stored.id.0,
        run_id: stored.run.0,
        channel,
        agent,
        binding_id: stored.key.binding.0,
        message_id: stored.message.0,
        thread_root_id: stored.thread.map(|id| id.0),
        title: line(&stored.asked.title),
        tool_kind: line(&stored.asked.kind),
        tool: stored.asked.tool.as_deref().map(line),
        details: stored.asked.details.iter().map(detail).collect(),
        options: (1..).zip(&stored.asked.options).map(|(n, choice)| option(n, choice)).collect(),
        asked_at: stored.asked_at,
        until: stored.until,
        status,
        option: decision.and_then(|decision| decision.option),
        decided_by: decision.and_then(|decision| decision.by.as_ref()).map(|by| by.name.clone()),
        decided_at: decision.map(|decision| decision.at),
        why: decision.and_then(|decision| decision.why.clone()),
    })
}

/// A binding's rules, with that of every kind of tool.
pub(crate) fn rules(rules: &PermissionRules) -> wire::PermissionRules {
    wire::PermissionRules {
        answered_by: rules.answered_by,
        limit_ms: rules.limit_ms,
        tools: ToolKind::ALL.into_iter().map(|kind| (kind, rules.rule(kind))).collect(),
    }
}

/// An outcome in words.
pub(crate) fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Allowed => "allowed",
        Outcome::Rejected | Outcome::TimedOut => "rejected",
        Outcome::Cancelled => "cancelled",
        Outcome::Withdrawn => "withdrawn",
        Outcome::Lost => "lost",
    }
}

fn status(outcome: Outcome) -> PermissionStatus {
    match outcome {
        Outcome::Allowed => PermissionStatus::Allowed,
        Outcome::Rejected => PermissionStatus::Rejected,
        Outcome::TimedOut => PermissionStatus::TimedOut,
        Outcome::Cancelled => PermissionStatus::Cancelled,
        Outcome::Withdrawn => PermissionStatus::Withdrawn,
        Outcome::Lost => PermissionStatus::Lost,
    }
}

fn detail(detail: &Detail) -> PermissionDetail {
    let part = |what, text: &str| PermissionDetail { what, path: None, text: clean::text(text) };
    match detail {
        Detail::Command { text } => part(DetailKind::Command, text),
        Detail::Path { text } => PermissionDetail { what: DetailKind::Path, path: None, text: line(text) },
        Detail::Diff { path, old, new } => PermissionDetail {
            what: DetailKind::Diff,
            path: Some(line(path)),
            text: diff::diff(old.as_deref(), new),
        },
        Detail::Text { text } => part(DetailKind::Text, text),
        Detail::Input { text } => part(DetailKind::Input, text),
    }
}

fn option(n: u32, choice: &Choice) -> PermissionOption {
    let name = line(&choice.name);
    let name = if name.is_empty() { kind_words(choice.kind).to_owned() } else { name };
    PermissionOption { n, name, kind: choice.kind, owners_only: choice.kind.is_for_owners() }
}

fn kind_words(kind: ChoiceKind) -> &'static str {
    match kind {
        ChoiceKind::AllowOnce => "Allow once",
        ChoiceKind::AllowAlways => "Allow always",
        ChoiceKind::RejectOnce => "Reject once",
        ChoiceKind::RejectAlways => "Reject always",
        ChoiceKind::Other => "An option without a name",
    }
}

/// Text on one line, with what hides in it shown.
fn line(text: &str) -> String {
    clean::text(text).replace(['\n', '\t'], " ").trim().to_owned()
}

#[cfg(test)]
mod tests;
