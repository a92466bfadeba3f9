//! Writes the messages of a made channel: a topic for a stretch, sentences about it, and who says them.

use std::collections::VecDeque;
use std::fmt::Write as _;

use super::OTHER_AGENT;
use super::words::{AGENT, ASK, CHAT, KNOWN, LOG, PASTED, PEOPLE, REPLY, TOPICS, Topic};
use crate::random::Random;

/// Messages on one topic at most, and half of it at least.
const STRETCH: usize = 24;

/// One message of so many is the other agent's.
const AGENT_EVERY: usize = 9;

/// Sentences that are drawn for one that is taken.
const DRAFTS: usize = 4;

/// A sentence is not drawn again before so many others of its kind were taken.
const APART: usize = 26;

/// Characters that messages have in the mean.
const SAID_CHARS: i64 = 48;
/// The same for messages that mention an agent, its handle included.
const ASK_CHARS: i64 = 52;
/// The same for answers.
const REPLY_CHARS: i64 = 105;
/// A pasted log has at least this many.
const LOG_CHARS_MIN: usize = 640;
/// Lines of about this many characters make up a log.
const LOG_LINE_CHARS: i64 = 52;

/// A message that was written.
pub(super) struct Said {
    /// A person's name, or an agent's handle with `@`.
    pub(super) author: String,
    pub(super) text: String,
}

pub(super) struct Writer {
    random: Random,
    topic: Topic,
    /// Messages until the topic changes.
    left: usize,
    last_author: &'static str,
    said: Steering,
    asked: Steering,
    replied: Steering,
    logged: Steering,
}

/// Keeps lengths at a mean: what is over or missing so far.
struct Steering {
    mean: i64,
    over: i64,
    /// The sentences taken last.
    recent: VecDeque<&'static str>,
}

impl Steering {
    fn to(mean: i64) -> Self {
        Self { mean, over: 0, recent: VecDeque::new() }
    }

    /// How far off all lengths would be after a text of this many characters.
    fn off(&self, chars: i64) -> i64 {
        self.over + chars - self.mean
    }
}

impl Writer {
    pub(super) fn new(mut random: Random) -> Self {
        let topic = TOPICS[random.below(TOPICS.len())];
        Self {
            random,
            topic,
            left: STRETCH,
            last_author: "",
            said: Steering::to(SAID_CHARS),
            asked: Steering::to(ASK_CHARS),
            replied: Steering::to(REPLY_CHARS),
            logged: Steering::to(LOG_LINE_CHARS),
        }
    }

    /// A message of a person, or now and then of the other agent.
    pub(super) fn say(&mut self) -> Said {
        self.go_on();
        if self.random.below(AGENT_EVERY) == 0 {
            let text = self.steered(|writer| &mut writer.said, &AGENT, "");
            return Said { author: format!("@{OTHER_AGENT}"), text };
        }
        let author = self.somebody();
        let text = self.steered(|writer| &mut writer.said, &CHAT, author);
        Said { author: author.to_owned(), text }
    }

    /// A message whose length is about known.
    pub(super) fn say_known(&mut self) -> Said {
        self.go_on();
        let author = self.somebody();
        let frame = self.random.pick(&KNOWN).unwrap_or_default();
        Said { author: author.to_owned(), text: self.filled(frame, author) }
    }

    /// A message that mentions an agent.
    pub(super) fn ask(&mut self, handle: &str) -> Said {
        self.go_on();
        let author = self.somebody();
        let text = self.steered(|writer| &mut writer.asked, &ASK, author);
        Said { author: author.to_owned(), text: format!("@{handle} {text}") }
    }

    /// What a mentioned agent answers.
    pub(super) fn reply(&mut self) -> String {
        self.steered(|writer| &mut writer.replied, &REPLY, "")
    }

    /// A pasted log, longer than a line may be.
    pub(super) fn paste(&mut self) -> Said {
        self.go_on();
        let author = self.somebody();
        let mut text = self.random.pick(&PASTED).unwrap_or_default().to_owned();
        let mut second = self.random.below(80_000);
        while text.chars().count() < LOG_CHARS_MIN {
            let line = self.steered(|writer| &mut writer.logged, &LOG, author);
            let (hours, minutes, seconds) = (second / 3_600, second / 60 % 60, second % 60);
            let _ = write!(text, "\n{hours:02}:{minutes:02}:{seconds:02} {line}");
            second += 1 + self.random.below(40);
        }
        Said { author: author.to_owned(), text }
    }

    /// One message more on the topic, or a new one.
    fn go_on(&mut self) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.topic = TOPICS[self.random.below(TOPICS.len())];
            self.left = STRETCH / 2 + self.random.below(STRETCH / 2);
        }
    }

    /// A person; most often somebody else than before.
    fn somebody(&mut self) -> &'static str {
        let mut author = self.random.pick(&PEOPLE).unwrap_or_default();
        if author == self.last_author {
            author = self.random.pick(&PEOPLE).unwrap_or_default();
        }
        self.last_author = author;
        author
    }

    /// The one of a few drafts that keeps the mean best.
    fn steered(
        &mut self,
        steering: fn(&mut Self) -> &mut Steering,
        from: &[&'static str],
        author: &str,
    ) -> String {
        let mut best: Option<(i64, &'static str, String)> = None;
        for _ in 0..DRAFTS {
            let frame = self.frame(steering, from);
            let draft = self.filled(frame, author);
            let off = steering(self).off(chars(&draft));
            if best.as_ref().is_none_or(|(least, ..)| off.abs() < least.abs()) {
                best = Some((off, frame, draft));
            }
        }
        let Some((off, frame, text)) = best else { return String::new() };
        let steering = steering(self);
        steering.over = off;
        steering.recent.push_back(frame);
        if steering.recent.len() > APART.min(from.len() / 2) {
            steering.recent.pop_front();
        }
        text
    }

    /// A sentence that was not taken lately.
    fn frame(&mut self, steering: fn(&mut Self) -> &mut Steering, from: &[&'static str]) -> &'static str {
        // Half of them at most are barred as a rule, so that few draws are needed; but where two lists are steered
        // together, the shorter one may be barred whole.
        let free = from.iter().any(|frame| !steering(self).recent.contains(frame));
        loop {
            let frame = self.random.pick(from).unwrap_or_default();
            if !free || !steering(self).recent.contains(&frame) {
                return frame;
            }
        }
    }

    /// A sentence with what the topic is about in its places.
    fn filled(&mut self, frame: &str, author: &str) -> String {
        let mut rest = frame;
        let mut text = String::with_capacity(rest.len() + 16);
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let (slot, after) = after.split_once('}').unwrap_or((after, ""));
            match slot {
                "t" => text.push_str(self.random.pick(&self.topic.things).unwrap_or_default()),
                "p" => text.push_str(self.random.pick(&self.topic.places).unwrap_or_default()),
                "w" => text.push_str(self.other_than(author)),
                _ => {
                    let _ = write!(text, "{}", 3 + self.random.below(47));
                }
            }
            rest = after;
        }
        text.push_str(rest);
        text
    }

    fn other_than(&mut self, author: &str) -> &'static str {
        let others: Vec<&'static str> = PEOPLE.into_iter().filter(|name| *name != author).collect();
        self.random.pick(&others).unwrap_or_default()
    }
}

fn chars(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}
