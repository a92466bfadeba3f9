//! Starting a process and staging a turn: what is sent is decided by `delivery` and stored before it is sent.

use delivery::channel_delivery::{Case, Rendered, render};
use delivery::faults::{Rule, broken};
use delivery::model::{AuthorKind, Epoch, Key, MessageId, Policy, SessionPolicy};
use delivery::payload::{ChannelAgent, Payload};
use delivery::residency::{self, State};
use delivery::turn::{Conversation, Lease, Mention, Said, Speaker, Telling, Told, UserTurn, plan, user_turn};
use delivery::watermark::watermark_for;
use delivery::{Row, prose};
use storage::{Binding, DeliveryQuery, Message, Run, Session, Staged, Store};

use super::parts::{self, Parts};
use super::run::read_told;
use super::steer::Steering;
use super::tool::Fetched;
use super::{Command, Engine, Live, LiveTurn, Now};
use crate::error::ApiError;

/// Messages of a direct conversation that a lean replay looks at: far more than its 50,000 tokens hold.
const REPLAY_MESSAGES_MAX: usize = 10_000;

/// A turn, ready to be staged.
struct Built {
    sent: String,
    rendered: Option<Rendered>,
    shown: Vec<(MessageId, u32)>,
    parts: Parts,
    telling: Option<Telling>,
    framing: Option<String>,
}

impl Engine {
    pub(super) fn start(
        &mut self,
        store: &mut dyn Store,
        key: Key,
        epoch: Epoch,
        now: Now,
    ) -> Result<(), ApiError> {
        let binding = store.binding(&key.binding)?;
        store.raise_epoch(&key, epoch, now.wall)?;
        let workplace = Self::workplace(store, &binding, now)?.map(Box::new);
        let (system_prompt, reload) = match self.to_reload(store, &binding, &key, now)? {
            Some(saved) => (saved.system, Some(saved.reload)),
            None => (self.system_prompt(&binding), None),
        };
        let live = Live {
            epoch,
            started: false,
            steering: false,
            turn: None,
            ending: None,
            lost_session: false,
            on_its_word: None,
        };
        self.live.insert(key.clone(), live);
        let binding = Box::new(binding);
        self.out.push_back(Command::Start { key, epoch, binding, system_prompt, reload, workplace });
        Ok(())
    }

    /// What stands in a true system prompt, where the policy puts it there (3.4 is beyond base).
    pub(super) fn system_prompt(&self, binding: &Binding) -> Option<String> {
        match binding.spec.delivery {
            Policy::Lean => Some(prose::system_prompt(binding.spec.instructions.as_deref())),
            Policy::Base | Policy::Window => None,
        }
    }

    /// A key has its turn: builds it, stages it, and sends it once that is durable.
    pub(super) fn grant(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        epoch: Epoch,
        lease: Lease,
        now: Now,
    ) -> Result<(), ApiError> {
        let run = self.queue.current(key).cloned();
        let session = store.session(key)?.filter(|session| session.epoch == epoch);
        let (Some(run), Some(session)) = (run, session) else {
            let over = residency::Event::TurnEnded { key: key.clone(), epoch, after: residency::After::Keep };
            self.residency.handle(over, now.mono);
            return Ok(());
        };
        let run = store.run(&run)?;
        let binding = store.binding(&key.binding)?;
        let channel = store.channel_by_id(&key.channel)?;
        let message = store.message(&run.message)?;
        let built = match channel.direct {
            Some(_) => direct_turn(store, &binding, &session, &message, lease, &self.pending(key))?,
            None => self.mention_turn(store, &binding, &session, &run, &message, lease)?,
        };
        let (before, after) = match built.rendered {
            Some(rendered) => {
                let mark = store.watermark(&binding.id, &key.channel, run.thread.as_ref())?;
                (mark, (rendered.omitted, rendered.watermark))
            }
            None => (None, (0, None)),
        };
        let compactions = read_told(&session.told).compactions;
        let why = match lease {
            Lease::Restored => self.restored_why(&session, now),
            Lease::Cold | Lease::Warm => why(store, &binding, key, lease)?,
        };
        let staged = Staged {
            native: session.native,
            epoch,
            lease,
            why,
            sent: built.sent.clone(),
            system: session.system,
            shown: built.shown,
            omitted: after.0,
            watermark_before: before,
            watermark_after: after.1,
            parts: built.parts,
        };
        store.stage(&run.id, &staged, now.wall)?;
        let turn = LiveTurn {
            run: run.id.clone(),
            written: false,
            lease,
            telling: built.telling,
            framing: built.framing.map(|framing| (framing, compactions)),
            compactions,
            doubted: false,
            answer_bytes: 0,
            declined: None,
            cancelling: false,
            stopped: false,
            refusals: 0,
            cards: 0,
            acted: false,
            fault: None,
            events: 0,
            posts: 0,
            fetched: Fetched::of_turn(run.thread, staged.watermark_after),
            steering: Steering::default(),
            told: None,
            spent: None,
        };
        if let Some(live) = self.live.get_mut(key) {
            live.turn = Some(turn);
        }
        self.residency.handle(residency::Event::Prompted { key: key.clone(), epoch }, now.mono);
        self.out.push_back(Command::Prompt { key: key.clone(), epoch, run: run.id, text: built.sent });
        Ok(())
    }

    fn mention_turn(
        &self,
        store: &mut dyn Store,
        binding: &Binding,
        session: &Session,
        run: &Run,
        message: &Message,
        lease: Lease,
    ) -> Result<Built, ApiError> {
        let policy = binding.spec.delivery;
        let pending = self.pending(&run.key);
        let stored = store.watermark(&binding.id, &run.key.channel, run.thread.as_ref())?;
        let keeps_session = keeps_session(binding);
        let mark = match policy {
            Policy::Base | Policy::Lean if keeps_session => watermark_for(stored.as_ref(), &session.native),
            Policy::Base | Policy::Lean | Policy::Window => None,
        };
        let rows = store.delivery_rows(&DeliveryQuery {
            policy,
            channel: &run.key.channel,
            thread: run.thread.as_ref(),
            native: &session.native,
            watermark: mark,
            addressed: &run.message,
            pending: &pending,
            newest: self.rules.limits.rows.max(self.rules.limits.lines),
        })?;
        let root_given = match &run.thread {
            Some(root) => store.given(&session.native, root)?,
            None => false,
        };
        let revisions: Vec<(MessageId, u32)> =
            rows.rows.iter().map(|row| row.id.clone()).zip(rows.revisions).collect();
        let case = Case {
            policy,
            rows: rows.rows,
            earlier: rows.earlier,
            addressed: run.message.clone(),
            native: session.native.clone(),
            watermark: stored,
            keeps_session,
            pending,
            in_thread: run.thread.is_some(),
            root_given,
            limits: self.rules.limits,
        };
        let rendered = render(&case);
        let payload = self.payload(store, binding, run, message)?;
        let told = read_told(&session.told);
        let turn = mention_text(policy, &payload, &told, session, rendered.block.as_deref());
        let framing = framing(binding, session, lease);
        let sent = plan(lease, framing.as_deref(), &Conversation::Mention(turn.text.clone()), policy);
        let framing = framing.filter(|framing| sent.starts_with(framing.as_str()));
        let parts = parts::of_mention(&sent, &turn.text, rendered.block.as_deref(), &rendered, &run.message);
        let shown = revised(&rendered.shown, &revisions);
        Ok(Built { sent, rendered: Some(rendered), shown, parts, telling: Some(turn.telling), framing })
    }

    fn pending(&self, key: &Key) -> Vec<MessageId> {
        let waiting = self.queue.waiting(key);
        waiting.iter().filter_map(|run| self.open.get(run)).map(|(_, message)| message.clone()).collect()
    }

    fn payload(
        &self,
        store: &dyn Store,
        binding: &Binding,
        run: &Run,
        message: &Message,
    ) -> Result<Payload, ApiError> {
        let agents = store.bindings(Some(&run.key.channel))?;
        let channel_agents = agents.iter().map(|agent| ChannelAgent {
            handle: agent.spec.handle.clone(),
            reachable: self.is_reachable(agent),
        });
        Ok(Payload {
            channel_id: run.key.channel.clone(),
            message_id: run.message.clone(),
            run_id: run.id.clone(),
            binding_id: binding.id.clone(),
            runtime: format!("cli:{}:agent", binding.spec.preset),
            supervised: binding.spec.supervised,
            resident: match binding.spec.session {
                SessionPolicy::Resident => true,
                SessionPolicy::Saved | SessionPolicy::Fresh => false,
            },
            thread_root_id: run.thread.clone(),
            channel_agents: channel_agents.collect(),
            max_recipients: self.rules.max_recipients,
            worktree: Self::worktree_path(store, binding)?,
            author: message.row.author.clone(),
            text: message.row.text.clone(),
        })
    }

    /// Whether an agent's process lives, or its command can be started.
    pub(super) fn is_reachable(&self, binding: &Binding) -> bool {
        match self.residency.state(&super::request::key_of(binding)) {
            State::Idle | State::Busy => true,
            State::Absent | State::WaitingForPlace | State::Starting | State::Ending => {
                (self.rules.reachable)(binding)
            }
        }
    }
}

/// Why the lease is what it is, for people.
fn why(store: &dyn Store, binding: &Binding, key: &Key, lease: Lease) -> Result<String, ApiError> {
    let end = match (lease, binding.spec.session) {
        (Lease::Warm | Lease::Restored, _) => {
            return Ok("its process has had a turn of this session".to_owned());
        }
        (Lease::Cold, SessionPolicy::Fresh) => {
            Some("its session policy is fresh: a new one every run".to_owned())
        }
        (Lease::Cold, SessionPolicy::Resident | SessionPolicy::Saved) => store.last_end(key)?,
    };
    Ok(end.unwrap_or_else(|| "this is its first session in the channel".to_owned()))
}

/// 5.3: base keeps one when supervised and resident, or saved; lean when resident or saved.
pub(super) fn keeps_session(binding: &Binding) -> bool {
    match (binding.spec.session, binding.spec.delivery) {
        _ if broken(Rule::NoSessionNoMark) => true,
        (SessionPolicy::Saved, _) => true,
        (SessionPolicy::Resident, Policy::Base) => binding.spec.supervised,
        (SessionPolicy::Resident, Policy::Lean | Policy::Window) => true,
        (SessionPolicy::Fresh, _) => false,
    }
}

/// The framing, where it is to come with the turn: not where it is the system prompt, nor, under lean, where the history
/// that was restored holds it (3.4).
fn framing(binding: &Binding, session: &Session, lease: Lease) -> Option<String> {
    if session.system.is_some() {
        return None;
    }
    let framing = prose::framing(binding.spec.instructions.as_deref());
    let is_held = match (lease, binding.spec.delivery) {
        (Lease::Restored, Policy::Lean) => read_told(&session.told).holds(&framing),
        (Lease::Restored, Policy::Base | Policy::Window) | (Lease::Cold | Lease::Warm, _) => false,
    };
    (!is_held).then_some(framing)
}

fn mention_text(
    policy: Policy,
    payload: &Payload,
    told: &Told,
    session: &Session,
    block: Option<&str>,
) -> UserTurn {
    user_turn(&Mention { policy, payload, told, brief_in_system: session.system.is_some(), block })
}

fn revised(shown: &[MessageId], revisions: &[(MessageId, u32)]) -> Vec<(MessageId, u32)> {
    let revision = |id: &MessageId| revisions.iter().find(|(at, _)| at == id).map_or(1, |(_, n)| *n);
    shown.iter().map(|id| (id.clone(), revision(id))).collect()
}

/// A turn of a direct conversation: the whole of it when cold, the newest message alone otherwise (3.3). Messages
/// that wait for turns of their own are not said yet; the addressed one comes last.
fn direct_turn(
    store: &dyn Store,
    binding: &Binding,
    session: &Session,
    message: &Message,
    lease: Lease,
    pending: &[MessageId],
) -> Result<Built, ApiError> {
    let policy = binding.spec.delivery;
    let limit = match policy {
        Policy::Lean => REPLAY_MESSAGES_MAX,
        Policy::Base | Policy::Window => usize::MAX,
    };
    let mut said = Vec::new();
    if lease == Lease::Cold || broken(Rule::OldTurnsOnce) {
        let stands = store.history(&message.channel, message.thread.as_ref(), None, limit)?;
        let waits = |id: &MessageId| pending.contains(id) && !broken(Rule::QueuedIsNoContext);
        let later = |id: &MessageId| *id == message.row.id || waits(id);
        said.extend(stands.into_iter().filter(|other| !later(&other.row.id)));
    }
    said.push(message.clone());
    let conversation = Conversation::Direct(said.iter().map(|message| spoken(&message.row)).collect());
    let framing = framing(binding, session, lease);
    let sent = plan(lease, framing.as_deref(), &conversation, policy);
    let framing = framing.filter(|framing| sent.starts_with(framing.as_str()));
    let rows: Vec<&Row> = said.iter().map(|message| &message.row).collect();
    let parts = parts::of_direct(&sent, &rows);
    let shown = parts.iter().filter(|(id, _)| *id != message.row.id);
    let shown = shown.map(|(id, _)| (id.clone(), revision_of(&said, id))).collect();
    Ok(Built { sent, rendered: None, shown, parts, telling: None, framing })
}

fn revision_of(said: &[Message], id: &MessageId) -> u32 {
    said.iter().find(|message| message.row.id == *id).map_or(1, |message| message.revision)
}

fn spoken(row: &Row) -> Said {
    let speaker = match row.author.kind {
        AuthorKind::User => Speaker::User,
        AuthorKind::Agent => Speaker::Assistant,
        AuthorKind::System => Speaker::System,
    };
    Said { speaker, text: row.text.clone() }
}
