//! What other hosts did to a session's prompt, tried on the whole program without a real agent.

use std::collections::BTreeMap;
use std::path::Path;

use crate::server::TestServer;

/// Each file below a folder, with its text.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.display().to_string(), std::fs::read_to_string(&path).unwrap());
        }
    }
    found
}

/// Cache breaks T12 and B3.45: the host writes nothing where an agent looks for its instructions, neither with a mention nor
/// with a start.
#[test]
fn the_host_writes_nothing_where_agents_look() {
    let mut server = TestServer::start();
    let folder = server.home.path().join("project");
    std::fs::create_dir_all(folder.join(".claude")).unwrap();
    for name in ["CLAUDE.md", "AGENTS.md", ".claude/settings.json", ".mcp.json"] {
        std::fs::write(folder.join(name), format!("the user's own {name}\n")).unwrap();
    }
    let before = files(&folder);
    let kept = r#"SCRIPTED_SCRIPT={"system_prompt":true}"#;
    server.add_scripted("echo", "general", "log", &["--env", kept, "--cwd", &folder.display().to_string()]);
    server.add_scripted("bare", "general", "log-bare", &["--env", kept]);
    let own = server.data().join("agents/b-bare");
    let mut first = None;
    for round in 0..2 {
        for number in 0..2 {
            let asked = server.ask("general", &format!("@echo @bare question {round} {number}"), &[]);
            for run in asked["runs"].as_array().unwrap() {
                assert_eq!(run["status"], "succeeded", "{run}");
            }
        }
        assert_eq!(files(&folder), before, "round {round}");
        let own = files(&own);
        assert_eq!(first.get_or_insert_with(|| own.clone()), &own, "round {round}");
        server.stop();
        server.start_again(&[]);
    }
}
