//! The data folder is hidden from the agent but for the agent's own folder (6.11).

use std::fs;
use std::os::unix::fs::MetadataExt;

use agents::{EventKind, Started, Stop, Turn};
use serde_json::{Value, json};

use crate::world::{self, World, ended, text};

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

/// Disks and folders may be mounted twice.
#[tokio::test]
async fn no_other_mount_leads_to_the_data_folder() {
    if !world::can_unshare() {
        eprintln!("SKIPPED: this system refuses namespaces");
        return;
    }
    // A mount namespace for the holder, in which there are such.
    let mounts = "mkdir -p $D/b $D/../alias $D/../part && echo secret >$D/b/mine && mount --bind $D/.. $D/../alias && mount --bind $D/b \
                  $D/../part && mount --bind $D/highwater.db $D/../file && exec \"$@\"";
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("highwater.db"), "secret").unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let script = format!("D={}; {mounts}", data.display());
    let holder = ["unshare", "-Urm", "sh", "-c", &script, "sh", &world::scripted(), "hold"];
    let mut world = World::with_holder(holder.map(str::to_owned).to_vec(), 64);
    let look = "cat $D/highwater.db $D/b/mine $D/../alias/data/highwater.db $D/../alias/data/b/mine $D/../part/mine $D/../file; \
                ls $D/../alias $D/../alias/data; echo done";
    let look = json!({"sh": format!("D={}; {look}", data.display())});
    let mut spec = world.spec(&json!({"prompt": [look]}));
    spec.hide = Some(agents::Hide { folder: data.clone(), but: data.join("a") });
    world.start(spec);
    let started = world.started().await;
    assert_eq!(started.notices, Vec::<String>::new());
    let seen = seen(&mut world, &[look]).await;
    assert!(
        seen[0].contains("alias") && seen[0].contains("done") && !seen[0].contains("secret"),
        "{}",
        seen[0]
    );
    world.finish().await;
}

/// An agent runs where the system lets nothing be hidden, and says so.
#[tokio::test]
async fn where_namespaces_are_refused_the_agent_runs_and_says_so() {
    if !world::can_unshare() {
        eprintln!("SKIPPED: this system refuses namespaces");
        return;
    }
    let none = "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -sys_admin \"$@\"";
    let no_pids = "echo 0 >/proc/sys/user/max_pid_namespaces && exec \"$@\"";
    let hidden = "the data folder could not be hidden from the agent: a mount namespace is refused: ENOSPC: No space left on device";
    let apart = "the agent could not be given processes of its own: a process namespace is refused: ENOSPC: No space left on device";
    let neither = "the agent could not be given processes of its own: a mount namespace is refused: ENOSPC: No space left on device";
    for (refuse, expect) in [(none, vec![hidden, neither]), (no_pids, vec![apart])] {
        let holder = ["unshare", "-Ur", "sh", "-c", refuse, "sh", &world::scripted(), "hold"];
        let mut world = World::with_holder(holder.map(str::to_owned).to_vec(), 64);
        fs::create_dir(world.path("data")).unwrap();
        let spec = world.hidden(world.spec(&json!({})));
        let started = world.in_turn(spec).await;
        assert_eq!(started.notices, expect);
        world.finish().await;
    }
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
