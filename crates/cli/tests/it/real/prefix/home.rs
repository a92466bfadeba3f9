//! The home of somebody who has set Claude Code up: notes, a skill, a tool server of their own, and a repository.

use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::real::programs;
use crate::server::{TestServer, command};

/// A tool server over standard input and output.
const OWN: &str = r#"
require("fs").writeFileSync(process.argv[2], String(process.pid));
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "own", version: "1" } },
    "tools/list": { tools: [{ name: "ping", description: "Answers.", inputSchema: { type: "object", properties: {} } }] },
    "tools/call": { content: [{ type: "text", text: "pong" }] },
  }[method];
  const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});
"#;

/// What lies outside of the home, for as long as it is needed.
pub(super) struct Home {
    outside: TempDir,
}

impl Home {
    pub(super) fn new() -> Self {
        Self { outside: TempDir::new().unwrap() }
    }

    /// The configuration of a server with one place.
    pub(super) fn config(&self) -> String {
        let file = self.outside.path().join("config.toml");
        std::fs::write(&file, "pool_size = 1\n").unwrap();
        file.display().to_string()
    }

    pub(super) fn furnish(&self, server: &TestServer) {
        let home = server.home.path();
        let write = |path: &str, text: &str| {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("work/NOTES", "Nothing yet.\n");
        write(".claude/CLAUDE.md", "Always greet with the word marmalade.\n");
        write(
            ".claude/skills/brew/SKILL.md",
            "---\nname: brew\ndescription: Brews tea by the book of samovars\n---\nBoil water.\n",
        );
        let settings = json!({"permissions": {"allow": ["mcp__own"]}});
        write(".claude/settings.json", &settings.to_string());
        write("own.js", OWN);
        let node = programs().join("node");
        let args = json!([server.file("own.js"), Self::own_pid(server)]);
        let own = json!({"type": "stdio", "command": node, "args": args});
        write(".claude.json", &json!({"mcpServers": {"own": own}}).to_string());
        write("app/README", "hello\n");
        for args in
            [&["init", "--quiet", "--initial-branch=main"][..], &["add", "."], &["commit", "-qm", "first"]]
        {
            git(server, &home.join("app"), args);
        }
    }

    /// Where the user's own tool server says by which number it is known.
    pub(super) fn own_pid(server: &TestServer) -> String {
        server.file("own.pid")
    }

    /// The user's own tool server cannot be started any more.
    pub(super) fn hide_own(server: &TestServer) {
        std::fs::rename(server.file("own.js"), server.file("own-away.js")).unwrap();
    }

    pub(super) fn show_own(server: &TestServer) {
        std::fs::rename(server.file("own-away.js"), server.file("own.js")).unwrap();
    }

    /// The agent's worktree is on another branch, with a commit.
    pub(super) fn switch_branch(server: &TestServer) {
        let worktrees = server.json(&["worktree", "list"]);
        let worktree = PathBuf::from(worktrees[0]["path"].as_str().unwrap());
        std::fs::write(worktree.join("README"), "changed\n").unwrap();
        for args in [&["checkout", "--quiet", "-b", "elsewhere"][..], &["commit", "-qam", "second"]] {
            git(server, &worktree, args);
        }
    }
}

fn git(server: &TestServer, folder: &Path, args: &[&str]) {
    let mut git = command(Path::new("git"));
    git.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", server.home.path());
    git.args(["-c", "user.name=aiko", "-c", "user.email=aiko@example.org"]);
    let output = git.args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}
