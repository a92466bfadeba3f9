//! What a world begins with: its people, channels and agents, and the settings of its server.

use delivery::Policy;
use delivery::model::{ChannelId, SessionPolicy, WhenCold};
use storage::{AddressedBy, NewBinding, OwnLimits, PermissionRules, Role};

use crate::dice::Dice;

/// Milliseconds of a minute.
pub(crate) const MINUTE: u64 = 60_000;
/// Milliseconds after which an idle process ends, as by default.
pub(crate) const IDLE_MS: u64 = 30 * MINUTE;
/// Tokens and milliseconds past which a session is large, and has surely left a provider's cache.
pub(crate) const COLD_TOKENS: u64 = 3_000;
pub(crate) const COLD_MS: i64 = 60 * 60_000;
/// Milliseconds that a permission card waits, and what is inside an agent's own folder.
pub(crate) const CARD_MS: u64 = 4 * MINUTE;
pub(crate) const INSIDE: &str = "/inside/";
/// Who writes.
pub(crate) const PEOPLE: [(&str, Role); 3] =
    [("aiko", Role::Owner), ("ben", Role::Member), ("gus", Role::Guest)];
/// Who may be asked.
pub(crate) const HANDLES: [&str; 4] = ["claude", "codex", "kimi", "zed"];

/// What a world is full of. What is rare in all worlds is never seen together with what else is rare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// A little of everything.
    Mixed,
    /// Few agents whose sessions live long, while people post, edit and delete.
    Calm,
    /// Agents that ask each other.
    Talk,
    /// More agents than places for processes.
    Crowded,
    /// Everything dies.
    Rough,
    /// Few agents with much to do, whose providers fail and whom people stop.
    Strained,
}

/// What a seed gives.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// What is frequent.
    pub(crate) mood: Mood,
    /// Processes at once.
    pub(crate) pool: usize,
    /// Agents that one message may address.
    pub(crate) recipients_max: u32,
    /// Channels in the order in which they are made.
    pub(crate) channels: Vec<Place>,
}

/// A channel.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Name.
    pub(crate) name: String,
    /// The agent, for a direct conversation.
    pub(crate) direct: Option<String>,
    /// Its agents. The channel's id is put in when it is known.
    pub(crate) agents: Vec<NewBinding>,
}

impl Setup {
    /// Draws a setup.
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let mood = dice.weighed(&[
            (4, Mood::Mixed),
            (3, Mood::Calm),
            (2, Mood::Talk),
            (2, Mood::Crowded),
            (2, Mood::Rough),
            (3, Mood::Strained),
        ]);
        let (rooms, agents_min, agents_max, pool) = match mood {
            Mood::Mixed | Mood::Rough => (1 + dice.below(3), 1, HANDLES.len(), 1 + dice.index(4)),
            Mood::Calm | Mood::Strained => (1, 1, 2, 2),
            Mood::Talk => (1, 3, HANDLES.len(), 4),
            Mood::Crowded => (3, 2, HANDLES.len(), 1 + dice.index(2)),
        };
        let mut channels: Vec<Place> = (0..rooms)
            .map(|n| {
                let agents = agents_min + dice.index(agents_max - agents_min + 1);
                let agents = HANDLES.iter().take(agents).map(|handle| binding(dice, handle)).collect();
                Place { name: format!("room-{n}"), direct: None, agents }
            })
            .collect();
        if dice.percent(35) {
            let agents = vec![binding(dice, "claude")];
            channels.push(Place { name: "talk".to_owned(), direct: Some("claude".to_owned()), agents });
        }
        let recipients_max = 1 + u32::try_from(dice.below(3)).unwrap_or(0);
        Self { mood, pool, recipients_max, channels }
    }
}

/// A binding as somebody may make it.
pub(crate) fn binding(dice: &mut Dice, handle: &str) -> NewBinding {
    let instructions = dice.percent(20).then(|| format!("You are {handle}.\nBe brief."));
    NewBinding {
        channel: ChannelId(String::new()),
        handle: handle.to_owned(),
        preset: "custom".to_owned(),
        profile: storage::Profile::Own,
        command: vec!["agent".to_owned()],
        delivery: dice.weighed(&[(6, Policy::Lean), (2, Policy::Base), (1, Policy::Window)]),
        session: dice.weighed(&[
            (6, SessionPolicy::Resident),
            (2, SessionPolicy::Saved),
            (1, SessionPolicy::Fresh),
        ]),
        when_cold: dice.weighed(&[(3, WhenCold::Reload), (1, WhenCold::Fresh)]),
        supervised: dice.percent(80),
        env: Vec::new(),
        model: None,
        cwd: None,
        permissions: PermissionRules::default(),
        limits: limits(dice),
        instructions,
        addressed_by: dice.weighed(&[
            (6, AddressedBy::Members),
            (3, AddressedBy::Everyone),
            (1, AddressedBy::Owners),
        ]),
    }
}

/// Limits of an agent's own, now and then.
pub(crate) fn limits(dice: &mut Dice) -> OwnLimits {
    OwnLimits {
        inactivity_ms: dice.percent(20).then_some(3 * MINUTE),
        turn_ms: dice.percent(20).then_some(15 * MINUTE),
        memory_bytes: None,
    }
}
