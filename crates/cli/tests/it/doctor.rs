//! `highwater doctor`, `highwater agent presets` and `highwater agent login`, with agents that stand where real ones would.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::server::{Output, TestServer, program_path};

/// A server and a folder of programs, first on the PATH of commands that are run alone.
struct Ward {
    server: TestServer,
}

impl Ward {
    fn new() -> Self {
        Self { server: TestServer::start() }
    }

    fn programs(&self) -> PathBuf {
        self.server.home.path().join("programs")
    }

    /// Something that is started as Claude Code is: it plays this script, and is logged in once the file `login` is there.
    fn install_claude(&self, script: &Value) {
        let (login, agent) = (self.server.file("login"), program_path("scripted-agent"));
        let text = format!(
            "#!/bin/sh\n\
             case \"$*\" in\n\
             '--cli auth status') test -e {login}; exit;;\n\
             '--cli auth login') echo code > {login}; exit;;\n\
             esac\n\
             exec {} '{script}'\n",
            agent.display()
        );
        std::fs::create_dir_all(self.programs()).unwrap();
        let path = self.programs().join("claude-agent-acp");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Runs a command that finds the programs.
    fn alone(&self, args: &[&str]) -> Output {
        let mut command = self.server.command("highwater");
        let path = format!("{}:/usr/bin:/bin", self.programs().display());
        let output = command.env("PATH", path).args(args).output().unwrap();
        Output {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap(),
        }
    }
}

/// What Claude Code tells of itself, of the version that was tried.
fn claude() -> Value {
    let way = json!({"id": "claude-login", "name": "Claude Subscription", "type": "terminal",
        "args": ["--cli", "auth", "login"]});
    json!({"reload": ["load", "resume"], "system_prompt": true, "steering": true, "modes": ["auto", "default"],
        "initialize": [{"result": {"agentInfo": {"version": "0.101.0"}, "authMethods": [way]}}]})
}

#[test]
fn a_running_server_looks_at_itself_and_its_agents() {
    let ward = Ward::new();
    ward.server.ok(&[
        "agent",
        "add",
        "bot",
        "--channel",
        "general",
        "--env",
        "NO_SUCH_KEY",
        "--",
        "no-such-agent",
    ]);
    let told = ward.server.ok(&["doctor", "guide"]);
    for part in [
        "This machine\n",
        "@bot of general\n  FAULT    no-such-agent was not found\n",
        "the server's environment has no NO_SUCH_KEY",
        "guide: Built in",
        "it needs no login",
        "2 faults",
    ] {
        assert!(told.contains(part), "{part:?} is not in:\n{told}");
    }
    let json = ward.server.json(&["doctor", "guide"]);
    assert_eq!((&json["server"], &json["presets"][0]["login"]), (&json!(true), &json!("in")), "{json}");

    let none = ward.server.run(&["doctor", "nobody"]);
    assert_eq!((none.code, none.err.contains("no preset \"nobody\"")), (3, true), "{none:?}");

    let quick = ward.server.json(&["agent", "presets", "--quick"]);
    assert_eq!((&quick[0]["name"], &quick[0]["examined"]), (&json!("guide"), &Value::Null));
    let presets = ward.server.json(&["agent", "presets"]);
    assert_eq!(presets[0]["examined"]["login"], "in", "{presets}");
}

#[test]
fn without_a_server_it_looks_as_one_that_is_started_here_would() {
    let mut ward = Ward::new();
    ward.server.stop();
    ward.install_claude(&claude());
    let home = ward.server.home.path().join(".claude");
    std::fs::create_dir_all(&home).unwrap();
    let settings = r#"{"hooks": {"UserPromptSubmit": [{"hooks": []}]}}"#;
    std::fs::write(home.join("settings.json"), settings).unwrap();

    let told = ward.alone(&["doctor", "claude"]);
    assert_eq!(told.code, 0, "{told:?}");
    for part in [
        "No server runs: looked in the surroundings that one started here would have.",
        "its version, 0.101.0, is one that was tried",
        "nobody is logged in\n           → highwater agent login claude, or give a channel's agent a key of its own: --env",
        "Highwater sets its permission mode default, in which people are asked, instead of auto",
        "its sessions are reloaded",
        "settings.json has a hook UserPromptSubmit",
    ] {
        assert!(told.out.contains(part), "{part:?} is not in:\n{}", told.out);
    }
    assert_eq!(std::fs::read_to_string(home.join("settings.json")).unwrap(), settings);

    // Another that does not answer, and one that is not there.
    ward.install_claude(&json!({"initialize": [{"stderr": "this Node is too old\n"}, {"exit": 1}]}));
    let told = ward.alone(&["doctor", "claude"]).out;
    assert!(told.contains("FAULT    it does not start") && told.contains("this Node is too old"), "{told}");
    std::fs::remove_file(ward.programs().join("claude-agent-acp")).unwrap();
    let told = ward.alone(&["doctor", "claude"]).out;
    assert!(
        told.contains("note     claude-agent-acp was not found") && told.contains("npm install -g"),
        "{told}"
    );
}

#[test]
fn one_logs_in_by_the_agents_own_way() {
    let ward = Ward::new();
    ward.install_claude(&claude());
    let told = ward.alone(&["agent", "login", "claude"]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.out.contains("ok       somebody is logged in"), "{told:?}");
    assert_eq!(std::fs::read_to_string(ward.server.file("login")).unwrap(), "code\n");

    let by = |way: Value| {
        ward.install_claude(&json!({"initialize": [{"result": {"authMethods": [way]}}],
            "authenticate": [{"stderr": "open the page\n"}, {"delay_ms": 20}]}));
        ward.alone(&["agent", "login", "claude"])
    };
    let itself = by(json!({"id": "browser", "name": "A browser"}));
    assert_eq!(itself.code, 0, "{itself:?}");
    assert!(itself.err.contains("open the page"), "{itself:?}");
    let variable =
        by(json!({"id": "key", "name": "A key", "type": "env_var", "vars": [{"name": "SOME_KEY"}]}));
    assert_eq!((variable.code, variable.err.contains("--env SOME_KEY")), (5, true), "{variable:?}");
}

/// A version that was not tried works, and the run that began it says so.
#[test]
fn a_newer_version_works_with_a_notice() {
    let ward = Ward::new();
    ward.install_claude(&json!({"modes": ["auto", "default"],
        "initialize": [{"result": {"agentInfo": {"version": "0.102.0"}}}]}));
    let path = format!("PATH={}:/usr/bin:/bin", ward.programs().display());
    ward.server.ok(&["agent", "add", "claude", "--channel", "general", "--preset", "claude", "--env", &path]);
    let asked = ward.server.ask("general", "@claude hello", &[]);
    let run = &asked["runs"][0];
    assert_eq!(run["status"], "succeeded", "{run}");
    let steps = ward.server.show(run["id"].as_str().unwrap())["events"].to_string();
    assert!(steps.contains("the agent is version 0.102.0; it was tried with >=0.101.0, <0.102.0"), "{steps}");
}
