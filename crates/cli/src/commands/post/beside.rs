//! What is told beside a post: notices of the host that belong to it, and words that look like mentions of nobody.

use std::collections::BTreeSet;

use delivery::mention::{is_handle, mentions};
use server::wire;

use crate::client::{Call, Client};

/// Messages that are read behind a post to find its notices, which follow it at once.
const LOOK_BACK: usize = 50;

/// The host's notices on a message: those that stand right behind it and tell of no run. What cannot be read is left
/// out: the message itself was posted.
pub(super) fn notices(client: &Client, posted: &wire::Posted) -> Vec<String> {
    let message = &posted.message;
    let call = Call::get(&["channels", &message.channel, "messages"])
        .with("thread", message.thread_root_id.as_ref())
        .with("limit", Some(LOOK_BACK.to_string()));
    let history: Vec<wire::Message> = client.call(&call).unwrap_or_default();
    let behind = history.into_iter().filter(|other| other.seq > message.seq);
    let own = (message.seq + 1..).zip(behind).take_while(|(seq, other)| {
        other.seq == *seq && other.author.kind == "system" && other.run_id.is_none()
    });
    own.map(|(_, notice)| notice.text).collect()
}

/// A note when a message mentions somebody who is neither an agent of its channel nor a person.
pub(super) fn nobody(client: &Client, posted: &wire::Posted) -> Option<String> {
    let asked: BTreeSet<&str> = posted.runs.iter().map(|run| run.agent.as_str()).collect();
    // Without words that nobody answers to, nothing is asked of the server.
    if unknown(&posted.message.text, &asked).is_empty() {
        return None;
    }
    let channel: wire::Channel = client.call(&Call::get(&["channels", &posted.message.channel])).ok()?;
    let agents: BTreeSet<&str> = channel.agents.iter().map(|agent| agent.handle.as_str()).collect();
    if channel.direct.is_some() || unknown(&posted.message.text, &agents).is_empty() {
        return None;
    }
    let people: Vec<wire::Person> = client.call(&Call::get(&["people"])).ok()?;
    let known = agents.iter().copied().chain(people.iter().map(|person| person.name.as_str())).collect();
    let nobody = unknown(&posted.message.text, &known);
    (!nobody.is_empty()).then(|| words(&nobody, &channel.name, &agents))
}

/// The handles that a message mentions, but that are none of the known ones.
fn unknown(text: &str, known: &BTreeSet<&str>) -> Vec<String> {
    let candidates = candidates(text);
    let handles: Vec<&str> = known.iter().copied().chain(candidates.iter().map(String::as_str)).collect();
    mentions(text, &handles)
        .into_iter()
        .filter(|handle| !known.contains(handle))
        .map(ToOwned::to_owned)
        .collect()
}

/// Every word behind an `@` that could be a handle, visible or not. `@scope/package` is none.
fn candidates(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let words = text.match_indices('@').filter_map(|(at, sign)| {
        let rest = &text[at + sign.len()..];
        let (word, behind) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        let is_scope = behind.strip_prefix('/').is_some_and(|path| path.starts_with(is_part));
        (!is_scope).then(|| word.trim_end_matches(['-', '_']).to_ascii_lowercase())
    });
    words.filter(|word| is_handle(word)).collect()
}

fn words(nobody: &[String], channel: &str, agents: &BTreeSet<&str>) -> String {
    let list = |handles: &mut dyn Iterator<Item = &str>| {
        handles.map(|handle| format!("@{handle}")).collect::<Vec<_>>().join(", ")
    };
    let missing = list(&mut nobody.iter().map(String::as_str));
    if agents.is_empty() {
        return format!("no {missing} in {channel}; it has no agents");
    }
    format!("no {missing} in {channel}; its agents: {}", list(&mut agents.iter().copied()))
}

#[cfg(test)]
mod tests;
