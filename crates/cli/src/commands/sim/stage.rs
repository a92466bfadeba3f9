//! Strategies through all channels: several at the same time, or one after the other where each request is kept.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use delivery::Limits;
use sim::channel::Channel;
use sim::play::{Played, Player, Rules};
use sim::strategy::Strategy;
use sim::texts::Texts;

use super::provider::Counting;
use super::requests::Requests;
use super::watch::Watch;
use crate::failure::{Failure, Kind};

/// What is the same for all strategies.
pub(super) struct Stage<'a> {
    pub(super) channels: &'a [Channel],
    pub(super) texts: &'a Texts,
    pub(super) counting: &'a Counting,
    pub(super) limits: Limits,
    /// The mention before which the process ends, counted from 1 over all channels.
    pub(super) evict: Option<usize>,
    pub(super) watch: &'a Watch,
}

/// A player of each channel, with the mentions that stand in channels before it.
type Players<'a> = Vec<(usize, Player<'a>)>;

impl Stage<'_> {
    /// Plays them one after the other, and writes each request.
    pub(super) fn in_turn(
        &self,
        strategies: &[Strategy],
        requests: &mut Requests,
    ) -> Result<Vec<(Strategy, Played)>, Failure> {
        let mut players = self.players();
        let mut came_to = Vec::new();
        for strategy in strategies {
            let played = self.play(*strategy, &mut players, Some(requests))?;
            came_to.extend(played.map(|played| (*strategy, played)));
        }
        Ok(came_to)
    }

    /// Plays them on all cores, each worker one at a time. What they come to is in the order of `strategies`.
    pub(super) fn together(&self, strategies: &[Strategy]) -> Result<Vec<(Strategy, Played)>, Failure> {
        let workers = thread::available_parallelism().map_or(1, NonZero::get).min(strategies.len());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut players = self.players();
            let mut done = Vec::new();
            while let Some((place, strategy)) = take(strategies, &next) {
                done.push((place, strategy, self.play(strategy, &mut players, None)?));
            }
            Ok(done)
        };
        let mut all = Vec::new();
        thread::scope(|scope| -> Result<(), Failure> {
            let handles: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
            all.extend(work()?);
            for handle in handles {
                let died = |_| Failure::new(Kind::Internal, "a thread of the simulation died".to_owned());
                all.extend(handle.join().map_err(died)??);
            }
            Ok(())
        })?;
        all.sort_by_key(|(place, _, _)| *place);
        let played = all.into_iter().filter_map(|(_, strategy, played)| Some((strategy, played?)));
        Ok(played.collect())
    }

    fn players(&self) -> Players<'_> {
        let mut players = Vec::new();
        let mut before = 0;
        for channel in self.channels {
            let evict = self.evict.and_then(|mention| mention.checked_sub(before));
            let rules = Rules { limits: self.limits, evict, provider: self.counting.provider.clone() };
            let player = Player::new(self.counting.counter.as_ref(), self.texts.clone(), rules);
            players.push((before, player));
            before += channel.mentions().len();
        }
        players
    }

    /// Plays one through all channels; `None` if there is none.
    fn play(
        &self,
        strategy: Strategy,
        players: &mut Players<'_>,
        mut requests: Option<&mut Requests>,
    ) -> Result<Option<Played>, Failure> {
        let mut all: Option<Played> = None;
        for (channel, (before, player)) in self.channels.iter().zip(players) {
            if let Some(requests) = requests.as_deref_mut() {
                requests.begin();
            }
            let one = player.play(channel, strategy, |turn| {
                self.watch.step();
                match requests.as_deref_mut() {
                    Some(requests) => requests.write(turn, *before),
                    None => Ok(()),
                }
            })?;
            match &mut all {
                Some(all) => *all += one,
                None => all = Some(one),
            }
        }
        Ok(all)
    }
}

/// The next strategy that nobody plays yet, with its place.
fn take(strategies: &[Strategy], next: &AtomicUsize) -> Option<(usize, Strategy)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    strategies.get(place).map(|strategy| (place, *strategy))
}
