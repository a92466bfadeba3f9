//! By which rules a binding's permission requests are decided: changed by owners.

use std::collections::BTreeMap;

use storage::{AnsweredBy, PermissionRules, Rule, Store, ToolKind};

use super::admin::bound;
use super::{Engine, Now, Reply};
use crate::error::ApiError;

/// Milliseconds that a card may wait: long enough to be seen, and at most a week.
const LIMIT_MS_MIN: u64 = 1_000;
const LIMIT_MS_MAX: u64 = 7 * 24 * 3_600 * 1_000;

/// A change of a binding's rules; what is `None` or missing stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesChange {
    /// Who answers its cards.
    pub answered_by: Option<AnsweredBy>,
    /// How long a card waits; `Some(None)`: as the server's setting says.
    pub limit_ms: Option<Option<u64>>,
    /// Rules by kind of tool; `None`: as by default.
    pub tools: BTreeMap<ToolKind, Option<Rule>>,
}

impl Engine {
    pub(super) fn change_rules(
        &mut self,
        store: &mut dyn Store,
        channel: &str,
        handle: &str,
        change: &RulesChange,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let binding = bound(store, channel, handle)?;
        let mut rules = binding.spec.permissions;
        rules.answered_by = change.answered_by.unwrap_or(rules.answered_by);
        rules.limit_ms = change.limit_ms.unwrap_or(rules.limit_ms);
        for (kind, rule) in &change.tools {
            match rule {
                Some(rule) => rules.tools.insert(*kind, *rule),
                None => rules.tools.remove(kind),
            };
        }
        check_rules(&rules)?;
        Ok(Reply::Binding(Box::new(store.set_permission_rules(&binding.id, &rules, now.wall)?)))
    }
}

/// Refuses rules that could not hold.
pub(super) fn check_rules(rules: &PermissionRules) -> Result<(), ApiError> {
    if let Some((kind, _)) =
        rules.tools.iter().find(|(kind, rule)| **rule == Rule::Inside && !kind.is_by_path())
    {
        return Err(ApiError::invalid(format!(
            "what {} does is not told by paths: allow, ask or reject it",
            kind.as_str()
        )));
    }
    match rules.limit_ms {
        Some(ms) if !(LIMIT_MS_MIN..=LIMIT_MS_MAX).contains(&ms) => {
            Err(ApiError::invalid("a permission card waits for 1 second to 7 days"))
        }
        Some(_) | None => Ok(()),
    }
}
