//! What the provider answers: rules on what it is asked, as data.
//!
//! Answers depend on the conversation alone, not on how often it was sent: a request that is tried again gets the same answer.
//! Only a rule that holds for a number of requests counts them.

#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is answered to whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The first one that fits is followed.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Where none fits, as [`Rule::answers`]. Without one, a short text.
    #[serde(default)]
    pub otherwise: Vec<Answer>,
}

/// Answers to turns of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which turns.
    #[serde(default)]
    pub when: When,
    /// How many requests it holds for; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The answers of one turn: the first to what the user says, the next to what the tools of the first gave, and so on. The
    /// last one is repeated.
    pub answers: Vec<Answer>,
}

/// What a turn has to be like; what is left out may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The user's text contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The system text contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The model's name contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// There is a tool of this name; an empty one: there is no tool at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The model speaks.
    Say(Saying),
    /// The provider reports an error.
    Fail(Failure),
    /// Nothing is ever sent.
    Silence {},
}

/// What the model says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saying {
    /// In this order.
    pub parts: Vec<Part>,
    /// Milliseconds until the first byte.
    #[serde(default)]
    pub first_byte_ms: u64,
    /// Milliseconds between two pieces of a streamed answer.
    #[serde(default)]
    pub pace_ms: u64,
    /// How it ends.
    #[serde(default)]
    pub end: End,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// Text.
    Text(String),
    /// Thinking; left out where the request asked for none.
    Thinking(String),
    /// A call of a tool. Several in one answer are made in parallel.
    Call {
        /// The tool.
        name: String,
        /// Its arguments. A string: the free text that a tool of no schema takes.
        input: Value,
    },
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// As it should: the turn is over, or the tools' results are awaited.
    #[default]
    Whole,
    /// At the greatest number of tokens.
    Length,
    /// The connection is cut after the last part.
    Cut,
}

/// An error that the provider reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The status of HTTP.
    pub status: u16,
    /// The provider's word for it, such as `rate_limit_error`.
    pub kind: String,
    /// For people.
    pub message: String,
    /// Seconds for the `Retry-After` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
}

impl Answer {
    /// This text and nothing else.
    #[must_use]
    pub fn text(text: &str) -> Answer {
        Answer::Say(Saying { parts: vec![Part::Text(text.to_owned())], ..Saying::default() })
    }

    /// One call of a tool.
    #[must_use]
    pub fn call(name: &str, input: Value) -> Answer {
        let parts = vec![Part::Call { name: name.to_owned(), input }];
        Answer::Say(Saying { parts, ..Saying::default() })
    }

    /// An error.
    #[must_use]
    pub fn failure(status: u16, kind: &str, message: &str) -> Answer {
        let (kind, message) = (kind.to_owned(), message.to_owned());
        Answer::Fail(Failure { status, kind, message, retry_after_s: None })
    }
}

/// A turn as the rules see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// What the user said last, without what tools gave.
    pub text: String,
    /// How many times the model has spoken since.
    pub step: usize,
    /// The system text before the conversation.
    pub system: String,
    /// The names of the tools.
    pub tools: Vec<String>,
    /// Whether thinking was asked for.
    pub thinks: bool,
}

/// A script that is being played.
pub(crate) struct Player(Mutex<Playing>);

struct Playing {
    script: Script,
    /// Requests that each rule has answered.
    answered: Vec<u32>,
}

impl Player {
    pub(crate) fn new(script: Script) -> Player {
        let answered = vec![0; script.rules.len()];
        Player(Mutex::new(Playing { script, answered }))
    }

    /// Plays another script from now on.
    pub(crate) fn replace(&self, script: Script) {
        let answered = vec![0; script.rules.len()];
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Playing { script, answered };
    }

    /// What is answered to `model` in this turn.
    pub(crate) fn answer(&self, model: &str, turn: &Turn) -> Answer {
        let mut playing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Playing { script, answered } = &mut *playing;
        for (rule, answered) in script.rules.iter().zip(answered) {
            let is_spent = rule.times.is_some_and(|times| *answered >= times);
            if !is_spent && rule.when.fits(model, turn) {
                *answered += 1;
                return of_step(&rule.answers, turn.step);
            }
        }
        of_step(&script.otherwise, turn.step)
    }
}

impl When {
    fn fits(&self, model: &str, turn: &Turn) -> bool {
        let within =
            |text: &str, wanted: &Option<String>| wanted.as_ref().is_none_or(|part| text.contains(part));
        within(&turn.text, &self.text)
            && within(&turn.system, &self.system)
            && within(model, &self.model)
            && match self.tool.as_deref() {
                None => true,
                Some("") => turn.tools.is_empty(),
                Some(name) => turn.tools.iter().any(|tool| tool == name),
            }
    }
}

fn of_step(answers: &[Answer], step: usize) -> Answer {
    let answer = answers.get(step).or(answers.last());
    answer.cloned().unwrap_or_else(|| Answer::text("I have read it, and there is nothing to add."))
}
