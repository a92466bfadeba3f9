//! People: making, changing, inviting; and their passwords.

use std::time::Duration;

use axum::extract::State;
use storage::{CredentialKind, NewCredential, Person, Role, Scopes};

use super::admin::unexpected;
use super::identify::Who;
use super::sign_in::later;
use super::{App, Json, Path};
use crate::engine::{Act, Reply, Request};
use crate::error::ApiError;
use crate::secret::{self, PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN};
use crate::wire;
use crate::{reach, rights, view};

/// How long a link is good when nothing is asked.
const LINK: Duration = Duration::from_secs(7 * 86_400);
/// How long a link is good at most: it may lie in a mailbox.
const LINK_MAX: Duration = Duration::from_secs(30 * 86_400);

/// Lists people
///
/// A guest sees those with whom they share a channel.
#[utoipa::path(get, path = "/people", tag = "people", operation_id = "list_people",
    responses((status = 200, description = "The people", body = Vec<wire::Person>)))]
pub(super) async fn list(State(app): State<App>, who: Who) -> Result<Json<Vec<wire::Person>>, ApiError> {
    let people = app.readers.read(move |store| reach::people(store, &who.principal)).await?;
    Ok(Json(people.into_iter().map(view::person).collect()))
}

/// Makes a person
///
/// For owners.
#[utoipa::path(post, path = "/people", tag = "people", operation_id = "add_person",
    responses((status = 200, description = "The new person", body = wire::Person)))]
pub(super) async fn add(
    State(app): State<App>,
    who: Who,
    Json(new): Json<wire::AddPerson>,
) -> Result<Json<wire::Person>, ApiError> {
    let act = Act::AddPerson { name: new.name, role: new.role.unwrap_or(Role::Member) };
    Ok(Json(view::person(app.person(&who, act).await?)))
}

/// Changes a person: one thing at a time, so that none is done when another is refused
///
/// The name: for themselves and for owners. The role, and whether they are active: for owners.
#[utoipa::path(patch, path = "/people/{person}", tag = "people", operation_id = "change_person",
    responses((status = 200, description = "The person as they are now", body = wire::Person)))]
pub(super) async fn change(
    State(app): State<App>,
    who: Who,
    Path(person): Path<String>,
    Json(change): Json<wire::ChangePerson>,
) -> Result<Json<wire::Person>, ApiError> {
    let act = match (change.name, change.role, change.active) {
        (Some(to), None, None) => Act::Rename { person, to },
        (None, Some(role), None) => Act::SetRole { person, role },
        (None, None, Some(active)) => Act::SetActive { person, active },
        (_, _, _) => return Err(ApiError::invalid("name one thing to change: name, role or active")),
    };
    Ok(Json(view::person(app.person(&who, act).await?)))
}

/// Sets a password
///
/// For themselves and for owners. It ends all sign-ins of the person.
#[utoipa::path(put, path = "/people/{person}/password", tag = "people", operation_id = "set_password",
    responses((status = 200, description = "The person", body = wire::Person)))]
pub(super) async fn set_password(
    State(app): State<App>,
    who: Who,
    Path(name): Path<String>,
    Json(new): Json<wire::SetPassword>,
) -> Result<Json<wire::Person>, ApiError> {
    let principal = who.principal.clone();
    let read = move |store: &dyn storage::Read| {
        let person = reach::person(store, &principal, &name)?;
        reach::allowed(rights::may_set_password(&principal, &person.id), "person", &name)?;
        let kept = store.password(&person.id)?;
        Ok((person, kept))
    };
    let (person, kept) = app.readers.read(read).await?;
    if new.password.chars().count() < PASSWORD_CHARS_MIN || new.password.len() > PASSWORD_BYTES_MAX {
        return Err(ApiError::invalid(format!(
            "a password has at least {PASSWORD_CHARS_MIN} characters and at most {PASSWORD_BYTES_MAX} bytes"
        )));
    }
    if person.id == who.principal.person && who.principal.role != Role::Owner && kept.is_some() {
        let current = new.current.unwrap_or_default();
        let fits = app.sign_ins.hashing(move || secret::password_fits(&current, kept.as_deref())).await?;
        if !fits {
            return Err(ApiError::forbidden("the present password is another one"));
        }
    }
    let hash = app.sign_ins.hashing(move || secret::hash_password(&new.password)).await?;
    Ok(Json(view::person(app.person(&who, Act::SetPassword { person: person.id, hash }).await?)))
}

/// Makes a one-time link that signs a person in
///
/// For owners. The person is made if there is none of this name.
#[utoipa::path(post, path = "/invites", tag = "people", operation_id = "add_invite",
    responses((status = 200, description = "The link; it is shown this once", body = wire::Invite)))]
pub(super) async fn invite(
    State(app): State<App>,
    who: Who,
    Json(new): Json<wire::AddInvite>,
) -> Result<Json<wire::Invite>, ApiError> {
    reach::allowed(rights::may_manage_people(&who.principal), "person", &new.name)?;
    let span = new.expires_in_s.map_or(LINK, Duration::from_secs);
    if span.is_zero() || span > LINK_MAX {
        return Err(ApiError::invalid("a link is good for 1 second to 30 days"));
    }
    let name = new.name.trim_start_matches('@').to_lowercase();
    let wanted = name.clone();
    let known = app.readers.read(move |store| Ok(store.people()?)).await?;
    let person = match known.into_iter().find(|person| person.name == wanted) {
        Some(person) if new.role.is_some_and(|role| role != person.role) => {
            return Err(ApiError::conflict(format!("{name} has another role already")));
        }
        Some(person) => person,
        None => app.person(&who, Act::AddPerson { name, role: new.role.unwrap_or(Role::Member) }).await?,
    };
    let code = app.secret("")?;
    let expires_at = later(app.clock.now().wall, span);
    let link = link(&person, &code, expires_at);
    app.ask(&who, Request::Act(Box::new(Act::AddLink(link)))).await?;
    Ok(Json(wire::Invite { url: app.site.link(&code), person: view::person(person), expires_at }))
}

/// A link for a person, to be stored.
pub(crate) fn link(person: &Person, code: &str, expires_at: delivery::Timestamp) -> NewCredential {
    NewCredential {
        kind: CredentialKind::Link,
        hash: secret::hash(code),
        proof: None,
        person: person.id.clone(),
        label: "one-time link".to_owned(),
        scopes: Scopes::all(),
        expires_at: Some(expires_at),
    }
}

impl App {
    /// Asks for something that answers with a person.
    async fn person(&self, who: &Who, act: Act) -> Result<Person, ApiError> {
        let Reply::Person(person) = self.ask(who, Request::Act(Box::new(act))).await? else {
            return Err(unexpected());
        };
        Ok(person)
    }

    /// Asks the engine for what the principal wants; it looks their right up.
    pub(super) async fn ask(&self, who: &Who, request: Request) -> Result<Reply, ApiError> {
        let who = Box::new(who.principal.clone());
        self.service.ask(Request::As(who, Box::new(request))).await
    }
}
