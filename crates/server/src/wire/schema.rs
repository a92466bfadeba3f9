//! Schemas of what other crates define: the values themselves tell their names, so that none can be missing.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::error::Code;
use crate::view;

/// A choice of words: each variant of a type as `$told` tells it. A variant that is missing does not compile.
macro_rules! choice {
    ($(#[doc = $doc:literal])+ $name:ident, $of:path, [$($variant:ident),+], $told:expr) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                use $of as Of;
                let _complete = |value: Of| match value { $(Of::$variant => {}),+ };
                words(&[$($doc),+], vec![$($told(Of::$variant)),+])
            }
        }

        impl ToSchema for $name {}
    };
}

choice!(
    /// What went wrong, in a word that stays the same.
    ErrorCode,
    Code,
    [
        NotFound,
        Exists,
        Conflict,
        AlreadyDecided,
        Invalid,
        Unauthorized,
        Forbidden,
        RateLimited,
        TooLarge,
        StorageFull,
        ShuttingDown,
        Internal
    ],
    |code: Code| json!(code.as_str())
);
choice!(
    /// Who writes: a person, an agent, or the server itself.
    AuthorKind,
    delivery::model::AuthorKind,
    [User, Agent, System],
    |kind: Of| json!(kind.as_str())
);
choice!(
    /// By whom a cost is known: the agent, or tokens and list prices.
    CostBy,
    storage::CostBy,
    [Agent, Price],
    |by: Of| json!(by)
);
choice!(
    /// By whom the tokens of a turn are known.
    UsageSource,
    storage::UsageSource,
    [Agent, Transcript],
    |source: Of| json!(source)
);
choice!(
    /// By what usage is added up.
    UsageBy,
    storage::UsageBy,
    [Run, Session, Binding, Channel, Day],
    |by: Of| json!(by)
);
choice!(
    /// How a run stands.
    RunStatus,
    storage::RunStatus,
    [Queued, Running, Succeeded, Failed, Cancelled, Declined],
    |status| json!(view::status(status))
);
choice!(
    /// Whether a turn found a new process, one with its saved session, or one that had a turn before.
    Lease,
    delivery::turn::Lease,
    [Cold, Restored, Warm],
    |lease| json!(view::lease(lease))
);
choice!(
    /// How an agent's process stands.
    AgentState,
    view::Standing,
    [Absent, Saved, WaitingForPlace, Starting, Idle, Busy, Ending],
    |standing: Of| json!(standing.as_str())
);
choice!(
    /// What becomes of a large session that the provider does not cache any more: it is reloaded, or a new one begins.
    WhenCold,
    delivery::model::WhenCold,
    [Reload, Fresh],
    |when: Of| json!(when)
);
choice!(
    /// What a person is in the workspace.
    Role,
    storage::Role,
    [Owner, Member, Guest],
    |role: Of| json!(role)
);
choice!(
    /// Who may find a channel: everybody but guests, or its members.
    Access,
    storage::Access,
    [Public, Private],
    |access: Of| json!(access)
);
choice!(
    /// What a person is in a channel.
    Rank,
    storage::Rank,
    [Manager, Member],
    |rank: Of| json!(rank)
);
choice!(
    /// Whose messages make runs of an agent.
    AddressedBy,
    storage::AddressedBy,
    [Everyone, Members, Owners],
    |by: Of| json!(by)
);
choice!(
    /// How much of the user's own configuration of an agent holds: all of it, all but what wastes tokens or endangers the
    /// provider's cache, or none.
    Profile,
    storage::Profile,
    [Own, Tidy, Lean],
    |profile: Of| json!(profile)
);
choice!(
    /// Who answers an agent's permission cards.
    AnsweredBy,
    storage::AnsweredBy,
    [Members, Managers, Owners],
    |by: Of| json!(by)
);
choice!(
    /// What choosing an option of a permission card means.
    ChoiceKind,
    storage::ChoiceKind,
    [AllowOnce, AllowAlways, RejectOnce, RejectAlways, Other],
    |kind: Of| json!(kind)
);
choice!(
    /// What is done without supervision: it is allowed, allowed inside the agent's own working folder, asked about,
    /// rejected.
    Rule,
    storage::Rule,
    [Allow, Inside, Ask, Reject],
    |rule: Of| json!(rule)
);
choice!(
    /// Why an agent begins no run until a person lets it.
    HoldReason,
    storage::HoldReason,
    [Stopped, Crashed],
    |why: Of| json!(why)
);
choice!(
    /// What a token may be used for.
    Scope,
    storage::Scope,
    [Read, Write, Admin, Metrics],
    |scope: Of| json!(scope)
);
choice!(
    /// What proves who somebody is: a token, a browser's sign-in, a one-time link.
    CredentialKind,
    storage::CredentialKind,
    [Token, SignIn, Link],
    |kind: Of| json!(kind)
);
choice!(
    /// What an agent is told of its channel: all rules, the plain watermark, or the last lines every time.
    Policy,
    delivery::model::Policy,
    [Base, Lean, Window],
    |policy: Of| json!(policy)
);
choice!(
    /// Whether an agent's session stays for the next turn, is reloaded for it, or begun anew.
    SessionPolicy,
    delivery::model::SessionPolicy,
    [Resident, Saved, Fresh],
    |policy: Of| json!(policy)
);

/// By what somebody came in.
#[derive(Clone, Copy, Debug)]
pub enum Via {}

impl PartialSchema for Via {
    fn schema() -> RefOr<Schema> {
        words(&["By what somebody came in."], vec![json!("owner-token"), json!("token"), json!("sign-in")])
    }
}

impl ToSchema for Via {}

/// A time in UTC, with milliseconds: `2026-11-30T12:17:15.000Z`.
#[derive(Clone, Debug, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-11-30T12:17:15.000Z")]
pub struct Timestamp(pub String);

/// What one session of an agent has been given of one channel or thread.
#[derive(Clone, Debug, ToSchema)]
pub struct Watermark {
    /// Id that the agent gave the session.
    pub native: String,
    /// The newest time that stood there.
    pub last_at: Timestamp,
    /// The highest event number that stood there; null after an import, then time decides.
    pub last_seq: Option<u64>,
    /// Ids of the messages shown, at most 200.
    pub ids: Vec<String>,
    /// Ids of messages that wait to be told as mentions of their own.
    #[schema(required = false)]
    pub waiting: Vec<String>,
}

/// Watermarks by binding, then channel, then thread (empty for the channel itself).
#[derive(Clone, Debug, ToSchema)]
pub struct Watermarks(pub BTreeMap<String, BTreeMap<String, BTreeMap<String, Watermark>>>);

fn words(doc: &[&str], words: Vec<Value>) -> RefOr<Schema> {
    let doc = doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let object: Object = ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .description(Some(doc))
        .enum_values(Some(words))
        .build();
    object.into()
}
