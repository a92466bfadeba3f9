//! Tool calls: what is told of one, by itself, by its updates and by permission requests for it.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::message::{Detail, Touches};
use crate::redact::Secrets;

/// Bytes of what is told of one call that are kept: a large file's change. More cannot be shown to people, so it cannot
/// be asked about.
pub(crate) const CALL_BYTES_MAX: usize = 128 * 1024;

/// Calls that are remembered: permission is asked for the newest.
const CALLS_MAX: usize = 16;

/// Strings of an input that are looked at; with more it cannot be told what it touches.
const STRINGS_MAX: usize = 256;

/// Names under which inputs have paths.
const PATH_NAMES: [&str; 13] = [
    "abs_path",
    "absolute_path",
    "dir",
    "dir_path",
    "directory",
    "file",
    "file_path",
    "filepath",
    "filename",
    "folder",
    "notebook_path",
    "path",
    "paths",
];

/// What is known of a call. What an update does not tell stays as it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) title: Option<String>,
    pub(crate) kind: Option<String>,
    /// The tool's own name, where the agent says it apart from the title: a title may hold what a model wrote.
    pub(crate) tool: Option<String>,
    input: Option<Box<RawValue>>,
    content: Option<Box<RawValue>>,
    locations: Option<Box<RawValue>>,
    /// Whether something of it was too large to be kept.
    oversized: bool,
}

impl Call {
    /// Reads what `raw` tells of a call, with the call's id.
    pub(crate) fn read(raw: &RawValue) -> Option<(String, Self)> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Told<'a> {
            tool_call_id: String,
            title: Option<String>,
            kind: Option<String>,
            #[serde(borrow)]
            raw_input: Option<&'a RawValue>,
            #[serde(borrow)]
            content: Option<&'a RawValue>,
            #[serde(borrow)]
            locations: Option<&'a RawValue>,
        }
        let told: Told<'_> = serde_json::from_str(raw.get()).ok()?;
        let told_text = [&told.title, &told.kind].into_iter().flatten().map(String::len).sum::<usize>();
        let values = [told.raw_input, told.content, told.locations];
        let bytes = values.iter().flatten().map(|value| value.get().len()).sum::<usize>() + told_text;
        if bytes > CALL_BYTES_MAX {
            let title = told.title.filter(|title| title.len() <= CALL_BYTES_MAX);
            return Some((told.tool_call_id, Self { title, oversized: true, ..Self::default() }));
        }
        let kept = |value: Option<&RawValue>| value.map(ToOwned::to_owned);
        let tool = tool_name(raw).or_else(|| tool_by_id(&told.tool_call_id, told.title.as_deref()?));
        let call = Self {
            title: told.title,
            kind: told.kind,
            tool,
            input: kept(told.raw_input).filter(|input| input.get() != "{}"),
            content: kept(told.content),
            locations: kept(told.locations),
            oversized: false,
        };
        Some((told.tool_call_id, call))
    }

    /// Takes in what an update tells.
    fn update(&mut self, told: Self) {
        let Self { title, kind, tool, input, content, locations, oversized } = told;
        self.title = title.or(self.title.take());
        self.kind = kind.or(self.kind.take());
        self.tool = tool.or(self.tool.take());
        self.input = input.or(self.input.take());
        self.content = content.or(self.content.take());
        self.locations = locations.or(self.locations.take());
        self.oversized |= oversized;
    }

    /// Whether all of it can be shown.
    pub(crate) fn is_whole(&self) -> bool {
        let values = [&self.input, &self.content, &self.locations];
        let bytes = values.into_iter().flatten().map(|value| value.get().len()).sum::<usize>();
        !self.oversized && bytes <= CALL_BYTES_MAX
    }

    /// All of it for people; `None` if it is no JSON that can be read.
    pub(crate) fn details(&self, secrets: &Secrets) -> Option<Vec<Detail>> {
        let mut details = Vec::new();
        let input = self.input()?;
        if let Some(command) = command(&input) {
            details.push(Detail::Command(secrets.redact(&command)));
        }
        for Location { path, line } in self.locations()? {
            let text = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
            details.push(Detail::Path(secrets.redact(&text)));
        }
        for content in self.contents()? {
            details.push(match content {
                Content::Diff { path, old, new } => Detail::Diff {
                    path: secrets.redact(&path),
                    old: old.map(|old| secrets.redact(&old)),
                    new: secrets.redact(&new),
                },
                Content::Text(text) => Detail::Text(secrets.redact(&text)),
            });
        }
        if !input.is_null() {
            details.push(Detail::Input(in_lines(&redacted(input, secrets))?));
        }
        Some(details)
    }

    /// What it touches; `None` if that cannot be told.
    pub(crate) fn touches(&self) -> Option<Touches> {
        let mut touches = Touches::default();
        touches.paths.extend(self.locations()?.into_iter().map(|location| location.path));
        for content in self.contents()? {
            match content {
                Content::Diff { path, .. } => touches.paths.push(path),
                Content::Text(_) => {}
            }
        }
        collect(&self.input()?, Named::No, &mut touches);
        let strings = touches.paths.len() + touches.words.len();
        (strings <= STRINGS_MAX).then_some(touches)
    }

    fn input(&self) -> Option<Value> {
        self.input.as_ref().map_or(Some(Value::Null), |raw| serde_json::from_str(raw.get()).ok())
    }

    fn locations(&self) -> Option<Vec<Location>> {
        let Some(raw) = &self.locations else { return Some(Vec::new()) };
        let locations: Option<Vec<Location>> = serde_json::from_str(raw.get()).ok()?;
        Some(locations.unwrap_or_default())
    }

    fn contents(&self) -> Option<Vec<Content>> {
        let Some(raw) = &self.content else { return Some(Vec::new()) };
        let contents: Option<Vec<&RawValue>> = serde_json::from_str(raw.get()).ok()?;
        Some(contents.unwrap_or_default().into_iter().map(Content::read).collect())
    }
}

/// The newest calls of a turn.
#[derive(Debug, Default)]
pub(crate) struct Calls(VecDeque<(String, Call)>);

impl Calls {
    /// Takes in what is told of a call; whether it is told of for the first time.
    pub(crate) fn told(&mut self, id: String, told: Call) -> bool {
        if let Some((_, call)) = self.0.iter_mut().find(|(of, _)| *of == id) {
            call.update(told);
            return false;
        }
        if self.0.len() == CALLS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((id, told));
        true
    }

    /// A call as it is by what was told of it before and what a request tells.
    pub(crate) fn with(&self, id: &str, told: Call) -> Call {
        let mut call =
            self.0.iter().find(|(of, _)| of == id).map(|(_, call)| call.clone()).unwrap_or_default();
        call.update(told);
        call
    }
}

#[derive(Deserialize)]
struct Location {
    path: String,
    line: Option<u64>,
}

enum Content {
    Diff { path: String, old: Option<String>, new: String },
    Text(String),
}

impl Content {
    /// What is of a kind that is not known is shown as it came.
    fn read(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        enum Told {
            #[serde(rename_all = "camelCase")]
            Diff {
                path: String,
                old_text: Option<String>,
                new_text: String,
            },
            Content {
                content: Text,
            },
        }
        #[derive(Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        enum Text {
            Text { text: String },
        }
        match serde_json::from_str(raw.get()) {
            Ok(Told::Diff { path, old_text, new_text }) => Self::Diff { path, old: old_text, new: new_text },
            Ok(Told::Content { content: Text::Text { text } }) => Self::Text(text),
            Err(_) => Self::Text(raw.get().to_owned()),
        }
    }
}

/// JSON in several lines, or on one if the indent of deep lists would make far more of it than there is.
fn in_lines(value: &Value) -> Option<String> {
    let lines = serde_json::to_string_pretty(value).ok()?;
    if lines.len() <= 2 * CALL_BYTES_MAX { Some(lines) } else { serde_json::to_string(value).ok() }
}

/// The command of an input that has one. Of a list, each argument is quoted where it has to be.
fn command(input: &Value) -> Option<String> {
    match input.get("command")? {
        Value::String(command) => Some(command.clone()),
        Value::Array(arguments) => {
            let quoted = |argument: &Value| argument.as_str().map(quoted);
            Some(arguments.iter().map(quoted).collect::<Option<Vec<_>>>()?.join(" "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !argument.is_empty() && argument.chars().all(plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

/// Whether a string stands under a name for paths.
#[derive(Clone, Copy)]
enum Named {
    Path,
    No,
}

fn collect(value: &Value, named: Named, touches: &mut Touches) {
    match value {
        Value::String(text) => match named {
            Named::Path => touches.paths.push(text.clone()),
            Named::No => touches.words.push(text.clone()),
        },
        Value::Array(values) => values.iter().for_each(|value| collect(value, named, touches)),
        Value::Object(fields) => {
            for (name, value) in fields {
                let folded = name.to_ascii_lowercase();
                let is_path = PATH_NAMES.contains(&folded.as_str());
                collect(value, if is_path { Named::Path } else { Named::No }, touches);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn redacted(value: Value, secrets: &Secrets) -> Value {
    match value {
        Value::String(text) => Value::String(secrets.redact(&text)),
        Value::Array(values) => values.into_iter().map(|value| redacted(value, secrets)).collect(),
        Value::Object(fields) => {
            let each = |(name, value): (String, Value)| (secrets.redact(&name), redacted(value, secrets));
            Value::Object(fields.into_iter().map(each).collect())
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

/// The name that a call gives its tool: in the protocol's field, else in that of Claude's adapter.
fn tool_name(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: Option<String>,
        #[serde(rename = "_meta")]
        meta: Option<Meta>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta {
        claude_code: Option<ClaudeCode>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ClaudeCode {
        tool_name: Option<String>,
    }
    // What does not fit is a name that is not told.
    let named: Named = serde_json::from_str(raw.get()).ok()?;
    named.name.or_else(|| named.meta?.claude_code?.tool_name)
}

/// Gemini names the tool of a server in the title, which alone proves nothing, and begins the call's id with the name by
/// which it found the tool.
fn tool_by_id(id: &str, title: &str) -> Option<String> {
    let (tool, server) = title.strip_suffix(" MCP Server)")?.split_once(" (")?;
    let name = format!("mcp_{server}_{tool}");
    id.strip_prefix(&name)?.starts_with("__").then_some(name)
}
