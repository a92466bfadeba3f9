//! Plays a channel: gives each mention to its agent as a strategy would, and adds up what that sends.
//!
//! Every block is counted once and totals are running sums: the time is linear in the messages, however long the sessions
//! get.

mod case;
mod resident;
mod session;
mod turn;

use std::collections::HashMap;
use std::ops::AddAssign;

use cost::tokens::Counter;
use delivery::Limits;
use delivery::turn::Lease;

use serde::Serialize;

use crate::bill::{Bill, Provider, Till};
use crate::channel::{Channel, Index};
use crate::figures::Figures;
use crate::strategy::Strategy;
use crate::texts::{Counted, Texts};
use resident::Resident;

pub(crate) use resident::MAX_RECIPIENTS;
pub use turn::{Block, Kind};

/// What is the same for all strategies.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Limits of the context block.
    pub limits: Limits,
    /// The mention, counted from 1 over the whole channel, before which the process of its agent is replaced by a new one
    /// with a new session.
    pub evict: Option<usize>,
    /// The provider at which the turns are billed.
    pub provider: Option<Provider>,
}

/// What a strategy came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Played {
    /// Sums over its turns.
    #[serde(flatten)]
    pub figures: Figures,
    /// What a provider would bill, if the rules name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bill: Option<Bill>,
}

impl AddAssign for Played {
    fn add_assign(&mut self, other: Self) {
        self.figures += other.figures;
        self.bill = self.bill.zip(other.bill).map(|(mut one, two)| {
            one += two;
            one
        });
    }
}

/// Sums while a strategy is played.
struct Sums {
    figures: Figures,
    till: Option<Till>,
}

/// One turn as it was played.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    /// The strategy.
    pub strategy: Strategy,
    /// The number of its mention, counted from 1 over the whole channel.
    pub number: usize,
    /// The number of the agent's turn, counted from 1 over all its sessions.
    pub turn: usize,
    /// The agent that was mentioned.
    pub agent: &'a str,
    /// The addressed message.
    pub message: Index,
    /// What the session that answers is. A cold one begins with this turn: nothing of the turns before counts any more.
    pub lease: Lease,
    /// What the request has in front of everything that the session was told: this turn's own status.
    pub front: Option<Block>,
    /// What the request has beyond the session's earlier ones: at the beginning of a session the prefix too.
    pub blocks: Vec<Block>,
    /// The answer, which the next request of the session brings along.
    pub reply: Block,
    /// Tokens of the whole request.
    pub tokens: u64,
    /// Of these, the longest common prefix with the session's request before.
    pub cacheable: u64,
}

/// Plays channels, and counts each of their texts once, whatever plays it.
pub struct Player<'a> {
    counter: &'a dyn Counter,
    texts: Texts,
    rules: Rules,
    constant: HashMap<String, Counted>,
    /// Tokens plus one of messages as lines; 0 before they are counted.
    lines: Vec<u32>,
    /// The same for answers, by the mention's number.
    replies: Vec<u32>,
    /// The same for whole payloads of policies that send nothing else.
    payloads: Vec<u32>,
}

impl<'a> Player<'a> {
    /// A player of one channel.
    pub fn new(counter: &'a dyn Counter, texts: Texts, rules: Rules) -> Self {
        Self {
            counter,
            texts,
            rules,
            constant: HashMap::new(),
            lines: Vec::new(),
            replies: Vec::new(),
            payloads: Vec::new(),
        }
    }

    /// The texts that stand in front.
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Plays one strategy through the whole channel. `seen` gets every turn, in the order of the channel.
    ///
    /// # Errors
    ///
    /// The first one of `seen`, which ends it.
    pub fn play<E>(
        &mut self,
        channel: &Channel,
        strategy: Strategy,
        mut seen: impl FnMut(&Turn<'_>) -> Result<(), E>,
    ) -> Result<Played, E> {
        let mut residents: Vec<Resident> =
            (0..channel.agents().len()).map(|agent| Resident::new(channel, strategy, agent)).collect();
        let till = self.rules.provider.as_ref().map(Till::new);
        let mut sums = Sums { figures: Figures::default(), till };
        for number in 0..channel.mentions().len() {
            let Some(mention) = channel.mentions().get(number) else { continue };
            let Some(resident) = residents.get_mut(mention.agent) else { continue };
            let turn = resident.turn(channel, number, self, &mut sums);
            if let Some(turn) = turn {
                seen(&turn)?;
            }
        }
        Ok(Played { figures: sums.figures, bill: sums.till.map(|till| till.bill()) })
    }
}

#[cfg(test)]
mod tests;
