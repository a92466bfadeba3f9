//! The simulator as a program: its figures in every form, its requests, transcripts of every kind.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;

use crate::server::{TestServer, command, program_path, wait_until};

/// What a run came to.
struct Run {
    code: i32,
    out: String,
    err: String,
}

/// Runs the simulator in a folder, with something on its standard input.
fn sim_with(folder: &Path, args: &[&str], input: &[u8]) -> Run {
    let mut command = command(&program_path("highwater"));
    command.arg("sim").args(args).current_dir(folder).env_clear().env("HOME", folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn ok(folder: &Path, args: &[&str]) -> String {
    let run = sim_with(folder, args, b"");
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}");
    run.out
}

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&ok(folder, &[&["--json"], args].concat())).unwrap()
}

/// The requests in a folder, by their files.
fn requests(folder: &Path) -> BTreeMap<String, Value> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|file| {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            (name, serde_json::from_slice(&fs::read(&file).unwrap()).unwrap())
        })
        .collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

#[test]
fn requests_add_up_to_the_figures() {
    let home = TempDir::new().unwrap();
    let args = ["--evict", "15", "--requests", "asked"];
    let run = sim_with(home.path(), &[&["--json"], &args[..]].concat(), b"");
    assert_eq!((run.code, run.err.as_str()), (0, "150 requests are in asked\n"));
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let requests = requests(&home.path().join("asked"));
    assert_eq!(requests.len(), 150);
    let mut sums: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for (name, request) in &requests {
        let strategy = request["strategy"].as_str().unwrap();
        assert_eq!(*name, format!("{strategy}-{:05}.json", number(&request["mention"])));
        assert_eq!(
            (&request["turn"], request["encoding"].as_str()),
            (&request["mention"], Some("cl100k_base"))
        );
        let blocks = request["blocks"].as_array().unwrap();
        let tokens: u64 = blocks.iter().map(|block| number(&block["tokens"])).sum();
        assert_eq!(tokens, number(&request["tokens"]), "{name}");
        let sum = sums.entry(strategy.to_owned()).or_default();
        sum.0 += tokens;
        // The lines of this turn stand behind its payload, the last one.
        let own = blocks.iter().rev().take_while(|block| block["kind"] != "payload");
        let lines: Vec<u64> =
            own.filter(|block| block["kind"] == "line").map(|block| number(&block["tokens"])).collect();
        sum.1 += lines.len() as u64;
        sum.2 += lines.iter().sum::<u64>();
    }
    for (strategy, (input, lines, context)) in sums {
        let figures = &report["strategies"][&strategy];
        let told = (&figures["input_tokens"], &figures["lines"], &figures["context_tokens"]);
        assert_eq!(told, (&input.into(), &lines.into(), &context.into()), "{strategy}");
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing half is left");
}

/// Each request of a session begins with all of the one before: nothing that was sent is ever changed.
#[test]
fn requests_extend_each_other() {
    let home = TempDir::new().unwrap();
    let run = sim_with(home.path(), &["--strategies", "highwater", "--requests", "asked"], b"");
    assert_eq!(run.code, 0, "{}", run.err);
    let texts: Vec<String> = requests(&home.path().join("asked"))
        .values()
        .map(|request| {
            let blocks = request["blocks"].as_array().unwrap().iter();
            blocks.map(|block| block["text"].as_str().unwrap()).collect()
        })
        .collect();
    assert_eq!(texts.len(), 30);
    for pair in texts.windows(2) {
        assert!(pair[1].starts_with(&pair[0]) && pair[1].len() > pair[0].len());
    }
}

#[test]
fn csv_and_markdown_tell_what_json_tells() {
    let home = TempDir::new().unwrap();
    let args = ["--strategies", "watermark,unstable"];
    let report = json(home.path(), &args);
    let csv = ok(home.path(), &[&["--csv"], &args[..]].concat());
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 3);
    for line in &lines[1..] {
        let figures = report["strategies"][line[0]].as_object().unwrap();
        let told: BTreeMap<&str, &str> = lines[0].iter().copied().zip(line.iter().copied()).skip(1).collect();
        assert_eq!(told.len(), figures.len());
        for (name, value) in figures {
            assert_eq!(told[name.as_str()], value.to_string(), "{name}");
        }
    }
    let markdown = ok(home.path(), &[&["--markdown"], &args[..]].concat());
    let heads: Vec<&str> = markdown.lines().take(2).collect();
    assert_eq!(heads, ["| 30 mentions | watermark | unstable |", "| --- | ---: | ---: |"]);
    assert_eq!(report["strategies"]["unstable"]["cacheable_tokens"], 145);
}

/// The table of the front page is what the program prints.
#[test]
fn the_table_in_the_readme_is_true() {
    let home = TempDir::new().unwrap();
    let table = ok(home.path(), &["--markdown"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["README.md", "docs/simulator.md"] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let (_, rest) = text.split_once("<!-- highwater sim --markdown -->\n").unwrap();
        let (block, _) = rest.split_once("<!-- end -->").unwrap();
        assert_eq!(block, table, "{file}: put the output of `highwater sim --markdown` between its marks");
    }
}

#[test]
fn the_table_fits_a_terminal_and_says_first_what_was_played() {
    let home = TempDir::new().unwrap();
    let text = ok(home.path(), &[]);
    let head = "\
200 messages, 30 mentions of @claude, 8 messages of more than 600 characters
1 to 21 messages between mentions, median 4
prefix 2,120 tokens, brief 466 tokens, counted as cl100k_base

";
    assert!(text.starts_with(head), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(text, ok(home.path(), &["--seed", "1"]));
    assert_ne!(text, ok(home.path(), &["--seed", "2"]));
}

#[test]
fn money() {
    let home = TempDir::new().unwrap();
    let of = |args: &[&str]| {
        json(home.path(), &[&["--strategies", "highwater"], args].concat())["strategies"]["highwater"].clone()
    };
    let ideal = of(&["--cache", "ideal"]);
    assert_eq!(ideal["bill"]["read_tokens"], ideal["cacheable_tokens"]);
    assert_eq!(ideal["bill"]["dollars"], Value::Null);
    let none = of(&["--cache", "none"]);
    assert_eq!(
        (&none["bill"]["read_tokens"], &none["bill"]["uncached_tokens"]),
        (&0.into(), &none["input_tokens"])
    );
    for args in [&["--cache", "anthropic"][..], &["--cache", "openai"], &["--model", "claude-sonnet-4-6"]] {
        let billed = of(args);
        assert!(number(&billed["bill"]["read_tokens"]) <= number(&billed["cacheable_tokens"]), "{args:?}");
        let parts = ["read_tokens", "written_tokens", "written_1h_tokens", "uncached_tokens"];
        let sum: u64 = parts.iter().map(|part| number(&billed["bill"][part])).sum();
        assert_eq!(sum, number(&billed["input_tokens"]), "{args:?}");
        assert_eq!(billed["bill"]["dollars"].is_number(), args[0] == "--model", "{args:?}");
    }
    let hour = of(&["--cache", "anthropic", "--ttl", "1h"]);
    assert_eq!(hour["bill"]["read_tokens"], hour["cacheable_tokens"], "an hour outlasts every pause");
}

#[test]
fn made_channels_of_other_sizes() {
    let home = TempDir::new().unwrap();
    let report =
        json(home.path(), &["--messages", "1000", "--mentions", "90", "--residents", "3", "--lines", "5"]);
    let played = &report["played"];
    assert_eq!(
        (&played["messages"], &played["mentions"], &played["residents"]),
        (&1000.into(), &90.into(), &3.into())
    );
    assert_eq!(report["strategies"]["window"]["lines"], 447, "two messages stand before the first mention");
    assert_eq!(report["strategies"]["highwater"]["cold_turns"], 3);
}

/// A failing run: its code, and words that its message has.
fn check(args: &[&str], input: &[u8], code: i32, words: &[&str]) {
    let home = TempDir::new().unwrap();
    let run = sim_with(home.path(), args, input);
    assert_eq!((run.code, run.out.as_str()), (code, ""), "{args:?}: {}", run.err);
    for word in words {
        assert!(run.err.contains(word), "{args:?} does not say {word:?}: {}", run.err);
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "nothing half is left");
}

#[test]
fn what_cannot_be_played() {
    check(&["--strategies", "magic"], b"", 2, &["magic", "watermark"]);
    check(&["--json", "--csv"], b"", 2, &["--json", "--csv"]);
    check(&["--evict", "0"], b"", 2, &["--evict"]);
    check(&["--evict", "31"], b"", 5, &["--evict 31", "30 mentions"]);
    check(&["--messages", "5", "--mentions", "6"], b"", 5, &["6 mentions", "5 messages"]);
    check(&["--messages", "5000000000"], b"", 5, &["5000000000"]);
    check(&["--model", "hal-9000"], b"", 3, &["hal-9000", "hint:", "claude-"]);
    check(&["--transcript", "nowhere.jsonl"], b"", 3, &["nowhere.jsonl"]);
    let from_input = ["--transcript", "-", "--requests", "asked"];
    check(&from_input, b"", 5, &["standard input:1: it is empty"]);
    check(&from_input, b"\xFF\xFEh\0i\0", 5, &["standard input:1: it is UTF-16", "iconv"]);
    check(
        &from_input,
        b"date,text\n1,hi\n",
        5,
        &["standard input:1:", "2 of its 2 lines", "hint:", "\"author\""],
    );
    check(
        &from_input,
        b"{\"author\":\"a\",\"text\":\"hi\"}\n",
        5,
        &["none of its 1 messages", "@claude", "--agent"],
    );
}

#[test]
fn a_folder_that_is_there_is_left_alone() {
    let home = TempDir::new().unwrap();
    fs::create_dir(home.path().join("asked")).unwrap();
    fs::write(home.path().join("asked/mine"), "x").unwrap();
    let run = sim_with(home.path(), &["--requests", "asked"], b"");
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(run.err.contains("asked is there already"), "{}", run.err);
    assert_eq!(fs::read(home.path().join("asked/mine")).unwrap(), b"x");
}

#[test]
fn broken_lines_of_a_transcript_are_told() {
    let home = TempDir::new().unwrap();
    let good = "{\"author\":\"aiko\",\"text\":\"@claude hi\"}\n".repeat(4);
    let text = format!("{good}{{\"author\":\"aiko\"}}\n{good}not json\n{{\"author\":\"aiko\",\"te");
    fs::write(home.path().join("talk.jsonl"), text).unwrap();
    let run = sim_with(home.path(), &["--transcript", "talk.jsonl", "--json"], b"");
    assert_eq!(run.code, 0, "{}", run.err);
    let told = "\
talk.jsonl:5: left out, since it is no message: missing field `text` (18 bytes)
talk.jsonl:10: left out, since it is not JSON, or broken off (column 2); with it 1 more of 11 lines (29 bytes in all)
";
    assert_eq!(run.err, told);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(report["played"]["mentions"], 8);
}

#[test]
fn ctrl_c_leaves_nothing_half() {
    let home = TempDir::new().unwrap();
    let mut command = command(&program_path("highwater"));
    command.args(["sim", "--messages", "20000", "--mentions", "10000", "--requests", "asked"]);
    command.current_dir(home.path()).env_clear().env("HOME", home.path());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let written = || {
        let mut folders = fs::read_dir(home.path()).unwrap().flatten();
        let partial = folders.find(|entry| entry.file_name().to_string_lossy().contains(".partial"));
        partial.is_some_and(|partial| fs::read_dir(partial.path()).is_ok_and(|files| files.count() > 3))
    };
    wait_until("requests are written", written);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

/// What the server sent, and what the simulator says that it would send, are the same bytes.
#[test]
fn server_and_simulator_agree_on_every_warm_turn() {
    let server = TestServer::start();
    server.ok(&["person", "add", "aiko"]);
    let mut sent = Vec::new();
    for turn in 0..4 {
        for line in 0..turn * 6 {
            server.ok(&["post", "general", &format!("line {turn}.{line}\nof two"), "--as", "aiko"]);
        }
        let asked = server.ask("general", &format!("@guide what of {turn}?"), &["--as", "aiko"]);
        let run = server.show(asked["runs"][0]["id"].as_str().unwrap());
        sent.push(run["sent"].as_str().unwrap().to_owned());
    }
    let export = server.ok(&["export"]);
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("export.jsonl"), export).unwrap();
    let args = ["--transcript", "export.jsonl", "--strategies", "highwater", "--requests", "asked", "--json"];
    let run = sim_with(home.path(), &args, b"");
    assert_eq!(run.code, 0, "{}", run.err);
    let requests = requests(&home.path().join("asked"));
    assert_eq!(requests.len(), 4);
    for (sent, request) in sent.iter().zip(requests.values()).skip(1) {
        let blocks = request["blocks"].as_array().unwrap();
        let payload = blocks.iter().rposition(|block| block["kind"] == "payload").unwrap();
        let told: String = blocks[payload..].iter().map(|block| block["text"].as_str().unwrap()).collect();
        assert_eq!(&told, sent);
    }
    assert!(sent[3].contains("6 earlier new messages not shown"), "{}", sent[3]);
}
