//! What the guide says: texts made of sizes and counts, never of what others wrote, but for the exact turn.

use std::fmt::Write as _;

use delivery::turn::BYTES_PER_TOKEN;

use super::session::Session;
use super::turn::{Block, Content, Extent, Mention, Turn};

/// What a person asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Help,
    Stats,
    Show,
    Greeting,
    Unknown,
}

/// What asks for something, as whole words; the first row that the text has anything of decides.
const ASKING: [(Request, &[&str]); 4] = [
    (Request::Help, &["help", "commands", "command"]),
    (Request::Stats, &["stats", "statistics"]),
    (Request::Show, &["show", "exact", "exactly", "what did you get"]),
    (Request::Greeting, &["hello", "hi", "hey"]),
];

const HELP: &str = "\
I understand four words: `hello` (what this turn brought), `show` (its exact text), `stats` (this session so far) and \
`help`.

Highwater's commands:

```
highwater serve                           run the server
highwater channel add|list|show|…         make, see and change channels; `channel --help` has all
highwater person add|list|…               the people who write
highwater invite NAME                     a link that signs somebody in, once
highwater token create|list|revoke        secrets for scripts
highwater agent presets                   the agents that Highwater knows how to start
highwater agent add|list|remove           bring an agent into a channel, see all, take one out
highwater agent fresh                     the agent's next turn begins a new session
highwater post CHANNEL TEXT --wait        write a message, wait for the answers
highwater history CHANNEL                 read a channel
highwater edit, highwater delete          change or delete a message
highwater run list|show|cancel|retry      what agents did; `show` has the exact text they got
highwater search                          find messages
highwater tail CHANNEL                    follow what happens
highwater backup, highwater restore       the whole server in one file
highwater export, highwater import        channels as lines of JSON
highwater watermarks export|import        what each session has been given
```

`highwater COMMAND --help` says more.";

/// The answer to a turn that `session` already counts.
pub(super) fn to(turn: &Turn<'_>, session: &Session) -> String {
    match request(&turn.text) {
        Request::Help => HELP.to_owned(),
        Request::Stats => stats(session),
        Request::Show => show(turn),
        Request::Greeting => greeting(turn, session),
        Request::Unknown => format!(
            "I am not a model: I look for the words `hello`, `show`, `stats` and `help`, and found none of them. \
             So here is what this turn brought.\n\n{}",
            brought(turn, session)
        ),
    }
}

/// Looks at the person's own words alone. A message without words is a greeting.
fn request(text: &str) -> Request {
    let spoken = text.split_whitespace().filter(|word| !word.contains('@'));
    let bare = spoken.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    let words: Vec<_> = bare.filter(|word| !word.is_empty()).collect();
    let spaced = format!(" {} ", words.join(" "));
    let asks = |phrase: &&str| spaced.contains(&format!(" {phrase} "));
    match ASKING.iter().find(|(_, phrases)| phrases.iter().any(asks)) {
        Some((request, _)) => *request,
        None if words.is_empty() => Request::Greeting,
        None => Request::Unknown,
    }
}

fn greeting(turn: &Turn<'_>, session: &Session) -> String {
    let hello = if session.turns == 1 {
        "Hello! I am Highwater's guide, an agent without a model: I tell you what Highwater hands to an agent."
    } else {
        "Hello again!"
    };
    format!("{hello}\n\n{}", brought(turn, session))
}

/// What the turn brought, and what to try next.
fn brought(turn: &Turn<'_>, session: &Session) -> String {
    let lease = match (session.turns, turn.framing) {
        _ if session.reloaded => {
            "This turn was **restored**: my last process had ended, and a new one loaded my session. I still have all \
             that I was told; the facts came whole once."
        }
        (1, Some(_)) => "This turn was **cold**: my session is new, so the framing came with it.",
        (1, None) => "This turn was **cold**: my session is new. No framing came with it.",
        (_, Some(_)) => "The framing came again with this turn, though my session is not new.",
        (_, None) => "This turn was **warm**: I still have all that I was told, so no framing came with it.",
    };
    let mut said = format!("{lease} It was {}:\n\n", tokens(turn.exact.len()));
    let mut part = |what: &str, bytes: usize| {
        // Writing into a string cannot fail.
        let _ = writeln!(said, "- {what}: {}", tokens(bytes));
    };
    if let Some(framing) = turn.framing {
        part("framing (what I am, the house rules)", framing.len());
    }
    match &turn.content {
        Content::Mention(mention) => {
            part("your message and the facts about it", mention.payload.len());
            let guidance = if mention.has_brief() {
                "brief (how to act on a mention)"
            } else {
                "reminder (it stands for the brief, which I know)"
            };
            part(guidance, mention.guidance.len());
            if let Some(block) = &mention.block {
                part(&lines(block), block.exact.len());
            }
            said.push('\n');
            said.push_str(&left_out(mention));
        }
        Content::Direct { replayed, left_out } => {
            let conversation = turn.exact.len() - turn.framing.map_or(0, str::len);
            match replayed {
                0 => part("your message, nothing else", conversation),
                n => {
                    part(&format!("our conversation, {} and your newest", count(*n, "message")), conversation)
                }
            }
            said.push_str("\nThis is a direct conversation: no payload, no brief, no channel lines.");
            if *left_out > 0 {
                let _ = write!(said, " Left out: {}, the oldest.", count(*left_out, "message"));
            }
        }
    }
    said + "\n\nTry next: " + hint(turn, session)
}

fn lines(block: &Block<'_>) -> String {
    let whose = block.whose;
    match block.extent {
        Extent::Snapshot => format!("{} of the {whose}, a snapshot", count(block.lines.len(), "line")),
        Extent::Delta => format!("{} of the {whose}", count(block.lines.len(), "new line")),
    }
}

fn left_out(mention: &Mention<'_>) -> String {
    match &mention.block {
        None => "No channel lines: nothing stands there that is news to me.".to_owned(),
        Some(block) => match (block.extent, block.left_out) {
            (Extent::Snapshot, _) => {
                "A snapshot is the newest lines; what is older stays in the history.".to_owned()
            }
            (Extent::Delta, 0) => "Nothing new was left out.".to_owned(),
            (Extent::Delta, n) => format!(
                "Left out: {} that came before these lines. I was told how many, and an agent can read them with \
                 its tool `channel_history`.",
                count(n, "new message")
            ),
        },
    }
}

fn hint(turn: &Turn<'_>, session: &Session) -> &'static str {
    match &turn.content {
        Content::Direct { .. } if session.turns == 1 => {
            "say `hello` again: the next turn is your message alone."
        }
        Content::Direct { .. } => "`show` for the exact text, `help` for Highwater's commands.",
        Content::Mention(_) if session.mentions == 1 => {
            "write a few messages that do not mention me, then say `hello` to me again. Only those will come."
        }
        Content::Mention(mention) if mention.block.is_none() => {
            "`show` for the exact text, or write a few messages that do not mention me and then say `hello` again."
        }
        Content::Mention(_) if session.mentions == 2 => {
            "`show` for the exact text of a turn, `stats` for the whole session."
        }
        Content::Mention(_) => {
            "bring in a coding agent. `highwater agent presets` lists those that Highwater can start, and \
             `highwater agent add --help` says how."
        }
    }
}

/// The exact turn in a fence longer than any that it holds.
fn show(turn: &Turn<'_>) -> String {
    let longest = turn.exact.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let size = grouped(turn.exact.len());
    format!(
        "This turn exactly as I got it, {size} bytes, {}:\n\n{fence}text\n{}\n{fence}",
        tokens(turn.exact.len()),
        turn.exact
    )
}

fn stats(session: &Session) -> String {
    let framed = match session.framed {
        0 => "none with the framing".to_owned(),
        n => format!("{} with the framing", grouped(n)),
    };
    let got = format!(
        "This session so far, this turn counted:\n\n- {}, {framed}\n- {}\n- {}, {} left out\n",
        count(session.turns, "turn"),
        tokens(session.bytes),
        count(session.lines, "channel line"),
        count(session.left_out, "new message"),
    );
    let compared = match session.mentions {
        0 => "No turn was a mention in a channel, so there is nothing to compare it with.".to_owned(),
        1 => "From the second mention on I can compare it with being sent the last 12 lines every time."
            .to_owned(),
        _ => format!(
            "With the last 12 lines, the whole payload and the whole brief at every mention (`--delivery window`) it \
             would have been {}: an estimate from the sizes that I saw.",
            tokens(session.window_bytes)
        ),
    };
    format!("{got}\n{compared} (I take four bytes for a token.)")
}

fn tokens(bytes: usize) -> String {
    match bytes.div_ceil(BYTES_PER_TOKEN) {
        1 => "about 1 token".to_owned(),
        n => format!("about {} tokens", grouped(n)),
    }
}

fn count(n: usize, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(n))
}

/// A number with a comma between thousands.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests;
