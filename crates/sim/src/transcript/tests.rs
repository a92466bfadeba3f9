//! Transcripts that are whole, and every way in which they are not.

use std::io::Cursor;

use super::{Reading, Transcript, read};
use crate::channel::Channel;

fn reading() -> Reading {
    Reading { agents: vec!["claude".to_owned()], seed: 1 }
}

fn of(bytes: &[u8]) -> Result<Transcript, String> {
    read(Cursor::new(bytes), &reading()).map_err(|error| match error.line {
        Some(line) => format!("{line}: {error}"),
        None => error.to_string(),
    })
}

/// A channel in words: each message with its place, thread and time, then each mention with its answer.
fn told(channel: &Channel) -> Vec<String> {
    let messages = (0..u32::try_from(channel.len()).unwrap()).map(|index| {
        let author = &channel.author(index).unwrap().name;
        let thread = channel.thread(index).map_or(String::new(), |root| format!(" under {root}"));
        format!("{index}{thread} at {}: {author}: {}", channel.at(index).unwrap().ms, channel.text(index))
    });
    let mentions = channel.mentions().iter().map(|mention| {
        let agent = &channel.agents()[mention.agent];
        format!("{} to @{agent}: {}", mention.message, channel.reply(mention.reply))
    });
    messages.chain(mentions).collect()
}

/// What is played of a transcript, and what is left out: first line, reason, lines, bytes.
#[track_caller]
fn check(text: &str, expect: &[&str], skipped: &[&str]) {
    let transcript = of(text.as_bytes()).unwrap();
    let channels: Vec<String> = transcript.channels.iter().flat_map(told).collect();
    assert_eq!(channels, expect);
    let told = transcript
        .skipped
        .iter()
        .map(|skip| format!("{}: {}: {} lines, {} bytes", skip.line, skip.why, skip.lines, skip.bytes));
    assert_eq!(told.collect::<Vec<_>>(), skipped);
}

#[test]
fn plain_lines() {
    check(
        concat!(
            "\u{feff}{\"author\": \"aiko\", \"text\": \"hi\", \"id\": \"a\", \"at\": \"1970-01-01T00:00:10.000Z\"}\n",
            "\n",
            "{\"author\":\"ben\",\"text\":\"@claude why?\",\"unknown\":[1]}\r\n",
            "{\"author\":\"@codex\",\"text\":\"so\",\"thread\":\"a\",\"id\":\"b\"}\n",
            "{\"author\":\"ben\",\"text\":\"@Claude and here?\",\"thread\":\"b\"}\n",
            "{\"author\":\"claude\",\"kind\":\"agent\",\"text\":\"because\"}\n",
            "{\"author\":\"@claude\",\"text\":\"@claude never myself\",\"thread\":\"a\"}\n",
            "{\"author\":\"@codex\",\"text\":\"@claude you then\"}",
        ),
        &[
            "0 at 10000: aiko: hi",
            "1 at 70000: ben: @claude why?",
            "2 under 0 at 130000: @codex: so",
            "3 under 0 at 190000: ben: @Claude and here?",
            "4 at 250000: @claude: because",
            "5 under 0 at 310000: @claude: @claude never myself",
            "6 at 370000: @codex: @claude you then",
            "1 to @claude: because",
            "3 to @claude: @claude never myself",
            // Nobody answered: a made answer stands for it.
            "6 to @claude: Only the timeout differs from last week. It was 48 seconds in pool.go and is five now, which is too short.",
        ],
        &[],
    );
}

const ASKED: &str =
    "{\"author\":\"aiko\",\"text\":\"@claude hi\"}\n{\"author\":\"@claude\",\"text\":\"hello\"}\n";
const PLAYED: [&str; 3] = ["0 at 0: aiko: @claude hi", "1 at 60000: @claude: hello", "0 to @claude: hello"];

#[test]
fn lines_that_cannot_be_used_are_left_out_and_told() {
    let with = |line: &str, skipped: &[&str]| check(&format!("{ASKED}{line}"), &PLAYED, skipped);
    with("{\"author\":\"aiko\",\"te", &["3: it is not JSON, or broken off (column 20): 1 lines, 20 bytes"]);
    with("{\"author\":\"aiko\"}", &["3: it is no message: missing field `text`: 1 lines, 17 bytes"]);
    with(
        "[1,2]\n{\"author\":\"a\",\"text\":\"b\",\"thread\":\"x\"}\n",
        &[
            "3: it is no message: invalid type: integer `1`, expected a string: 1 lines, 6 bytes",
            "4: the root of its thread does not stand above it: 1 lines, 39 bytes",
        ],
    );
    with(
        "{\"author\":\"x\",\"kind\":\"system\",\"text\":\"joined\"}\n{\"author\":\"x\",\"kind\":\"system\",\"text\":\"left\"}\n",
        &["3: notices are not told to agents: 2 lines, 92 bytes"],
    );
    let long = "x".repeat(2_000_000);
    with(
        &format!("{{\"author\":\"aiko\",\"text\":\"{long}\"}}\n"),
        &["3: it is longer than 1024 KiB: 1 lines, 2000028 bytes"],
    );
    let bytes = [ASKED.as_bytes(), b"{\"author\":\"z\xE9\",\"text\":\"x\"}\n", ASKED.as_bytes()].concat();
    let transcript = of(&bytes).unwrap();
    let skipped: Vec<_> = transcript.skipped.iter().map(|skip| (skip.line, skip.why.to_string())).collect();
    assert_eq!(skipped, [(3, "it is not UTF-8 (column 13)".to_owned())]);
    assert_eq!((transcript.lines, transcript.channels[0].len()), (5, 4));
}

#[test]
fn files_of_which_nothing_can_be_played() {
    let check = |bytes: &[u8], expect: &str| assert_eq!(of(bytes).err().as_deref(), Some(expect));
    check(b"", "1: it is empty");
    check(b"\n \n", "1: it is empty");
    check(b"{\"author\":\"aiko\",\"text\":\"hi\"}\n", "none of its 1 messages addresses @claude");
    check(b"\xFF\xFE{\0}\0", "1: it is UTF-16; a transcript is UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)");
    check(
        b"[\n  {\"user\": \"U1\", \"text\": \"hi\"},\n",
        "1: this is no transcript: 2 of its 2 lines cannot be used, the first one because it is not JSON, or broken off (column 1)",
    );
    check(
        b"date,name,text\n2026-01-01,aiko,hi\n",
        "1: this is no transcript: 2 of its 2 lines cannot be used, the first one because it is not JSON, or broken off (column 1)",
    );
    check(
        b"{\"author\":\"a\",\"text\":\"@claude hi\"}\n\x80\n\x80\n",
        "2: this is no transcript: 2 of its 3 lines cannot be used, the first one because it is not UTF-8 (column 1)",
    );
    check(
        b"{\"header\":{\"format\":\"highwater-export\",\"version\":2}}\n",
        "1: the export has version 2 of its format, and this Highwater reads version 1",
    );
}

const EXPORT: &str = r#"{"header":{"format":"highwater-export","version":1,"program":"0.1.0","exported_at":"2026-11-30T10:00:00.000Z"}}
{"person":{"name":"aiko","role":"member","created_at":"2026-11-30T09:00:00.000Z"}}
{"channel":{"name":"general","access":"public","topic":"","created_at":"2026-11-30T09:00:00.000Z"}}
{"member":{"channel":"general","person":"aiko","rank":"member","since":"2026-11-30T09:00:00.000Z"}}
{"agent":{"channel":"general","handle":"claude","preset":"claude","since":"2026-11-30T09:00:00.000Z"}}
{"message":{"channel":"general","seq":1,"at":"1970-01-01T00:00:01.000Z","author":{"kind":"system","name":"highwater"},"text":"joined"}}
{"message":{"channel":"general","seq":2,"at":"1970-01-01T00:00:02.000Z","author":{"kind":"user","name":"aiko","person":"aiko"},"text":"hi"}}
{"message":{"channel":"general","seq":3,"at":"1970-01-01T00:00:03.000Z","author":{"kind":"user","name":"aiko"}}}
{"message":{"channel":"general","seq":4,"at":"1970-01-01T00:00:04.000Z","thread":2,"author":{"kind":"user","name":"aiko"},"text":"@claude why?"}}
{"message":{"channel":"general","seq":5,"at":"1970-01-01T00:00:05.000Z","thread":2,"author":{"kind":"agent","name":"@claude"},"text":"so"}}
{"edit":{"channel":"general","seq":6,"at":"1970-01-01T00:00:06.000Z","message":2}}
{"deletion":{"channel":"general","seq":7,"at":"1970-01-01T00:00:07.000Z","message":3}}
{"message":{"channel":"general","seq":8,"at":"1970-01-01T00:00:08.000Z","author":{"kind":"user","name":"aiko"},"text":"@claude again"}}
{"run":{"channel":"general","n":1,"agent":"claude","message":4,"status":"succeeded","created_at":"1970-01-01T00:00:04.000Z","posted":[5]}}
{"run":{"channel":"general","n":2,"agent":"claude","message":8,"status":"failed","created_at":"1970-01-01T00:00:08.000Z","posted":[]}}
{"run":{"channel":"general","n":3,"agent":"claude","message":8,"status":"succeeded","created_at":"1970-01-01T00:00:09.000Z","retry_of":2}}
{"channel":{"name":"tutor","direct":"claude","access":"private","created_at":"2026-11-30T09:00:00.000Z"}}
{"message":{"channel":"tutor","seq":1,"at":"1970-01-01T00:00:09.000Z","author":{"kind":"user","name":"aiko"},"text":"help"}}
{"end":{"records":18}}
"#;

#[test]
fn an_export() {
    let played = [
        "0 at 2000: aiko: hi",
        "1 under 0 at 4000: aiko: @claude why?",
        "2 under 0 at 5000: @claude: so",
        "3 at 8000: aiko: @claude again",
        "1 to @claude: so",
        "3 to @claude: Only the timeout differs from last week. It was 48 seconds in pool.go and is five now, which is too short.",
    ];
    let left_out = [
        "6: notices are not told to agents: 1 lines, 136 bytes",
        "8: the message was deleted: 1 lines, 113 bytes",
        "18: it is of a direct conversation, which has no context: 1 lines, 125 bytes",
    ];
    check(EXPORT, &played, &left_out);
    let whole = EXPORT.split_inclusive('\n').count();
    let broken: String = EXPORT.split_inclusive('\n').take(whole - 1).collect();
    let not_whole = "18: the export ends before its last line: it is not whole: 1 lines, 0 bytes";
    check(&broken, &played, &[&left_out[..], &[not_whole]].concat());
}
