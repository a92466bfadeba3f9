//! A step of a run in words.

use server::wire::RunEvent;

/// What happened: `tool Read: completed`, `refused: rm -rf /`. A kind that is not known is shown as it came. `all` are
/// the run's steps: a later step of a tool call may name it by its id alone.
pub(super) fn words(event: &RunEvent, all: &[RunEvent]) -> String {
    let text = |name: &str| event.body.get(name).and_then(|value| value.as_str());
    let words = match event.kind.as_str() {
        "tool_call" => tool(event, all).map(|tool| format!("tool {tool}")),
        "tool_update" => tool(event, all).map(|tool| match text("status") {
            Some(status) => format!("tool {tool}: {status}"),
            None => format!("tool {tool}"),
        }),
        "permission" => text("title").map(|title| {
            let outcome = text("outcome").filter(|outcome| *outcome == "allowed").unwrap_or("refused");
            let why = text("why").map_or_else(String::new, |why| format!(" ({why})"));
            format!("{outcome}: {title}{why}")
        }),
        "steer" => text("author").zip(text("message_id")).map(|(author, message)| {
            format!("{author} steers it by {message}:\n{}", text("text").unwrap_or_default())
        }),
        "steered" => text("message_id").map(|message| match text("why") {
            Some(why) => format!("{message} was not taken in: {why}"),
            None => format!("{message} was taken in"),
        }),
        "plan" => text("text").map(|plan| format!("plan: {plan}")),
        "notice" => text("text").map(ToOwned::to_owned),
        _ => None,
    };
    words.unwrap_or_else(|| format!("{} {}", event.kind, event.body))
}

/// The title of the tool call that a step is of, as it was told last until then; else its id.
fn tool<'a>(event: &'a RunEvent, all: &'a [RunEvent]) -> Option<&'a str> {
    let field = |event: &'a RunEvent, name: &str| event.body.get(name).and_then(|value| value.as_str());
    let id = field(event, "id")?;
    let same = all.iter().filter(|other| other.n <= event.n && field(other, "id") == Some(id));
    let mut titled =
        same.filter_map(|other| field(other, "title")).map(str::trim).filter(|title| !title.is_empty());
    Some(titled.next_back().unwrap_or(id))
}

#[cfg(test)]
mod tests;
