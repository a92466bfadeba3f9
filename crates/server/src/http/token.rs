//! Tokens: made, listed, revoked. A secret is shown once, when its token is made.

use std::time::Duration;

use axum::extract::State;
use serde::Deserialize;
use storage::{Credential, CredentialId, CredentialKind, NewCredential, Read, Scope, Scopes};
use utoipa::IntoParams;

use super::admin::unexpected;
use super::identify::Who;
use super::sign_in::later;
use super::{App, Json, Path, Query};
use crate::engine::{Act, Reply, Request};
use crate::error::ApiError;
use crate::wire;
use crate::{reach, rights, secret};

/// What a token begins with, so that it is known where it should not be.
const PREFIX: &str = "hwt_";
/// How long a token is good at most, if it ends at all.
const SPAN_MAX: Duration = Duration::from_secs(10 * 366 * 86_400);

/// Whose tokens.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct TokensQuery {
    /// Name of the person; whoever asks if absent.
    person: Option<String>,
}

/// Lists the tokens, sign-ins and links of a person that still hold
///
/// For themselves and for owners. No secret is shown.
#[utoipa::path(get, path = "/tokens", tag = "tokens", operation_id = "list_tokens", params(TokensQuery),
    responses((status = 200, description = "What holds", body = Vec<wire::Token>)))]
pub(super) async fn list(
    State(app): State<App>,
    who: Who,
    Query(query): Query<TokensQuery>,
) -> Result<Json<Vec<wire::Token>>, ApiError> {
    let now = app.clock.now().wall;
    let who = who.principal;
    let read = move |store: &dyn Read| {
        let name = query.person.unwrap_or_else(|| who.name.clone());
        let person = reach::person(store, &who, &name)?;
        reach::allowed(rights::may_see_tokens(&who, &person.id), "person", &name)?;
        let held = store.credentials(Some(&person.id))?.into_iter().filter(|one| one.holds_at(now));
        Ok(held.map(|one| token(one, person.name.clone())).collect())
    };
    Ok(Json(app.readers.read(read).await?))
}

/// Makes a token
///
/// For oneself, or as an owner for anyone; with no scope that whoever asks has not.
#[utoipa::path(post, path = "/tokens", tag = "tokens", operation_id = "add_token",
    responses((status = 200, description = "The token; its secret is shown this once", body = wire::NewToken)))]
pub(super) async fn add(
    State(app): State<App>,
    who: Who,
    Json(new): Json<wire::AddToken>,
) -> Result<Json<wire::NewToken>, ApiError> {
    let span = new.expires_in_s.map(Duration::from_secs);
    if span.is_some_and(|span| span.is_zero() || span > SPAN_MAX) {
        return Err(ApiError::invalid("a token is good for 1 second to 10 years, or for ever"));
    }
    let principal = who.principal.clone();
    let name = new.person.unwrap_or_else(|| principal.name.clone());
    let person = app.readers.read(move |store| reach::person(store, &principal, &name)).await?;
    let secret = app.secret(PREFIX)?;
    let credential = NewCredential {
        kind: CredentialKind::Token,
        hash: secret::hash(&secret),
        proof: None,
        person: person.id,
        label: new.label,
        scopes: new.scopes.unwrap_or_else(|| Scopes([Scope::Read, Scope::Write].into())),
        expires_at: span.map(|span| later(app.clock.now().wall, span)),
    };
    let made = app.credential(&who, Act::AddToken(credential)).await?;
    Ok(Json(wire::NewToken { secret, token: token(made, person.name) }))
}

/// Ends a token, sign-in or link
///
/// For the person whose it is, and for owners.
#[utoipa::path(delete, path = "/tokens/{token}", tag = "tokens", operation_id = "revoke_token",
    responses((status = 200, description = "What it was", body = wire::Token)))]
pub(super) async fn revoke(
    State(app): State<App>,
    who: Who,
    Path(id): Path<String>,
) -> Result<Json<wire::Token>, ApiError> {
    let ended = app.credential(&who, Act::EndCredential { id: CredentialId(id) }).await?;
    let of = ended.person.clone();
    let person = app.readers.read(move |store| Ok(store.person_by_id(&of)?)).await?;
    Ok(Json(token(ended, person.name)))
}

impl App {
    async fn credential(&self, who: &Who, act: Act) -> Result<Credential, ApiError> {
        let Reply::Credential(made) = self.ask(who, Request::Act(Box::new(act))).await? else {
            return Err(unexpected());
        };
        Ok(*made)
    }
}

fn token(credential: Credential, person: String) -> wire::Token {
    wire::Token {
        id: credential.id.0,
        kind: credential.kind,
        person,
        label: credential.label,
        scopes: credential.scopes,
        created_at: credential.created_at,
        expires_at: credential.expires_at,
    }
}
