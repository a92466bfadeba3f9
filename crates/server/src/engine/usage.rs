//! What turns took: by what the agent answers, by its own count of money, and by list prices.

mod price;

use agents::Money;
use delivery::model::Key;
use storage::{Cost, CostBy, Currency, Run, Store, TurnUsage, Usage, UsageSource};

use super::{Engine, LiveTurn, Now};
use crate::error::ApiError;

impl Engine {
    /// The agent told what its session has cost by now. What was added since it last told is this turn's; a count that
    /// fell has begun anew, with another process.
    pub(super) fn counted(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        money: &Money,
    ) -> Result<(), ApiError> {
        let (Some(currency), Some(session)) = (Currency::parse(&money.currency), store.session(key)?) else {
            return Ok(());
        };
        let Some(turn) = self.live.get_mut(key).and_then(|live| live.turn.as_mut()) else { return Ok(()) };
        let mut marks = store.session_marks(&session.native)?;
        let seen = marks.cost_seen.unwrap_or(0);
        let more = money.micros.checked_sub(seen).unwrap_or(money.micros);
        let spent = turn.spent.filter(|(_, of)| *of == currency).map_or(0, |(spent, _)| spent);
        turn.spent = Some((spent.saturating_add(more), currency));
        self.touched = true;
        marks.cost_seen = Some(money.micros);
        Ok(store.set_session_marks(&session.native, &marks)?)
    }

    /// A turn is over: keeps what it took, as far as that was told. A prompt that was never written took nothing.
    pub(super) fn account(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        turn: &LiveTurn,
        now: Now,
    ) -> Result<(), ApiError> {
        if !turn.written && turn.told.is_none() {
            return Ok(());
        }
        let binding = store.binding(&key.binding)?;
        let mut took = turn.told.as_ref().map(|told| took(told, &binding)).unwrap_or_default();
        // An agent that does not know its model's price counts nothing for it.
        let spent = turn.spent.filter(|(micros, _)| *micros > 0);
        let told = spent.map(|(micros, currency)| Cost { micros, currency, by: CostBy::Agent });
        took.usage.cost = told.or(took.usage.cost);
        self.touched = true;
        self.tally.took(&took.usage);
        Ok(store.add_turn(&turn.run, &took, now.wall)?)
    }

    /// The turn of a run was lost with its server: nobody told what it took.
    pub(super) fn account_lost(store: &mut dyn Store, run: &Run, now: Now) -> Result<(), ApiError> {
        Ok(store.add_turn(&run.id, &TurnUsage::default(), now.wall)?)
    }
}

/// What an answer tells: by model, where it does, since that counts requests beside the turn's own.
fn took(told: &agents::Usage, binding: &storage::Binding) -> TurnUsage {
    let by_model = told.models.iter().map(|one| Usage {
        input: Some(one.input),
        output: Some(one.output),
        cached_read: one.cached_read,
        cached_write: one.cached_write,
        ..Usage::default()
    });
    let usage = by_model.reduce(|sum, more| sum.and(&more)).unwrap_or(Usage {
        input: Some(told.input),
        output: Some(told.output),
        cached_read: told.cached_read,
        cached_write: told.cached_write,
        ..Usage::default()
    });
    let total = if told.models.is_empty() { Some(told.total) } else { usage.tokens() };
    let usage = Usage { total, cost: price::of(told, binding), ..usage };
    let most = told.models.iter().max_by_key(|one| one.input.saturating_add(one.cached_read.unwrap_or(0)));
    let model = most.map(|one| one.model.clone()).or_else(|| binding.spec.model.clone());
    TurnUsage { usage, source: Some(UsageSource::Agent), model, cut: 0 }
}
