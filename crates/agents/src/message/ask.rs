//! What an agent asks permission for.

/// A permission that an agent asks for: untrusted text, redacted and otherwise as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Its number, which no other of the process has.
    pub n: u64,
    /// In a few words.
    pub title: String,
    /// Kind of tool, in the agent's word; `other` where it tells none, as the protocol says.
    pub kind: String,
    /// The tool's own name, if told.
    pub tool: Option<String>,
    /// All of it. Nothing is ever left out: what is too large to be shown whole is refused.
    pub details: Vec<Detail>,
    /// What may be answered, in the agent's order.
    pub options: Vec<Choice>,
    /// What it would touch, not redacted, for whoever decides by that; `None` if that cannot be told.
    pub touches: Option<Touches>,
}

/// A part of what is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A command that would be run.
    Command(String),
    /// A file or folder that it is about, with the line if told.
    Path(String),
    /// A file that would be changed.
    Diff {
        /// Its path.
        path: String,
        /// Its text before; `None` for a new file.
        old: Option<String>,
        /// Its text after.
        new: String,
    },
    /// Text about it.
    Text(String),
    /// The tool's input as JSON, in several lines.
    Input(String),
}

/// An option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The agent's words for it.
    pub name: String,
    /// What it means.
    pub kind: ChoiceKind,
}

/// What choosing an option means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoiceKind {
    /// Allowed, for this once.
    AllowOnce,
    /// Allowed, now and without a question later.
    AllowAlways,
    /// Rejected, for this once.
    RejectOnce,
    /// Rejected, now and without a question later.
    RejectAlways,
    /// A kind that is not known.
    Other,
}

/// The strings that a request holds, by what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touches {
    /// Paths named as such: locations, files of diffs, and what the input has under a name for paths.
    pub paths: Vec<String>,
    /// All other strings of the input: any of them may be a path in truth.
    pub words: Vec<String>,
}
