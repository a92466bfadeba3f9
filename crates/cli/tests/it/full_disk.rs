//! A disk without space, and one that fails, under a real server: what is refused leaves nothing, and all goes on after.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::http::Http;
use crate::server::{TestServer, command, wait_until};

/// Set where the folder for temporary files is a small file system of its own.
const SMALL: &str = "HIGHWATER_TEST_SMALL_DISK";

/// Fault experiment 3: no space during a post, a turn, an export, a backup and the checkpoint of an orderly stop. What
/// cannot be stored is refused with status 507; nothing half-written; all goes on with space. I1, I2
#[test]
fn a_full_disk_refuses_and_recovers() {
    let test = "full_disk::a_full_disk_refuses_and_recovers";
    if std::env::var_os(SMALL).is_some() {
        refuses_and_recovers();
        println!("recovered");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=24m none \"$TMPDIR\" && echo mounted && exec \"$@\"";
    let mut again = command(Path::new("unshare"));
    again.args(["-Urm", "sh", "-c", script, "sh"]).arg(std::env::current_exe().unwrap());
    again.args(["--exact", test, "--nocapture"]).env("TMPDIR", folder.path()).env(SMALL, "1");
    let output = again.output().unwrap();
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !printed.contains("mounted") {
        eprintln!("SKIPPED: this system refuses a file system of our own: {printed}");
        return;
    }
    assert!(output.status.success() && printed.contains("recovered"), "{printed}");
}

/// Takes all the space there is.
struct Filler(PathBuf);

impl Filler {
    fn fill(server: &TestServer) -> Self {
        let path = PathBuf::from(server.file("filler"));
        let mut file = File::create(&path).unwrap();
        for size in [1 << 16, 1 << 12] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
        Self(path)
    }

    fn remove(self) {
        fs::remove_file(self.0).unwrap();
    }
}

fn texts(http: &Http) -> Vec<String> {
    let history = http.ok("GET", "/channels/general/messages?limit=1000", &Value::Null);
    let text = |message: &Value| message["text"].as_str().unwrap().to_owned();
    history.as_array().unwrap().iter().map(text).collect()
}

fn owner(server: &TestServer) -> Http {
    let token = fs::read_to_string(server.data().join("owner-token")).unwrap();
    Http::new(server).token(token.trim())
}

/// Posts until one is refused for want of space; adds those that were acknowledged.
fn post_until_refused(http: &Http, acknowledged: &mut Vec<String>) {
    let refused = loop {
        let text = format!("{} {}", acknowledged.len(), "x".repeat(8_000));
        let answer = http.call("POST", "/channels/general/messages", &json!({ "text": text }));
        if answer.status != 200 {
            break answer;
        }
        acknowledged.push(text);
    };
    assert_eq!((refused.status, &refused.body["code"]), (507, &json!("storage_full")), "{refused:?}");
}

fn refuses_and_recovers() {
    let mut server = TestServer::start();
    server.add_scripted("echo", "general", "log", &[]);
    let http = owner(&server);
    let go = server.file("go");
    let steps = format!(
        r#"@echo SCRIPT:{{"prompt":[{{"sh":"until [ -e {go} ]; do sleep 0.02; done"}},{{"text":" done"}}]}}"#
    );
    server.ok(&["post", "general", &steps]);
    let run = || server.json(&["run", "list", "--limit", "1"])[0].clone();
    wait_until("it runs", || run()["status"] == "running");
    let mut expected = texts(&http);

    let filler = Filler::fill(&server);
    post_until_refused(&http, &mut expected);
    assert_eq!(texts(&http), expected, "what was refused is not there, and what is there can be read");
    for (command, file) in [("export", "history.jsonl"), ("backup", "copy.db")] {
        let output = server.run(&[command, &server.file(file)]);
        assert_eq!(output.code, 8, "{command}: {output:?}");
        assert!(!Path::new(&server.file(file)).exists(), "{command} left half a file");
    }
    // Its answer waits in memory for space.
    File::create(&go).unwrap();
    post_until_refused(&http, &mut expected);
    filler.remove();
    wait_until("the turn has ended", || run()["status"] == "succeeded");
    let answer = texts(&http).pop().unwrap();
    assert!(answer.ends_with("done"), "{answer}");
    expected.push(answer);
    assert_eq!(texts(&http), expected);
    server.ok(&["export", &server.file("history.jsonl")]);

    let filler = Filler::fill(&server);
    post_until_refused(&http, &mut expected);
    server.stop();
    filler.remove();
    server.start_again(&[]);
    let http = owner(&server);
    assert_eq!(texts(&http), expected);
    let asked = server.ask("general", r#"@echo SCRIPT:{"prompt":[{"text":"hello"}]}"#, &[]);
    assert_eq!(asked["runs"][0]["status"], "succeeded", "{asked}");
}

/// Posts that are tried against a disk that fails.
const POSTS: usize = 20;

/// What a server did whose flushes fail.
#[derive(Debug, Default)]
struct Failing {
    acknowledged: Vec<String>,
    refused: usize,
    /// What could be read while they failed.
    read: Vec<String>,
}

/// Serves while flushes fail, posts, and is killed; `None` if it did not start.
fn serve_failing(server: &mut TestServer, when: &str) -> Option<Failing> {
    let inject = format!("inject=fsync,fdatasync:error=EIO:when={when}");
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", &inject];
    let mut failing = None;
    if server.start_under(&strace) {
        let http = owner(server);
        let mut did = Failing::default();
        for n in 0..POSTS {
            let text = format!("{when} {n}");
            let answer = http.call("POST", "/channels/general/messages", &json!({ "text": text }));
            match answer.status {
                200 => did.acknowledged.push(text),
                _ => did.refused += 1,
            }
        }
        did.read = texts(&http);
        failing = Some(did);
        let pid = rustix::process::Pid::from_raw(i32::try_from(server.pid()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    wait_until("it has ended", || server.died().is_some());
    failing
}

/// Fault experiment 4: flushes fail, from the N-th of a thread on or the N-th alone. Nothing is acknowledged that is lost, what
/// was refused is whole or not there, what is there can be read meanwhile, and the next start goes on. I1, I2
#[test]
fn a_disk_that_does_not_flush_acknowledges_nothing() {
    let strace = command(Path::new("strace")).args(["-qq", "-o", "/dev/null", "true"]).output();
    if !strace.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: strace cannot trace here");
        return;
    }
    let mut server = TestServer::start();
    server.ok(&["post", "general", "before"]);
    assert!(server.stop().success());
    let (mut refused, mut expected) = (0, vec!["before".to_owned()]);
    // The start flushes some files on a thread of its own; the engine's flushes once for each post.
    for when in ["1+", "3+", "6+", "8+", "11+", "7", "9", "12"] {
        let failing = serve_failing(&mut server, when);
        server.start_again(&[]);
        let kept = texts(&owner(&server));
        assert!(server.stop().success());
        let mut rest = kept.iter();
        let did = failing.unwrap_or_default();
        for text in expected.iter().chain(&did.acknowledged) {
            assert!(rest.any(|kept| kept == text), "{when}: {text:?} is lost of {kept:?}; {did:?}");
        }
        let tried = |text: &String| text.strip_prefix(when).is_some_and(|rest| rest.starts_with(' '));
        assert!(kept.iter().all(|text| expected.contains(text) || tried(text)), "{when}: {kept:?}; {did:?}");
        assert!(did.acknowledged.iter().all(|text| did.read.contains(text)), "{when}: {did:?}");
        refused += did.refused;
        expected = kept;
    }
    assert!(refused >= 10, "flushes hardly failed: {refused}");
}
