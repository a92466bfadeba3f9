//! What is shown to those who look on and is not durable: answers while they are written, and how agents stand.

use delivery::model::{ChannelId, Key, RunId};

use super::Item;
use crate::engine::{Activity, Doing, Piece};
use crate::wire::{AgentActivity, Event, Happened};
use std::sync::Arc;

/// Bytes of an answer that are shown while it is written; all of it comes as messages in the end.
pub(super) const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// What a key is called: its channel's name and its agent's handle.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) channel: String,
    pub(super) agent: String,
}

impl Names {
    fn item(&self, channel: &ChannelId, what: Happened) -> Arc<Item> {
        let (name, channel_id) = (Some(self.channel.clone()), Some(channel.0.clone()));
        let event = Event { cursor: None, at: None, channel: name, channel_id, what };
        Item::live(Some(channel.clone()), event)
    }
}

/// An answer while it is written.
pub(super) struct Answer {
    pub(super) key: Key,
    pub(super) names: Option<Names>,
    text: String,
    /// How much of it was told, in bytes and in characters.
    told: usize,
    told_chars: usize,
}

impl Answer {
    pub(super) fn new(key: Key) -> Self {
        Self { key, names: None, text: String::new(), told: 0, told_chars: 0 }
    }

    pub(super) fn grow(&mut self, piece: &Piece) {
        match piece {
            Piece::Text(text) if self.text.len() + text.len() <= ANSWER_BYTES_MAX => self.text.push_str(text),
            Piece::Text(_) => {}
            Piece::Anew => {
                self.text.clear();
                self.told = 0;
                self.told_chars = 0;
            }
        }
    }

    /// What was not told yet, once the names are known.
    pub(super) fn next(&mut self, run: &RunId) -> Option<Arc<Item>> {
        let names = self.names.as_ref()?;
        let piece = &self.text[self.told..];
        if piece.is_empty() {
            return None;
        }
        let item = names.item(&self.key.channel, said(run, names, self.told_chars, piece));
        self.told_chars += piece.chars().count();
        self.told = self.text.len();
        Some(item)
    }

    /// All that was told, for one who comes in the middle.
    pub(super) fn so_far(&self, run: &RunId) -> Option<Arc<Item>> {
        let names = self.names.as_ref()?;
        let told = &self.text[..self.told];
        (!told.is_empty()).then(|| names.item(&self.key.channel, said(run, names, 0, told)))
    }
}

fn said(run: &RunId, names: &Names, from: usize, text: &str) -> Happened {
    let (run_id, agent) = (run.0.clone(), names.agent.clone());
    Happened::Answer { run_id, agent, from, text: text.to_owned() }
}

/// How an agent stands, and what was told of it; `None` is idle.
#[derive(Default)]
pub(super) struct Standing {
    pub(super) names: Option<Names>,
    pub(super) now: Option<Doing>,
    told: Option<Doing>,
}

impl Standing {
    /// What was not told yet, once the names are known.
    pub(super) fn next(&mut self, key: &Key) -> Option<Arc<Item>> {
        if self.now == self.told {
            return None;
        }
        let names = self.names.as_ref()?;
        self.told = self.now;
        Some(names.item(&key.channel, stands(key, names, self.now)))
    }

    /// What was told last, for one who comes later.
    pub(super) fn last(&self, key: &Key) -> Option<Arc<Item>> {
        let names = self.names.as_ref()?;
        self.told.map(|told| names.item(&key.channel, stands(key, names, Some(told))))
    }

    /// Whether there is nothing more to say.
    pub(super) fn is_over(&self) -> bool {
        self.now.is_none() && self.told.is_none()
    }
}

fn stands(key: &Key, names: &Names, at: Option<Doing>) -> Happened {
    let state = match at.map(|doing| doing.activity) {
        None => AgentActivity::Idle,
        Some(Activity::Working) => AgentActivity::Working,
        Some(Activity::Asking) => AgentActivity::Asking,
        Some(Activity::Queued) => AgentActivity::Queued,
        Some(Activity::Waiting) => AgentActivity::Waiting,
        Some(Activity::Held) => AgentActivity::Held,
    };
    let open_runs = at.map_or(0, |doing| doing.open_runs);
    let steerable = at.is_some_and(|doing| doing.steerable);
    let (agent, binding_id) = (names.agent.clone(), key.binding.0.clone());
    Happened::AgentState { agent, binding_id, state, open_runs, steerable }
}
