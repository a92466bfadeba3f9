//! One agent of a channel while it is played: what each of its turns sends, and what comes of it.

use std::collections::{BTreeMap, BTreeSet};

use cost::cache::{self, Cache, Request};
use delivery::AuthorKind;
use delivery::channel_delivery::{Rendered, render};
use delivery::model::{BindingId, NativeId, Policy, RunId, SessionPolicy};
use delivery::payload::{ChannelAgent, Payload};
use delivery::prose;
use delivery::turn::{Conversation, Lease, Mention, Telling, plan, user_turn};
use delivery::watermark::Watermark;

use super::session::{Place, Seen, Session};
use super::turn::{Block, Kind};
use super::{Player, Sums, Turn};
use crate::bill;
use crate::channel::{Channel, Index, Reply};
use crate::strategy::{Framing, Strategy};
use crate::texts::status;

/// Agents that one message addresses at most; the server's default.
pub(crate) const MAX_RECIPIENTS: u32 = 3;

/// An agent of the channel.
pub(super) struct Resident {
    agent: usize,
    pub(super) strategy: Strategy,
    binding: BindingId,
    agents: Vec<ChannelAgent>,
    session: Option<Session>,
    sessions: u32,
    /// Turns so far, in all sessions.
    turns: usize,
    pub(super) places: BTreeMap<Option<Index>, Place>,
    /// Messages that were lines of any session.
    seen: Seen,
    ideal: Cache,
    /// Its own messages in the channel, with the session that wrote each.
    pub(super) posted: BTreeMap<Index, NativeId>,
}

/// What is sent to the agent, and what comes of it.
struct Sent {
    blocks: Vec<Block>,
    shown: Vec<Index>,
    omitted: u64,
    watermark: Option<Watermark>,
    telling: Telling,
}

impl Resident {
    pub(super) fn new(channel: &Channel, strategy: Strategy, agent: usize) -> Self {
        let played = channel.agents().iter().map(String::as_str);
        // The other agents that write here are members too, and listed in the payload.
        let others = channel.authors().iter().filter(|author| author.kind == AuthorKind::Agent);
        let others = others.map(|author| author.name.strip_prefix('@').unwrap_or(&author.name));
        let handles: BTreeSet<&str> = played.chain(others).collect();
        let handle = channel.agents().get(agent).map_or("", String::as_str);
        let listed = |handle: &str| ChannelAgent { handle: handle.to_owned(), reachable: true };
        Self {
            agent,
            strategy,
            binding: BindingId(format!("b-{handle}")),
            agents: handles.into_iter().map(listed).collect(),
            session: None,
            sessions: 0,
            turns: 0,
            places: BTreeMap::new(),
            seen: Seen::of(channel.len()),
            ideal: Cache::new(cache::Model::Ideal),
            posted: BTreeMap::new(),
        }
    }

    /// Gives it the mention of this number, counted from 0.
    pub(super) fn turn<'c>(
        &mut self,
        channel: &'c Channel,
        number: usize,
        player: &mut Player<'_>,
        sums: &mut Sums,
    ) -> Option<Turn<'c>> {
        let mention = *channel.mentions().get(number)?;
        let (mut session, lease) = self.session(number, player, sums);
        let mut sent = self.send(channel, number, &session, lease, player)?;
        let unshown = self.advance(channel, mention.message, lease, &mut sent)?;
        let front = player.front(self.strategy, self.turns);
        let prefix = match lease {
            Lease::Warm if front.is_none() => Vec::new(),
            Lease::Warm | Lease::Cold | Lease::Restored => player.prefix(self.strategy),
        };
        let reply = player.reply(channel, number);

        // What stands in front of the conversation changes with the session, and with a status every turn.
        if !prefix.is_empty() {
            let head = front.iter().chain(&prefix).map(|block| block.cached(player.counter));
            session.prompt.set_head(head.collect::<Vec<_>>());
        }
        session.prompt.push(Block::cached_as_one(&sent.blocks));
        let request = Request {
            scope: bill::scope(),
            session: session.id,
            prompt: &session.prompt,
            marks: &[],
            automatic: None,
            started_ms: channel.elapsed_ms(mention.message),
        };
        let tokens = session.prompt.tokens();
        let cacheable = self.ideal.answer(&request).map_or(0, |outcome| outcome.read_tokens);
        if let Some(till) = &mut sums.till {
            till.take(&request, self.strategy.head_blocks(), reply.tokens);
        }
        sums.figures.add_request(tokens, cacheable, lease);
        sums.figures.add_lines(&sent.blocks, &sent.shown, |index| {
            (self.seen.note(index), session.addressed.contains(&index))
        });
        // Only a delta claims to bring what is new; a snapshot's header says that there is more.
        let claims_all = lease == Lease::Warm && self.strategy.policy() == Policy::Base;
        sums.figures.add_unshown(unshown, claims_all);

        session.prompt.push(Block::cached_as_one(std::slice::from_ref(&reply)));
        session.told.committed(sent.telling, reply.text.len() as u64);
        session.told.used(session.prompt.tokens());
        session.addressed.insert(mention.message);
        let given = sent.shown.iter().chain([&mention.message]);
        session.roots.extend(given.copied().filter(|index| channel.is_root(*index)));
        if let Reply::Posted(index) = mention.reply {
            self.posted.insert(index, session.native.clone());
        }
        self.turns += 1;
        self.session = Some(session);
        let mut blocks = if lease == Lease::Cold { prefix } else { Vec::new() };
        blocks.extend(sent.blocks);
        let agent = channel.agents().get(self.agent).map_or("", String::as_str);
        let (strategy, number, turn, message) = (self.strategy, number + 1, self.turns, mention.message);
        Some(Turn { strategy, number, turn, agent, message, lease, front, blocks, reply, tokens, cacheable })
    }

    /// The session that answers, which goes on or begins.
    fn session(&mut self, number: usize, player: &Player<'_>, sums: &mut Sums) -> (Session, Lease) {
        let ends_before = match self.strategy.session() {
            SessionPolicy::Fresh => true,
            SessionPolicy::Resident | SessionPolicy::Saved => player.rules.evict == Some(number + 1),
        };
        match self.session.take() {
            Some(session) if !ends_before => return (session, Lease::Warm),
            Some(session) => {
                self.ideal.forget(session.id);
                if let Some(till) = &mut sums.till {
                    till.forget(session.id);
                }
            }
            None => {}
        }
        self.sessions += 1;
        (Session::new(self.agent, self.sessions), Lease::Cold)
    }

    /// Commits the watermark, and tells how many messages since the last turn in this place are left out.
    fn advance(&mut self, channel: &Channel, message: Index, lease: Lease, sent: &mut Sent) -> Option<u64> {
        let thread = channel.thread(message);
        let at = channel.place(thread).binary_search(&message).ok()?;
        let place = self.places.entry(thread).or_default();
        let stood = std::mem::replace(&mut place.stood, at + 1);
        place.watermark = sent.watermark.take();
        Some(match (self.strategy.policy(), lease) {
            (Policy::Lean, Lease::Warm) => sent.omitted,
            (Policy::Lean, Lease::Cold | Lease::Restored) | (Policy::Base | Policy::Window, _) => {
                left_out(channel.place(thread), stood, at, &sent.shown)
            }
        })
    }

    /// What the server sends at this mention: the same calls in the same order as its engine.
    fn send(
        &mut self,
        channel: &Channel,
        number: usize,
        session: &Session,
        lease: Lease,
        player: &mut Player<'_>,
    ) -> Option<Sent> {
        let mention = channel.mentions().get(number)?;
        let policy = self.strategy.policy();
        let rendered = render(&self.case(channel, mention.message, session, player.rules.limits)?);
        let payload = self.payload(channel, number, mention.message)?;
        let in_system = self.strategy.framing() == Framing::InSystem;
        let turn = user_turn(&Mention {
            policy,
            payload: &payload,
            told: &session.told,
            brief_in_system: in_system,
            block: rendered.block.as_deref(),
        });
        let framing = (!in_system).then_some(prose::FRAMING);
        let said = Conversation::Mention(turn.text.clone());
        let text = plan(lease, framing, &said, policy);
        let shown: Vec<Index> = rendered.shown.iter().filter_map(Channel::index).collect();
        let mut blocks = Vec::with_capacity(shown.len() + 5);
        if text.len() > turn.text.len() {
            blocks.push(Block::constant(Kind::Framing, &player.texts.framing));
        }
        blocks.extend(player.blocks_of(channel, number, &turn.text, &rendered, &shown));
        let Rendered { omitted, watermark, .. } = rendered;
        Some(Sent { blocks, shown, omitted, watermark, telling: turn.telling })
    }

    fn payload(&self, channel: &Channel, number: usize, message: Index) -> Option<Payload> {
        Some(Payload {
            channel_id: channel.id(),
            message_id: Channel::message_id(message),
            run_id: RunId(format!("r{}", number + 1)),
            binding_id: self.binding.clone(),
            runtime: "cli:claude:agent".to_owned(),
            supervised: true,
            resident: match self.strategy.session() {
                SessionPolicy::Resident => true,
                SessionPolicy::Saved | SessionPolicy::Fresh => false,
            },
            thread_root_id: channel.thread(message).map(Channel::message_id),
            channel_agents: self.agents.clone(),
            max_recipients: MAX_RECIPIENTS,
            worktree: None,
            author: channel.author(message)?.clone(),
            text: channel.text(message).to_owned(),
        })
    }
}

impl Player<'_> {
    /// What a session has in front of its first user turn.
    fn prefix(&self, strategy: Strategy) -> Vec<Block> {
        let system = Block::constant(Kind::System, &self.texts.system);
        match strategy.framing() {
            Framing::InTurn => vec![system],
            Framing::InSystem => vec![
                system,
                Block::constant(Kind::Framing, &self.texts.framing),
                Block::constant(Kind::Brief, &self.texts.brief),
            ],
        }
    }

    /// What stands in front of even that, at the turn of this number.
    fn front(&self, strategy: Strategy, turn: usize) -> Option<Block> {
        let text = strategy.has_status().then(|| status(turn))?;
        Some(Block::new(Kind::Status, &text, self.counter.count(&text)))
    }
}

/// How many messages that came since the agent's last turn in this place, that turn's own message included, are no
/// lines. Of a first turn there are none.
fn left_out(place: &[Index], stood: usize, at: usize, shown: &[Index]) -> u64 {
    let Some(from) = stood.checked_sub(1) else { return 0 };
    let Some(first) = place.get(from) else { return 0 };
    let told = shown.iter().filter(|index| *index >= first).count();
    (at - from).saturating_sub(told) as u64
}
