//! Spending limits: what may be taken in a day, and runs that do not begin since it was.

use delivery::faults::{Rule, broken};
use delivery::model::{BindingId, ChannelId, Key, RunId};
use delivery::{Timestamp, queue};
use storage::{Currency, LimitOf, Read, RunStatus, Spending, SpendingLimit, Store, UsageQuery};

use super::admin::bound;
use super::{Engine, Now, Reply};
use crate::error::ApiError;

const DAY_MS: i64 = 86_400_000;

/// A spending limit to set, or to take away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetSpending {
    /// Name of the channel; all agents together if `None`.
    pub channel: Option<String>,
    /// Handle of one agent there; all of the channel together if `None`.
    pub handle: Option<String>,
    /// What may be spent in a day; nothing at all takes the limit away.
    pub most: Spending,
}

/// What was spent of a limit today.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Tokens of all kinds.
    pub(crate) tokens: u64,
    /// Money in the limit's currency, in millionths.
    pub(crate) micros: u64,
    /// Runs of which nothing was told.
    pub(crate) runs_untold: u64,
    /// Turns whose cost is not known.
    pub(crate) turns_unpriced: u64,
}

impl Engine {
    pub(super) fn set_spending(
        &mut self,
        store: &mut dyn Store,
        set: &SetSpending,
    ) -> Result<Reply, ApiError> {
        let of = match (&set.channel, &set.handle) {
            (None, None) => LimitOf::All,
            (None, Some(_)) => return Err(ApiError::invalid("name the channel of the agent, too")),
            (Some(channel), None) => LimitOf::Channel(store.channel(channel)?.id),
            (Some(channel), Some(handle)) => {
                let binding = bound(store, channel, handle)?;
                LimitOf::Binding(binding.spec.channel, binding.id)
            }
        };
        let nothing = set.most.tokens == Some(0) || set.most.money.is_some_and(|(micros, _)| micros == 0);
        if nothing {
            return Err(ApiError::invalid("a spending limit is more than 0; to stop agents, pause them"));
        }
        store.set_spending_limit(&of, &set.most)?;
        Ok(Reply::Done)
    }

    /// Whether a run that is to begin does not, since a limit is reached: it fails, visibly, and can be tried again.
    pub(super) fn is_over_limit(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        id: &RunId,
        now: Now,
    ) -> Result<bool, ApiError> {
        let Some(reason) = reached(store, key, now.wall)? else { return Ok(false) };
        let run = store.run(id)?;
        self.end_visibly(store, &run, RunStatus::Failed, &reason, now)?;
        self.tally.limited += 1;
        self.forget(id, queue::Event::Ended { key: key.clone(), run: id.clone() });
        if !broken(Rule::StopHolds) {
            self.drop_empty_hold(store, key, now)?;
        }
        Ok(true)
    }
}

/// Why a key's agent may begin nothing more today, if it may not.
fn reached(store: &dyn Store, key: &Key, now: Timestamp) -> Result<Option<String>, ApiError> {
    for limit in store.spending_limits()? {
        let concerns = match &limit.of {
            LimitOf::All => true,
            LimitOf::Channel(channel) => *channel == key.channel,
            LimitOf::Binding(_, binding) => *binding == key.binding,
        };
        if !concerns {
            continue;
        }
        let spent = spent(store, &limit, now)?;
        let over = over(&limit.most, spent);
        if let Some(over) = over {
            let (whose, flags) = names(store, &limit.of)?;
            return Ok(Some(format!(
                "{whose} reached the spending limit of today: {over}. It begins anew at midnight UTC; a higher one is set \
                 with: highwater spending set{flags}"
            )));
        }
    }
    Ok(None)
}

fn over(most: &Spending, spent: Spent) -> Option<String> {
    if let Some(tokens) = most.tokens.filter(|most| spent.tokens >= *most) {
        return Some(format!("{} tokens of {tokens}", spent.tokens));
    }
    let (micros, currency) = most.money.filter(|(most, _)| spent.micros >= *most)?;
    Some(format!("{} of {} {currency}", amount(spent.micros), amount(micros)))
}

/// Whom a limit is for, and how the command line names them.
fn names(store: &dyn Store, of: &LimitOf) -> Result<(String, String), ApiError> {
    Ok(match of {
        LimitOf::All => ("all agents together".to_owned(), " --all".to_owned()),
        LimitOf::Channel(channel) => {
            let name = store.channel_by_id(channel)?.name;
            (format!("the agents of {name}"), format!(" --channel {name}"))
        }
        LimitOf::Binding(channel, binding) => {
            let (name, handle) = (store.channel_by_id(channel)?.name, store.binding(binding)?.spec.handle);
            (format!("@{handle} in {name}"), format!(" --channel {name} --agent {handle}"))
        }
    })
}

/// What was spent of a limit since the day began, in UTC.
pub(crate) fn spent(store: &dyn Read, limit: &SpendingLimit, now: Timestamp) -> Result<Spent, ApiError> {
    let since = Timestamp { ms: now.ms.div_euclid(DAY_MS) * DAY_MS };
    let (channels, binding): (Vec<ChannelId>, Option<&BindingId>) = match &limit.of {
        LimitOf::All => (store.channels()?.into_iter().map(|channel| channel.id).collect(), None),
        LimitOf::Channel(channel) => (vec![channel.clone()], None),
        LimitOf::Binding(channel, binding) => (vec![channel.clone()], Some(binding)),
    };
    let query = UsageQuery { channels: &channels, binding, since: Some(since), by: None, limit: 1 };
    let Some(sum) = store.usage(&query)?.pop() else { return Ok(Spent::default()) };
    let currency = limit.most.money.map_or(Currency::USD, |(_, currency)| currency);
    let cost = sum.costs.iter().find(|cost| cost.currency == currency);
    Ok(Spent {
        tokens: sum.usage.tokens().unwrap_or(0),
        micros: cost.map_or(0, |cost| cost.micros),
        runs_untold: sum.runs_untold,
        turns_unpriced: sum.turns_unpriced,
    })
}

/// Millionths as an amount: `12.5`.
fn amount(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
