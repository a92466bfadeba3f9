//! Who may do what: one function per right, pure over values, asked by every route.
//!
//! A right about a channel is decided from the principal and how the channel stands to them. What a principal may not
//! read does not exist for them ([`Denial::Hidden`]); what they may read but not do is refused in words. So existence is
//! asked first, before the scopes of the credential: a refused scope would tell that there is something.

use storage::{Access, AddressedBy, AnsweredBy, ChoiceKind, Person, PersonId, Rank, Role, Scope, Scopes};

/// Who asks: a person, through a credential with scopes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Who.
    pub person: PersonId,
    /// Their present name.
    pub name: String,
    /// Their role.
    pub role: Role,
    /// What their credential may be used for.
    pub scopes: Scopes,
}

impl Principal {
    /// A person with all that they may do, as when they signed in.
    pub fn of(person: &Person) -> Self {
        Self {
            person: person.id.clone(),
            name: person.name.clone(),
            role: person.role,
            scopes: Scopes::all(),
        }
    }
}

/// How a channel stands to a principal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Who may find the channel.
    pub access: Access,
    /// Whether it is a conversation with one agent, or a channel of many.
    pub shape: Shape,
    /// What the principal is in it; `None` outside.
    pub rank: Option<Rank>,
}

/// The two shapes of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One person and one agent: nobody joins or leaves.
    Direct,
    /// Anything else.
    Open,
}

/// Why something is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// For this principal the thing does not exist: it is answered like one that does not.
    Hidden,
    /// It exists, and here is why not.
    Refused(&'static str),
    /// The credential has not this scope.
    Scope(Scope),
}

/// Whether something is allowed.
pub type Verdict = Result<(), Denial>;

const OWNERS: Denial = Denial::Refused("only an owner may do this");
const GUESTS: Denial = Denial::Refused("guests may not do this");
const OUTSIDE: Denial = Denial::Refused("only members of the channel may do this");
const DIRECT: Denial = Denial::Refused("a direct conversation belongs to its person and agent alone");

/// Reading a channel: its messages, threads, runs, agents and people. Owners read everything, since who keeps the
/// database does anyway.
pub fn may_read_channel(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Read)
}

/// Finding public channels without being in them.
pub fn may_find_public_channels(who: &Principal) -> Verdict {
    scope(who, Scope::Read)?;
    not_guest(who)
}

/// Following what happens, as far as one may read it.
pub fn may_follow(who: &Principal) -> Verdict {
    scope(who, Scope::Read)
}

/// Making a channel.
pub fn may_add_channel(who: &Principal) -> Verdict {
    scope(who, Scope::Write)?;
    not_guest(who)
}

/// Becoming a member of a channel by oneself.
pub fn may_join_channel(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    open(at)
}

/// Ending one's own membership.
pub fn may_leave_channel(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    open(at)
}

/// Making somebody else a member of a channel.
pub fn may_invite(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    open(at)?;
    not_guest(who)?;
    inside_or_owner(who, at)
}

/// Ending somebody else's membership.
pub fn may_remove_member(who: &Principal, at: Standing) -> Verdict {
    may_manage_channel(who, at)?;
    open(at)
}

/// Renaming a channel, archiving it, changing who may find it: its managers and owners.
pub fn may_manage_channel(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    not_guest(who)?;
    match (who.role, at.rank) {
        (Role::Owner, _) | (_, Some(Rank::Manager)) => Ok(()),
        (Role::Member | Role::Guest, Some(Rank::Member) | None) => {
            Err(Denial::Refused("only the channel's managers and owners may do this"))
        }
    }
}

/// Changing what a channel is about.
pub fn may_set_topic(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    not_guest(who)?;
    inside_or_owner(who, at)
}

/// Posting under one's own name. A public channel takes posts of everybody but guests, who become members by it;
/// any other those of its members.
pub fn may_post(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    match (at.access, at.rank, who.role) {
        (_, Some(_), _) | (Access::Public, None, Role::Owner | Role::Member) => Ok(()),
        (Access::Public, None, Role::Guest) | (Access::Private, None, _) => match at.shape {
            Shape::Direct => Err(DIRECT),
            Shape::Open => Err(OUTSIDE),
        },
    }
}

/// Posting under the name of somebody else.
pub fn may_post_as(who: &Principal) -> Verdict {
    owner(who)?;
    scope(who, Scope::Write)
}

/// Changing a message's text. `author` is the person who wrote it; `None` for an agent's.
pub fn may_edit_message(who: &Principal, at: Standing, author: Option<&PersonId>) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    own_or_owner(who, author, "only its author or an owner may change a message")
}

/// Deleting a message.
pub fn may_delete_message(who: &Principal, at: Standing, author: Option<&PersonId>) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    own_or_owner(who, author, "only its author or an owner may delete a message")
}

/// Seeing a run with all that was sent: the lines of its channel.
pub fn may_see_run(who: &Principal, at: Standing) -> Verdict {
    may_read_channel(who, at)
}

/// Cancelling a run. `asker` is the person whose message made it.
pub fn may_cancel_run(who: &Principal, at: Standing, asker: Option<&PersonId>) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    if asker == Some(&who.person) {
        return Ok(());
    }
    not_guest(who)?;
    inside_or_owner(who, at)
}

/// Trying a run again, with the rights of its asker.
pub fn may_retry_run(who: &Principal, at: Standing, asker: Option<&PersonId>) -> Verdict {
    may_cancel_run(who, at, asker)
}

/// Letting the runs of an agent go on that are held, one's own among them.
pub fn may_resume_run(who: &Principal, at: Standing, asker: Option<&PersonId>) -> Verdict {
    may_cancel_run(who, at, asker)
}

/// Putting a message into the turn of a run: it is posted in the channel, too. Whether the agent answers them is another
/// question ([`may_address`]).
pub fn may_steer_run(who: &Principal, at: Standing, asker: Option<&PersonId>) -> Verdict {
    may_post(who, at)?;
    may_cancel_run(who, at, asker)
}

/// Pausing the agents of a channel, and letting them go on.
pub fn may_pause_channel(who: &Principal, at: Standing) -> Verdict {
    may_manage_channel(who, at)
}

/// The same for the agents of all channels.
pub fn may_pause_all(who: &Principal) -> Verdict {
    owner(who)
}

/// Setting what the agents of a channel may spend.
pub fn may_limit_channel(who: &Principal, at: Standing) -> Verdict {
    may_manage_channel(who, at)
}

/// The same for all agents together.
pub fn may_limit_all(who: &Principal) -> Verdict {
    owner(who)
}

/// Seeing what all agents together may spend, and what they spent.
pub fn may_see_all_spending(who: &Principal) -> Verdict {
    scope(who, Scope::Read)?;
    match who.role {
        Role::Owner => Ok(()),
        Role::Member | Role::Guest => Err(OWNERS),
    }
}

/// Adding an agent: its command runs with the rights of the server's own user.
pub fn may_add_agent(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    owner(who)
}

/// Removing an agent from a channel.
pub fn may_remove_agent(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    owner(who)
}

/// Giving an agent a new session.
pub fn may_start_fresh(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    not_guest(who)?;
    inside_or_owner(who, at)
}

/// Seeing how an agent is started: its command, folder and the names of its variables.
pub fn may_see_agent_setup(who: &Principal) -> Verdict {
    owner(who)
}

/// Giving a channel a project, seeing it, trusting it: agents that work on it run with the rights of the server's own
/// user.
pub fn may_set_project(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    owner(who)
}

/// Seeing the worktrees of agents, which are folders of the server's machine, and removing them.
pub fn may_manage_worktrees(who: &Principal) -> Verdict {
    owner(who)
}

/// Whether a person's message makes a run of a binding (2.9).
pub fn may_address(role: Role, addressed_by: AddressedBy) -> Verdict {
    match (addressed_by, role) {
        (AddressedBy::Everyone, _)
        | (AddressedBy::Members, Role::Owner | Role::Member)
        | (AddressedBy::Owners, Role::Owner) => Ok(()),
        (AddressedBy::Members, Role::Guest) => Err(Denial::Refused("it answers members, not guests")),
        (AddressedBy::Owners, Role::Member | Role::Guest) => Err(Denial::Refused("it answers owners alone")),
    }
}

/// Changing by which rules an agent's permission requests are decided.
pub fn may_change_rules(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    owner(who)
}

/// Changing an agent's own limits.
pub fn may_change_limits(who: &Principal, at: Standing) -> Verdict {
    reaches(who, at)?;
    owner(who)
}

/// Answering a permission card of a binding (2.9) by an option of this kind; `None`: there is no such option. What is
/// allowed for ever, or of a kind that nobody knows, is for owners alone (6.10).
pub fn may_answer_permission(
    who: &Principal,
    at: Standing,
    by: AnsweredBy,
    option: Option<ChoiceKind>,
) -> Verdict {
    reaches(who, at)?;
    scope(who, Scope::Write)?;
    match (by, who.role, at.rank) {
        (_, Role::Owner, _)
        | (AnsweredBy::Members, Role::Member, Some(_))
        | (AnsweredBy::Managers, Role::Member, Some(Rank::Manager)) => {}
        (AnsweredBy::Members, Role::Member, None) => return Err(OUTSIDE),
        (AnsweredBy::Managers, Role::Member, Some(Rank::Member) | None) => {
            return Err(Denial::Refused(
                "the channel's managers and owners answer this agent's permission cards",
            ));
        }
        (AnsweredBy::Owners, Role::Member, _) => {
            return Err(Denial::Refused("owners alone answer this agent's permission cards"));
        }
        (_, Role::Guest, _) => return Err(GUESTS),
    }
    match option {
        Some(kind) if kind.is_for_owners() => match who.role {
            Role::Owner => scope(who, Scope::Admin),
            Role::Member | Role::Guest => {
                Err(Denial::Refused("only an owner may allow something for more than this once"))
            }
        },
        Some(_) | None => Ok(()),
    }
}

/// Seeing people with whom no channel is shared.
pub fn may_see_all_people(who: &Principal) -> Verdict {
    scope(who, Scope::Read)?;
    not_guest(who)
}

/// Making people, their links and roles; deactivating them.
pub fn may_manage_people(who: &Principal) -> Verdict {
    owner(who)
}

/// Giving a person another name.
pub fn may_rename_person(who: &Principal, person: &PersonId) -> Verdict {
    scope(who, Scope::Admin)?;
    self_or_owner(who, person)
}

/// Setting a person's password: their own, or as an owner anyone's.
pub fn may_set_password(who: &Principal, person: &PersonId) -> Verdict {
    scope(who, Scope::Admin)?;
    self_or_owner(who, person)
}

/// Making a token for a person: never one that may more than the credential that makes it.
pub fn may_add_token(who: &Principal, person: &PersonId, scopes: &Scopes) -> Verdict {
    scope(who, Scope::Admin)?;
    self_or_owner(who, person)?;
    match scopes.0.iter().find(|asked| !who.scopes.has(**asked)) {
        Some(asked) => Err(Denial::Scope(*asked)),
        None => Ok(()),
    }
}

/// Seeing a person's tokens; not their secrets, which nobody can.
pub fn may_see_tokens(who: &Principal, person: &PersonId) -> Verdict {
    scope(who, Scope::Admin)?;
    self_or_owner(who, person)
}

/// Ending a token or sign-in of a person.
pub fn may_end_token(who: &Principal, person: &PersonId) -> Verdict {
    if self_or_owner(who, person).is_err() {
        return Err(Denial::Hidden);
    }
    scope(who, Scope::Admin)
}

/// Taking a copy of everything: it holds what nobody else may read, and what proves who they are.
pub fn may_back_up(who: &Principal) -> Verdict {
    owner(who)
}

/// Taking whole channels along: private ones too.
pub fn may_export(who: &Principal) -> Verdict {
    owner(who)
}

/// Importing what another server or backup had: it claims what others said and were shown. The answer is read.
pub fn may_import(who: &Principal) -> Verdict {
    owner(who)?;
    scope(who, Scope::Read)
}

/// Seeing how busy the server is. A token for this alone reads nothing else.
pub fn may_see_metrics(who: &Principal) -> Verdict {
    match who.role {
        Role::Owner => scope(who, Scope::Metrics),
        Role::Member | Role::Guest => Err(OWNERS),
    }
}

fn scope(who: &Principal, scope: Scope) -> Verdict {
    if who.scopes.has(scope) { Ok(()) } else { Err(Denial::Scope(scope)) }
}

/// Whether the channel exists for them.
fn reaches(who: &Principal, at: Standing) -> Verdict {
    match (who.role, at.access, at.rank) {
        (Role::Owner, _, _) | (_, _, Some(_)) | (Role::Member, Access::Public, None) => Ok(()),
        (Role::Member, Access::Private, None) | (Role::Guest, _, None) => Err(Denial::Hidden),
    }
}

fn owner(who: &Principal) -> Verdict {
    match who.role {
        Role::Owner => scope(who, Scope::Admin),
        Role::Member | Role::Guest => Err(OWNERS),
    }
}

fn not_guest(who: &Principal) -> Verdict {
    match who.role {
        Role::Owner | Role::Member => Ok(()),
        Role::Guest => Err(GUESTS),
    }
}

fn open(at: Standing) -> Verdict {
    match at.shape {
        Shape::Open => Ok(()),
        Shape::Direct => Err(DIRECT),
    }
}

fn inside_or_owner(who: &Principal, at: Standing) -> Verdict {
    match (who.role, at.rank) {
        (Role::Owner, _) | (_, Some(_)) => Ok(()),
        (Role::Member | Role::Guest, None) => Err(OUTSIDE),
    }
}

fn own_or_owner(who: &Principal, author: Option<&PersonId>, why: &'static str) -> Verdict {
    match who.role {
        Role::Owner => Ok(()),
        Role::Member | Role::Guest if author == Some(&who.person) => Ok(()),
        Role::Member | Role::Guest => Err(Denial::Refused(why)),
    }
}

fn self_or_owner(who: &Principal, person: &PersonId) -> Verdict {
    match who.role {
        Role::Owner => Ok(()),
        Role::Member | Role::Guest if *person == who.person => Ok(()),
        Role::Member | Role::Guest => Err(OWNERS),
    }
}

#[cfg(test)]
mod tests;
