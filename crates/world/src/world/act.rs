//! What happens in a world: a list that a seed gives, each entry with its own numbers, so that dropping one leaves the
//! others as they are.

use delivery::model::{ChannelId, MessageId, NativeId};
use server::engine::{Input, Request};

use super::World;
use super::agent::{Around, Id};
use super::commit::Fate;
use crate::breach::Checked;
use crate::dice::Dice;
use crate::setup::{CARD_MS, IDLE_MS, MINUTE, Mood};

/// How many things happen in one world.
const ACTS: u64 = 110;

/// Something that happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act {
    what: What,
    /// What is left open is drawn from this.
    seed: u64,
    /// Whether what happens next shares its transaction.
    joined: Joined,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joined {
    Alone,
    WithNext,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Post,
    Mention,
    PostAgain,
    Edit,
    Delete,
    Cancel,
    Retry,
    Answer,
    Fresh,
    Resume,
    Limit,
    Pause,
    Unpause,
    Remove,
    Add,
    Flood,
    Agent,
    Late,
    Pass,
    Doze,
    Sleep,
    Jump,
    Missing,
    Kill,
    Full,
    Stop,
}

/// The acts of a world.
pub(crate) fn draw(dice: &mut Dice, mood: Mood) -> Vec<Act> {
    let weights = weights(mood);
    let count = ACTS / 2 + dice.below(ACTS);
    (0..count)
        .map(|_| {
            let joined = if dice.percent(15) { Joined::WithNext } else { Joined::Alone };
            Act { what: dice.weighed(&weights), seed: dice.next(), joined }
        })
        .collect()
}

/// How often what happens, of a thousand or so.
fn weights(mood: Mood) -> Vec<(u64, What)> {
    // In the order of `Mood`: mixed, calm, talk, crowded, rough, strained.
    let all: [(What, [u64; 6]); 26] = [
        (What::Post, [80, 90, 20, 40, 60, 30]),
        (What::Mention, [110, 110, 60, 150, 120, 170]),
        (What::PostAgain, [20, 5, 3, 5, 30, 3]),
        (What::Edit, [45, 80, 5, 20, 30, 10]),
        (What::Delete, [30, 60, 5, 15, 25, 15]),
        (What::Cancel, [22, 15, 5, 15, 25, 50]),
        (What::Retry, [22, 15, 5, 10, 30, 25]),
        (What::Answer, [25, 25, 15, 20, 20, 15]),
        (What::Fresh, [12, 3, 1, 10, 15, 4]),
        (What::Resume, [12, 5, 2, 12, 20, 25]),
        (What::Limit, [4, 2, 1, 3, 4, 6]),
        (What::Pause, [4, 1, 1, 3, 4, 14]),
        (What::Unpause, [12, 12, 12, 12, 12, 30]),
        (What::Remove, [4, 1, 1, 4, 6, 2]),
        (What::Add, [8, 2, 2, 8, 10, 6]),
        (What::Flood, [10, 22, 2, 3, 5, 2]),
        (What::Agent, [480, 480, 700, 560, 440, 520]),
        (What::Late, [15, 3, 2, 10, 40, 8]),
        (What::Pass, [60, 40, 20, 60, 50, 60]),
        (What::Doze, [9, 2, 1, 10, 10, 2]),
        (What::Sleep, [6, 3, 2, 6, 8, 3]),
        (What::Jump, [10, 8, 2, 4, 15, 8]),
        (What::Missing, [6, 4, 4, 6, 6, 8]),
        (What::Kill, [20, 2, 2, 3, 60, 16]),
        (What::Full, [10, 3, 2, 3, 30, 10]),
        (What::Stop, [5, 1, 1, 4, 10, 10]),
    ];
    let column = match mood {
        Mood::Mixed => 0,
        Mood::Calm => 1,
        Mood::Talk => 2,
        Mood::Crowded => 3,
        Mood::Rough => 4,
        Mood::Strained => 5,
    };
    all.iter().map(|(what, weights)| (weights[column], *what)).collect()
}

impl World {
    /// Lets something happen.
    pub(crate) fn play(&mut self, act: Act) -> Checked {
        let mut dice = Dice::new(act.seed);
        match act.what {
            What::Kill => {
                self.something(&mut dice)?;
                let fate = match dice.percent(50) {
                    true => Fate::KilledBefore,
                    false => Fate::KilledAfter(dice.index(4)),
                };
                self.note(|| format!("killed: {fate:?}"));
                self.tally.count("kills");
                self.flush(fate)
            }
            What::Full => {
                self.something(&mut dice)?;
                self.note(|| "the disk is full".to_owned());
                self.tally.count("full disks");
                self.flush(Fate::DiskFull)
            }
            What::Stop => {
                self.flush(Fate::Committed)?;
                self.stop(&mut dice)
            }
            What::Pass => {
                self.flush(Fate::Committed)?;
                let nobody_answers = self.model.waiting_cards().next().is_some() && dice.percent(30);
                let ms = match dice.percent(80) {
                    _ if nobody_answers => CARD_MS + dice.below(MINUTE),
                    true => dice.below(MINUTE / 2),
                    false => dice.below(12 * MINUTE),
                };
                self.pass(ms)
            }
            What::Doze => {
                self.flush(Fate::Committed)?;
                self.pass(dice.below(2 * IDLE_MS))
            }
            What::Post
            | What::Mention
            | What::PostAgain
            | What::Edit
            | What::Delete
            | What::Cancel
            | What::Retry
            | What::Answer
            | What::Fresh
            | What::Resume
            | What::Limit
            | What::Pause
            | What::Unpause
            | What::Remove
            | What::Add
            | What::Flood
            | What::Agent
            | What::Late
            | What::Sleep
            | What::Jump
            | What::Missing => {
                self.begin(act.what, &mut dice)?;
                match act.joined {
                    Joined::WithNext => Ok(()),
                    Joined::Alone => self.flush(Fate::Committed),
                }
            }
        }
    }

    /// Something for a transaction that will not go well.
    fn something(&mut self, dice: &mut Dice) -> Checked {
        let what =
            dice.weighed(&[(3, What::Mention), (1, What::Post), (8, What::Agent), (1, What::PostAgain)]);
        self.begin(what, dice)
    }

    /// Puts the inputs of something into the next transaction.
    fn begin(&mut self, what: What, dice: &mut Dice) -> Checked {
        match what {
            What::Post => self.post(dice, super::people::Address::Nobody),
            What::Mention => self.post(dice, super::people::Address::Agents),
            What::PostAgain => self.post_again(dice),
            What::Edit => self.edit(dice),
            What::Delete => self.delete(dice),
            What::Cancel => self.cancel(dice),
            What::Retry => self.retry(dice),
            What::Answer => self.answer(dice),
            What::Fresh => self.fresh(dice),
            What::Resume => self.resume(dice),
            What::Limit => self.limit(dice),
            What::Pause => self.pause(dice),
            What::Unpause => self.unpause(dice),
            What::Remove => self.remove(dice),
            What::Add => self.add(dice),
            What::Flood => {
                let count = 10 + dice.below(40);
                let seed = dice.next();
                (0..count).for_each(|_| self.flood(dice, seed));
            }
            What::Agent => return self.agent(dice),
            What::Late => self.late(dice),
            What::Sleep => {
                // The wall clock goes on, the other one does not.
                self.ahead = self.ahead.saturating_add(dice.below(5 * IDLE_MS).cast_signed());
                self.tally.count("sleeps");
                self.note(|| "the computer was asleep".to_owned());
                self.batch.push(Input::Woke);
            }
            What::Jump => {
                let days = i64::try_from(dice.below(40)).unwrap_or(0) - 20;
                self.ahead = self.ahead.saturating_add(days * 3_600_000);
                self.tally.count("clock jumps");
                self.note(|| format!("the wall clock jumps by {days} hours"));
            }
            What::Missing => self.reach(dice),
            What::Pass | What::Doze | What::Kill | What::Full | What::Stop => {}
        }
        Ok(())
    }

    /// Time passes; what waits too long is given up, in order.
    pub(super) fn pass(&mut self, ms: u64) -> Checked {
        self.mono += ms;
        self.note(|| format!("{ms} ms pass"));
        let at = self.mono;
        let inputs: Vec<Input> = self.agents.values_mut().flat_map(|agent| agent.time_out(at)).collect();
        self.batch.extend(inputs);
        self.bury();
        self.flush(Fate::Committed)
    }

    /// A process that has something to do does something.
    fn agent(&mut self, dice: &mut Dice) -> Checked {
        let busy: Vec<_> =
            self.agents.iter().filter(|(_, agent)| agent.is_busy()).map(|(key, _)| key.clone()).collect();
        let all: Vec<_> = self.agents.keys().cloned().collect();
        let from = if busy.is_empty() || dice.percent(5) { &all } else { &busy };
        let Some(key) = dice.pick(from).cloned() else { return Ok(()) };
        let handles = crate::setup::HANDLES.iter().map(|handle| (*handle).to_owned()).collect();
        let roots = self.roots_near(&key.channel);
        let calls_percent = if self.setup.mood == Mood::Talk { 85 } else { 35 };
        let fails_percent = if self.setup.mood == Mood::Strained { 30 } else { 2 };
        let around =
            Around { messages: self.messages_near(dice), roots, handles, calls_percent, fails_percent };
        let native = self.native_id(dice);
        let at = self.mono;
        let Some(agent) = self.agents.get_mut(&key) else { return Ok(()) };
        let inputs = agent.act(dice, at, native, &around)?;
        self.bury();
        self.note(|| format!("{}: {}", key.binding, brief(&inputs)));
        self.batch.extend(inputs);
        Ok(())
    }

    /// A new id, or sometimes one that another session has already.
    pub(super) fn native_id(&mut self, dice: &mut Dice) -> Id {
        if self.sessions > 0 && dice.percent(3) {
            return Id::Taken(NativeId(format!("s-{}", 1 + dice.below(self.sessions))));
        }
        self.sessions += 1;
        Id::Own(NativeId(format!("s-{}", self.sessions)))
    }

    /// Processes whose end was reported are no more.
    pub(super) fn bury(&mut self) {
        let gone: Vec<_> =
            self.agents.iter().filter(|(_, agent)| agent.is_gone()).map(|(key, _)| key.clone()).collect();
        for key in gone {
            if let Some(agent) = self.agents.remove(&key) {
                self.books.extend(agent.book());
                self.graves.push((key, agent.epoch, agent.run()));
            }
        }
    }

    /// Roots of the threads in which something was said last.
    fn roots_near(&self, channel: &ChannelId) -> Vec<MessageId> {
        let lines = self.model.chat.lines.iter().rev().filter(|line| line.channel == *channel);
        lines.filter_map(|line| line.thread.clone()).take(6).collect()
    }

    fn messages_near(&self, dice: &mut Dice) -> Vec<MessageId> {
        (0..4).filter_map(|_| self.some_message(dice)).collect()
    }
}

/// Inputs in a few words.
pub(super) fn brief(inputs: &[Input]) -> String {
    let words = inputs.iter().map(|input| match input {
        Input::Agent(event) => format!("{:?}", event.kind),
        Input::Request(Request::Tool(call)) => format!("{:?}", call.tool),
        Input::Request(request) => format!("{request:?}"),
        Input::Woke => "woke".to_owned(),
        Input::Tick => "tick".to_owned(),
    });
    let words = words.collect::<Vec<_>>().join("; ");
    words.chars().take(300).collect()
}
