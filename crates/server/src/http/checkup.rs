//! What `highwater doctor` finds: of the machine, of the agents of channels, of a preset's agent.

use axum::extract::{Path, State};

use super::identify::Who;
use super::{App, Json};
use crate::doctor::{Seen, of_binding};
use crate::error::{ApiError, Code};
use crate::{reach, rights, wire};

/// Looks at the machine and at how agents were added
///
/// For owners. No agent is started.
#[utoipa::path(get, path = "/checkup", tag = "agents", operation_id = "check_up",
    responses((status = 200, description = "What was found", body = wire::Checkup)))]
pub(super) async fn checkup(State(app): State<App>, who: Who) -> Result<Json<wire::Checkup>, ApiError> {
    reach::allowed(rights::may_see_agent_setup(&who.principal), "checkup", "")?;
    let start = app.start.clone();
    let agents = app.readers.read(move |store| {
        let mut found = Vec::new();
        for binding in store.bindings(None)? {
            let missing = start.missing(&binding);
            let seen = Seen { reachable: start.reachable(&binding), missing: &missing };
            let findings = of_binding(&binding.spec, seen);
            if !findings.is_empty() {
                let channel = store.channel_by_id(&binding.spec.channel)?.name;
                found.push(wire::AgentFindings { handle: binding.spec.handle, channel, findings });
            }
        }
        Ok(found)
    });
    let (agents, machine) = tokio::join!(agents, app.doctor.machine());
    Ok(Json(wire::Checkup { machine, agents: agents? }))
}

/// Starts a preset's agent and asks it what it is and can
///
/// For owners. Takes some seconds. No model is asked, and no secret is told.
#[utoipa::path(post, path = "/presets/{preset}/examine", tag = "agents", operation_id = "examine_preset",
    responses((status = 200, description = "What it told, and what was found", body = wire::Examined)))]
pub(super) async fn examine(
    State(app): State<App>,
    who: Who,
    Path(preset): Path<String>,
) -> Result<Json<wire::Examined>, ApiError> {
    reach::allowed(rights::may_see_agent_setup(&who.principal), "preset", &preset)?;
    let examined = app.doctor.examine(&preset).await;
    let none = || {
        let known = app.doctor.presets().join(", ");
        ApiError::new(Code::NotFound, format!("no preset {preset:?}; there are {known}"))
    };
    Ok(Json(examined.ok_or_else(none)?))
}
