//! A seeded world around the real engine, storage and delivery, with a reference model beside it.
//!
//! Everything happens on one thread, in virtual time, from one seed: the same seed gives the same world. After each step
//! the model says what must have come of it, to the byte.

mod bare;
mod breach;
#[cfg(feature = "faults")]
pub mod broken;
mod dice;
mod model;
mod setup;
mod tally;
mod texts;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub use bare::Bare;
pub use breach::Breach;
pub use tally::Tally;

use crate::dice::Dice;
use crate::setup::Setup;
use crate::world::{Act, World};

/// Tries of leaving something out, at most: each plays a whole world.
const SHRINKS_MAX: usize = 400;

/// What came of a seed.
#[derive(Clone, Debug)]
pub struct Played {
    /// What happened.
    pub tally: Tally,
    /// What did not hold, if anything.
    pub failed: Option<Failed>,
    /// A number made of all that happened: the same for the same seed.
    pub digest: u64,
}

/// A rule that did not hold, and what led to it.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The rule.
    pub breach: Breach,
    /// The last lines of what happened.
    pub trace: Vec<String>,
    /// How many things happened, of how many in the seed.
    pub acts: (usize, usize),
}

/// Where the stores of worlds lie: in memory where the system offers that.
pub fn folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

/// Plays the world of a seed.
pub fn play(seed: u64, folder: &Path) -> Played {
    let drawn = Drawn::of(seed);
    play_these(&drawn, &drawn.acts, folder)
}

/// Plays the world of a seed that fails, again and again with less in it, for as long as the same rule breaks; `None` if
/// it does not fail.
pub fn shrink(seed: u64, folder: &Path) -> Option<Failed> {
    let drawn = Drawn::of(seed);
    let mut acts = drawn.acts.clone();
    let mut failed = play_these(&drawn, &acts, folder).failed?;
    let mut tries = 0;
    let mut chunk = acts.len().div_ceil(2);
    while chunk > 0 && tries < SHRINKS_MAX {
        let mut at = 0;
        while at < acts.len() && tries < SHRINKS_MAX {
            let mut fewer = acts.clone();
            fewer.drain(at..(at + chunk).min(acts.len()));
            tries += 1;
            match play_these(&drawn, &fewer, folder).failed {
                Some(still) if still.breach.rule == failed.breach.rule => {
                    failed = still;
                    acts = fewer;
                }
                Some(_) | None => at += chunk,
            }
        }
        chunk /= 2;
    }
    Some(Failed { acts: (acts.len(), drawn.acts.len()), ..failed })
}

/// All that a seed gives.
struct Drawn {
    seed: u64,
    setup: Setup,
    acts: Vec<Act>,
}

impl Drawn {
    fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let setup = Setup::draw(&mut dice);
        let acts = world::draw(&mut dice, setup.mood);
        Self { seed, setup, acts }
    }
}

/// A panic is a breach like any other: the world goes on with the next seed.
fn play_these(drawn: &Drawn, acts: &[Act], folder: &Path) -> Played {
    let world = World::new(drawn.setup.clone(), folder);
    let mut world = match world {
        Ok(world) => world,
        Err(breach) => {
            let failed = Failed { breach, trace: Vec::new(), acts: (0, acts.len()) };
            return Played { tally: Tally::default(), failed: Some(failed), digest: 0 };
        }
    };
    let mut played = 0;
    let result = catch_unwind(AssertUnwindSafe(|| {
        for act in acts {
            played += 1;
            world.play(*act)?;
        }
        world.calm(&mut Dice::new(drawn.seed))
    }));
    let breach = match result {
        Ok(Ok(())) => None,
        Ok(Err(breach)) => Some(breach),
        Err(panic) => Some(Breach { rule: "panic", what: said(panic.as_ref()) }),
    };
    let failed = breach.map(|breach| Failed {
        breach,
        trace: world.trace().map(str::to_owned).collect(),
        acts: (played, acts.len()),
    });
    Played { tally: world.tally.clone(), failed, digest: world.digest() }
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}

#[cfg(test)]
mod tests;
