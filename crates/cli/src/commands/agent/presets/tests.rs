//! The table of presets.

use server::wire::{Examined, LoginState, Preset, Profile};

use super::{Row, list};

fn preset(name: &str, found: bool) -> Preset {
    Preset {
        name: name.to_owned(),
        title: "an agent".to_owned(),
        command: vec![name.to_owned()],
        found,
        install: Some(format!("npm install -g {name}@1")),
        profiles: vec![Profile::Tidy, Profile::Own],
    }
}

fn examined(preset: &Preset) -> Examined {
    Examined {
        preset: preset.name.clone(),
        title: preset.title.clone(),
        profiles: preset.profiles.clone(),
        command: preset.command.clone(),
        found: true,
        version: Some("2.6.0".to_owned()),
        start_ms: Some(300),
        login: LoginState::Out,
        reloads: Some(true),
        system_prompt: Some(false),
        steering: Some(true),
        findings: Vec::new(),
    }
}

#[test]
fn presets_are_listed_with_what_their_agents_told() {
    let (one, two, three) = (preset("one", true), preset("two", true), preset("three", false));
    let told = examined(&one);
    let silent = Examined {
        version: None,
        start_ms: None,
        login: LoginState::Unknown,
        reloads: None,
        system_prompt: None,
        steering: None,
        ..examined(&two)
    };
    let rows = [
        Row { preset: one, examined: Some(told) },
        Row { preset: two, examined: Some(silent) },
        Row { preset: three, examined: None },
    ];
    let expected = "\
PRESET  FOUND  VERSION         LOGIN   RELOADS  SYSTEM PROMPT  STEERING  PROFILES
one     yes    2.6.0           no      yes      no             yes       tidy, own
two     yes    does not start  untold                                    tidy, own
three   no                                                               tidy, own

What was not found can be installed on the server's machine with:
  three     npm install -g three@1
";
    assert_eq!(list(&rows), expected);
}
