//! A few mentions and a restart, played through an agent at the emulated provider: whether it works here, for `highwater doctor`.

use cost::models::Catalogue;
use cost::price::Table;
use server::wire;
use sim::channel::Channel;
use sim::scenario;
use tokio::runtime::Runtime;

use super::figures::Figures;
use super::grounds::Grounds;
use super::home::Home;
use super::play::Stage;
use super::{Combination, Pauses, Strategy, Tokens};
use crate::config::Env;
use crate::failure::{Failure, Kind};
use crate::interrupt;

/// Mentions that are played; before the last the server is started again.
const MENTIONS: usize = 3;

/// Where agents are tried, one after the other.
pub(crate) struct Rehearsal<'a> {
    channel: Channel,
    runtime: Runtime,
    grounds: Grounds,
    env: &'a Env,
}

/// What it shows of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rehearsed {
    /// `restored` where its session went on in another process.
    pub(crate) lease_after_restart: String,
    /// Of all three mentions.
    pub(crate) requests: u64,
    /// Those that are no part of a mention's own turn.
    pub(crate) side_requests: u64,
    /// Tokens, at four bytes each, of all requests.
    pub(crate) input_tokens: u64,
    /// Those of the second mention that the provider's cache did not have.
    pub(crate) uncached_tokens: Option<u64>,
    /// Where a request is not the one before it and something more: the mention, and what stood there before and after.
    pub(crate) breaks: Vec<(u64, String, String)>,
}

impl<'a> Rehearsal<'a> {
    /// Gets ready. From now on Ctrl-C clears up.
    pub(crate) fn new(env: &'a Env) -> Result<Self, Failure> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            Failure::new(Kind::Internal, format!("{what}: {error}"))
        };
        let channel = scenario::make(scenario::BUILT_IN, scenario::SEED);
        let channel = channel.map_err(|error| failed("the channel", &error))?;
        let runtime = Runtime::new().map_err(|error| failed("the threads of the provider", &error))?;
        let grounds = Grounds::new()?;
        interrupt::end_in_order(grounds.clearing())?;
        Ok(Self { channel, runtime, grounds, env })
    }

    /// Tries a preset's agent; `None`: nobody knows how that is pointed at the provider. `number` is this try's alone.
    pub(crate) fn of(
        &self,
        number: usize,
        preset: &str,
        profile: wire::Profile,
    ) -> Option<Result<Rehearsed, Failure>> {
        provider::wiring(preset, "")?;
        let stage = Stage {
            channel: &self.channel,
            mentions: MENTIONS,
            preset,
            tokens: Tokens::Bytes,
            pauses: Pauses::None,
            day: &Catalogue::built_in().date,
            home: &Home::Clean,
            env: self.env,
            grounds: &self.grounds,
            runtime: self.runtime.handle(),
            restart_at: Some(MENTIONS),
            requests: None,
        };
        let combination = Combination { profile, strategy: Strategy::Highwater };
        let played = stage.play(number, combination, &|_| {});
        Some(played.map(|played| Rehearsed::of(&played.figures(&Table::built_in()))))
    }
}

impl Rehearsed {
    fn of(figures: &Figures) -> Self {
        let last = figures.turns.last().map(|turn| turn.lease.clone());
        let breaks = figures.prefix_breaks.iter();
        Self {
            lease_after_restart: last.unwrap_or_default(),
            requests: figures.requests,
            side_requests: figures.side_requests,
            input_tokens: figures.input_tokens,
            uncached_tokens: figures.uncached_per_warm_mention,
            breaks: breaks
                .map(|broken| (broken.mention, broken.before.clone(), broken.after.clone()))
                .collect(),
        }
    }
}
