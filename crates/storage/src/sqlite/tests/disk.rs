//! A disk that fails at its N-th call, for each N: what was acknowledged stays, the rest is whole or not there.
//!
//! The failing calls are made by `strace`, in a process of its own.

use std::process::{Command, Stdio};

use super::*;

/// Posts that are tried against a failing disk.
const POSTS: usize = 4;

/// Calls at which a disk is made to fail at most; a run makes fewer.
const CALLS_MAX: usize = 200;

/// So many calls in a row that fail without harm are taken for the end of all calls.
const HARMLESS_MAX: usize = 5;

/// Names the folder of the process that posts.
const FOLDER: &str = "HIGHWATER_TEST_FAILING_DISK";

/// In that process: posts, and tells what was acknowledged.
fn post_all(folder: &Path) {
    let mut store = match Sqlite::open(folder, at(1)) {
        Ok(store) => store,
        Err(error) => return println!("refused: {error}"),
    };
    for n in 0..POSTS {
        match post(&mut store, &format!("post {n}")) {
            Ok(_) => println!("acknowledged: post {n}"),
            Err(error) => println!("refused: {error}"),
        }
    }
    println!("done");
}

/// What it told while a call of this kind failed: the N-th, or all from the N-th on. `None` without `strace`.
#[expect(clippy::disallowed_methods, reason = "calls can be made to fail for another process alone")]
fn told(folder: &Path, call: &str, error: &str, when: &str) -> Option<Vec<String>> {
    let test = "sqlite::tests::disk::what_was_acknowledged_outlives_a_failing_disk";
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:error={error}:when={when}")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<String> = said.lines().map(str::to_owned).collect();
    if !lines.iter().any(|line| line == "done" || line.starts_with("refused: ")) {
        eprintln!("SKIPPED: strace cannot trace here: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(lines)
}

fn with(lines: &[String], word: &str) -> Vec<String> {
    lines.iter().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
}

/// Whether nothing failed any more: then there are no more calls of this kind.
fn check_failure(call: &str, error: &str, when: &str) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let data = data(&folder);
    let mut store = Sqlite::open(&data, at(0)).unwrap();
    store.add_channel("general", ChannelKind::Public, at(0)).unwrap();
    post(&mut store, "before").unwrap();
    drop(store);
    let lines = told(&data, call, error, when)?;
    let (acknowledged, refused) = (with(&lines, "acknowledged: "), with(&lines, "refused: "));
    let what = format!("{call} {error} at {when}: {lines:?}");
    let mut store = Sqlite::open(&data, at(2)).unwrap_or_else(|error| panic!("{what}: {error}"));
    let kept = texts(&store);
    let mut rest = kept.iter();
    // In order; a post that was refused may stand between them, whole, where its commit failed at the very end.
    for post in [&"before".to_owned()].into_iter().chain(&acknowledged) {
        assert!(rest.any(|text| text == post), "{post} is lost; {what}; kept {kept:?}");
    }
    assert!(
        kept.len() <= 1 + POSTS && kept.iter().skip(1).all(|text| text.starts_with("post ")),
        "{what}: {kept:?}"
    );
    check(what, store.channel("general").unwrap().last_seq, u64::try_from(kept.len()).unwrap());
    post(&mut store, "after").unwrap();
    let whole: String = store.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    check("integrity", whole, "ok".to_owned());
    Some(refused.is_empty() && acknowledged.len() == POSTS)
}

/// Fault experiment 3 (a full disk) and Fault experiment 4 (a disk that fails at its N-th call); I1
#[test]
fn what_was_acknowledged_outlives_a_failing_disk() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        post_all(Path::new(&folder));
        return;
    }
    let failures = [
        ("fsync,fdatasync", "EIO", 1),
        ("pwrite64", "EIO", 1),
        ("pwrite64", "ENOSPC", 5),
        ("ftruncate", "EIO", 1),
    ];
    for (call, error, step) in failures {
        let (mut failed, mut harmless) = (0, 0);
        for at in (1..=CALLS_MAX).step_by(step) {
            let Some(nothing) = check_failure(call, error, &at.to_string()) else { return };
            // Some calls may fail without harm, as those that only tidy up.
            if nothing {
                harmless += 1;
            } else {
                (failed, harmless) = (failed + 1, 0);
            }
            if harmless == HARMLESS_MAX {
                break;
            }
            assert!(at + step < CALLS_MAX, "{call} has no end");
        }
        println!("{call} {error}: {failed} calls");
        let expected = call == "fsync,fdatasync" || call == "pwrite64";
        assert!(failed > 0 || !expected, "no {call} failed");
        for at in [1, 2, 5, 9] {
            check_failure(call, error, &format!("{at}+"));
        }
    }
}
