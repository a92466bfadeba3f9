//! The data folder is hidden from the agent but for the agent's own folder (6.11).

use std::fs;
use std::os::unix::fs::MetadataExt;

use agents::{EventKind, Started, Stop, Turn};
use serde_json::{Value, json};

use crate::world::{World, ended, text};

/// What the agent sees, told by its steps in one turn.
async fn seen(world: &mut World, steps: &[Value]) -> Vec<String> {
    let mut seen = Vec::new();
    for at in 0..steps.len() {
        let run = format!("r{}", at + 1);
        world.prompt(&run, "look");
        world.next().await;
        let event = world.after_updates().await;
        let EventKind::TurnEnded { turn: Turn { stop: Stop::EndTurn, text: Some(text), .. }, .. } = event
        else {
            panic!("{event:?}");
        };
        seen.push(text);
    }
    seen
}

#[tokio::test]
async fn an_agent_sees_its_own_folder_and_no_other() {
    let mut world = World::new();
    let data = world.path("data");
    fs::create_dir_all(data.join("a")).unwrap();
    fs::create_dir_all(data.join("b")).unwrap();
    fs::write(data.join("highwater.db"), "secret").unwrap();
    fs::write(data.join("a/mine"), "").unwrap();
    let looks = [
        json!({"look": data}),
        json!({"look": data.join("a")}),
        json!({"look": "."}),
        json!({"look": ".."}),
        json!({"look": data.join("b")}),
    ];
    let prompts: Vec<_> = looks.iter().map(|look| json!([look])).collect();
    let mut spec = world.hidden(world.spec(&json!({"prompts": prompts})));
    // In its own folder, so that the log shows that what it writes there is there.
    spec.env[1].1 = data.join("a/log").to_str().unwrap().to_owned();
    world.start(spec);
    let started = world.started().await;
    let seen = seen(&mut world, &looks).await;
    if started.notices.is_empty() {
        assert_eq!(seen, ["a", "log mine", "log mine", "a", "none"]);
    } else {
        skipped(&started);
        assert_eq!(seen[0], "a b highwater.db");
    }
    let names: Vec<_> =
        ["a/log", "b", "highwater.db"].iter().filter(|name| data.join(name).exists()).collect();
    assert_eq!(names.len(), 3, "outside nothing changed");
    world.finish().await;
}

#[tokio::test]
async fn an_agent_that_works_elsewhere_sees_no_data_either() {
    let mut world = World::new();
    let data = world.path("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("highwater.db"), "secret").unwrap();
    let looks = [json!({"look": data}), json!({"look": "."})];
    let prompts: Vec<_> = looks.iter().map(|look| json!([look])).collect();
    let mut spec = world.hidden(world.spec(&json!({"prompts": prompts})));
    spec.cwd = world.path("elsewhere");
    spec.env[1].1 = world.path("elsewhere/log").to_str().unwrap().to_owned();
    world.start(spec);
    let started = world.started().await;
    let seen = seen(&mut world, &looks).await;
    if started.notices.is_empty() {
        assert_eq!(seen, ["a", "log"]);
    } else {
        skipped(&started);
        assert_eq!(seen, ["a highwater.db", "log"]);
    }
    assert_eq!(fs::metadata(data.join("a")).unwrap().mode() & 0o777, 0o700);
    world.finish().await;
}

#[tokio::test]
async fn an_agent_cannot_uncover_the_data_folder_even_as_root() {
    let mut world = World::new();
    let data = world.path("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("highwater.db"), "secret").unwrap();
    let server = format!("/proc/{}/root{}", std::process::id(), data.display());
    let looks = [json!({"look": data}), json!({"look": server})];
    let prompts: Vec<_> = looks.iter().map(|look| json!([look])).collect();
    let mut spec = world.hidden(world.spec(&json!({"prompts": prompts})));
    // In its own folder the cover could be busy.
    spec.cwd = world.path("elsewhere");
    let tries = "cd /; umount -l \"$2\"; echo $? >\"$3\"; unshare -Ur umount -l \"$2\"; echo $? >>\"$3\"; exec \"$0\" \"$1\"";
    let (data, codes) = (data.display().to_string(), world.path("codes"));
    spec.command.extend([data, codes.display().to_string()]);
    spec.command.splice(..0, ["sh", "-c", tries].map(str::to_owned));
    world.start(spec);
    let started = world.started().await;
    let seen = seen(&mut world, &looks).await;
    if started.notices.is_empty() {
        assert_eq!(seen, ["a", "none"]);
        let codes = fs::read_to_string(codes).unwrap();
        assert!(codes.lines().all(|code| !["0", "127"].contains(&code)), "refused, not missing: {codes}");
    } else {
        skipped(&started);
    }
    world.finish().await;
}

/// Where the system refuses mount namespaces there is less to check; a folder that was not found is no such reason.
fn skipped(started: &Started) {
    let notices = &started.notices;
    eprintln!("SKIPPED: this system refuses mount namespaces: {notices:?}");
    let reason = notices[0].strip_prefix("the data folder could not be hidden from the agent: ");
    assert!(reason.is_some_and(|reason| !reason.starts_with("find ")), "{notices:?}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_hidden_is_told_and_the_agent_runs() {
    let mut world = World::new();
    let mut spec = world.hidden(world.spec(&json!({})));
    if let Some(hide) = &mut spec.hide {
        hide.folder = world.path("no-such-folder");
    }
    let started = world.in_turn(spec).await;
    let folder = world.path("no-such-folder").display().to_string();
    let notice = format!(
        "the data folder could not be hidden from the agent: find {folder}: No such file or directory (os error 2)"
    );
    assert_eq!(started.notices, [notice]);
    let turn = Turn { stop: Stop::EndTurn, text: Some("hello".to_owned()), usage: None };
    world.check(&[text("hello"), ended("r1", turn)]).await;
    world.finish().await;
}
