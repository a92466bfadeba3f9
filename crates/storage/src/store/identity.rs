//! The part of a store's contract that is about people: who they are, where they belong, what proves it.

use delivery::Timestamp;
use delivery::model::ChannelId;

use crate::Error;
use crate::record::*;

/// What can be asked about people. Lists come oldest first unless said otherwise.
pub trait ReadIdentity: Send {
    /// A person by id.
    fn person_by_id(&self, id: &PersonId) -> Result<Person, Error>;
    /// The hash of a person's password, if they have one.
    fn password(&self, id: &PersonId) -> Result<Option<String>, Error>;
    /// The channels that a person is in.
    fn memberships(&self, person: &PersonId) -> Result<Vec<Membership>, Error>;
    /// The rank of a person in a channel; `None` outside.
    fn rank(&self, channel: &ChannelId, person: &PersonId) -> Result<Option<Rank>, Error>;
    /// The people of a channel, by name.
    fn members(&self, channel: &ChannelId) -> Result<Vec<ChannelMember>, Error>;
    /// The credential whose secret has this hash, whether it still holds or not.
    fn credential(&self, hash: &str) -> Result<Option<Credential>, Error>;
    /// A credential by id.
    fn credential_by_id(&self, id: &CredentialId) -> Result<Credential, Error>;
    /// Credentials (of a person), whether they still hold or not.
    fn credentials(&self, person: Option<&PersonId>) -> Result<Vec<Credential>, Error>;
    /// [`crate::Read::search`] within these channels, by index alone.
    fn search_in(&self, query: &str, channels: &[ChannelId], limit: usize) -> Result<Vec<Message>, Error>;
    /// [`crate::Read::runs`] of these channels.
    fn runs_in(&self, channels: &[ChannelId], limit: usize) -> Result<Vec<Run>, Error>;
}

/// What can be changed about people. Each call is atomic by itself, and a change adds the entry of the log that tells
/// of it.
pub trait StoreIdentity: ReadIdentity {
    /// Gives a person another name. The old one stays theirs: nobody else can take it, and messages that were
    /// written under it keep it. Fails if the new name is somebody else's, in any spelling.
    fn rename_person(&mut self, id: &PersonId, name: &str, at: Timestamp) -> Result<Person, Error>;
    /// Changes a person's role.
    fn set_role(&mut self, id: &PersonId, role: Role, at: Timestamp) -> Result<Person, Error>;
    /// Deactivates a person as of a time, or with `None` takes that back.
    fn set_deactivated(
        &mut self,
        id: &PersonId,
        off: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<Person, Error>;
    /// Puts the hash of a new password in place.
    fn set_password(&mut self, id: &PersonId, hash: &str) -> Result<(), Error>;
    /// Makes a person a member of a channel; one who is a member already keeps their rank.
    fn add_membership(
        &mut self,
        channel: &ChannelId,
        person: &PersonId,
        rank: Rank,
        at: Timestamp,
    ) -> Result<(), Error>;
    /// Ends a membership; without one it changes nothing.
    fn remove_membership(
        &mut self,
        channel: &ChannelId,
        person: &PersonId,
        at: Timestamp,
    ) -> Result<(), Error>;
    /// Changes a channel.
    fn change_channel(
        &mut self,
        id: &ChannelId,
        change: &ChannelChange,
        at: Timestamp,
    ) -> Result<Channel, Error>;
    /// Stores a credential.
    fn add_credential(&mut self, new: &NewCredential, at: Timestamp) -> Result<Credential, Error>;
    /// Ends a credential; one that has ended keeps its end.
    fn end_credential(&mut self, id: &CredentialId, at: Timestamp) -> Result<Credential, Error>;
    /// Ends all credentials of these kinds that a person has.
    fn end_credentials(
        &mut self,
        person: &PersonId,
        kinds: &[CredentialKind],
        at: Timestamp,
    ) -> Result<(), Error>;
}
