//! Pauses: of a channel's agents or of all, nothing begins until somebody lets them go on. What runs goes on.

use std::collections::BTreeSet;

use delivery::faults::{Rule, broken};
use delivery::model::{ChannelId, Key};
use delivery::queue::{self, Part};
use delivery::residency;
use storage::{Channel, ChannelChange, NewMessage, Store};

use super::post::refuse_archived;
use super::{Engine, Now, Reply, host};
use crate::error::ApiError;

/// What somebody does about a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pausing {
    /// Nothing more begins.
    Pause,
    /// It may again.
    Resume,
}

impl Engine {
    /// Takes up the pauses that the last server left.
    pub(super) fn pick_up_pauses(&mut self, store: &dyn Store) -> Result<(), ApiError> {
        if broken(Rule::PausesOutliveServers) {
            return Ok(());
        }
        if store.paused_at()?.is_some() {
            self.queue.handle(queue::Event::Paused(Part::Everything));
        }
        for channel in store.channels()?.into_iter().filter(|channel| channel.paused_at.is_some()) {
            self.queue.handle(queue::Event::Paused(Part::Channel(channel.id)));
        }
        Ok(())
    }

    /// Pauses the agents of a channel, or lets them go on. What stands so already stays as it is.
    pub(super) fn pause_channel(
        &mut self,
        store: &mut dyn Store,
        name: &str,
        by: &str,
        pausing: Pausing,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let channel = store.channel(name)?;
        let since = match (pausing, channel.paused_at) {
            (Pausing::Pause, Some(_)) | (Pausing::Resume, None) => return Ok(Reply::Channel(channel)),
            (Pausing::Pause, None) => Some(now.wall),
            (Pausing::Resume, Some(_)) => None,
        };
        refuse_archived(&channel)?;
        let changed = store.change_channel(&channel.id, &ChannelChange::PausedAt(since), now.wall)?;
        self.change_pause(Part::Channel(channel.id), pausing, now);
        let text = match pausing {
            Pausing::Pause => format!(
                "{by} paused the agents of this channel: mentions wait, and what runs goes on until it is done. They go on \
                 with: highwater resume --channel {name}"
            ),
            Pausing::Resume => format!("{by} lets the agents of this channel go on"),
        };
        tell(store, &changed.id, text, now)?;
        Ok(Reply::Channel(changed))
    }

    /// The same for the agents of all channels.
    pub(super) fn pause_all(
        &mut self,
        store: &mut dyn Store,
        by: &str,
        pausing: Pausing,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let since = match (pausing, store.paused_at()?) {
            (Pausing::Pause, Some(_)) | (Pausing::Resume, None) => return Ok(Reply::Done),
            (Pausing::Pause, None) => Some(now.wall),
            (Pausing::Resume, Some(_)) => None,
        };
        store.set_paused(since, now.wall)?;
        self.change_pause(Part::Everything, pausing, now);
        let text = match pausing {
            Pausing::Pause => format!(
                "{by} paused all agents: mentions wait, and what runs goes on until it is done. They go on with: highwater \
                 resume"
            ),
            Pausing::Resume => format!("{by} lets all agents go on"),
        };
        for channel in with_agents(store)? {
            tell(store, &channel.id, text.clone(), now)?;
        }
        Ok(Reply::Done)
    }

    fn change_pause(&mut self, part: Part, pausing: Pausing, now: Now) {
        self.touched = true;
        match pausing {
            Pausing::Resume => self.queue.handle(queue::Event::Resumed(part)),
            Pausing::Pause => {
                let keys = self.queue.keys_of(&part);
                self.queue.handle(queue::Event::Paused(part));
                if !broken(Rule::PauseTakesBack) {
                    keys.iter().for_each(|key| self.take_back(key, now));
                }
            }
        }
    }

    /// Takes back the wish of a key's run for a turn that it has not got yet.
    fn take_back(&mut self, key: &Key, now: Now) {
        if self.live.get(key).is_some_and(|live| live.turn.is_some()) {
            return;
        }
        if let Some(run) = self.queue.current(key).cloned() {
            self.queue.handle(queue::Event::Returned { key: key.clone(), run });
            self.residency.handle(residency::Event::Unwanted(key.clone()), now.mono);
        }
    }
}

/// The channels that have agents and take posts.
fn with_agents(store: &dyn Store) -> Result<Vec<Channel>, ApiError> {
    let bound: BTreeSet<ChannelId> =
        store.bindings(None)?.into_iter().map(|binding| binding.spec.channel).collect();
    let mut channels = store.channels()?;
    channels.retain(|channel| channel.archived_at.is_none() && bound.contains(&channel.id));
    Ok(channels)
}

fn tell(store: &mut dyn Store, channel: &ChannelId, text: String, now: Now) -> Result<(), ApiError> {
    let new = NewMessage {
        channel: channel.clone(),
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
