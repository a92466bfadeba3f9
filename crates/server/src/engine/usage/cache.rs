//! A notice in the channel when a turn that should have been read from the provider's cache was not.

use delivery::model::{Key, RunId};
use delivery::turn::Lease;
use storage::{Binding, Run, Store, TurnUsage, Turned, Usage};

use super::super::run::{read_told, say};
use super::super::{Engine, LiveTurn, Now, host};
use crate::error::ApiError;
use crate::preset;
use crate::settings::CacheAlert;

/// Turns of a session that are looked at for the last one that counts.
const TURNS_MAX: usize = 20;

impl Engine {
    /// Says so, with the likely cause, when a warm or restored turn read less from the cache than it should. Once: not
    /// again until a turn of the session read enough.
    pub(super) fn watch_cache(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        turn: &LiveTurn,
        took: &TurnUsage,
        now: Now,
    ) -> Result<(), ApiError> {
        let alert = self.rules.cache_alert;
        let continues = match turn.lease {
            Lease::Warm | Lease::Restored => true,
            Lease::Cold => false,
        };
        let (true, Some(share)) = (continues && is_low(&took.usage, alert), took.usage.cache_share()) else {
            return Ok(());
        };
        let (run, binding) = (store.run(&turn.run)?, store.binding(&key.binding)?);
        let Some(session) = store.session(key)? else { return Ok(()) };
        let before = store.turns_before(&session.native, &run.id, TURNS_MAX)?;
        let counted = before.iter().find(|turned| counts(turned, alert));
        if counted
            .is_some_and(|turned| turned.lease != Some(Lease::Cold) && is_low(&turned.took.usage, alert))
        {
            return Ok(());
        }
        let compacted = read_told(&session.told).compactions > turn.compactions;
        let last = before.first();
        let cause = cause(&Facts {
            lease: turn.lease,
            compacted,
            pause_ms: last.map(|last| pause_ms(&run, last)),
            keeps_ms: preset::keeps_ms(&binding.spec.preset, binding.spec.profile)
                .unwrap_or(self.rules.cold.cache_ms),
            models: (last.and_then(|last| last.took.model.as_deref()), took.model.as_deref()),
        });
        let text = text(&binding, &run.id, last.map(|last| &last.run), share, &took.usage, &cause);
        self.tally.cache_alerts += 1;
        say(store, &run, host(), text, now).map(drop)
    }
}

/// Whether a turn says something about the cache: what was read of it was told, and it is long enough.
fn counts(turned: &Turned, alert: CacheAlert) -> bool {
    turned.took.usage.cache_share().is_some() && is_long(&turned.took.usage, alert)
}

fn is_long(usage: &Usage, alert: CacheAlert) -> bool {
    usage.prompt().is_some_and(|prompt| prompt >= alert.tokens_min)
}

fn is_low(usage: &Usage, alert: CacheAlert) -> bool {
    is_long(usage, alert)
        && usage.cache_share().is_some_and(|share| share < u64::from(alert.share_percent) * 10)
}

/// How long a session had no turn before this run's began.
fn pause_ms(run: &Run, last: &Turned) -> u64 {
    let began = run.started_at.unwrap_or(run.created_at);
    u64::try_from(began.ms.saturating_sub(last.at.ms)).unwrap_or(0)
}

/// What is known of a turn and the one before.
struct Facts<'a> {
    lease: Lease,
    compacted: bool,
    pause_ms: Option<u64>,
    keeps_ms: u64,
    models: (Option<&'a str>, Option<&'a str>),
}

/// The likely cause, the surest first.
fn cause(facts: &Facts<'_>) -> String {
    let minutes = |ms: u64| ms / 60_000;
    match (facts.pause_ms, facts.models) {
        _ if facts.compacted => "its agent compacted its context".to_owned(),
        (_, (Some(before), Some(after))) if before != after => {
            format!("its model was {before} before, and is {after}")
        }
        (Some(pause), _) if pause > facts.keeps_ms => format!(
            "it had no turn for {} min, and its provider keeps what it caches for {} min",
            minutes(pause),
            minutes(facts.keeps_ms)
        ),
        (Some(_) | None, _) if facts.lease == Lease::Restored => {
            "a new process reloaded the session, and does not send what the last one sent".to_owned()
        }
        (Some(_) | None, _) => {
            "nothing that Highwater knows of: its tools, its settings or its version may be others \
                                than before"
                .to_owned()
        }
    }
}

fn text(
    binding: &Binding,
    run: &RunId,
    last: Option<&RunId>,
    share: u64,
    usage: &Usage,
    cause: &str,
) -> String {
    let compare = match last {
        Some(last) => format!("highwater run show {last} and highwater run show {run}"),
        None => format!("highwater run show {run}"),
    };
    format!(
        "@{} goes on with a session, and yet only {} % of its {} tokens came from the provider's cache in {run}. Likely \
         cause: {cause}. Compare: {compare}. This is said once, until it is better",
        binding.spec.handle,
        share / 10,
        usage.prompt().unwrap_or(0)
    )
}
