//! The sessions that the agent keeps on disk, so that a later process can reload them.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Where sessions are kept when the script only says that they are.
const FOLDER: &str = ".scripted-sessions";

/// The store, and the history of the session that is open in it.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    open: Option<PathBuf>,
    /// Who said what: `user` or `agent`, and the text.
    history: Vec<(String, String)>,
    /// How much of the history was replayed.
    replayed: usize,
}

impl Store {
    /// The store that the script's field names: `true` or a folder.
    pub(crate) fn new(field: &Value) -> Option<Self> {
        let folder = match field.as_str() {
            Some(folder) => folder.into(),
            None if *field == true => FOLDER.into(),
            None => return None,
        };
        Some(Self { folder, open: None, history: Vec::new(), replayed: 0 })
    }

    /// Opens a new session.
    pub(crate) fn begin(&mut self, session: &str) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let file = self.file(session);
        std::fs::write(&file, "")?;
        (self.open, self.history, self.replayed) = (Some(file), Vec::new(), 0);
        Ok(())
    }

    /// Opens a session that is there.
    pub(crate) fn reload(&mut self, session: &str) -> io::Result<()> {
        let file = self.file(session);
        let lines = std::fs::read_to_string(&file)?;
        let entry = |line: &str| {
            let entry: Value = serde_json::from_str(line).ok()?;
            Some((entry["who"].as_str()?.to_owned(), entry["text"].as_str()?.to_owned()))
        };
        self.history = lines.lines().filter_map(entry).collect();
        (self.open, self.replayed) = (Some(file), 0);
        Ok(())
    }

    /// Adds to the open session.
    pub(crate) fn add(&mut self, who: &str, text: &str) -> io::Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        self.history.push((who.to_owned(), text.to_owned()));
        let line = format!("{}\n", json!({ "who": who, "text": text }));
        OpenOptions::new().create(true).append(true).open(open)?.write_all(line.as_bytes())
    }

    /// The updates that replay the next `count` entries, or with 0 all that are left.
    pub(crate) fn replay(&mut self, count: usize) -> Vec<Value> {
        let left = &self.history[self.replayed.min(self.history.len())..];
        let count = if count == 0 { left.len() } else { count.min(left.len()) };
        self.replayed += count;
        let update = |(who, text): &(String, String)| json!({ "sessionUpdate": format!("{who}_message_chunk"), "content": { "type": "text", "text": text } });
        left[..count].iter().map(update).collect()
    }

    /// Forgets the open session's history.
    pub(crate) fn forget(&mut self) {
        self.history.clear();
        self.replayed = 0;
    }

    /// Whether something that was said in the open session before its newest prompt holds this text.
    pub(crate) fn recalled(&self, text: &str) -> bool {
        let newest = self.history.iter().rposition(|(who, _)| who == "user").unwrap_or_default();
        self.history[..newest].iter().any(|(_, said)| said.contains(text))
    }

    /// The sessions that there are.
    pub(crate) fn sessions(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(str::to_owned)).collect();
        names.sort();
        names
    }

    fn file(&self, session: &str) -> PathBuf {
        // An id that is no file's name has no file.
        let name = Path::new(session).file_name().unwrap_or_default();
        self.folder.join(name).with_extension("jsonl")
    }
}
