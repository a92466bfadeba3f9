//! Highwater's own export: its channels with their messages, and its runs as what addressed an agent.
//!
//! Only what is played is read: a line may have more keys. Messages are played with the text that they have now.

use std::collections::BTreeMap;
use std::io::BufRead;

use delivery::{Author, AuthorKind, Timestamp};
use serde::Deserialize;

use super::ErrorAt;
use super::lines::{Line, Lines, Why, why};
use crate::channel::{Channel, Index, Mention, Reply};

/// The version of the format that is read.
pub(super) const VERSION: u64 = 1;

/// A line: an object with one key, which says what it is.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Record {
    Header(Header),
    Person(serde::de::IgnoredAny),
    Channel(ChannelRecord),
    Member(serde::de::IgnoredAny),
    Agent(Agent),
    Message(Message),
    Edit(serde::de::IgnoredAny),
    Deletion(serde::de::IgnoredAny),
    Run(Run),
    End(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u64,
}

#[derive(Deserialize)]
struct ChannelRecord {
    name: String,
    #[serde(default)]
    direct: Option<String>,
}

#[derive(Deserialize)]
struct Agent {
    handle: String,
}

#[derive(Deserialize)]
struct Message {
    seq: u64,
    at: Timestamp,
    author: Author,
    #[serde(default)]
    thread: Option<u64>,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
struct Run {
    agent: String,
    message: u64,
    #[serde(default)]
    retry_of: Option<u64>,
    #[serde(default)]
    posted: Vec<u64>,
}

/// The version of an export whose first line this is; `None` of anything else.
pub(super) fn version(line: &str) -> Option<u64> {
    match serde_json::from_str(line) {
        Ok(Record::Header(Header { format, version })) if format == "highwater-export" => Some(version),
        Ok(_) | Err(_) => None,
    }
}

/// Reads the channels behind the header.
pub(super) fn read(lines: &mut Lines<impl BufRead>) -> Result<Vec<Channel>, ErrorAt> {
    let mut channels = Vec::new();
    let mut open: Option<Writing> = None;
    let mut is_whole = false;
    while let Some(line) = lines.next_line()? {
        let Line::Good(line) = line else { continue };
        let taken = match serde_json::from_str(&line) {
            Ok(Record::Channel(channel)) => {
                channels.extend(open.replace(Writing::new(&channel)).map(Writing::finish));
                Ok(())
            }
            Ok(Record::Agent(agent)) => {
                if let Some(open) = &mut open {
                    open.agents.push(agent.handle);
                }
                Ok(())
            }
            Ok(Record::Message(message)) => {
                open.as_mut().map_or(Err(no_channel()), |open| open.message(message))
            }
            Ok(Record::Run(run)) => open.as_mut().map_or(Err(no_channel()), |open| open.run(run)),
            Ok(Record::End(_)) => {
                is_whole = true;
                Ok(())
            }
            Ok(
                Record::Header(_)
                | Record::Person(_)
                | Record::Member(_)
                | Record::Edit(_)
                | Record::Deletion(_),
            ) => Ok(()),
            Err(error) => Err(why(&error)),
        };
        if let Err(why) = taken {
            lines.skip(why);
        }
    }
    channels.extend(open.map(Writing::finish));
    if !is_whole {
        lines.skip_at(lines.number(), 0, Why::NotWhole);
    }
    Ok(channels)
}

fn no_channel() -> Why {
    Why::NoMessage("no channel stands above it".to_owned())
}

/// A channel while it is read.
struct Writing {
    name: String,
    is_direct: bool,
    agents: Vec<String>,
    messages: Vec<Message>,
    runs: Vec<Run>,
}

impl Writing {
    fn new(channel: &ChannelRecord) -> Self {
        Self {
            name: channel.name.clone(),
            is_direct: channel.direct.is_some(),
            agents: Vec::new(),
            messages: Vec::new(),
            runs: Vec::new(),
        }
    }

    fn message(&mut self, message: Message) -> Result<(), Why> {
        if self.is_direct {
            return Err(Why::Direct);
        }
        match (&message.text, message.author.kind) {
            (_, AuthorKind::System) => Err(Why::Notice),
            (None, AuthorKind::User | AuthorKind::Agent) => Err(Why::Deleted),
            (Some(_), AuthorKind::User | AuthorKind::Agent) => {
                self.messages.push(message);
                Ok(())
            }
        }
    }

    /// A run that tries another one again adds no turn of its own: the session got the message the first time.
    fn run(&mut self, run: Run) -> Result<(), Why> {
        if self.is_direct {
            return Err(Why::Direct);
        }
        if run.retry_of.is_none() {
            self.runs.push(run);
        }
        Ok(())
    }

    fn finish(mut self) -> Channel {
        let mut channel = Channel::new(&self.name, self.agents);
        let mut places: BTreeMap<u64, Index> = BTreeMap::new();
        for message in &self.messages {
            // A reply to a deleted root stands alone.
            let root = message.thread.and_then(|root| places.get(&root).copied());
            let text = message.text.as_deref().unwrap_or_default();
            if let Some(index) = channel.push(&message.author, message.at, text, root) {
                places.insert(message.seq, index);
            }
        }
        self.runs.sort_by_key(|run| run.message);
        for run in self.runs {
            let agent = channel.agents().iter().position(|handle| *handle == run.agent);
            let message = places.get(&run.message).copied();
            let posted = run.posted.iter().find_map(|posted| places.get(posted).copied());
            if let (Some(agent), Some(message)) = (agent, message) {
                let reply = posted.map_or(Reply::None, Reply::Posted);
                channel.push_mention(Mention { message, agent, reply });
            }
        }
        channel
    }
}
