//! What a killed server left is found by its records: by names that no other process can have (6.8).

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use agents::{EventKind, Sight, Spec};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::trees::kill;
use crate::world::{RECORDS, World, gone, handle, sights};

/// A process of nobody's: no mark, no holder.
#[expect(clippy::disallowed_methods, reason = "a process to be found has to be there")]
fn sleeper() -> Child {
    let mut sleeper = Command::new("sleep");
    sleeper.arg("1000").env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    sleeper.spawn().unwrap()
}

/// When a process was started, in ticks.
fn started(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(19).unwrap().parse().unwrap()
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned()
}

fn write(folder: &Path, epoch: u32, record: &Value) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(format!("{epoch}.json")), record.to_string()).unwrap();
}

/// Sweeps the records and tells how many processes that killed. There is no such mark.
fn sweep(folder: &Path) -> usize {
    let killed = agents::sweep("no such mark", folder);
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(left, Vec::<std::path::PathBuf>::new(), "records are taken away");
    killed
}

/// Rule 6.8 and public report E51: what is left is told by number and start, so that whoever has the number now is left alone.
#[test]
fn a_recycled_number_is_never_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = sleeper();
    let (pid, start) = (other.id(), started(other.id()));
    let root = |started: u64| json!({"pid": pid, "started": started});
    write(folder.path(), 1, &json!({"boot": boot(), "roots": [root(start - 1), root(start + 1)]}));
    write(folder.path(), 2, &json!({"boot": "another", "roots": [root(start)]}));
    write(folder.path(), 3, &json!({"boot": boot(), "roots": [pid]}));
    write(folder.path(), 4, &json!("half a rec"));
    fs::write(folder.path().join("5.new"), "{").unwrap();
    assert_eq!(sweep(folder.path()), 0);
    assert_eq!(other.try_wait().unwrap(), None, "it was killed");

    write(folder.path(), 1, &json!({"boot": boot(), "roots": [root(start)]}));
    assert_eq!(sweep(folder.path()), 1);
    assert_eq!(other.wait().unwrap().code(), None);
}

/// A tree is found from its holder down, whatever its processes did with their environment and their session.
#[tokio::test]
async fn a_recorded_tree_dies_whole() {
    for &sight in sights() {
        let processes = match sight {
            Sight::Own => 4,
            Sight::All => 3,
        };
        let mut world = World::new();
        let script = json!({"new": [{"stranger": world.path("stranger")}], "ignore_eof": true});
        world.start(Spec { sight, ..world.spec(&script) });
        let holder = i32::try_from(world.started().await.pid).unwrap();
        let (holder_ends, stranger_ends) = (handle(holder), handle(world.told("stranger")));
        let records = world.path(RECORDS);
        assert_eq!(world.records(), [records.join("1.json")]);
        // As a holder that cannot do its work when the server is gone.
        kill(holder, Signal::STOP);
        let swept = tokio::task::spawn_blocking(move || agents::sweep("no such mark", &records));
        assert_eq!(swept.await.unwrap(), processes, "holders, agent and its child");
        gone(holder_ends).await;
        gone(stranger_ends).await;
        while !matches!(world.next().await, EventKind::Exited { reason: Some(_) }) {}
        world.over().await;
    }
}
