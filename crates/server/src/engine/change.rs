//! What an agent was given when it was added, changed by owners.

use delivery::Policy;
use delivery::model::{SessionPolicy, WhenCold};
use storage::{AddressedBy, EnvVar, NewBinding, Profile, Store};

use super::admin::{bound, check_agent};
use super::{Engine, Now, Reply, key_of};
use crate::error::ApiError;
use crate::preset;

/// Why a session ends whose agent was given something that a session has from its beginning.
const CHANGED: &str = "the agent was changed";

/// A change of what an agent was given; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindingChange {
    /// How much of the user's own configuration holds.
    pub profile: Option<Profile>,
    /// Delivery policy.
    pub delivery: Option<Policy>,
    /// Session policy.
    pub session: Option<SessionPolicy>,
    /// What becomes of a large session that the provider does not cache any more.
    pub when_cold: Option<WhenCold>,
    /// Whose messages make runs of it.
    pub addressed_by: Option<AddressedBy>,
    /// Model; `Some(None)`: the agent's own choice.
    pub model: Option<Option<String>>,
    /// Instructions; `Some(None)`: none.
    pub instructions: Option<Option<String>>,
    /// Variables of its environment that are set or passed on; others stay.
    pub env: Vec<EnvVar>,
    /// Names of variables that it does not get any more.
    pub unset: Vec<String>,
}

impl Engine {
    /// What a session has from its beginning (profile, model, instructions, how it is fed) holds from a new session on,
    /// which the next turn begins; the rest from the next process on.
    pub(super) fn change_agent(
        &mut self,
        store: &mut dyn Store,
        channel: &str,
        handle: &str,
        change: BindingChange,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let binding = bound(store, channel, handle)?;
        let old = &binding.spec;
        if let Some(profile) = change.profile {
            preset::check_profile(&old.preset, profile)?;
        }
        let spec = changed(old, change)?;
        check_agent(&spec)?;
        let after = store.set_spec(&binding.id, &spec, now.wall)?;
        if begins_anew(old, &after.spec) {
            self.begin_anew(store, key_of(&binding), CHANGED, now)?;
        }
        Ok(Reply::Binding(Box::new(after)))
    }
}

fn changed(old: &NewBinding, change: BindingChange) -> Result<NewBinding, ApiError> {
    let BindingChange {
        profile,
        delivery,
        session,
        when_cold,
        addressed_by,
        model,
        instructions,
        env,
        unset,
    } = change;
    let mut all = old.env.clone();
    for name in &unset {
        if env.iter().any(|var| var.name == *name) {
            return Err(ApiError::invalid(format!(
                "{name} is to be set and to be taken away: say one of it"
            )));
        }
        let before = all.len();
        all.retain(|var| var.name != *name);
        if all.len() == before {
            return Err(ApiError::invalid(format!(
                "the agent is given no {name}, so it cannot be taken away"
            )));
        }
    }
    for var in env {
        match all.iter_mut().find(|known| known.name == var.name) {
            Some(known) => *known = var,
            None => all.push(var),
        }
    }
    Ok(NewBinding {
        profile: profile.unwrap_or(old.profile),
        delivery: delivery.unwrap_or(old.delivery),
        session: session.unwrap_or(old.session),
        when_cold: when_cold.unwrap_or(old.when_cold),
        addressed_by: addressed_by.unwrap_or(old.addressed_by),
        model: model.unwrap_or_else(|| old.model.clone()),
        instructions: instructions.unwrap_or_else(|| old.instructions.clone()),
        env: all,
        ..old.clone()
    })
}

/// Whether something differs that a session has from its beginning.
fn begins_anew(old: &NewBinding, new: &NewBinding) -> bool {
    (old.profile, old.delivery, &old.model, &old.instructions)
        != (new.profile, new.delivery, &new.model, &new.instructions)
}
