//! A permission card as text. Each line of what an agent wrote stands behind a mark of ours, so that none can pose as a
//! fact.

use server::wire::{self, DetailKind, PermissionStatus};

use crate::display;

/// A card with all that is asked for, what may be answered, and how.
pub(in crate::commands) fn card(card: &wire::Permission) -> String {
    let wire::Permission { id, run_id, agent, title, tool_kind, .. } = card;
    let tool = card.tool.as_ref().map_or_else(String::new, |tool| format!(" with {tool}"));
    let mut text = String::new();
    let mut line = |line: &str| text.push_str(&(display::line(line) + "\n"));
    line(&format!("{} {id} @{agent} asks in {run_id}: {title}", display::time(card.asked_at)));
    line(&format!("    {tool_kind}{tool}"));
    for detail in &card.details {
        let what = match detail.what {
            DetailKind::Path => {
                line(&format!("    path {}", detail.text));
                continue;
            }
            DetailKind::Command => "command".to_owned(),
            DetailKind::Diff => format!("change of {}", detail.path.as_deref().unwrap_or_default()),
            DetailKind::Text => "text".to_owned(),
            DetailKind::Input => "input".to_owned(),
        };
        line(&format!("    {what}"));
        detail.text.split('\n').for_each(|part| line(&format!("    | {part}")));
    }
    for option in &card.options {
        let owners = if option.owners_only { ", owners alone" } else { "" };
        line(&format!("    {} {} ({}{owners})", option.n, option.name, display::word(&option.kind)));
    }
    if card.status == PermissionStatus::Pending {
        let until = display::time(card.until);
        line(&format!("    waits until {until}; answer with: highwater permission answer {id} NUMBER"));
    }
    text
}

/// What came of a card, on one line; `None` while it waits.
pub(in crate::commands) fn decided(card: &wire::Permission) -> Option<String> {
    let at = card.decided_at?;
    let by = card.decided_by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
    let option = card.option.and_then(|n| card.options.iter().find(|option| option.n == n));
    let option = option.map_or_else(String::new, |option| format!(" ({})", option.name));
    let why = card.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    let line = format!("{} {} {}{by}{option}{why}", display::time(at), card.id, status(card));
    Some(display::line(&line))
}

/// How a card stands, in words.
pub(in crate::commands) fn status(card: &wire::Permission) -> &'static str {
    match card.status {
        PermissionStatus::Pending => "waits",
        PermissionStatus::Allowed => "allowed",
        PermissionStatus::Rejected => "rejected",
        PermissionStatus::TimedOut => "timed out",
        PermissionStatus::Cancelled => "cancelled",
        PermissionStatus::Withdrawn => "withdrawn",
        PermissionStatus::Lost => "lost",
    }
}
