//! The official TypeScript client at the tools, over streamable HTTP and over the bridge. It needs Node and packages,
//! which `cargo xtask test` brings.

use serde_json::{Value, json};

use super::{TOOLS, new_access, post_many};
use crate::server::{TestServer, command, program_path, wait_until};

/// What the client's program printed.
fn client(over: &str, url: &str, token: &str) -> Value {
    let folder = std::env::var("HIGHWATER_MCP_SDK").expect("cargo xtask test sets HIGHWATER_MCP_SDK");
    let mut node = command("node".as_ref());
    node.args(["client.mjs", over]).current_dir(folder).env("HIGHWATER_PROGRAM", program_path("highwater"));
    let output = node.env("HIGHWATER_MCP_URL", url).env("HIGHWATER_MCP_TOKEN", token).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_official_client_lists_and_calls_every_tool_and_pages_without_a_gap() {
    for over in ["http", "bridge"] {
        let server = TestServer::start();
        let (url, token) = new_access(&server, "echo", "general");
        post_many(&server, 1_000);
        // The tools for posting and declining are for those who have a turn.
        let asked = server.json(&["post", "general", r#"@echo SCRIPT:{"prompt":[{"await_cancel":true}]}"#]);
        let run = asked["runs"][0]["id"].as_str().unwrap();
        wait_until("its turn has begun", || server.show(run)["status"] == "running");
        let told = client(over, &url, &token);
        check_told(over, &told);
        server.ok(&["run", "cancel", run]);
        wait_until("its turn has ended", || server.show(run)["ended_at"].is_string());
        let replies = &server.show(run)["replies"];
        let posted =
            replies.as_array().unwrap().iter().find(|reply| reply["text"] == "from the official client");
        assert_eq!(posted.map(|reply| &reply["author"]["name"]), Some(&json!("@echo")), "{over}: {replies}");
    }
}

fn check_told(over: &str, told: &Value) {
    let names: Vec<&str> = told["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!((told["server"].as_str(), names.join(" ")), (Some("highwater"), TOOLS.to_owned()), "{over}");
    let text = |name: &str| (told[name]["text"].as_str().unwrap(), told[name]["failed"] == true);
    assert!(text("roster").0.contains("- [agent] @echo (you)"), "{over}: {told}");
    assert_eq!(text("activity"), ("This channel has no project.", false), "{over}");
    assert_eq!(text("missing"), ("no such message: m999999", true), "{over}");
    assert!(text("posted").0.starts_with("Posted") && !text("posted").1, "{over}: {}", told["posted"]);
    assert!(
        text("declined").0.starts_with("Declined.") && !text("declined").1,
        "{over}: {}",
        told["declined"]
    );
    let mut seen: Vec<&str> = Vec::new();
    for page in told["pages"].as_array().unwrap() {
        let lines = page.as_str().unwrap().lines().filter(|line| line.starts_with("- "));
        seen.splice(0..0, lines);
    }
    let messages: Vec<&str> =
        seen.iter().filter_map(|line| line.split_once("[user] olive: message ")).map(|(_, n)| n).collect();
    let expected: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    assert_eq!(messages, expected, "{over}: each once and in order");
}
