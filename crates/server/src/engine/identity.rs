//! People, their channels and their credentials: what is done about them.

use storage::{
    Access, Channel, ChannelChange, CredentialId, CredentialKind, NewCredential, NewMessage, Person,
    PersonId, Rank, Role, RunStatus, Store,
};

use super::admin::{bare_handle, check_channel_name};
use super::{Engine, Now, Reply, host};
use crate::error::{ApiError, Code};

/// Bytes of a channel's topic at most.
const TOPIC_BYTES_MAX: usize = 1_024;
/// Bytes of a token's label at most.
const LABEL_BYTES_MAX: usize = 128;

/// Something about people, their channels or their credentials. People and channels are named, but where an id was
/// looked up already.
#[derive(Clone, Debug)]
pub enum Act {
    /// Make a person.
    AddPerson {
        /// Name.
        name: String,
        /// Role.
        role: Role,
    },
    /// Change a role.
    SetRole {
        /// Whose.
        person: String,
        /// To what.
        role: Role,
    },
    /// Deactivate a person, or take that back.
    SetActive {
        /// Whom.
        person: String,
        /// Whether they may do anything from now on.
        active: bool,
    },
    /// Give a person another name.
    Rename {
        /// Whom.
        person: String,
        /// New name.
        to: String,
    },
    /// Put a new password in place; whoever is signed in as that person no longer is.
    SetPassword {
        /// Whose.
        person: PersonId,
        /// Its hash.
        hash: String,
    },
    /// Store a token.
    AddToken(NewCredential),
    /// Store a one-time link.
    AddLink(NewCredential),
    /// End a token, sign-in or link.
    EndCredential {
        /// Which.
        id: CredentialId,
    },
    /// Sign a person in whose password was checked.
    SignIn(NewCredential),
    /// Use a link up and sign its person in. The person inside `sign_in` is ignored: the link knows it.
    UseLink {
        /// Hash of the link's secret.
        hash: String,
        /// The sign-in that it becomes.
        sign_in: NewCredential,
    },
    /// Make a person a member of a channel.
    AddMember {
        /// Channel name.
        channel: String,
        /// Whom.
        person: String,
    },
    /// End a person's membership of a channel.
    RemoveMember {
        /// Channel name.
        channel: String,
        /// Whose.
        person: String,
    },
    /// Change a channel.
    ChangeChannel {
        /// Channel name.
        channel: String,
        /// What.
        changes: ChannelChanges,
    },
}

/// What is to be changed of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelChanges {
    /// New name.
    pub name: Option<String>,
    /// New topic.
    pub topic: Option<String>,
    /// Who may find it.
    pub access: Option<Access>,
    /// Whether it takes no more posts.
    pub archived: Option<bool>,
}

impl ChannelChanges {
    /// Whether nothing but the topic changes.
    pub(super) fn topic_alone(&self) -> bool {
        let Self { name, topic, access, archived } = self;
        topic.is_some() && name.is_none() && access.is_none() && archived.is_none()
    }
}

impl Engine {
    pub(super) fn act(&mut self, store: &mut dyn Store, act: Act, now: Now) -> Result<Reply, ApiError> {
        match act {
            Act::AddPerson { name, role } => {
                Ok(Reply::Person(store.add_person(&bare_handle(&name)?, role, now.wall)?))
            }
            Act::SetRole { person, role } => set_role(store, &person, role, now),
            Act::SetActive { person, active: true } => {
                let person = store.person(&person)?;
                Ok(Reply::Person(store.set_deactivated(&person.id, None, now.wall)?))
            }
            Act::SetActive { person, active: false } => self.deactivate(store, &person, now),
            Act::Rename { person, to } => {
                let person = store.person(&person)?;
                Ok(Reply::Person(store.rename_person(&person.id, &bare_handle(&to)?, now.wall)?))
            }
            Act::SetPassword { person, hash } => {
                store.set_password(&person, &hash)?;
                store.end_credentials(&person, &[CredentialKind::SignIn, CredentialKind::Link], now.wall)?;
                Ok(Reply::Person(store.person_by_id(&person)?))
            }
            Act::AddToken(new) | Act::AddLink(new) | Act::SignIn(new) => add_credential(store, &new, now),
            Act::EndCredential { id } => {
                Ok(Reply::Credential(Box::new(store.end_credential(&id, now.wall)?)))
            }
            Act::UseLink { hash, sign_in } => use_link(store, &hash, sign_in, now),
            Act::AddMember { channel, person } => add_member(store, &channel, &person, now),
            Act::RemoveMember { channel, person } => {
                let (channel, person) = (store.channel(&channel)?, store.person(&person)?);
                store.remove_membership(&channel.id, &person.id, now.wall)?;
                Ok(Reply::Channel(channel))
            }
            Act::ChangeChannel { channel, changes } => self.change_channel(store, &channel, changes, now),
        }
    }

    /// Ends all that a person is in the middle of: sign-ins, tokens, and runs that still wait.
    fn deactivate(&mut self, store: &mut dyn Store, name: &str, now: Now) -> Result<Reply, ApiError> {
        let person = store.person(name)?;
        refuse_last_owner(store, &person)?;
        let since = person.deactivated_at.unwrap_or(now.wall);
        let off = store.set_deactivated(&person.id, Some(since), now.wall)?;
        let kinds = [CredentialKind::Token, CredentialKind::SignIn, CredentialKind::Link];
        store.end_credentials(&person.id, &kinds, now.wall)?;
        let reason = format!("{} was deactivated", person.name);
        for run in store.open_runs()? {
            let theirs = store.message(&run.message)?.person.as_ref() == Some(&person.id);
            if theirs && run.status == RunStatus::Queued {
                self.cancel_queued(store, &run, &reason, now)?;
            }
        }
        Ok(Reply::Person(off))
    }

    fn change_channel(
        &mut self,
        store: &mut dyn Store,
        name: &str,
        changes: ChannelChanges,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let mut channel = store.channel(name)?;
        let ChannelChanges { name, topic, access, archived } = changes;
        if archived == Some(false) && channel.archived_at.is_some() {
            channel = store.change_channel(&channel.id, &ChannelChange::ArchivedAt(None), now.wall)?;
            tell(store, &channel, "the channel was opened again".to_owned(), now)?;
        }
        if let Some(name) = name.filter(|name| *name != channel.name) {
            check_channel_name(&name)?;
            let text = format!("the channel {} is called {name} now", channel.name);
            channel = store.change_channel(&channel.id, &ChannelChange::Name(name), now.wall)?;
            tell(store, &channel, text, now)?;
        }
        if let Some(topic) = topic.filter(|topic| *topic != channel.topic) {
            check_topic(&topic)?;
            let text = match topic.as_str() {
                "" => "the channel has no topic any more".to_owned(),
                topic => format!("the channel's topic is now: {topic}"),
            };
            channel = store.change_channel(&channel.id, &ChannelChange::Topic(topic), now.wall)?;
            tell(store, &channel, text, now)?;
        }
        if let Some(access) = access.filter(|access| *access != channel.access) {
            if channel.direct.is_some() {
                return Err(ApiError::conflict("a direct conversation stays private"));
            }
            channel = store.change_channel(&channel.id, &ChannelChange::Access(access), now.wall)?;
            let text = match access {
                Access::Public => "the channel is public now: everybody but guests can read it",
                Access::Private => "the channel is private now: nobody else can find it",
            };
            tell(store, &channel, text.to_owned(), now)?;
        }
        if archived == Some(true) && channel.archived_at.is_none() {
            channel = self.archive(store, &channel, now)?;
        }
        Ok(Reply::Channel(store.channel_by_id(&channel.id)?))
    }

    /// No more posts; runs that still wait are cancelled, those at work may end.
    fn archive(&mut self, store: &mut dyn Store, channel: &Channel, now: Now) -> Result<Channel, ApiError> {
        for run in store.open_runs()? {
            if run.key.channel == channel.id && run.status == RunStatus::Queued {
                self.cancel_queued(store, &run, "the channel was archived", now)?;
            }
        }
        tell(store, channel, "the channel was archived: it takes no more posts".to_owned(), now)?;
        Ok(store.change_channel(&channel.id, &ChannelChange::ArchivedAt(Some(now.wall)), now.wall)?)
    }
}

fn set_role(store: &mut dyn Store, name: &str, role: Role, now: Now) -> Result<Reply, ApiError> {
    let person = store.person(name)?;
    match role {
        Role::Owner => {}
        Role::Member | Role::Guest => refuse_last_owner(store, &person)?,
    }
    Ok(Reply::Person(store.set_role(&person.id, role, now.wall)?))
}

/// Somebody must be able to let people in again.
fn refuse_last_owner(store: &dyn Store, person: &Person) -> Result<(), ApiError> {
    let active_owner = |one: &Person| one.role == Role::Owner && one.deactivated_at.is_none();
    if !active_owner(person) || store.people()?.iter().any(|one| one.id != person.id && active_owner(one)) {
        return Ok(());
    }
    Err(ApiError::conflict(format!("{} is the only owner; make another one first", person.name)))
}

fn add_credential(store: &mut dyn Store, new: &NewCredential, now: Now) -> Result<Reply, ApiError> {
    check_line(&new.label, LABEL_BYTES_MAX, "a label")?;
    if new.scopes.0.is_empty() {
        return Err(ApiError::invalid("a token needs a scope: read, write or admin"));
    }
    let person = store.person_by_id(&new.person)?;
    if person.deactivated_at.is_some() {
        return Err(ApiError::conflict(format!(
            "{name} was deactivated; take that back with: highwater person activate {name}",
            name = person.name
        )));
    }
    Ok(Reply::Credential(Box::new(store.add_credential(new, now.wall)?)))
}

fn use_link(store: &mut dyn Store, hash: &str, sign_in: NewCredential, now: Now) -> Result<Reply, ApiError> {
    let link =
        store.credential(hash)?.filter(|one| one.kind == CredentialKind::Link && one.holds_at(now.wall));
    let Some(link) = link else {
        let text = "this link was used already, or its time is over; ask an owner for a new one";
        return Err(ApiError::new(Code::Unauthorized, text));
    };
    store.end_credential(&link.id, now.wall)?;
    add_credential(store, &NewCredential { person: link.person, scopes: link.scopes, ..sign_in }, now)
}

fn add_member(store: &mut dyn Store, channel: &str, person: &str, now: Now) -> Result<Reply, ApiError> {
    let (channel, person) = (store.channel(channel)?, store.person(person)?);
    if channel.direct.is_some() {
        return Err(ApiError::conflict("a direct conversation belongs to its person and agent alone"));
    }
    if person.deactivated_at.is_some() {
        return Err(ApiError::conflict(format!("{} was deactivated", person.name)));
    }
    store.add_membership(&channel.id, &person.id, Rank::Member, now.wall)?;
    Ok(Reply::Channel(channel))
}

/// Posts a notice in a channel.
fn tell(store: &mut dyn Store, channel: &Channel, text: String, now: Now) -> Result<(), ApiError> {
    let new = NewMessage {
        channel: channel.id.clone(),
        thread: None,
        author: host(),
        native: None,
        run: None,
        text,
        client_id: None,
    };
    store.append(&new, now.wall)?;
    Ok(())
}

/// What a channel is about.
pub(crate) fn check_topic(topic: &str) -> Result<(), ApiError> {
    check_line(topic, TOPIC_BYTES_MAX, "a topic")
}

fn check_line(text: &str, bytes_max: usize, what: &str) -> Result<(), ApiError> {
    if text.len() > bytes_max || text.chars().any(char::is_control) {
        return Err(ApiError::invalid(format!("{what} is one line of at most {bytes_max} bytes")));
    }
    Ok(())
}
