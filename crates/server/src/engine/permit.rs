//! Whether a principal may have what they ask of the engine: one right for each request, looked up in its transaction.

use delivery::model::{MessageId, RunId};
use storage::{PersonId, Store};

use super::{Act, Answer, Post, ProjectAct, Request, Steer};
use crate::error::{ApiError, Code};
use crate::reach::{self, allowed, channel_for, denied, standing};
use crate::rights::{self, Principal, Standing, Verdict};

/// Refuses what the principal has no right to. They are looked up anew: what they were when their request came in may
/// not hold any more.
pub(super) fn permit(store: &dyn Store, who: &Principal, request: &Request) -> Result<(), ApiError> {
    let person = store.person_by_id(&who.person)?;
    if person.deactivated_at.is_some() {
        return Err(ApiError::new(Code::Unauthorized, format!("{} was deactivated", person.name)));
    }
    let who = &Principal { role: person.role, ..who.clone() };
    match request {
        Request::AddChannel { name, .. } => allowed(rights::may_add_channel(who), "channel", name),
        Request::Act(act) => permit_act(store, who, act),
        Request::AddAgent { channel, .. } => in_channel(store, who, channel, rights::may_add_agent),
        Request::RemoveAgent { channel, .. } => in_channel(store, who, channel, rights::may_remove_agent),
        Request::Fresh { channel, .. } => in_channel(store, who, channel, rights::may_start_fresh),
        Request::ChangeAgent { channel, .. } => in_channel(store, who, channel, rights::may_add_agent),
        Request::ChangeLimits { channel, .. } => in_channel(store, who, channel, rights::may_change_limits),
        Request::ChangeRules { channel, .. } => in_channel(store, who, channel, rights::may_change_rules),
        Request::Answer(answer) => permit_answer(store, who, answer),
        Request::Post(post) => permit_post(store, who, post),
        Request::Edit { message, .. } => of_message(store, who, message, rights::may_edit_message),
        Request::Delete { message } => of_message(store, who, message, rights::may_delete_message),
        Request::Cancel { run } => of_run(store, who, run, rights::may_cancel_run),
        Request::Retry { run } => of_run(store, who, run, rights::may_retry_run),
        Request::Resume { run } => of_run(store, who, run, rights::may_resume_run),
        Request::Steer(steer) => permit_steer(store, who, steer),
        Request::Pause { channel: Some(channel), .. } => {
            in_channel(store, who, channel, rights::may_pause_channel)
        }
        Request::Pause { channel: None, .. } => allowed(rights::may_pause_all(who), "pause", ""),
        Request::SetSpending(set) => match &set.channel {
            Some(channel) => in_channel(store, who, channel, rights::may_limit_channel),
            None => allowed(rights::may_limit_all(who), "limit", ""),
        },
        Request::Project(act) => permit_project(store, who, act),
        Request::ImportWatermarks(_) | Request::Import(_) => allowed(rights::may_import(who), "channel", ""),
        Request::Transcript(_)
        | Request::Tool(_)
        | Request::Shutdown
        | Request::CancelTurns
        | Request::As(..) => Err(ApiError::forbidden("this is not asked for by people")),
    }
}

/// A message under one's own name, or as an owner under another's, who must have the right to it as well.
fn permit_post(store: &dyn Store, who: &Principal, post: &Post) -> Result<(), ApiError> {
    if post.author == who.name {
        return in_channel(store, who, &post.channel, rights::may_post);
    }
    allowed(rights::may_post_as(who), "person", &post.author)?;
    let channel = store.channel(&post.channel)?;
    let author = Principal::of(&store.person(&post.author)?);
    rights::may_post(&author, standing(store, &author, &channel)?).map_err(|_| {
        ApiError::forbidden(format!(
            "{author} is not in {channel}; invite them with: highwater channel invite {channel} {author}",
            author = author.name,
            channel = channel.name
        ))
    })
}

/// In one's own name.
fn permit_steer(store: &dyn Store, who: &Principal, steer: &Steer) -> Result<(), ApiError> {
    of_run(store, who, &steer.run, rights::may_steer_run)?;
    let run = store.run(&steer.run)?;
    let binding = store.binding(&run.key.binding)?;
    rights::may_address(who.role, binding.spec.addressed_by)
        .map_err(|denial| denied(denial, "agent", &binding.spec.handle))?;
    match steer.author == who.name {
        true => Ok(()),
        false => Err(ApiError::forbidden("a run is steered in one's own name")),
    }
}

/// In one's own name, by what the binding says now of who answers; some options are for owners alone.
fn permit_answer(store: &dyn Store, who: &Principal, answer: &Answer) -> Result<(), ApiError> {
    let card = store.permission(&answer.permission)?;
    let at = standing(store, who, &store.channel_by_id(&card.key.channel)?)?;
    let by = store.binding(&card.key.binding)?.spec.permissions.answered_by;
    let options = (1..).zip(&card.asked.options);
    let kind = options.filter(|(n, _)| *n == answer.option).map(|(_, option)| option.kind).next();
    rights::may_answer_permission(who, at, by, kind)
        .map_err(|denial| denied(denial, "permission", &card.id.0))?;
    match answer.person == who.person {
        true => Ok(()),
        false => Err(ApiError::forbidden("a permission card is answered in one's own name")),
    }
}

fn permit_act(store: &dyn Store, who: &Principal, act: &Act) -> Result<(), ApiError> {
    match act {
        Act::AddPerson { name, .. }
        | Act::SetRole { person: name, .. }
        | Act::SetActive { person: name, .. } => allowed(rights::may_manage_people(who), "person", name),
        Act::Rename { person, .. } => {
            let named = store.person(person);
            let verdict = named.map(|person| rights::may_rename_person(who, &person.id));
            if verdict.as_ref().is_ok_and(Verdict::is_ok) {
                return Ok(());
            }
            // A guest does not know everybody.
            reach::person(store, who, person)?;
            allowed(verdict?, "person", person)
        }
        Act::SetPassword { person, .. } => {
            allowed(rights::may_set_password(who, person), "person", &person.0)
        }
        Act::AddToken(new) => {
            allowed(rights::may_add_token(who, &new.person, &new.scopes), "person", &new.person.0)
        }
        Act::AddLink(new) => allowed(rights::may_manage_people(who), "person", &new.person.0),
        Act::EndCredential { id } => {
            let of = store.credential_by_id(id)?.person;
            allowed(rights::may_end_token(who, &of), "token", &id.0)
        }
        Act::SignIn(_) | Act::UseLink { .. } => {
            Err(ApiError::forbidden("sign in without the token of somebody"))
        }
        Act::AddMember { channel, person } => {
            in_channel(store, who, channel, |who, at| match *person == who.name {
                true => rights::may_join_channel(who, at),
                false => rights::may_invite(who, at),
            })
        }
        Act::RemoveMember { channel, person } => {
            in_channel(store, who, channel, |who, at| match *person == who.name {
                true => rights::may_leave_channel(who, at),
                false => rights::may_remove_member(who, at),
            })
        }
        Act::ChangeChannel { channel, changes } => {
            in_channel(store, who, channel, |who, at| match changes.topic_alone() {
                true => rights::may_set_topic(who, at),
                false => rights::may_manage_channel(who, at),
            })
        }
    }
}

/// Projects are for owners: what stands in them runs with the rights of the server's own user.
fn permit_project(store: &dyn Store, who: &Principal, act: &ProjectAct) -> Result<(), ApiError> {
    match act {
        ProjectAct::Set { channel, .. }
        | ProjectAct::Unset { channel }
        | ProjectAct::Trust { channel, .. }
        | ProjectAct::Distrust { channel } => in_channel(store, who, channel, rights::may_set_project),
        ProjectAct::Retire { id } => allowed(rights::may_manage_worktrees(who), "worktree", &id.0),
        ProjectAct::Removed { .. }
        | ProjectAct::Made { .. }
        | ProjectAct::Copied { .. }
        | ProjectAct::Prepared(_) => Err(ApiError::forbidden("this is not asked for by people")),
    }
}

/// A right about a channel by name.
fn in_channel(
    store: &dyn Store,
    who: &Principal,
    name: &str,
    right: impl FnOnce(&Principal, Standing) -> Verdict,
) -> Result<(), ApiError> {
    channel_for(store, who, name, right).map(drop)
}

type OfAuthor = fn(&Principal, Standing, Option<&PersonId>) -> Verdict;

/// A right about a message, which depends on who wrote it.
fn of_message(store: &dyn Store, who: &Principal, id: &MessageId, right: OfAuthor) -> Result<(), ApiError> {
    let message = store.message(id)?;
    let at = standing(store, who, &store.channel_by_id(&message.channel)?)?;
    right(who, at, message.person.as_ref()).map_err(|denial| denied(denial, "message", id.as_str()))
}

/// A right about a run, which depends on whose message made it.
fn of_run(store: &dyn Store, who: &Principal, id: &RunId, right: OfAuthor) -> Result<(), ApiError> {
    let run = store.run(id)?;
    let at = standing(store, who, &store.channel_by_id(&run.key.channel)?)?;
    let asker = store.message(&run.message)?.person;
    right(who, at, asker.as_ref()).map_err(|denial| denied(denial, "run", id.as_str()))
}
