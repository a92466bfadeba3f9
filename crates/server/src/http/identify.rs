//! Who asks: a token or a signed-in browser becomes a principal, and each principal has a limit of changes.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use delivery::Timestamp;
use storage::{Credential, CredentialId, CredentialKind, PersonId, Read, Scopes};
use subtle::ConstantTimeEq;

use crate::error::{ApiError, Code};
use crate::network::Site;
use crate::rate::{Buckets, Rate};
use crate::rights::Principal;
use crate::secret;
use crate::shell::{Clock, Readers};

/// The header with a sign-in's second secret. A page sends it by script, from what it keeps in its own origin: a page
/// at another port of this machine gets the cookie, but not this.
pub(crate) const SESSION_HEADER: &str = "x-highwater-session";

/// What a page's WebSocket speaks; the answer names it.
pub(crate) const PROTOCOL: &str = "highwater.v1";
/// Beside it the page names this with its second secret behind it.
const SECRET_PROTOCOL: &str = "highwater.secret.";

/// Routes that are there for those who are nobody yet: those that their description marks with `security(())`.
pub(super) const OPEN: &[&str] = &["/api/v1/openapi.json", "/api/v1/sign-in", "/healthz"];

/// What is needed to tell who asks.
#[derive(Clone)]
pub(crate) struct Identify {
    /// Hash of the token in the data folder.
    owner_token: Arc<str>,
    owner: PersonId,
    site: Site,
    readers: Readers,
    clock: Clock,
    writes: Arc<Mutex<Buckets<PersonId>>>,
}

/// By what a principal came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// The token in the data folder.
    OwnerToken,
    /// A token.
    Token(CredentialId),
    /// A browser that signed in.
    SignIn(CredentialId),
}

/// Who asks, and by what; a handler that takes this is reached by nobody else.
#[derive(Clone, Debug)]
pub(crate) struct Who {
    pub(crate) principal: Principal,
    pub(crate) via: Via,
    /// When that ends by itself.
    pub(crate) until: Option<Timestamp>,
}

impl<S: Send + Sync> FromRequestParts<S> for Who {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(nobody)
    }
}

/// What a request shows.
enum Shown {
    Bearer(String),
    Cookie { cookie: String, session: String },
}

impl Identify {
    pub(crate) fn new(
        owner_token: &str,
        owner: PersonId,
        site: Site,
        readers: Readers,
        clock: Clock,
        rate: Rate,
    ) -> Self {
        let owner_token = Arc::from(secret::hash(owner_token));
        let writes = Arc::new(Mutex::new(Buckets::new(rate)));
        Self { owner_token, owner, site, readers, clock, writes }
    }

    fn who(&self, headers: &HeaderMap) -> Result<Who, ApiError> {
        let shown = shown(headers, &self.site.cookie().name)?;
        self.readers.read_now(|store| self.look_up(store, &shown))
    }

    fn look_up(&self, store: &dyn Read, shown: &Shown) -> Result<Who, ApiError> {
        let (person, scopes, via, until) = match shown {
            Shown::Bearer(token) => {
                let hash = secret::hash(token);
                if bool::from(hash.as_bytes().ct_eq(self.owner_token.as_bytes())) {
                    (self.owner.clone(), Scopes::all(), Via::OwnerToken, None)
                } else {
                    let token = self.holding(store, &hash, CredentialKind::Token)?;
                    (token.person, token.scopes, Via::Token(token.id), token.expires_at)
                }
            }
            Shown::Cookie { cookie, session } => {
                let sign_in = self.holding(store, &secret::hash(cookie), CredentialKind::SignIn)?;
                let proof = sign_in.proof.unwrap_or_default();
                if !bool::from(secret::hash(session).as_bytes().ct_eq(proof.as_bytes())) {
                    return Err(invalid());
                }
                (sign_in.person, sign_in.scopes, Via::SignIn(sign_in.id), sign_in.expires_at)
            }
        };
        let person = store.person_by_id(&person)?;
        if person.deactivated_at.is_some() {
            return Err(invalid());
        }
        Ok(Who { principal: Principal { scopes, ..Principal::of(&person) }, via, until })
    }

    /// The credential with this hash, if it is of this kind and holds now.
    fn holding(&self, store: &dyn Read, hash: &str, kind: CredentialKind) -> Result<Credential, ApiError> {
        let found = store.credential(hash)?;
        let now = self.clock.now().wall;
        found.filter(|one| one.kind == kind && one.holds_at(now)).ok_or_else(invalid)
    }

    /// The owner's token is as good as the data folder itself: a limit would hinder nobody but its owner.
    fn limit(&self, who: &Who, method: &Method) -> Result<(), ApiError> {
        if who.via == Via::OwnerToken || method.is_safe() {
            return Ok(());
        }
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        writes.take(&who.principal.person, self.clock.now().mono).map_err(|ms| {
            let text = format!("{} changes too much at once; go on in {ms} ms", who.principal.name);
            ApiError::rate_limited(text, ms)
        })
    }
}

pub(crate) async fn check(
    State(identify): State<Identify>,
    mut request: Request<Body>,
    next: Next,
) -> Response {
    if OPEN.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let who = match identify.who(request.headers()) {
        Ok(who) => who,
        Err(error) => return error.into_response(),
    };
    if let Err(error) = identify.limit(&who, request.method()) {
        return error.into_response();
    }
    request.extensions_mut().insert(who);
    next.run(request).await
}

fn shown(headers: &HeaderMap, name: &str) -> Result<Shown, ApiError> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(given) = text(header::AUTHORIZATION.as_str()) {
        let token = given.strip_prefix("Bearer ").ok_or_else(nobody)?;
        return Ok(Shown::Bearer(token.trim().to_owned()));
    }
    let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let cookie = cookies.flat_map(|line| line.split(';')).find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then(|| value.to_owned())
    });
    match (cookie, text(SESSION_HEADER).or_else(|| protocol_secret(headers))) {
        (Some(cookie), Some(session)) => Ok(Shown::Cookie { cookie, session: session.to_owned() }),
        (Some(_), None) => Err(ApiError::new(
            Code::Unauthorized,
            format!("beside the cookie a request carries the header {SESSION_HEADER}"),
        )),
        (None, _) => Err(nobody()),
    }
}

/// The second secret of a page's WebSocket, which cannot send headers of its own but can name protocols.
fn protocol_secret(headers: &HeaderMap) -> Option<&str> {
    let named = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).into_iter();
    let named = named.filter_map(|value| value.to_str().ok()).flat_map(|line| line.split(','));
    named.filter_map(|name| name.trim().strip_prefix(SECRET_PROTOCOL)).next()
}

fn nobody() -> ApiError {
    ApiError::new(
        Code::Unauthorized,
        "a token is needed: send `Authorization: Bearer …` (the owner's is in the data folder, owner-token)",
    )
}

fn invalid() -> ApiError {
    ApiError::new(
        Code::Unauthorized,
        "this token is not valid here, or not any more; the owner's is in the data folder, owner-token",
    )
}
