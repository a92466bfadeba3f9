//! Backups and exports of real servers: made while posts arrive, brought back elsewhere, without what was deleted.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::Http;
use crate::server::{Output, TestServer, command, program_path, wait_until};

/// A server whose data folder was taken away.
fn without_data() -> TestServer {
    let mut server = TestServer::start();
    assert!(server.stop().success());
    fs::remove_dir_all(server.data()).unwrap();
    server
}

/// A server on what a backup has.
fn restored(file: &str) -> TestServer {
    let mut server = without_data();
    let said = server.run(&["restore", file]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("start it with: highwater serve"), "{said:?}");
    server.start_again(&[]);
    server
}

fn owner_token(server: &TestServer) -> String {
    fs::read_to_string(server.data().join("owner-token")).unwrap()
}

fn url(server: &TestServer) -> String {
    let file = fs::read_to_string(server.data().join("server.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    file["url"].as_str().unwrap().to_owned()
}

/// All messages of a channel's top level.
fn history(server: &TestServer, channel: &str) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    loop {
        let before = all.first().map(|message| message["id"].as_str().unwrap().to_owned());
        let mut args = vec!["history", channel, "--limit", "1000"];
        args.extend(before.iter().flat_map(|id| ["--before", id.as_str()]));
        let mut page = server.json(&args).as_array().unwrap().clone();
        if page.is_empty() {
            return all;
        }
        page.append(&mut all);
        all = page;
    }
}

fn post(url: &str, token: &str, text: &str) {
    let mut answer = ureq::post(format!("{url}/api/v1/channels/general/messages"))
        .header("authorization", format!("Bearer {token}"))
        .send_json(json!({ "text": text }))
        .unwrap();
    let _: Value = answer.body_mut().read_json().unwrap();
}

fn mode(path: &str) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_backup_made_while_posts_arrive_is_restored_elsewhere_and_equal() {
    let server = TestServer::start();
    server.ok(&["person", "add", "aiko"]);
    let asked = server.ask("general", "@guide hello", &[]);
    let run = asked["runs"][0]["id"].as_str().unwrap().to_owned();
    let (url, token) = (url(&server), owner_token(&server));
    let (posted, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let files: Vec<String> = ["one.db", "two.db", "three.db"].map(|name| server.file(name)).to_vec();
    let counts: Vec<(usize, usize)> = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    post(&url, &token, "and another line");
                    posted.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let counts = files.iter().enumerate().map(|(n, file)| {
            wait_until("posts arrive", || posted.load(Ordering::Relaxed) > 40 * (n + 1));
            let before = posted.load(Ordering::Relaxed);
            // The last one over the API, as from another machine.
            let said = if n < 2 { server.run(&["backup", file]) } else { over_the_api(&server, file) };
            assert_eq!((said.code, said.err.contains("they hold secrets")), (0, true), "{said:?}");
            (before, posted.load(Ordering::Relaxed))
        });
        let counts = counts.collect();
        stop.store(true, Ordering::Relaxed);
        counts
    });
    let whole = history(&server, "general");
    for (file, (before, after)) in files.iter().zip(counts) {
        assert_eq!(mode(file), 0o600);
        let other = restored(file);
        let there = history(&other, "general");
        // The mention and its answer stand before the posts; two posts may have been on their way.
        let posts = there.len() - 2;
        assert!((before..=after + 2).contains(&posts), "{posts} posts, not {before} to {after}");
        assert_eq!(there[..], whole[..there.len()]);
        assert_eq!(other.json(&["person", "list"]), server.json(&["person", "list"]));
        assert_eq!(other.show(&run), server.show(&run));
        assert_eq!(other.json(&["search", "another"]).as_array().unwrap().len(), posts.min(50));
        // It is a server of its own from then on.
        assert_ne!(owner_token(&other), token);
        let answered = other.ask("general", "@guide are you there?", &[]);
        assert_eq!(answered["runs"][0]["status"], "succeeded", "{answered}");
    }
}

/// A backup as a client with an address and a token makes it.
fn over_the_api(server: &TestServer, file: &str) -> Output {
    let mut command = command(&program_path("highwater"));
    command.env_clear().env("HOME", server.home.path()).current_dir(server.home.path());
    command.env("HIGHWATER_URL", url(server)).env("HIGHWATER_TOKEN", owner_token(server));
    let output = command.args(["backup", file]).output().unwrap();
    Output {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

#[test]
fn backup_and_restore_say_what_to_do() {
    let mut server = TestServer::start();
    server.ok(&["post", "general", "hello"]);
    let file = server.file("backup.db");
    server.ok(&["backup", &file]);
    let data = server.data().display().to_string();
    let check = |server: &TestServer, args: &[&str], code: i32, words: &[&str]| {
        let said = server.run(args);
        assert_eq!((said.code, said.out.as_str()), (code, ""), "{args:?}: {said:?}");
        for word in words {
            assert!(said.err.replace("\n  ", " ").contains(word), "{args:?}: {word} is not in {said:?}");
        }
    };
    check(&server, &["backup", &file], 4, &["exists already", "--overwrite"]);
    check(&server, &["backup", &file, "--overwrite"], 0, &["bytes were written to"]);
    check(&server, &["backup", "/nowhere/file"], 3, &["cannot write /nowhere/file"]);
    check(
        &server,
        &["restore", &file],
        4,
        &["a Highwater server uses the data folder", "restore into a new folder"],
    );
    assert!(server.stop().success());
    check(&server, &["restore", &file], 4, &["has a database already", "move that file"]);
    // Without a server as well as with one.
    check(&server, &["backup", &file, "--overwrite"], 0, &["bytes were written to"]);
    let other = server.file("other");
    check(
        &server,
        &["backup", &server.file("none"), "--data", &other],
        3,
        &["no server has made a database in it yet", "--data DIR"],
    );
    check(&server, &["restore", &server.file("none"), "--data", &other], 5, &["cannot read"]);
    fs::write(server.file("notes"), "no database").unwrap();
    check(
        &server,
        &["restore", &server.file("notes"), "--data", &other],
        5,
        &["cannot be restored: the database is damaged"],
    );
    assert!(!Path::new(&other).exists(), "a folder was made for nothing");
    check(&server, &["restore", &file, "--data", &other], 0, &["start it with: highwater serve --data"]);
    assert_eq!(mode(&other), 0o700);
    let names: BTreeSet<String> = fs::read_dir(&other)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["highwater.db", "lock"].map(str::to_owned).into());
    assert!(fs::read_dir(&data).unwrap().count() > 2, "the old folder stays");
}

/// A server in which much of what can happen has happened.
fn lived_in() -> TestServer {
    let server = TestServer::start();
    for args in [
        &["person", "add", "aiko"][..],
        &["person", "add", "gus", "--role", "guest"],
        &["channel", "add", "board", "--private"],
        &["channel", "invite", "board", "aiko"],
        &["channel", "add", "tutor", "--direct", "guide"],
        &["post", "general", "the deploy is red", "--as", "aiko"],
        &["post", "general", "since when?", "--thread", "m1"],
        &["post", "board", "a typo", "--as", "aiko"],
        &["edit", "m3", "no typo"],
        &["post", "board", "to be deleted"],
        &["delete", "m4"],
        &["channel", "topic", "board", "what is to be done"],
        &["person", "rename", "aiko", "aiko-b"],
    ] {
        server.ok(args);
    }
    let env = ["--env", "API_KEY=canary-of-env", "--env", r#"SCRIPTED_SCRIPT={"prompt":[{"exit":3}]}"#];
    server.add_scripted("broken", "general", "log", &env);
    for (channel, text, status) in [
        ("general", "@guide hello", "succeeded"),
        ("general", "@broken hello", "failed"),
        ("tutor", "help", "succeeded"),
    ] {
        let asked = server.ask(channel, text, &[]);
        assert_eq!(asked["runs"][0]["status"], status, "{asked}");
    }
    server.ok(&["channel", "archive", "board"]);
    server
}

/// An export, without what differs: its time, and the age of what an empty server has already.
fn comparable(export: &str) -> Vec<Value> {
    let mut lines: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        if line.get("header").is_some() {
            line["header"]["exported_at"] = Value::Null;
        }
        if line["person"]["name"] == "olive" {
            line["person"]["created_at"] = Value::Null;
        }
        if line["agent"]["channel"] == "general" && line["agent"]["handle"] == "guide" {
            line["agent"]["since"] = Value::Null;
        }
    }
    lines
}

#[test]
fn an_export_is_imported_elsewhere_and_exported_again_the_same() {
    let server = lived_in();
    let file = server.file("all.jsonl");
    server.ok(&["export", &file]);
    assert_eq!(mode(&file), 0o600);
    let exported = fs::read_to_string(&file).unwrap();
    assert!(!exported.contains("canary") && !exported.contains(&owner_token(&server)), "{exported}");
    let kinds: BTreeSet<String> = comparable(&exported)
        .iter()
        .flat_map(|line| line.as_object().unwrap().keys().cloned().collect::<Vec<_>>())
        .collect();
    let all = ["agent", "channel", "deletion", "edit", "end", "header", "member", "message", "person", "run"];
    assert_eq!(kinds, all.map(str::to_owned).into(), "{exported}");

    let other = TestServer::start();
    let imported = other.json(&["import", &file]);
    assert_eq!(imported["channels"], json!(["board", "general", "tutor"]));
    assert_eq!(imported["new_people"], json!(["aiko-b", "gus"]));
    assert_eq!(comparable(&other.ok(&["export"])), comparable(&exported));
    let thread = other.json(&[
        "history",
        "general",
        "--thread",
        history(&other, "general")[0]["id"].as_str().unwrap(),
    ]);
    assert_eq!(thread[1]["text"], "since when?");
    // Nothing began, and what begins from now on does as ever.
    assert_eq!(other.left(), Vec::<String>::new());
    let answered = other.ask("general", "@guide are you there?", &[]);
    assert_eq!(answered["runs"][0]["status"], "succeeded", "{answered}");
    // Who came along can sign in once they have a link.
    let aiko = other.json(&["invite", "aiko-b"]);
    let code = aiko["url"].as_str().unwrap().rsplit_once("#sign-in=").unwrap().1.to_owned();
    assert_eq!(Http::new(&other).status("POST", "/sign-in", &json!({ "code": code })), 200);

    // What is there is not touched.
    let again = other.run(&["import", &file]);
    assert_eq!(again.code, 4, "{again:?}");
    for words in
        ["channel board exists already", "highwater channel rename board NEW", "nothing was imported"]
    {
        assert!(again.err.replace("\n  ", " ").contains(words), "{again:?}");
    }
    // A single channel goes beside others.
    let board = server.ok(&["export", "--channel", "board"]);
    let third = TestServer::start();
    third.ok(&["post", "general", "here for long"]);
    assert_eq!(third.run_with(&["import", "-"], board.as_bytes()).code, 0);
    let board_of = |export: &str| {
        comparable(export).into_iter().filter(|line| line.get("message").is_some()).collect::<Vec<_>>()
    };
    assert_eq!(board_of(&third.ok(&["export", "--channel", "board"])), board_of(&board));
    assert_eq!(history(&third, "general").len(), 1);
}

#[test]
fn a_bad_line_is_named_and_nothing_is_imported() {
    let server = TestServer::start();
    server.ok(&["channel", "add", "board"]);
    server.ok(&["post", "board", "hello"]);
    let board = server.ok(&["export", "--channel", "board"]).replace("board", "plans");
    let line = 1 + board.lines().position(|line| line.contains("\"message\"")).unwrap();
    let file = server.file("bad.jsonl");
    for (text, words) in [
        (board.replace("\"seq\":1", "\"seq\":7"), format!("line {line}, column ")),
        (board.replace("\"hello\"", "17"), "invalid type: integer `17`, expected a string".to_owned()),
        (board.lines().take(3).collect::<Vec<_>>().join("\n"), "the file ends too early".to_owned()),
        ("{}".to_owned(), "line 1, column 1: this is no export of Highwater".to_owned()),
    ] {
        fs::write(&file, text).unwrap();
        let said = server.run(&["import", &file]);
        let told = said.err.replace("\n  ", " ");
        assert!(said.code == 5 && told.contains(&words) && told.contains("nothing was imported"), "{said:?}");
        assert_eq!(server.run(&["channel", "show", "plans"]).code, 3);
    }
    let said = server.run(&["import", &server.file("none")]);
    assert!(said.code == 3 && said.err.contains("cannot read"), "{said:?}");
}

#[test]
fn copies_of_everything_are_for_owners_alone() {
    // I14
    let server = lived_in();
    let token = |person: &str, scopes: &[&str]| {
        let mut args = vec!["token", "create", "test", "--for", person];
        args.extend(scopes.iter().flat_map(|scope| ["--scope", scope]));
        server.ok(&args).trim().to_owned()
    };
    let all = ["read", "write", "admin"];
    let export = server.ok(&["export", "--channel", "board"]).replace("board", "plans");
    let import = |token: &str| -> u16 {
        let url = url(&server);
        let sent = ureq::post(format!("{url}/api/v1/import"))
            .config()
            .http_status_as_error(false)
            .build()
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/jsonl")
            .send(&export);
        sent.unwrap().status().as_u16()
    };
    let http = Http::new(&server);
    for (who, token, status) in [
        ("nobody", "none".to_owned(), 401),
        ("guest", token("gus", &all), 403),
        ("member", token("aiko-b", &all), 403),
        ("owner who reads", token("olive", &["read", "write"]), 403),
    ] {
        let http = http.token(&token);
        for route in ["/backup", "/export", "/export?channel=board"] {
            assert_eq!(http.status("GET", route, &Value::Null), status, "{who} {route}");
        }
        assert_eq!(import(&token), status, "{who}");
    }
    let olive = token("olive", &all);
    let owner = http.token(&olive);
    assert_eq!(owner.status("GET", "/export?channel=none", &Value::Null), 404);
    assert_eq!(owner.status("GET", "/export?chanel=board", &Value::Null), 400);
    assert_eq!(owner.status("POST", "/import", &json!({})), 400, "a form or JSON is no export");
    assert_eq!(import(&olive), 200);
}

/// An export of one channel with many messages.
fn large(messages: u64) -> String {
    let mut text = String::new();
    let at = |second: u64| {
        format!("2026-11-30T{:02}:{:02}:{:02}.000Z", second / 3_600, second / 60 % 60, second % 60)
    };
    let mut line = |value: &Value| text.push_str(&format!("{value}\n"));
    line(&json!({"header": {"format": "highwater-export", "version": 1, "exported_at": at(0)}}));
    line(&json!({"person": {"name": "aiko", "role": "member", "created_at": at(0)}}));
    line(&json!({"channel": {"name": "large", "access": "public", "created_at": at(0)}}));
    let author = json!({"kind": "user", "name": "aiko", "person": "aiko"});
    for seq in 1..=messages {
        let text = format!("message {seq} has some words of its own, so that it takes a while");
        line(
            &json!({"message": {"channel": "large", "seq": seq, "at": at(seq), "author": author, "text": text}}),
        );
    }
    line(&json!({"end": {"records": messages + 3}}));
    text
}

#[test]
fn a_killed_import_leaves_nothing() {
    const MESSAGES: u64 = 3_000;
    let mut server = TestServer::start();
    fs::write(server.file("large.jsonl"), large(MESSAGES)).unwrap();
    let start = |server: &TestServer| -> Child {
        let mut command = command(&program_path("highwater"));
        command.env_clear().env("HOME", server.home.path()).env("HIGHWATER_DATA", server.data());
        command.args(["import", &server.file("large.jsonl")]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut left = 0;
    for kill in 0..8_u64 {
        let mut import = start(&server);
        let deadline = Instant::now() + Duration::from_millis(10 + 60 * kill);
        while Instant::now() < deadline && import.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        server.kill();
        let done = import.wait().unwrap().success();
        let folder: Vec<_> =
            fs::read_dir(server.data()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        server.start_again(&[]);
        let there = server.run(&["channel", "show", "large"]).code == 0;
        if !there {
            assert!(!done, "what was acknowledged is lost");
            assert_eq!(server.run(&["person", "list"]).out.matches("aiko").count(), 0);
            left += 1;
            continue;
        }
        // It was committed, whether the client heard of it or not.
        assert_eq!(history(&server, "large").len() as u64, MESSAGES, "{folder:?}");
        break;
    }
    assert!(left > 0, "no import was killed before its end");
    if server.run(&["channel", "show", "large"]).code != 0 {
        server.ok(&["import", &server.file("large.jsonl")]);
    }
    assert_eq!(history(&server, "large").len() as u64, MESSAGES);
    let spools = fs::read_dir(server.data())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("spool-"));
    assert_eq!(spools.count(), 0);
}

/// Whether any file below a folder holds these bytes.
fn holds(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holds(&path, text));
            continue;
        }
        let mut bytes = Vec::new();
        // A file that went away meanwhile holds nothing.
        let _ = fs::File::open(&path).and_then(|mut file| file.read_to_end(&mut bytes));
        if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_deleted_text_is_in_nothing_that_is_kept_or_given_out() {
    // I12
    const FIRST: &str = "zanzibarquokka";
    const EDITED: &str = "umbrellakumquat";
    let server = TestServer::start();
    let noted = ["--env", r#"SCRIPTED_SCRIPT={"prompt":[{"text":"noted"}]}"#];
    server.add_scripted("echo", "general", "log", &noted);
    let context = server.json(&["post", "general", &format!("a line with {FIRST} in it")]);
    let asked = server.ask("general", &format!("@echo {FIRST} and more"), &[]);
    let reply = server.json(&["post", "general", &format!("also {FIRST}"), "--thread", "m1"]);
    let (run, mention) = (asked["runs"][0]["id"].as_str().unwrap(), asked["message"]["id"].as_str().unwrap());
    let edited = server.json(&["post", "general", FIRST]);
    let edited = edited["message"]["id"].as_str().unwrap();
    server.ok(&["edit", edited, EDITED]);
    server.ask("general", "@echo what of the lines?", &[]);
    assert!(server.show(run)["sent"].as_str().unwrap().contains(FIRST), "it was sent");
    assert!(server.ok(&["export"]).contains(FIRST) && !holds(&server.data(), FIRST).is_empty());

    for message in [&context, &reply] {
        server.ok(&["delete", message["message"]["id"].as_str().unwrap()]);
    }
    server.ok(&["delete", mention]);
    server.ok(&["delete", edited]);
    let file = server.file("backup.db");
    server.ok(&["backup", &file]);
    let bytes = fs::read(&file).unwrap();
    for text in [FIRST, EDITED] {
        assert!(
            !bytes.windows(text.len()).any(|window| window == text.as_bytes()),
            "{text} is in the backup"
        );
        assert!(!server.ok(&["export"]).contains(text), "{text} is in the export");
        assert_eq!(server.json(&["search", text]), json!([]));
        for run in server.json(&["run", "list"]).as_array().unwrap() {
            let shown = server.show(run["id"].as_str().unwrap()).to_string();
            assert!(!shown.contains(text), "{text} is in {shown}");
        }
        // A reader may have kept the log from being cut; the next commit does it then.
        wait_until("no file holds it", || {
            let found = holds(&server.data(), text);
            if !found.is_empty() {
                server.ok(&["post", "general", "next"]);
            }
            found.is_empty()
        });
    }
    assert!(server.show(run)["sent"].as_str().unwrap().contains("[deleted]"), "a mark stays");
}
