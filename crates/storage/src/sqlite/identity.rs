//! The part of the contract that is about people, on SQLite.

use delivery::Timestamp;
use delivery::model::ChannelId;

use super::reader::Connected;
use super::{Sqlite, channel, credential, member, membership, run, search};
use crate::{
    Channel, ChannelChange, ChannelMember, Credential, CredentialId, CredentialKind, Error, Membership,
    Message, NewCredential, Person, PersonId, Rank, ReadIdentity, Role, Run, StoreIdentity,
};

impl<T: Connected> ReadIdentity for T {
    fn person_by_id(&self, id: &PersonId) -> Result<Person, Error> {
        member::by_id(self.connection(), id)
    }

    fn password(&self, id: &PersonId) -> Result<Option<String>, Error> {
        member::password(self.connection(), id)
    }

    fn memberships(&self, person: &PersonId) -> Result<Vec<Membership>, Error> {
        membership::of_person(self.connection(), person)
    }

    fn rank(&self, channel: &ChannelId, person: &PersonId) -> Result<Option<Rank>, Error> {
        membership::rank(self.connection(), channel, person)
    }

    fn members(&self, channel: &ChannelId) -> Result<Vec<ChannelMember>, Error> {
        membership::of_channel(self.connection(), channel)
    }

    fn credential(&self, hash: &str) -> Result<Option<Credential>, Error> {
        credential::by_hash(self.connection(), hash)
    }

    fn credential_by_id(&self, id: &CredentialId) -> Result<Credential, Error> {
        credential::by_id(self.connection(), id)
    }

    fn credentials(&self, person: Option<&PersonId>) -> Result<Vec<Credential>, Error> {
        credential::all(self.connection(), person)
    }

    fn search_in(&self, query: &str, channels: &[ChannelId], limit: usize) -> Result<Vec<Message>, Error> {
        self.at_once(|db| search::find_in(db, query, channels, limit))
    }

    fn runs_in(&self, channels: &[ChannelId], limit: usize) -> Result<Vec<Run>, Error> {
        self.at_once(|db| run::newest_in(db, channels, limit))
    }
}

impl StoreIdentity for Sqlite {
    fn rename_person(&mut self, id: &PersonId, name: &str, at: Timestamp) -> Result<Person, Error> {
        self.write(|db| member::rename(db, id, name, at))
    }

    fn set_role(&mut self, id: &PersonId, role: Role, at: Timestamp) -> Result<Person, Error> {
        self.write(|db| member::set_role(db, id, role, at))
    }

    fn set_deactivated(
        &mut self,
        id: &PersonId,
        off: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<Person, Error> {
        self.write(|db| member::set_deactivated(db, id, off, at))
    }

    fn set_password(&mut self, id: &PersonId, hash: &str) -> Result<(), Error> {
        self.write(|db| member::set_password(db, id, hash))
    }

    fn add_membership(
        &mut self,
        channel: &ChannelId,
        person: &PersonId,
        rank: Rank,
        at: Timestamp,
    ) -> Result<(), Error> {
        self.write(|db| membership::add(db, channel, person, rank, at))
    }

    fn remove_membership(
        &mut self,
        channel: &ChannelId,
        person: &PersonId,
        at: Timestamp,
    ) -> Result<(), Error> {
        self.write(|db| membership::remove(db, channel, person, at))
    }

    fn change_channel(
        &mut self,
        id: &ChannelId,
        change: &ChannelChange,
        at: Timestamp,
    ) -> Result<Channel, Error> {
        self.write(|db| channel::change(db, id, change, at))
    }

    fn add_credential(&mut self, new: &NewCredential, at: Timestamp) -> Result<Credential, Error> {
        self.write(|db| credential::add(db, new, at))
    }

    fn end_credential(&mut self, id: &CredentialId, at: Timestamp) -> Result<Credential, Error> {
        self.write(|db| credential::end(db, id, at))
    }

    fn end_credentials(
        &mut self,
        person: &PersonId,
        kinds: &[CredentialKind],
        at: Timestamp,
    ) -> Result<(), Error> {
        self.write(|db| credential::end_all(db, person, kinds, at))
    }
}
