//! The measurement as a program, without a real agent: what it refuses, and that nothing of it stays.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::server::{command, program_path, terminate, wait_until};

/// A measurement with its temporary folder and programs of this name alone on its PATH, beside the system's.
fn measure(folder: &Path, args: &[&str]) -> Command {
    let temporary = folder.join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut measure = command(&program_path("highwater"));
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    measure.arg("measure").args(args).current_dir(folder).env_clear().env("HOME", folder);
    measure.env("PATH", path).env("TMPDIR", temporary);
    measure.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    measure
}

/// A program that stands for an agent's.
fn program(folder: &Path, name: &str, script: &str) {
    let path = folder.join("bin").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn left(folder: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(folder.join("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[track_caller]
fn check(args: &[&str], code: i32, says: &[&str]) {
    let folder = TempDir::new().unwrap();
    program(folder.path(), "claude-agent-acp", "echo 'it cannot start' >&2; exit 3");
    program(folder.path(), "node", "echo v18.1.0");
    let output = measure(folder.path(), args).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(code), true), "{args:?}: {err}");
    for part in says {
        assert!(err.contains(part), "{args:?}: no {part:?} in {err}");
    }
    assert_eq!(left(folder.path()), Vec::<std::path::PathBuf>::new(), "{args:?}");
}

#[test]
fn what_cannot_be_measured_is_refused_with_what_to_do() {
    check(&["--agent", "nobody"], 3, &["no preset \"nobody\"", "claude, codex, opencode, gemini"]);
    check(&["--agent", "guide"], 5, &["asks no model"]);
    check(&["--agent", "codex"], 3, &["codex-acp is not on the PATH", "npm install -g"]);
    check(&["--agent", "codex", "--own-home"], 5, &["file of its home"]);
    check(&["--mentions", "0"], 2, &["--mentions"]);
}

#[test]
fn an_agent_that_fails_is_told_with_its_reason() {
    let says = ["it cannot start", "mention 1 of tidy window", "v18.1.0; the agent needs 22"];
    check(&["--profile", "tidy", "--mentions", "1"], 9, &says);
}

/// What lives in the folder, or is named after it, but for the measurement itself.
fn living(folder: &Path, measurement: &Child) -> Vec<String> {
    let folder = folder.display().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let told = processes.filter_map(|entry| {
        let arguments = fs::read(entry.path().join("cmdline")).ok()?;
        let cwd = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        let is_other = entry.file_name().to_string_lossy() != measurement.id().to_string();
        let is_there = arguments.contains(&folder) || cwd.starts_with(&folder);
        (is_other && is_there).then_some(arguments)
    });
    told.collect()
}

#[test]
fn nothing_stays_when_it_is_broken_off() {
    let folder = TempDir::new().unwrap();
    program(folder.path(), "claude-agent-acp", "touch \"$HOME/started\"; exec sleep 1000");
    let started = |path: &Path| {
        let servers = fs::read_dir(path).into_iter().flatten().flatten();
        servers
            .flat_map(|one| fs::read_dir(one.path()).into_iter().flatten().flatten())
            .any(|number| number.path().join("home/started").exists())
    };
    let mut child = measure(folder.path(), &["--profile", "tidy"]).spawn().unwrap();
    wait_until("the agent was started", || started(&folder.path().join("tmp")));
    terminate(&child);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(left(folder.path()), Vec::<std::path::PathBuf>::new());
    assert_eq!(living(folder.path(), &child), Vec::<String>::new());
}
