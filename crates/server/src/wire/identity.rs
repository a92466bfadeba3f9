//! Wire types for people, their channels and their credentials.

use delivery::Timestamp;
use serde::{Deserialize, Serialize};
pub use storage::{Access, AddressedBy, Profile, Rank, Role, Scope, Scopes};
use utoipa::ToSchema;

use super::schema;

/// A person to make.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddPerson {
    /// Name.
    pub name: String,
    /// Role; `member` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Role>)]
    pub role: Option<Role>,
}

/// A person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Person {
    /// Id; it stays the same when the name changes.
    pub id: String,
    /// Name.
    pub name: String,
    /// `owner`, `member` or `guest`.
    #[schema(value_type = schema::Role)]
    pub role: Role,
    /// Creation.
    #[schema(value_type = schema::Timestamp)]
    pub created_at: Timestamp,
    /// Since when they may do nothing.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub deactivated_at: Option<Timestamp>,
}

/// What is to change of a person. Absent: it stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePerson {
    /// New name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// New role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Role>)]
    pub role: Option<Role>,
    /// Whether they may do anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
}

/// A password to put in place.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetPassword {
    /// The new one.
    pub password: String,
    /// The present one; needed to change one's own, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
}

/// A one-time link to make.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddInvite {
    /// Name of the person, who is made if there is none.
    pub name: String,
    /// Role of a person who is made; `member` if absent. For one who exists it must be theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Role>)]
    pub role: Option<Role>,
    /// Seconds until it is good for nothing; seven days if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_s: Option<u64>,
}

/// A one-time link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Invite {
    /// Address to open; the code stands behind its `#sign-in=`. It is shown this once.
    pub url: String,
    /// Whom it signs in.
    pub person: Person,
    /// Until when.
    #[schema(value_type = schema::Timestamp)]
    pub expires_at: Timestamp,
}

/// A sign-in: by `code`, or by `name` and `password`.
#[derive(Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// Code of a one-time link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

/// Signed in. The cookie comes beside it.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct SignedIn {
    /// To be sent as `x-highwater-session` with every request, beside the cookie. It is shown this once.
    pub session: String,
    /// Who.
    pub person: Person,
    /// Until when.
    #[schema(value_type = schema::Timestamp)]
    pub expires_at: Timestamp,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Me {
    /// The person.
    pub person: Person,
    /// What the token or sign-in may be used for.
    #[schema(value_type = Vec<schema::Scope>)]
    pub scopes: Scopes,
    /// `owner-token`, `token` or `sign-in`.
    #[schema(value_type = schema::Via)]
    pub via: String,
    /// Whether there is a password.
    pub has_password: bool,
}

/// A token to make.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddToken {
    /// What it is for.
    pub label: String,
    /// Whose it is; of whoever asks if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// What it may be used for; `read` and `write` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<schema::Scope>>)]
    pub scopes: Option<Scopes>,
    /// Seconds until it ends by itself; never if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_s: Option<u64>,
}

/// A token that was made.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct NewToken {
    /// The secret, for `Authorization: Bearer`. It is shown this once.
    pub secret: String,
    /// All else.
    pub token: Token,
}

/// A token, sign-in or link that still holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Token {
    /// Id.
    pub id: String,
    /// `token`, `sign-in` or `link`.
    #[schema(value_type = schema::CredentialKind)]
    pub kind: storage::CredentialKind,
    /// Name of the person.
    pub person: String,
    /// What it is for.
    pub label: String,
    /// What it may be used for.
    #[schema(value_type = Vec<schema::Scope>)]
    pub scopes: Scopes,
    /// Creation.
    #[schema(value_type = schema::Timestamp)]
    pub created_at: Timestamp,
    /// When it ends by itself.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub expires_at: Option<Timestamp>,
}

/// Done, and nothing more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Done {}

/// A person of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Member {
    /// Who.
    pub person: Person,
    /// `manager` or `member`.
    #[schema(value_type = schema::Rank)]
    pub rank: Rank,
    /// Since when.
    #[schema(value_type = schema::Timestamp)]
    pub since: Timestamp,
}

/// What is to change of a channel. Absent: it stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeChannel {
    /// New name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// New topic; may be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Who may find it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Access>)]
    pub access: Option<Access>,
    /// Whether it takes no more posts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}
