//! What a principal reaches in the store. Everything else is answered like what does not exist.

use delivery::model::{MessageId, RunId};
use storage::{Channel, ChannelMember, Message, Permission, PermissionId, Person, Read, Run};

use crate::error::ApiError;
use crate::rights::{self, Denial, Principal, Shape, Standing, Verdict};

/// A denial as whoever asked reads it. `what` and `name` are what a store would say that it does not have.
pub(crate) fn denied(denial: Denial, what: &'static str, name: &str) -> ApiError {
    match denial {
        Denial::Hidden => storage::Error::NotFound { what, name: name.to_owned() }.into(),
        Denial::Refused(why) => ApiError::forbidden(why),
        Denial::Scope(scope) => {
            let scope = format!("{scope:?}").to_lowercase();
            ApiError::forbidden(format!("this token has not the scope {scope}; use or make one that has"))
        }
    }
}

/// How a channel stands to a principal.
pub(crate) fn standing(store: &dyn Read, who: &Principal, channel: &Channel) -> Result<Standing, ApiError> {
    Ok(Standing {
        access: channel.access,
        shape: if channel.direct.is_some() { Shape::Direct } else { Shape::Open },
        rank: store.rank(&channel.id, &who.person)?,
    })
}

/// A channel by name, if it may be read.
pub(crate) fn channel(store: &dyn Read, who: &Principal, name: &str) -> Result<Channel, ApiError> {
    channel_for(store, who, name, rights::may_read_channel)
}

/// A channel by name, if the principal has this right there.
pub(crate) fn channel_for(
    store: &dyn Read,
    who: &Principal,
    name: &str,
    right: impl FnOnce(&Principal, Standing) -> Verdict,
) -> Result<Channel, ApiError> {
    let channel = store.channel(name)?;
    right(who, standing(store, who, &channel)?).map_err(|denial| denied(denial, "channel", name))?;
    Ok(channel)
}

/// All channels that may be read, by name.
pub(crate) fn channels(store: &dyn Read, who: &Principal) -> Result<Vec<Channel>, ApiError> {
    let mut readable = Vec::new();
    for channel in store.channels()? {
        match rights::may_read_channel(who, standing(store, who, &channel)?) {
            Ok(()) => readable.push(channel),
            Err(Denial::Hidden) => {}
            Err(denial @ (Denial::Refused(_) | Denial::Scope(_))) => {
                return Err(denied(denial, "channel", &channel.name));
            }
        }
    }
    Ok(readable)
}

/// A message by id, if its channel may be read.
pub(crate) fn message(store: &dyn Read, who: &Principal, id: &MessageId) -> Result<Message, ApiError> {
    let message = store.message(id)?;
    let channel = store.channel_by_id(&message.channel)?;
    let verdict = rights::may_read_channel(who, standing(store, who, &channel)?);
    verdict.map_err(|denial| denied(denial, "message", id.as_str()))?;
    Ok(message)
}

/// A run by id, if it may be seen.
pub(crate) fn run(store: &dyn Read, who: &Principal, id: &RunId) -> Result<Run, ApiError> {
    let run = store.run(id)?;
    let channel = store.channel_by_id(&run.key.channel)?;
    let verdict = rights::may_see_run(who, standing(store, who, &channel)?);
    verdict.map_err(|denial| denied(denial, "run", id.as_str()))?;
    Ok(run)
}

/// A permission card by id, if its run may be seen.
pub(crate) fn permission(
    store: &dyn Read,
    who: &Principal,
    id: &PermissionId,
) -> Result<Permission, ApiError> {
    let card = store.permission(id)?;
    let channel = store.channel_by_id(&card.key.channel)?;
    let verdict = rights::may_see_run(who, standing(store, who, &channel)?);
    verdict.map_err(|denial| denied(denial, "permission", &id.0))?;
    Ok(card)
}

/// The people of a channel, if it may be read.
pub(crate) fn members(store: &dyn Read, who: &Principal, name: &str) -> Result<Vec<ChannelMember>, ApiError> {
    Ok(store.members(&channel(store, who, name)?.id)?)
}

/// The people that a principal knows of: all, or for a guest those with whom they share a channel.
pub(crate) fn people(store: &dyn Read, who: &Principal) -> Result<Vec<Person>, ApiError> {
    let all = store.people()?;
    match rights::may_see_all_people(who) {
        Ok(()) => return Ok(all),
        Err(Denial::Refused(_) | Denial::Hidden) => {}
        Err(denial @ Denial::Scope(_)) => return Err(denied(denial, "person", &who.name)),
    }
    let mut known = vec![who.person.clone()];
    for membership in store.memberships(&who.person)? {
        known.extend(store.members(&membership.channel)?.into_iter().map(|member| member.person.id));
    }
    Ok(all.into_iter().filter(|person| known.contains(&person.id)).collect())
}

/// A person by name, if the principal knows of them.
pub(crate) fn person(store: &dyn Read, who: &Principal, name: &str) -> Result<Person, ApiError> {
    let found = people(store, who)?.into_iter().find(|person| person.name == name);
    found.ok_or_else(|| denied(Denial::Hidden, "person", name))
}

/// [`denied`] for a verdict about something that is no channel's.
pub(crate) fn allowed(verdict: Verdict, what: &'static str, name: &str) -> Result<(), ApiError> {
    verdict.map_err(|denial| denied(denial, what, name))
}
