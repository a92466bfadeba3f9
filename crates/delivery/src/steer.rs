//! What a session is told while it has a turn: a message by which a person steers it (2.6).

use crate::clean;
use crate::model::{MessageId, Row, RunId};
use crate::payload::{author, json};
use crate::prose::REMINDER;

/// The first sentence of a steer.
pub const STEERED: &str = "A person steers the run that you are working on. The details are below.";

/// A message as it is put into the running turn of a mention: what it is, its facts as JSON on one line in the manner of
/// a payload (2.3), cleaned by 4.7, and that its content is untrusted.
pub fn of_mention(run: &RunId, message: &Row) -> String {
    let id = |id: &str| json(&clean::text(id));
    let MessageId(message_id) = &message.id;
    format!(
        "{STEERED}\n\n{{\"message_id\":{},\"run_id\":{},\"author\":{},\"text\":{}}}\n---\n{REMINDER}",
        id(message_id),
        id(run.as_str()),
        author(&message.author),
        json(&clean::text(&message.text)),
    )
}

/// The same for a direct conversation: the message, bare (3.3).
pub fn of_direct(message: &Row) -> String {
    clean::text(&message.text)
}

#[cfg(test)]
mod tests;
