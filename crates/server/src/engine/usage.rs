//! What turns took: by what the agent answers, by its own count of money, and by list prices.

mod cache;
mod price;

use agents::{ModelUsage, Money};
use delivery::Timestamp;
use delivery::model::{Key, NativeId, RunId};
use storage::{Cost, CostBy, Currency, Run, Store, TranscriptMark, TurnUsage, Usage, UsageSource};

use super::{Command, Engine, LiveTurn, Now, Reply};
use crate::error::ApiError;
use crate::preset;

/// What was read of an agent's transcript for a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The run whose turn it was.
    pub run: RunId,
    /// The session.
    pub native: NativeId,
    /// From where on it was read.
    pub from: TranscriptMark,
    /// When the turn was over: what stands there of later is another turn's.
    pub until: Timestamp,
    /// Up to where.
    pub to: TranscriptMark,
    /// Tokens by model.
    pub models: Vec<ModelUsage>,
    /// Requests that were broken off.
    pub cut: u32,
}

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
        store.add_turn(&turn.run, &took, now.wall)?;
        self.watch_cache(store, key, turn, &took, now)?;
        self.look_at_transcript(store, &store.run(&turn.run)?, now.wall)
    }

    /// The turn of a run was lost with its server: nobody told what it took.
    pub(super) fn account_lost(
        &mut self,
        store: &mut dyn Store,
        run: &Run,
        now: Now,
    ) -> Result<(), ApiError> {
        store.add_turn(&run.id, &TurnUsage::default(), now.wall)?;
        self.look_at_transcript(store, run, now.wall)
    }

    /// Has the transcript read that the agent of a turn keeps, if it does; the turn was over at `until`.
    fn look_at_transcript(&mut self, store: &dyn Store, run: &Run, until: Timestamp) -> Result<(), ApiError> {
        let binding = store.binding(&run.key.binding)?;
        let Some(staged) = &run.staged else { return Ok(()) };
        if !preset::keeps_transcripts(&binding.spec.preset) {
            return Ok(());
        }
        let from = store.session_marks(&staged.native)?.transcript;
        let (run, native, binding) = (run.id.clone(), staged.native.clone(), Box::new(binding));
        self.touched = true;
        self.out.push_back(Command::ReadTranscript { run, binding, native, from, until });
        Ok(())
    }

    /// A transcript was read. It is the truth for turns of which the agent told nothing, such as those that it was killed in;
    /// what it told itself stays, since that counts requests which are in no transcript. Of requests that were broken off
    /// the transcript alone knows.
    pub(super) fn transcript_read(
        &mut self,
        store: &mut dyn Store,
        read: Transcript,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let mut marks = store.session_marks(&read.native)?;
        if marks.transcript != read.from {
            // Another turn's reading came in between: this one looks again, behind it.
            self.look_at_transcript(store, &store.run(&read.run)?, read.until)?;
            return Ok(Reply::Done);
        }
        marks.transcript = read.to;
        store.set_session_marks(&read.native, &marks)?;
        let Some(turn) = store.turns(&read.run)?.pop() else { return Ok(Reply::Done) };
        if turn.took.source.is_some() || read.models.is_empty() {
            let took = TurnUsage { cut: read.cut, ..turn.took };
            store.set_turn(&read.run, &took, now.wall)?;
            return Ok(Reply::Done);
        }
        let binding = store.binding(&store.run(&read.run)?.key.binding)?;
        let told = agents::Usage { models: read.models, ..agents::Usage::default() };
        let source = Some(UsageSource::Transcript);
        let mut known = TurnUsage { source, cut: read.cut, ..took(&told, &binding) };
        known.usage.cost = turn.took.usage.cost.or(known.usage.cost);
        self.touched = true;
        self.tally.more(&Usage {
            cost: known.usage.cost.filter(|_| turn.took.usage.cost.is_none()),
            ..known.usage
        });
        store.set_turn(&read.run, &known, now.wall)?;
        Ok(Reply::Done)
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
