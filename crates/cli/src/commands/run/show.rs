//! `highwater run show` as text: every fact of a run, with long texts between rulers.

mod step;

use delivery::Watermark;
use server::wire;

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
    facts.push(("usage", run.usage.as_ref().map_or_else(|| "not told".to_owned(), usage)));
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

fn usage(usage: &wire::Usage) -> String {
    let parts = [
        ("input", usage.input),
        ("output", usage.output),
        ("read from cache", usage.cached_read),
        ("written to cache", usage.cached_write),
        ("total", usage.total),
    ];
    let told = parts.into_iter().filter_map(|(name, tokens)| Some(format!("{name} {}", tokens?)));
    let told: Vec<String> = told.collect();
    if told.is_empty() { "not told".to_owned() } else { told.join(", ") }
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
