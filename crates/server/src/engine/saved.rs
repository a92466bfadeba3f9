//! Sessions that outlive their process (6.5, 6.6): which of them go on, which begin anew, and what is said of it.

use agents::{Begun, HistoryEnd, Reload, Started};
use delivery::faults::{Rule, broken};
use delivery::model::{AuthorKind, Epoch, Key, NativeId, Policy, SessionPolicy, WhenCold};
use delivery::residency::{self, EndReason};
use delivery::turn::Told;
use storage::{Binding, NewMessage, RunStatus, Session, Store};

use super::run::{read_told, say, write_told};
use super::{Engine, LiveTurn, Now, host};
use crate::error::ApiError;
use crate::preset;
use crate::settings::Cold;

/// Why a session cannot go on that an agent without a way to reload it had.
const NO_WAY_BACK: &str = "the agent can neither resume nor load sessions";
/// Why a session cannot go on whose id does not name it alone.
pub(super) const SAME_ID: &str = "the agent gave it the id of an earlier one";
/// Why a session cannot go on that an old process may still write to: two on one session overwrite each other.
pub(super) const MAY_LIVE: &str = "a process of it may live on, since its holder was killed";
/// Why a session ends that somebody wants to end (6.7).
pub(super) const FRESH: &str = "a fresh session was asked for";
/// Turns in a row in which a session's process goes away before the session is taken to be the reason.
const CRASHES_MAX: u32 = 2;
/// Characters of the end of an answer by which it is recognised.
const REPLY_CHARS: usize = 200;
/// A context of less than one part in so many of what it held is not the same session's.
const SHRINKS_BY_MAX: u64 = 2;

/// A session to reload, and the text that it has as its system prompt.
pub(super) struct ToReload {
    pub(super) reload: Reload,
    pub(super) system: Option<String>,
}

impl Engine {
    /// The session that a new process of a binding is to reload. One that it is not to reload ends here.
    pub(super) fn to_reload(
        &self,
        store: &mut dyn Store,
        binding: &Binding,
        key: &Key,
        now: Now,
    ) -> Result<Option<ToReload>, ApiError> {
        let Some(session) = store.session(key)? else { return Ok(None) };
        let told = read_told(&session.told);
        let cost = cost(&self.rules.cold, &session, &told, now);
        let refused = match (cannot_go_on(binding, &session), &cost, binding.spec.when_cold) {
            (Some(why), _, _) => Some(because(session.saved_why.as_deref(), why)),
            (None, Some(cost), WhenCold::Fresh) => {
                Some(format!("its last session's {cost} (its setting when_cold is fresh)"))
            }
            (None, Some(_), WhenCold::Reload) | (None, None, _) => None,
        };
        if let Some(why) = refused {
            store.end_session(key, &why, now.wall)?;
            return Ok(None);
        }
        let end = history_end(store, &session)?;
        let wait = preset::reload_wait(&binding.spec.preset, session.begun_at, now.wall);
        let reload = Reload { native: session.native, used: told.used, end, wait };
        Ok(Some(ToReload { reload, system: session.system }))
    }

    /// Has a key's next turn begin a new session.
    pub(super) fn begin_anew(
        &mut self,
        store: &mut dyn Store,
        key: Key,
        why: &str,
        now: Now,
    ) -> Result<(), ApiError> {
        // Durably, so that a restart does not take it back.
        match self.live.contains_key(&key) {
            true if broken(Rule::FreshIsDurable) => {}
            true => store.bar_session(&key, why)?,
            false => store.end_session(&key, why, now.wall)?,
        }
        self.touched = true;
        self.residency.handle(residency::Event::Fresh(key), now.mono);
        Ok(())
    }

    /// Why a restored lease is restored, and what that costs, for people.
    pub(super) fn restored_why(&self, session: &Session, now: Now) -> String {
        let why = session.saved_why.as_deref().unwrap_or("its last process is gone");
        let cost = cost(&self.rules.cold, session, &read_told(&session.told), now);
        match cost {
            Some(cost) => format!("a new process reloaded the session: {why}; its {cost}, and are read anew"),
            None => format!("a new process reloaded the session: {why}"),
        }
    }

    /// A session could not be reloaded: it ends, visibly, and the next process begins a new one.
    pub(super) fn reload_failed(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        reason: &str,
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(live) = self.live.get_mut(key).filter(|live| live.ending.is_none() && !live.started) else {
            return Ok(());
        };
        live.lost_session = true;
        self.touched = true;
        let reason = super::agent::short(reason.lines().next().unwrap_or_default());
        store.end_session(key, &format!("its last session could not be reloaded: {reason}"), now.wall)?;
        if broken(Rule::LostSessionIsTold) {
            return Ok(());
        }
        self.lost_notice(store, key, &format!("could not be reloaded ({reason})"), now)
    }

    /// Says, once, that a session is lost: where its run's mention is, or in its channel.
    fn lost_notice(&self, store: &mut dyn Store, key: &Key, what: &str, now: Now) -> Result<(), ApiError> {
        let handle = store.binding(&key.binding)?.spec.handle;
        let text = format!(
            "@{handle} begins anew: its session {what}. It is given the newest messages here and has no other memory."
        );
        if let Some(run) = self.queue.current(key) {
            let run = store.run(run)?;
            return say(store, &run, host(), text, now).map(|_| ());
        }
        let notice = NewMessage {
            channel: key.channel.clone(),
            thread: None,
            author: host(),
            native: None,
            run: None,
            text,
            client_id: None,
        };
        store.append(&notice, now.wall)?;
        Ok(())
    }

    /// The agent tells in the first turn how full a session is that was reloaded on its word. Far less than it held is
    /// another session than it was taken for: it is not used again.
    pub(super) fn check_restored(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        used: u64,
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(live) = self.live.get_mut(key) else { return Ok(()) };
        let looks = |turn: &&mut LiveTurn| !turn.doubted && !broken(Rule::DoubtedIsLeft);
        let Some(turn) = live.turn.as_mut().filter(looks) else { return Ok(()) };
        // No use is what a process tells that has not asked a model yet.
        let Some(held) = live.on_its_word.filter(|held| used > 0 && used < held / SHRINKS_BY_MAX) else {
            return Ok(());
        };
        turn.doubted = true;
        self.touched = true;
        let why = format!("its last reload restored {used} tokens of {held}");
        store.bar_session(key, &why)?;
        let what = format!(
            "was reloaded with {used} tokens of {held}, so that this answer may lack what came before"
        );
        self.lost_notice(store, key, &what, now)
    }
}

/// What becomes of a key's session whose process is gone: it is saved if it can go on, else it ends.
pub(super) fn let_go(
    store: &mut dyn Store,
    key: &Key,
    ending: Option<EndReason>,
    why: &str,
    now: Now,
) -> Result<(), ApiError> {
    let Some(session) = store.session(key)? else { return Ok(()) };
    let binding = store.binding(&key.binding)?;
    let asked = match ending {
        Some(EndReason::Fresh | EndReason::Removed) => true,
        Some(EndReason::Idle | EndReason::Evicted | EndReason::Saved | EndReason::Shutdown) | None => false,
    };
    match cannot_go_on(&binding, &session) {
        None if asked => store.end_session(key, why, now.wall)?,
        None => store.save_session(key, why, now.wall)?,
        Some(reason) => store.end_session(key, &because(Some(why), reason), now.wall)?,
    }
    Ok(())
}

/// The process of a key went away by itself in a turn. A session to which that happens again and again may be the reason.
pub(super) fn crashed(store: &mut dyn Store, key: &Key) -> Result<(), ApiError> {
    let Some(session) = store.session(key)? else { return Ok(()) };
    let mut told = read_told(&session.told);
    let crashes = told.crashed();
    store.set_told(key, &write_told(&told))?;
    if crashes >= CRASHES_MAX && !broken(Rule::CrashingIsLeft) {
        store.bar_session(key, &format!("its process went away in {crashes} turns in a row"))?;
    }
    Ok(())
}

/// A process has reloaded a key's session. How many tokens that held, if it is the agent's word alone that it has it.
pub(super) fn take_up(
    store: &mut dyn Store,
    key: &Key,
    epoch: Epoch,
    started: &Started,
    now: Now,
) -> Result<Option<u64>, ApiError> {
    let (told, system) = match store.session(key)? {
        Some(session) => (read_told(&session.told), session.system),
        None => (Told::default(), None),
    };
    // An agent that does not take it any more gets the framing with the turn.
    let system = system.filter(|_| started.system_prompt);
    store.reload_session(key, epoch, system.as_deref(), now.wall)?;
    let mut after = told.clone();
    after.reloaded();
    store.set_told(key, &write_told(&after))?;
    Ok(match started.begun {
        Begun::Resumed => told.used,
        Begun::New | Begun::Restored => None,
    })
}

/// A new session cannot be reloaded later.
pub(super) fn bar_unreloadable(store: &mut dyn Store, key: &Key) -> Result<(), ApiError> {
    Ok(store.bar_session(key, NO_WAY_BACK)?)
}

/// Why a session without a process ends instead of being saved: the reason, blank where its policy is reason enough.
fn cannot_go_on<'a>(binding: &Binding, session: &'a Session) -> Option<&'a str> {
    if let Some(why) = &session.unreloadable {
        return Some(why);
    }
    // One that never had a turn has nothing to remember, and most agents do not keep it.
    (binding.removed_at.is_some() || !reloads(binding) || session.turn_at.is_none()).then_some("")
}

/// Whether a binding's sessions are reloaded (6.5): `resident` ones under lean, `saved` ones always.
fn reloads(binding: &Binding) -> bool {
    match (binding.spec.session, binding.spec.delivery) {
        (SessionPolicy::Saved, Policy::Base | Policy::Lean | Policy::Window) => true,
        (SessionPolicy::Resident, Policy::Lean) => true,
        (SessionPolicy::Resident, Policy::Base | Policy::Window) => broken(Rule::BaseBeginsAnew),
        (SessionPolicy::Fresh, Policy::Base | Policy::Lean | Policy::Window) => false,
    }
}

fn because(ended: Option<&str>, reason: &str) -> String {
    match ended {
        Some(ended) if reason.is_empty() || ended == reason => ended.to_owned(),
        Some(ended) => format!("{ended}, and {reason}"),
        None => reason.to_owned(),
    }
}

/// What reloading a large session costs that the provider has surely dropped from its cache; `None` where it may still
/// have it, or the session is small (6.5).
fn cost(cold: &Cold, session: &Session, told: &Told, now: Now) -> Option<String> {
    let used = told.used.filter(|used| *used > cold.tokens)?;
    let idle_ms = u64::try_from(now.wall.ms.saturating_sub(session.turn_at?.ms)).unwrap_or(0);
    (idle_ms > cold.cache_ms).then(|| {
        format!(
            "{used} tokens had surely left the provider's cache after {} min without a turn",
            idle_ms / 60_000
        )
    })
}

/// How the history of a session ends, where its newest turn was answered.
fn history_end(store: &dyn Store, session: &Session) -> Result<Option<HistoryEnd>, ApiError> {
    let Some(run) = store.newest_run(&session.native)? else { return Ok(None) };
    let run = store.run(&run)?;
    if run.status != RunStatus::Succeeded || store.channel_by_id(&run.key.channel)?.direct.is_some() {
        return Ok(None);
    }
    let said = store.messages_of_run(&run.id)?.into_iter().rev();
    let mut own =
        said.filter(|message| is_of(&message.row.author.kind, message.row.native.as_ref(), session));
    let reply = own.next().map(|message| end_of(&message.row.text)).filter(|reply| !reply.trim().is_empty());
    Ok(reply.map(|reply| HistoryEnd { prompt: format!("\"run_id\":\"{}\"", run.id), reply }))
}

fn is_of(kind: &AuthorKind, native: Option<&NativeId>, session: &Session) -> bool {
    *kind == AuthorKind::Agent && native == Some(&session.native)
}

fn end_of(text: &str) -> String {
    let from = text.char_indices().rev().nth(REPLY_CHARS - 1).map_or(0, |(at, _)| at);
    text[from..].to_owned()
}
