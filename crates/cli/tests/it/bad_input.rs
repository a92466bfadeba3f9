//! Bad input: a clear message, an exit code by kind, and nothing lost.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::first_steps::texts;
use crate::http::Http;
use crate::server::{PATIENCE, TestServer, program_path, wait_until};

/// Runs a command that must fail with this code and a message that has all of these words.
fn check(server: &TestServer, args: &[&str], code: i32, words: &[&str]) {
    let output = server.run(args);
    assert_eq!(output.code, code, "{args:?}: {output:?}");
    for word in words {
        assert!(output.err.contains(word), "{args:?} does not say {word:?}: {}", output.err);
    }
}

#[test]
fn unknown_names() {
    let server = TestServer::start();
    let channels = "hint: highwater channel list";
    let messages = "hint: highwater history CHANNEL";
    check(&server, &["post", "nowhere", "hi"], 3, &["no such channel", "nowhere", channels]);
    check(
        &server,
        &["post", "general", "hi", "--as", "nobody"],
        3,
        &["no such person", "nobody", "hint: highwater person list"],
    );
    check(&server, &["post", "general", "hi", "--thread", "m99"], 3, &["no such message", "m99", messages]);
    check(&server, &["history", "nowhere"], 3, &["nowhere", channels]);
    check(&server, &["edit", "m99", "x"], 3, &["m99", messages]);
    check(&server, &["delete", "zebra"], 3, &["zebra", messages]);
    check(&server, &["run", "show", "r99"], 3, &["r99", "hint: highwater run list"]);
    check(
        &server,
        &["agent", "remove", "claude", "--channel", "general"],
        3,
        &["@claude", "@guide", "hint: highwater agent list"],
    );
    check(
        &server,
        &["agent", "add", "x", "--channel", "general", "--preset", "clade"],
        3,
        &["clade", "claude", "hint: highwater agent presets"],
    );
    check(
        &server,
        &["agent", "add", "x", "--channel", "nowhere", "--preset", "guide"],
        3,
        &["nowhere", channels],
    );
    assert_eq!(server.json(&["history", "general"]).as_array().unwrap().len(), 0);
}

#[test]
fn names_twice_and_names_that_are_none() {
    let server = TestServer::start();
    check(&server, &["channel", "add", "general"], 4, &["exists"]);
    check(
        &server,
        &["agent", "add", "guide", "--channel", "general", "--preset", "guide"],
        4,
        &["guide", "exists"],
    );
    server.ok(&["person", "add", "aiko"]);
    check(&server, &["person", "add", "aiko"], 4, &["aiko", "exists"]);
    check(&server, &["person", "add", "guide"], 4, &["guide", "exists"]);
    check(&server, &["agent", "add", "aiko", "--channel", "general", "--preset", "guide"], 4, &["aiko"]);
    check(&server, &["channel", "add", "No Spaces"], 5, &["a-z"]);
    check(&server, &["person", "add", "näme"], 5, &["a-z"]);
    check(&server, &["agent", "add", "x", "--channel", "general"], 2, &["--preset", "COMMAND"]);
    check(
        &server,
        &["agent", "add", "x", "--channel", "general", "--preset", "guide", "--cwd", "./nowhere"],
        5,
        &["no folder", &server.file("nowhere")],
    );
}

#[test]
fn messages_that_are_none() {
    let server = TestServer::start();
    check(&server, &["post", "general", ""], 5, &["empty"]);
    check(&server, &["post", "general", " \n "], 5, &["empty"]);
    let too_long = "x".repeat(64 * 1024 + 1);
    let output = server.run_with(&["post", "general", "-"], too_long.as_bytes());
    assert_eq!(output.code, 5, "{output:?}");
    assert!(output.err.contains("65536"), "{output:?}");
    let nul = server.run_with(&["post", "general", "-"], b"a\0b");
    assert!(nul.code == 5 && nul.err.contains("NUL"), "{nul:?}");
    let broken = server.run_with(&["post", "general", "-"], b"a\xff\xfeb");
    assert!(broken.code == 5 && broken.err.contains("UTF-8"), "{broken:?}");
    let longest = "y".repeat(64 * 1024);
    assert_eq!(server.run_with(&["post", "general", "-"], longest.as_bytes()).code, 0);
    assert_eq!(texts(&server.json(&["history", "general"])), [longest]);
}

#[test]
fn agents_that_cannot_work() {
    // I3
    let server = TestServer::start();
    let scripted = program_path("scripted-agent").display().to_string();
    let agents: [(&str, &[&str], &str); 5] = [
        ("missing", &["/no/such/agent"], "/no/such/agent"),
        ("unfound", &["no-such-agent-anywhere"], "no-such-agent-anywhere"),
        ("quits", &[&scripted, r#"{"start":[{"stderr":"bad licence\n"},{"exit":7}]}"#], "bad licence"),
        ("garbles", &[&scripted, r#"{"start":[{"flood":{"what":"garbage","count":0}}]}"#], ""),
        ("floods", &[&scripted, r#"{"start":[{"flood":{"what":"bytes","count":0}}]}"#], ""),
    ];
    for (handle, command, word) in agents {
        let args: Vec<&str> = ["agent", "add", handle, "--channel", "general", "--"]
            .into_iter()
            .chain(command.iter().copied())
            .collect();
        server.ok(&args);
        let output = server.run(&["post", "general", &format!("@{handle} hello"), "--wait", "--json"]);
        assert_eq!(output.code, 9, "{output:?}");
        let asked: serde_json::Value = serde_json::from_str(&output.out).unwrap();
        let run = &asked["runs"][0];
        assert_eq!(run["status"], "failed", "{run}");
        assert!(
            !run["error"].as_str().unwrap().is_empty() && run["error"].as_str().unwrap().contains(word),
            "{run}"
        );
        assert_eq!(run["replies"][0]["author"]["kind"], "system");
    }
    assert_eq!(server.ask("general", "@guide hello", &[])["runs"][0]["status"], "succeeded");
}

#[test]
fn a_full_disk_loses_nothing_and_says_so() {
    let server = TestServer::start();
    server.ok(&["post", "general", "before"]);
    let small = server.home.path().join("small");
    std::fs::create_dir(&small).unwrap();
    if rustix::process::geteuid().is_root() {
        on_a_full_disk(&small);
    } else {
        // Only root can make a small disk; the store's own tests fill one up without.
        println!("not root: no small disk was made");
    }
}

/// A server on a tmpfs of two megabytes.
fn on_a_full_disk(small: &std::path::Path) {
    use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
    let options = std::ffi::CString::new("size=2m").unwrap();
    mount("tmpfs", small, "tmpfs", MountFlags::empty(), options.as_c_str()).unwrap();
    let data = small.join("data").display().to_string();
    {
        let server = TestServer::start_with(&["--data", &data]);
        let post = |text: &str| server.run_with(&["post", "general", "-", "--data", &data], text.as_bytes());
        let mut kept = 0;
        let full = loop {
            let output = post(&format!("{kept} {}", "z".repeat(60_000)));
            if output.code != 0 {
                break output;
            }
            kept += 1;
            assert!(kept < 100, "a disk of two megabytes never got full");
        };
        assert_eq!(full.code, 8, "{full:?}");
        assert!(full.err.contains("full"), "{full:?}");
        let history = server.json(&["history", "general", "--data", &data]);
        assert_eq!(history.as_array().unwrap().len(), kept);
        let other = small.join("other").display().to_string();
        check(&server, &["serve", "--listen", "127.0.0.1:0", "--data", &other], 8, &["full"]);
        let http = Http::of(&small.join("data"));
        let works = || http.lines("GET /healthz", &[&format!("host: {}", http.address())], "");
        // Not a page is left: neither on the disk nor in the log, in which a post that failed leaves room for small ones.
        let _ = std::fs::write(small.join("rest"), vec![b'x'; 4 << 20]);
        assert!((0..100).any(|n| post(&format!("small {n}")).code != 0), "there is room for ever");
        wait_until("it tells that it cannot write", || works().0 == 503);
        assert_eq!(works().2, r#"{"status":"failing","engine":"ok","read":"ok","write":"failing"}"#);
        mount_again(small, "size=16m");
        assert_eq!(post("room again").code, 0);
        wait_until("it tells that it can", || works().0 == 200);
    }
    unmount(small, UnmountFlags::DETACH).unwrap();
}

fn mount_again(small: &std::path::Path, options: &str) {
    let options = std::ffi::CString::new(options).unwrap();
    rustix::mount::mount_remount(small, rustix::mount::MountFlags::empty(), options.as_c_str()).unwrap();
}

#[test]
fn a_second_server_a_newer_schema_and_a_damaged_database() {
    let mut server = TestServer::start();
    server.ok(&["post", "general", "kept"]);
    let file = std::fs::read_to_string(server.data().join("server.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&file).unwrap();
    let (url, process) = (file["url"].as_str().unwrap(), format!("process {}", file["pid"]));
    check(&server, &["serve", "--listen", "127.0.0.1:0"], 4, &["another", "data", url, &process]);
    let address = url.strip_prefix("http://").unwrap();
    check(
        &server,
        &["serve", "--listen", address, "--data", &server.file("other")],
        4,
        &[address, "--listen"],
    );
    assert!(server.stop().success());
    let database = server.data().join("highwater.db");
    let whole = std::fs::read(&database).unwrap();

    let mut damaged = whole.clone();
    damaged[..16].copy_from_slice(b"not a database!!");
    std::fs::write(&database, &damaged).unwrap();
    refused(&server, &["damaged", "backup", "data"]);

    std::fs::write(&database, &whole).unwrap();
    server.start_again(&[]);
    assert_eq!(texts(&server.json(&["history", "general"])), ["kept"]);
}

/// `serve` ends by itself with an error that has these words.
fn refused(server: &TestServer, words: &[&str]) {
    let mut child = server.try_start(&[]);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!child.wait().unwrap().success());
    for word in words {
        assert!(said.contains(word), "no {word:?} in {said}");
    }
}

#[test]
fn a_broken_config_names_the_key_and_the_nearest_known_one() {
    let server = TestServer::start();
    let refused = |text: &str, words: &[&str]| {
        let file = server.file("config.toml");
        std::fs::write(&file, text).unwrap();
        let output = server.run(&["serve", "--config", &file, "--data", &server.file("other")]);
        assert_eq!(output.code, 5, "{output:?}");
        for word in words {
            assert!(output.err.contains(word), "{text:?} does not say {word:?}: {}", output.err);
        }
    };
    refused("pool_sise = 3\n", &["pool_sise", "pool_size"]);
    refused("pool_size = \"many\"\n", &["pool_size"]);
    refused("pool_size = \"4\"\n", &["pool_size", "whole number"]);
    refused("pool_size = 0\n", &["pool_size"]);
    refused("idle_limit = \"soon\"\n", &["idle_limit"]);
    refused("pool_size = = 3\n", &["config.toml"]);
    refused("listen = \"0.0.0.0:7717\"\n", &["loopback"]);
}

#[test]
fn no_server_and_no_right() {
    let mut server = TestServer::start();
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    std::fs::write(server.data().join("owner-token"), "0".repeat(64)).unwrap();
    check(&server, &["history", "general"], 7, &["token"]);
    std::fs::write(server.data().join("owner-token"), token).unwrap();
    assert!(server.stop().success());
    check(&server, &["history", "general"], 6, &["with: highwater serve\n"]);
    let other = server.file("other");
    let serve = format!("with: highwater serve --data {other}\n");
    check(&server, &["history", "general", "--data", &other], 6, &[&serve]);
}

#[test]
fn a_stranger_at_a_dead_servers_address_gets_no_token() {
    let mut server = TestServer::start();
    let file = std::fs::read_to_string(server.data().join("server.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&file).unwrap();
    let address = file["url"].as_str().unwrap().strip_prefix("http://").unwrap();
    server.kill();
    let stranger = TcpListener::bind(address).unwrap();
    stranger.set_nonblocking(true).unwrap();
    check(&server, &["post", "general", "hi"], 6, &["no server runs", "highwater serve"]);
    let called = stranger.accept().map(|_| ()).map_err(|error| error.kind());
    assert_eq!(called, Err(std::io::ErrorKind::WouldBlock));
    server.wait_until_none_is_left(PATIENCE);
}

#[test]
fn foreign_hosts_and_origins_get_nothing() {
    // I11
    let server = TestServer::start();
    let file = std::fs::read_to_string(server.data().join("server.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&file).unwrap();
    let address = file["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    let ask = |route: &str, headers: &str| -> String {
        let mut stream = TcpStream::connect(&address).unwrap();
        let request = format!("GET {route} HTTP/1.1\r\n{headers}connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let own = format!("host: {address}\r\n");
    let auth = format!("authorization: Bearer {}\r\n", token.trim());
    for route in ["/api/v1/channels", "/api/v1/channels/general/messages", "/api/v1/runs", "/nothing"] {
        assert_eq!(ask(route, &format!("host: evil.example\r\n{auth}")), "403", "{route}");
        assert_eq!(ask(route, &format!("{own}origin: http://evil.example\r\n{auth}")), "403", "{route}");
        assert_eq!(ask(route, &own), "401", "{route}");
        assert_eq!(ask(route, &format!("{own}authorization: Bearer wrong\r\n")), "401", "{route}");
    }
    assert_eq!(ask("/api/v1/channels", &format!("{own}{auth}")), "200");
    assert_eq!(ask("/nothing", &format!("{own}{auth}")), "404");
}

#[test]
fn nothing_is_lost_when_a_client_goes_away_early() {
    // I1
    let server = TestServer::start();
    let file = std::fs::read_to_string(server.data().join("server.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&file).unwrap();
    let address = file["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let token = std::fs::read_to_string(server.data().join("owner-token")).unwrap();
    let body = r#"{"text":"@guide hello","client_id":"once"}"#;
    let request = format!(
        "POST /api/v1/channels/general/messages HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        token.trim(),
        body.len()
    );
    for _ in 0..3 {
        TcpStream::connect(&address).unwrap().write_all(request.as_bytes()).unwrap();
    }
    wait_until("it is there, once, and answered", || {
        let history = server.json(&["history", "general"]);
        let texts = texts(&history);
        texts.len() == 2 && texts[0] == "@guide hello"
    });
}

#[test]
fn watermarks_that_could_not_stand() {
    let server = TestServer::start();
    server.ok(&["channel", "add", "second"]);
    let check = |channel: &str, field: &str, word: &str| {
        let mark = format!(
            r#"{{"native":"x","last_at":"2026-11-30T10:00:00.000Z","ids":["m1"],"waiting":[],{field}}}"#
        );
        let mark = if field.starts_with("\"ids\"") { mark.replacen(r#""ids":["m1"],"#, "", 1) } else { mark };
        let file = server.file("marks.json");
        std::fs::write(&file, format!(r#"{{"b-guide":{{"{channel}":{{"":{mark}}}}}}}"#)).unwrap();
        check(&server, &["watermarks", "import", &file], 5, &[word]);
    };
    check("c1", r#""last_seq":9223372036854775808"#, "last_seq");
    check("c2", r#""last_seq":1"#, "another channel");
    check("c1", r#""ids":["m1","m1"]"#, "twice");
    check("c1", r#""ids":["zz"]"#, "no message id");
    assert_eq!(server.ok(&["watermarks", "export", "-"]).trim(), "{}");
    assert_eq!(server.ask("general", "@guide hello", &[])["runs"][0]["status"], "succeeded");
}
