//! `highwater doctor --try` with the real agent: what is installed works here.

use serde_json::Value;

use crate::real::programs;
use crate::server::TestServer;

#[test]
fn doctor_tries_claude_with_a_restart() {
    let server = TestServer::start();
    let mut command = server.command("highwater");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs().display());
    let output = command.env("PATH", path).args(["doctor", "claude", "--try", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    // The server itself has another PATH, and does not find it: that is what doctor then says.
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["presets"][0]["found"], false, "{report}");

    let mut server = server;
    server.stop();
    let mut command = server.command("highwater");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs().display());
    let output = command.env("PATH", path).args(["doctor", "claude", "--try", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let claude = &report["presets"][0];
    let told = claude["findings"].to_string();
    for part in [
        "its version, 0.101.0, is one that was tried",
        "it answered three mentions with 3 requests",
        "its session went on in another process",
        "the provider's cache holds",
    ] {
        assert!(told.contains(part), "{part:?} is not in {told}");
    }
    assert_eq!((&claude["login"], &claude["reloads"]), (&Value::from("out"), &Value::from(true)), "{told}");
    assert!(!told.contains("\"fault\""), "{told}");
}
