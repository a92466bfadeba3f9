//! The report as text.

use server::wire::{AgentFindings, Checkup, Examined, Finding, Level, LoginState};

use super::{Report, text};

fn finding(level: Level, text: &str, remedy: Option<&str>) -> Finding {
    Finding { level, text: text.to_owned(), remedy: remedy.map(str::to_owned) }
}

#[test]
fn each_finding_stands_with_its_remedy_under_what_it_is_of() {
    let report = Report {
        server: false,
        checkup: Checkup {
            machine: vec![finding(Level::Ok, "all is well", None)],
            agents: vec![AgentFindings {
                handle: "bot".to_owned(),
                channel: "general".to_owned(),
                findings: vec![finding(Level::Fault, "bot was not found", Some("install it"))],
            }],
        },
        presets: vec![Examined {
            preset: "claude".to_owned(),
            title: "Claude Code".to_owned(),
            profiles: Vec::new(),
            command: Vec::new(),
            found: true,
            version: None,
            start_ms: None,
            login: LoginState::Unknown,
            reloads: None,
            system_prompt: None,
            steering: None,
            findings: vec![
                finding(Level::Warning, "it does not start: no\nsuch\u{1b}[2Jthing", Some("look")),
                finding(Level::Note, "so be it", None),
            ],
        }],
    };
    let expected = "\
No server runs: looked in the surroundings that one started here would have.

This machine
  ok       all is well

@bot of general
  FAULT    bot was not found
           → install it

claude: Claude Code
  warning  it does not start: no
           such⟨U+001B⟩[2Jthing
           → look
  note     so be it

1 fault, 1 warning
";
    assert_eq!(text(&report), expected);
}
