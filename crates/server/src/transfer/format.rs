//! The lines of an export.

use delivery::{AuthorKind, Timestamp};
use serde::{Deserialize, Serialize};
use storage::{Access, Rank, Role, RunStatus, Usage};

use crate::error::ApiError;

/// What the first line says that it is.
pub(super) const FORMAT: &str = "highwater-export";
/// The version of the format that is written, and the newest that is read.
pub(super) const VERSION: u32 = 1;

/// A line: an object with one key, which says what it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Record {
    Header(Header),
    Person(Person),
    Channel(Channel),
    Member(Member),
    Agent(Agent),
    Message(Message),
    Edit(Change),
    Deletion(Change),
    Run(Run),
    End(End),
}

/// The first line. Other versions may have more in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) version: u32,
    /// The version of Highwater that wrote it.
    #[serde(default)]
    pub(super) program: String,
    pub(super) exported_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) created_at: Timestamp,
    #[serde(default)]
    pub(super) deactivated_at: Option<Timestamp>,
    #[serde(default)]
    pub(super) former_names: Vec<String>,
}

/// Everything up to the next one belongs to this channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Channel {
    pub(super) name: String,
    #[serde(default)]
    pub(super) direct: Option<String>,
    pub(super) access: Access,
    #[serde(default)]
    pub(super) topic: String,
    pub(super) created_at: Timestamp,
    #[serde(default)]
    pub(super) archived_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    pub(super) channel: String,
    pub(super) person: String,
    pub(super) rank: Rank,
    pub(super) since: Timestamp,
}

/// An agent that is or was a member. How it is started is not told: that may hold secrets, and is another machine's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Agent {
    pub(super) channel: String,
    pub(super) handle: String,
    pub(super) preset: String,
    pub(super) since: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Author {
    pub(super) kind: AuthorKind,
    /// As it was then.
    pub(super) name: String,
    /// The person's present name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) person: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    pub(super) channel: String,
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) thread: Option<u64>,
    pub(super) author: Author,
    /// Present text; absent if a later line deletes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

/// An edit or deletion of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    pub(super) channel: String,
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) message: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub(super) channel: String,
    /// 1, 2, 3, … within the channel.
    pub(super) n: u64,
    pub(super) agent: String,
    /// The addressed message.
    pub(super) message: u64,
    pub(super) status: RunStatus,
    #[serde(default)]
    pub(super) error: Option<String>,
    pub(super) created_at: Timestamp,
    #[serde(default)]
    pub(super) started_at: Option<Timestamp>,
    #[serde(default)]
    pub(super) ended_at: Option<Timestamp>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) retry_of: Option<u64>,
    /// Messages that it posted.
    #[serde(default)]
    pub(super) posted: Vec<u64>,
}

/// The last line: without it, the file is not whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    /// Lines before this one.
    pub(super) records: u64,
}

/// Reads a line; where not, the column and what is wrong with it. The first has to be a header that is known.
pub(super) fn parse(line: &[u8], first: bool) -> Result<Record, (usize, ApiError)> {
    let text = std::str::from_utf8(line)
        .map_err(|error| (error.valid_up_to() + 1, ApiError::invalid("the line is not UTF-8")))?;
    let record = serde_json::from_str::<Record>(text);
    if first {
        let no_export = "this is no export of Highwater, which begins with {\"header\":{\"format\":\"highwater-export\",…}} \
                         (watermarks are read by: highwater watermarks import)";
        return match record {
            Ok(Record::Header(header)) if header.format == FORMAT && header.version == VERSION => {
                Ok(Record::Header(header))
            }
            Ok(Record::Header(header)) if header.format == FORMAT => {
                let why = format!(
                    "the file has version {} of the format, and this Highwater reads {VERSION}; import it with the \
                     version of Highwater that wrote it ({}), or a newer one",
                    header.version, header.program
                );
                Err((column_of(line, "version"), ApiError::invalid(why)))
            }
            Ok(_) | Err(_) => Err((1, ApiError::invalid(no_export))),
        };
    }
    record.map_err(|error| {
        let told = error.to_string();
        // The place is told as one of the file, not of the line.
        let what = told.rsplit_once(" at line ").map_or(told.as_str(), |(what, _)| what);
        (error.column().max(1), ApiError::invalid(what))
    })
}

/// The column at which a key of the record begins; the first if it has no such key.
pub(super) fn column_of(line: &[u8], key: &str) -> usize {
    let key = format!("\"{key}\":");
    line.windows(key.len()).position(|window| window == key.as_bytes()).map_or(1, |at| at + 1)
}
