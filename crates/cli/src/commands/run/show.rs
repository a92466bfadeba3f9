//! `highwater run show` as text: every fact of a run, with long texts between rulers.

mod step;

use delivery::Watermark;
use server::wire;

use super::super::usage::{cost, tokens};
use super::super::{history, permission};
use crate::display;

/// A run for people, for a terminal of this width. Each line of a long text begins with `| `, so that no text can pose
/// as a fact.
pub(super) fn run(run: &wire::Run, width: Option<usize>) -> String {
    let mut text = String::new();
    for (name, value) in facts(run) {
        text.push_str(&display::prose(&format!("{name:<11} "), value.trim_end(), "            ", width));
        text.push('\n');
    }
    if let Some(system) = &run.system {
        text.push_str(&ruled("system prompt", system));
    }
    if let Some(sent) = &run.sent {
        text.push_str(&ruled("sent", sent));
    }
    if !run.replies.is_empty() {
        text.push_str("replies\n");
        text.extend(run.replies.iter().map(|reply| history::message(reply, width)));
    }
    if !run.permissions.is_empty() {
        text.push_str("permissions\n");
        for card in &run.permissions {
            text.push_str(&permission::card(card));
            if let Some(end) = permission::decided(card) {
                text.push_str(&format!("{end}\n"));
            }
        }
    }
    if !run.events.is_empty() {
        text.push_str("steps\n");
        for event in &run.events {
            let step =
                format!("{:>4} {} {}", event.n, display::time(event.at), step::words(event, &run.events));
            text.push_str(&display::line(&step));
            text.push('\n');
        }
    }
    text
}

fn facts(run: &wire::Run) -> Vec<(&'static str, String)> {
    let none = || "none".to_owned();
    let with_why = |what: &str, why: &Option<String>| match why {
        Some(why) => format!("{what}: {why}"),
        None => what.to_owned(),
    };
    let mut facts = vec![
        ("run", run.id.clone()),
        ("status", with_why(&run.status, &run.waiting)),
        ("agent", format!("@{} ({}) of {}", run.agent, run.binding_id, run.channel)),
        (
            "message",
            match &run.thread_root_id {
                Some(root) => format!("{} in thread {root}", run.message_id),
                None => run.message_id.clone(),
            },
        ),
    ];
    if let Some(error) = &run.error {
        facts.push(("reason", error.clone()));
    }
    if let Some(tried) = &run.retry_of {
        facts.push(("tries again", tried.clone()));
    }
    facts.push(("lease", run.lease.as_ref().map_or_else(none, |lease| with_why(lease, &run.lease_why))));
    facts.push(("native id", run.native.clone().unwrap_or_else(none)));
    facts.push(("shown", if run.shown.is_empty() { none() } else { run.shown.join(" ") }));
    facts.push(("left out", run.omitted.to_string()));
    facts.push(("mark before", run.watermark_before.as_ref().map_or_else(none, mark)));
    facts.push(("mark after", run.watermark_after.as_ref().map_or_else(none, mark)));
    facts.push(("usage", usage(run)));
    facts.push(("timing", timing(run)));
    facts
}

fn mark(mark: &Watermark) -> String {
    let seq = mark.last_seq.map_or_else(String::new, |seq| format!(", event {seq}"));
    let waiting = match mark.waiting.len() {
        0 => String::new(),
        waiting => format!(", {waiting} waiting"),
    };
    format!("{}: {}{seq}, {} ids{waiting}", mark.native, display::time(mark.last_at), mark.ids.len())
}

fn usage(run: &wire::Run) -> String {
    let told = run.usage.as_ref().and_then(took);
    let told = told.unwrap_or_else(|| "not told".to_owned());
    let turns = match run.turns.as_slice() {
        [] => String::new(),
        [turn] => of_turn(turn),
        turns => {
            let each = turns.iter().map(|turn| {
                let took = took(&turn.usage).unwrap_or_else(|| "not told".to_owned());
                format!("; turn {}: {took}{}", turn.n, of_turn(turn))
            });
            format!(" in {} turns{}", turns.len(), each.collect::<String>())
        }
    };
    told + &turns
}

/// What a turn took, as far as it is known; `None`: nothing is.
fn took(usage: &wire::Usage) -> Option<String> {
    let parts = [
        ("input", usage.input),
        ("read from cache", usage.cached_read),
        ("written to cache", usage.cached_write),
        ("output", usage.output),
    ];
    let told = parts.into_iter().filter(|(_, count)| count.is_some());
    let mut told: Vec<String> = told.map(|(name, count)| format!("{name} {}", tokens(count))).collect();
    // A total alone says something; beside its parts it is their sum.
    if told.is_empty() {
        told.extend(usage.total.map(|total| format!("total {}", tokens(Some(total)))));
    }
    told.extend(usage.cost.as_ref().map(|money| format!("cost {}", cost(money))));
    (!told.is_empty()).then(|| told.join(", "))
}

/// Who told it, of which model, and what nobody told.
fn of_turn(turn: &wire::Turn) -> String {
    let source = turn.source.map(|source| match source {
        wire::UsageSource::Agent => "as the agent told".to_owned(),
        wire::UsageSource::Transcript => "by the agent's transcript".to_owned(),
    });
    let cut = (turn.cut > 0).then(|| format!("and {} requests that were broken off, not told", turn.cut));
    let facts: Vec<String> = source.into_iter().chain(turn.model.clone()).chain(cut).collect();
    if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) }
}

fn timing(run: &wire::Run) -> String {
    let created = format!("created {}", display::time(run.created_at));
    match (run.started_at, run.ended_at) {
        (None, None) => created,
        (None, Some(ended)) => format!("{created}, ended after {}", display::span(run.created_at, ended)),
        (Some(started), None) => format!("{created}, began after {}", display::span(run.created_at, started)),
        (Some(started), Some(ended)) => format!(
            "{created}, began after {}, took {}",
            display::span(run.created_at, started),
            display::span(started, ended)
        ),
    }
}

fn ruled(name: &str, text: &str) -> String {
    let ruler = format!("--- {name} ({} bytes) ", text.len());
    format!("{ruler:-<72}\n| {}\n{:-<72}\n", display::indented(text, "| "), format!("--- end of {name} "))
}

#[cfg(test)]
mod tests;
