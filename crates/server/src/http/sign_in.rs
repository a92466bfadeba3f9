//! Signing in by link or password, signing out, and who one is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use delivery::Timestamp;
use storage::{Credential, CredentialKind, NewCredential, Person, Scopes};
use tokio::sync::Semaphore;

use super::admin::unexpected;
use super::identify::{Via, Who};
use super::{App, Json};
use crate::engine::{Act, Reply, Request};
use crate::error::{ApiError, Code};
use crate::network::{Cookie, Site};
use crate::rate::{Buckets, Rate};
use crate::secret;
use crate::view;
use crate::wire;

/// How long a browser stays signed in.
const SIGN_IN: Duration = Duration::from_secs(30 * 86_400);
/// Tries to sign in as one person: enough for mistyping, far too few for guessing.
const TRIES: Rate = Rate { every_us: 10_000_000, burst: 10 };
/// Tries of all together: each costs some 20 MB and a core for a moment.
const ALL_TRIES: Rate = Rate { every_us: 200_000, burst: 50 };
/// Passwords that are hashed at once.
const HASHES_MAX: usize = 2;
/// Characters of a name that a bucket is kept for.
const NAME_CHARS_MAX: usize = 64;

/// What bounds signing in, for all requests together.
#[derive(Clone)]
pub(crate) struct SignIns {
    hashes: Arc<Semaphore>,
    tries: Arc<Mutex<(Buckets<String>, Buckets<()>)>>,
}

impl SignIns {
    pub(crate) fn new() -> Self {
        Self {
            hashes: Arc::new(Semaphore::new(HASHES_MAX)),
            tries: Arc::new(Mutex::new((Buckets::new(TRIES), Buckets::new(ALL_TRIES)))),
        }
    }

    /// Hashes or checks a password where it holds nobody up.
    pub(super) async fn hashing<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
    ) -> Result<T, ApiError> {
        let failed = || ApiError::new(Code::Internal, "the password could not be looked at");
        let _place = self.hashes.acquire().await.map_err(|_| failed())?;
        let done = tokio::task::spawn_blocking(work).await.map_err(|_| failed())?;
        done.map_err(|error| {
            tracing::error!(%error, "a password could not be hashed");
            failed()
        })
    }

    /// Counts a try, of one who names a person as a try to be them; nobody guesses the code of a link.
    fn attempt(&self, name: Option<&str>, now: delivery::Moment) -> Result<(), ApiError> {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        let limited = |ms| ApiError::rate_limited("too many tries to sign in; wait a little", ms);
        tries.1.take(&(), now).map_err(limited)?;
        let Some(name) = name else { return Ok(()) };
        let key: String = name.to_lowercase().chars().take(NAME_CHARS_MAX).collect();
        tries.0.take(&key, now).map_err(limited)
    }
}

/// Signs a browser in
///
/// With the `code` of a one-time link, or with `name` and `password`. The answer sets the cookie and tells the
/// secret that goes with it.
#[utoipa::path(post, path = "/sign-in", tag = "sign-in", operation_id = "sign_in", security(()),
    responses((status = 200, description = "Signed in", body = wire::SignedIn)))]
pub(super) async fn sign_in(
    State(app): State<App>,
    Json(new): Json<wire::SignIn>,
) -> Result<Response, ApiError> {
    let now = app.clock.now();
    let (cookie, session) = (app.secret("")?, app.secret("")?);
    let sign_in = |person: storage::PersonId| NewCredential {
        kind: CredentialKind::SignIn,
        hash: secret::hash(&cookie),
        proof: Some(secret::hash(&session)),
        person,
        label: "browser".to_owned(),
        scopes: Scopes::all(),
        expires_at: Some(later(now.wall, SIGN_IN)),
    };
    let act = match (new.code, new.name, new.password) {
        (Some(code), None, None) => {
            app.sign_ins.attempt(None, now.mono)?;
            Act::UseLink { hash: secret::hash(&code), sign_in: sign_in("".into()) }
        }
        (None, Some(name), Some(password)) => {
            app.sign_ins.attempt(Some(&name), now.mono)?;
            Act::SignIn(sign_in(app.person_of(name, password).await?.id))
        }
        (Some(_) | None, _, _) => {
            return Err(ApiError::invalid("sign in with the code of a link, or with a name and a password"));
        }
    };
    let Reply::Credential(made) = app.service.ask(Request::Act(Box::new(act))).await? else {
        return Err(unexpected());
    };
    app.signed_in(*made, &cookie, session).await
}

/// Signs this browser out
#[utoipa::path(post, path = "/sign-out", tag = "sign-in", operation_id = "sign_out",
    responses((status = 200, description = "Done", body = wire::Done)))]
pub(super) async fn sign_out(State(app): State<App>, who: Who) -> Result<Response, ApiError> {
    let Via::SignIn(id) = who.via else {
        return Err(ApiError::conflict("only a browser signs out; end a token with: highwater token revoke"));
    };
    app.service.ask(Request::Act(Box::new(Act::EndCredential { id }))).await?;
    let mut headers = HeaderMap::new();
    headers.insert(header::SET_COOKIE, set_cookie(&app.site, "", Duration::ZERO)?);
    Ok((headers, Json(wire::Done {})).into_response())
}

/// Tells who asks, and what they may do
#[utoipa::path(get, path = "/me", tag = "sign-in", operation_id = "me",
    responses((status = 200, description = "Who asks", body = wire::Me)))]
pub(super) async fn me(State(app): State<App>, who: Who) -> Result<Json<wire::Me>, ApiError> {
    let Who { principal, via, until: _ } = who;
    let id = principal.person.clone();
    let read =
        move |store: &dyn storage::Read| Ok((store.person_by_id(&id)?, store.password(&id)?.is_some()));
    let (person, has_password) = app.readers.read(read).await?;
    let via = match via {
        Via::OwnerToken => "owner-token",
        Via::Token(_) => "token",
        Via::SignIn(_) => "sign-in",
    };
    Ok(Json(wire::Me {
        person: view::person(person),
        scopes: principal.scopes,
        via: via.to_owned(),
        has_password,
    }))
}

impl App {
    /// A new secret.
    pub(super) fn secret(&self, prefix: &str) -> Result<String, ApiError> {
        secret::new_secret(prefix).map_err(|error| {
            tracing::error!(%error, "no randomness");
            ApiError::new(Code::Internal, "a fault of the server; its log says more")
        })
    }

    /// The person with this name and password.
    async fn person_of(&self, name: String, password: String) -> Result<Person, ApiError> {
        let wrong = || ApiError::new(Code::Unauthorized, "name and password do not belong together");
        if password.len() > secret::PASSWORD_BYTES_MAX {
            return Err(wrong());
        }
        let read = move |store: &dyn storage::Read| {
            let known = store.people()?.into_iter().find(|one| one.name == name.to_lowercase());
            let known = known.filter(|one| one.deactivated_at.is_none());
            let kept = match &known {
                Some(person) => store.password(&person.id)?,
                None => None,
            };
            Ok((known, kept))
        };
        let (person, kept) = self.readers.read(read).await?;
        let fits = self.sign_ins.hashing(move || secret::password_fits(&password, kept.as_deref())).await?;
        person.filter(|_| fits).ok_or_else(wrong)
    }

    async fn signed_in(&self, made: Credential, cookie: &str, session: String) -> Result<Response, ApiError> {
        let person = self.readers.read(move |store| Ok(store.person_by_id(&made.person)?)).await?;
        let expires_at = made.expires_at.unwrap_or(made.created_at);
        let body = wire::SignedIn { session, person: view::person(person), expires_at };
        let mut headers = HeaderMap::new();
        headers.insert(header::SET_COOKIE, set_cookie(&self.site, cookie, SIGN_IN)?);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok((headers, Json(body)).into_response())
    }
}

fn set_cookie(site: &Site, value: &str, age: Duration) -> Result<HeaderValue, ApiError> {
    let Cookie { name, attributes } = site.cookie();
    let text = format!("{name}={value}; {attributes}; Max-Age={}", age.as_secs());
    HeaderValue::from_str(&text).map_err(|_| unexpected())
}

/// A time and a span after it.
pub(super) fn later(now: Timestamp, span: Duration) -> Timestamp {
    let ms = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    Timestamp { ms: now.ms.saturating_add(ms) }
}
