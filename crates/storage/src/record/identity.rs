//! People, their membership of channels, and what proves who they are.

use std::collections::BTreeSet;

use delivery::Timestamp;
use delivery::model::ChannelId;
use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    )*};
}

pub(super) use ids;

ids! {
    /// A person: `p1`. It stays the same when the name changes.
    PersonId,
    /// A token, sign-in or link: `t1`.
    CredentialId,
    /// A permission card: `k1`.
    PermissionId
}

/// A person's role in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May do everything.
    Owner,
    /// Sees all public channels and may join them.
    Member,
    /// Sees the channels that they were invited to, and no others.
    Guest,
}

/// A person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// `p1`.
    pub id: PersonId,
    /// Unique name, in one namespace with agents' handles.
    pub name: String,
    /// Role.
    pub role: Role,
    /// Creation.
    pub created_at: Timestamp,
    /// Since when they may do nothing.
    pub deactivated_at: Option<Timestamp>,
}

/// Who may find a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Everybody but guests may read and join it.
    Public,
    /// It does not exist for those who are not in it.
    Private,
}

/// What kind of channel to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind<'a> {
    /// Everybody but guests may read and join it.
    Public,
    /// It does not exist for those who are not in it.
    Private,
    /// A direct conversation with the agent of this handle; it is private.
    Direct(&'a str),
}

/// What a person is in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// Made it, and may change it.
    Manager,
    /// Takes part.
    Member,
}

/// A person's membership of a channel, seen from the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The channel.
    pub channel: ChannelId,
    /// Rank in it.
    pub rank: Rank,
}

/// A person's membership of a channel, seen from the channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelMember {
    /// The person.
    pub person: Person,
    /// Rank in the channel.
    pub rank: Rank,
    /// Since when.
    pub since: Timestamp,
}

/// A change of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelChange {
    /// Its name.
    Name(String),
    /// Its topic.
    Topic(String),
    /// Who may find it.
    Access(Access),
    /// Since when it takes no more posts; `None` opens it again.
    ArchivedAt(Option<Timestamp>),
    /// Since when its agents begin nothing; `None` lets them.
    PausedAt(Option<Timestamp>),
}

/// Whose messages make runs of a binding (2.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AddressedBy {
    /// Everybody in the channel, guests too.
    Everyone,
    /// Members of the workspace, not guests.
    #[default]
    Members,
    /// Owners alone.
    Owners,
}

/// What a token may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Reading.
    Read,
    /// Posting and whatever else changes something.
    Write,
    /// Besides: people, agents, tokens, imports.
    Admin,
    /// How busy the server is, and nothing else.
    Metrics,
}

/// Scopes of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scopes(pub BTreeSet<Scope>);

impl Scopes {
    /// All of them: what somebody who signed in has.
    pub fn all() -> Self {
        Self([Scope::Read, Scope::Write, Scope::Admin, Scope::Metrics].into())
    }

    /// Whether this one is among them.
    pub fn has(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }
}

/// Kinds of credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CredentialKind {
    /// For scripts.
    Token,
    /// A browser's, from sign-in to sign-out.
    SignIn,
    /// Good for one sign-in.
    Link,
}

/// A credential to store. Of its secrets only hashes are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCredential {
    /// Kind.
    pub kind: CredentialKind,
    /// SHA-256 of the secret, in hexadecimal; unique.
    pub hash: String,
    /// For a sign-in, and for nothing else: SHA-256 of its second secret.
    pub proof: Option<String>,
    /// Whose it is.
    pub person: PersonId,
    /// What it is for, in the person's own words.
    pub label: String,
    /// What it may be used for.
    pub scopes: Scopes,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
}

/// A credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// `t1`.
    pub id: CredentialId,
    /// Kind.
    pub kind: CredentialKind,
    /// SHA-256 of a sign-in's second secret.
    pub proof: Option<String>,
    /// Whose it is.
    pub person: PersonId,
    /// What it is for.
    pub label: String,
    /// What it may be used for.
    pub scopes: Scopes,
    /// Creation.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was used up, revoked or signed out.
    pub ended_at: Option<Timestamp>,
}

impl Credential {
    /// Whether it proves anything at this time.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}
