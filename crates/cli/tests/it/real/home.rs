//! What is the user's: under `tidy` their notes, skills, tool servers and settings hold, and stay as they are, byte for byte.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{DAY, NOTED, Real, ground, programs, text_of};
use crate::server::TestServer;

/// A tool server of the user's, which is slow to begin: the first request must have its tool nevertheless.
const SERVER: &str = r#"
let begun = false;
const tools = [{ name: "samovar", description: "Heats", inputSchema: { type: "object", properties: {} } }];
const results = {
  initialize: (params) => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: "mine", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": () => ({ content: [{ type: "text", text: "boiling" }] }),
};
const answer = (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = results[method]?.(params);
  const error = { code: -32601, message: "unknown" };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
};
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  if (begun) return answer(line);
  begun = true;
  setTimeout(() => answer(line), 3000);
});
"#;

const SKILL: &str = "---\nname: brew\ndescription: Brews tea by the book of samovars\n---\nBoil water.\n";
const NOTES: &str = "Always greet with the word marmalade.\n";

/// A user's home, whose paths and texts are an agent's.
pub(super) struct Home {
    agent: &'static str,
    server: TestServer,
    files: Vec<PathBuf>,
}

impl Home {
    pub(super) fn of(agent: &'static str) -> Self {
        let server = TestServer::start_in(&ground());
        let home = Self { agent, server, files: Vec::new() };
        std::fs::write(home.path("mine.cjs"), SERVER).unwrap();
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.server.home.path().join(path)
    }

    /// Program and argument of the user's tool server.
    pub(super) fn mine(&self) -> [String; 2] {
        [programs().join("node"), self.path("mine.cjs")].map(|path| path.display().to_string())
    }

    /// A file that has to stay as it is.
    #[must_use]
    pub(super) fn with(mut self, path: &str, text: &str) -> Self {
        self.files.push(self.write(path, text));
        self
    }

    /// A file that the agent may change.
    pub(super) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Notes and a skill, where the agent looks for them.
    #[must_use]
    pub(super) fn with_notes_and_skill(self, notes: &str, skills: &str) -> Self {
        self.with(notes, NOTES).with(&format!("{skills}/brew/SKILL.md"), SKILL)
    }

    /// The agent joins; `settings` makes the user's out of those that point it at the provider.
    pub(super) fn joined(self, rules: &Value, settings: impl Fn(&str) -> String) -> (Real, Untouched) {
        let Self { agent, server, mut files } = self;
        let real = Real::before(DAY, server, agent, rules);
        for (path, text) in provider::wiring(agent, &real.provider.base_url()).unwrap().files {
            let path = real.server.home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, settings(&text)).unwrap();
            files.push(path);
        }
        let texts = files.iter().map(|path| std::fs::read(path).unwrap()).collect();
        real.add(agent, "general", &[]);
        (real, Untouched { files, texts })
    }
}

/// Files and what they held.
pub(super) struct Untouched {
    files: Vec<PathBuf>,
    texts: Vec<Vec<u8>>,
}

impl Untouched {
    /// After the agent has ended, too.
    pub(super) fn check(&self, mut real: Real) {
        real.server.stop();
        for (path, text) in self.files.iter().zip(&self.texts) {
            let now = std::fs::read(path).unwrap();
            let (now, text) = (String::from_utf8_lossy(&now), String::from_utf8_lossy(text));
            assert_eq!(now, text, "{} was changed", path.display());
        }
    }
}

/// The first request has all of these.
pub(super) fn check_first_request(real: &Real, marks: &[&str]) {
    assert_eq!(text_of(&real.ask("question 1")), NOTED);
    let requests = real.provider.requests();
    assert_eq!(requests.len(), 1, "nothing is asked beside the turn");
    for mark in marks {
        assert!(requests[0].body.contains(mark), "{mark} is not told: {}", requests[0].body);
    }
}

/// What stands in both the notes and the skill.
pub(super) const MARKS: [&str; 2] = ["marmalade", "book of samovars"];

/// Settings in JSON, with more.
pub(super) fn with_more(settings: &str, more: Value) -> String {
    let mut settings: Value = serde_json::from_str(settings).unwrap();
    let Value::Object(more) = more else { panic!("{more}") };
    settings.as_object_mut().unwrap().extend(more);
    format!("{settings:#}\n")
}

/// A dummy of a login.
pub(super) fn credentials() -> String {
    format!("{:#}\n", json!({"dummy": "not a real one"}))
}
