//! What a reader may see at one moment: the one place that every event passes on its way to anybody.

use std::collections::{BTreeMap, BTreeSet};

use delivery::model::ChannelId;
use storage::{Channel, CredentialId, PersonId, Read};
use tokio::time::Instant;

use super::item::Audience;
use crate::error::ApiError;
use crate::rights::{self, Principal, Shape, Standing};

/// Who follows, and by what right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Watcher {
    /// Who, as they were when they began.
    pub(crate) principal: Principal,
    /// The token or sign-in that they began with; `None` for the token in the data folder.
    pub(crate) credential: Option<CredentialId>,
    /// When that ends by itself.
    pub(crate) until: Option<Instant>,
}

/// What a watcher sees as the log stands at one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    /// The newest entry when it was looked up.
    pub(super) n: u64,
    who: Principal,
    channels: BTreeSet<ChannelId>,
}

/// How a watcher stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// They may go on.
    Sees(Sight),
    /// Their role is another one: what they know may be too much or too little.
    Changed,
    /// They were deactivated, or what they began with has ended.
    Ended,
}

/// Looks up what watchers see at one moment of a store.
pub(super) struct Looker<'a> {
    store: &'a dyn Read,
    n: u64,
    channels: Vec<Channel>,
}

impl<'a> Looker<'a> {
    pub(super) fn new(store: &'a dyn Read) -> Result<Self, ApiError> {
        Ok(Self { store, n: store.log_span()?.head, channels: store.channels()? })
    }

    pub(super) fn look(&self, watcher: &Watcher) -> Result<Look, ApiError> {
        let who = &watcher.principal;
        let person = self.store.person_by_id(&who.person)?;
        let ended = match &watcher.credential {
            Some(id) => self.store.credential_by_id(id)?.ended_at.is_some(),
            None => false,
        };
        if ended || person.deactivated_at.is_some() {
            return Ok(Look::Ended);
        }
        if person.role != who.role {
            return Ok(Look::Changed);
        }
        let ranks = self.store.memberships(&who.person)?;
        let ranks: BTreeMap<_, _> = ranks.into_iter().map(|one| (one.channel, one.rank)).collect();
        let reached = self.channels.iter().filter(|channel| {
            let shape = if channel.direct.is_some() { Shape::Direct } else { Shape::Open };
            let rank = ranks.get(&channel.id).copied();
            rights::may_read_channel(who, Standing { access: channel.access, shape, rank }).is_ok()
        });
        let channels = reached.map(|channel| channel.id.clone()).collect();
        Ok(Look::Sees(Sight { n: self.n, who: who.clone(), channels }))
    }
}

/// Whether an event is for a reader.
pub(super) fn may_see(audience: &Audience, sight: &Sight) -> bool {
    let reaches = |channel: &ChannelId| sight.channels.contains(channel);
    let all_people = || rights::may_see_all_people(&sight.who).is_ok();
    let oneself = |person: &PersonId| *person == sight.who.person;
    match audience {
        Audience::Everybody => true,
        Audience::Nobody => false,
        Audience::Channel(channel) => reaches(channel),
        Audience::Left(channel, person) => reaches(channel) || oneself(person),
        // Who finds public channels had it, and must learn that it is gone.
        Audience::Closed(channel) => reaches(channel) || rights::may_find_public_channels(&sight.who).is_ok(),
        Audience::Person(person, channels) => all_people() || oneself(person) || channels.iter().any(reaches),
    }
}
