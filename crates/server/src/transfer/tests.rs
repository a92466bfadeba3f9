//! Exports and imports, as whole files: what goes out comes back, and what does not fit is named by its place.

mod damage;
mod world;

use delivery::model::Key;
use storage::{ChannelKind, Read as _, Role, RunStatus, Store as _};

use self::world::{World, history};
use super::*;

/// What has to be equal: all but the time of the export, and the ages of people who are in both.
fn comparable(export: &str) -> Vec<serde_json::Value> {
    let mut lines: Vec<serde_json::Value> =
        export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        if let Some(header) = line.get_mut("header") {
            header["exported_at"] = serde_json::Value::Null;
        }
        if line["person"]["name"] == "olive" {
            line["person"]["created_at"] = serde_json::Value::Null;
        }
    }
    lines
}

#[test]
fn what_goes_out_comes_back() {
    for seed in 1..=4 {
        let mut world = history(seed * 2_654_435_761);
        let exported = world.export(&[]);
        let mut other = World::new();
        let brought = other.import(&exported).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(brought.channels, ["board", "general", "tutor"], "seed {seed}");
        assert_eq!((brought.cancelled, brought.owners), (0, Vec::new()), "seed {seed}");
        let again = other.export(&[]);
        assert_eq!(comparable(&again), comparable(&exported), "seed {seed}");
        let found = other.store.search("message", None, 1_000).unwrap().len();
        assert_eq!(found, world.store.search("message", None, 1_000).unwrap().len(), "seed {seed}");
        assert_eq!(other.store.open_runs().unwrap(), Vec::new());
        // Nothing secret, and nothing of how another machine starts its agents.
        assert!(!exported.contains("canary"), "seed {seed}");
        // Twice is a clash, and changes nothing.
        let error = other.import(&exported).unwrap_err();
        assert!(error.message.contains("channel board exists already"), "{error}");
        assert_eq!(comparable(&other.export(&[])), comparable(&exported), "seed {seed}");
    }
}

#[test]
fn single_channels_bring_their_own_people_alone() {
    let mut world = history(77);
    let exported = world.export(&["board"]);
    let mut other = World::new();
    let now = other.now();
    other.store.add_person("aiko", Role::Guest, now).unwrap();
    let brought = other.import(&exported).unwrap();
    assert_eq!(brought.channels, ["board"]);
    assert!(!brought.new_people.contains(&"aiko".to_owned()), "{brought:?}");
    let names = |lines: Vec<serde_json::Value>, kind: &str, key: &str| -> Vec<serde_json::Value> {
        lines.iter().filter(|line| line.get(kind).is_some()).map(|line| line[kind][key].clone()).collect()
    };
    let again = other.export(&["board"]);
    for (kind, key) in [("person", "name"), ("member", "person"), ("message", "text"), ("run", "posted")] {
        assert_eq!(names(comparable(&again), kind, key), names(comparable(&exported), kind, key), "{kind}");
    }
    assert!(world.store.channel("board").is_ok() && other.store.channel("tutor").is_err());
    assert_eq!(other.store.person("aiko").unwrap().role, Role::Guest, "who is here stays as they are");
    // A name of an agent is no person's.
    let mut other = World::new();
    let general = other.store.channel("general").unwrap().id;
    other.bind(&general, "aiko");
    let error = other.import(&exported).unwrap_err();
    assert!(error.message.contains("agent aiko exists already; nothing was imported"), "{error}");
}

#[test]
fn open_runs_end_and_owners_become_members() {
    let mut world = World::new();
    let now = world.now();
    world.store.add_person("boss", Role::Owner, now).unwrap();
    let general = world.store.channel("general").unwrap().id;
    let agent = world.bind(&general, "guide");
    let message = world.append(&general, None, "olive", "@guide hello");
    let key = Key { channel: general, binding: agent.id };
    let now = world.now();
    world.store.add_run(&key, &message, None, now).unwrap();
    let exported = world.export(&[]);
    let mut other = World::new();
    let brought = other.import(&exported).unwrap();
    let expected = Brought {
        channels: vec!["general".to_owned()],
        new_people: vec!["boss".to_owned()],
        owners: vec!["boss".to_owned()],
        messages: 1,
        runs: 1,
        cancelled: 1,
    };
    assert_eq!(brought, expected);
    assert_eq!(other.store.person("boss").unwrap().role, Role::Member);
    let runs = other.store.runs(None, 9).unwrap();
    let runs: Vec<_> =
        runs.iter().map(|run| (run.status, run.error.as_deref(), run.ended_at.is_some())).collect();
    let why = "it had not ended when its channel was exported";
    assert_eq!(runs, [(RunStatus::Cancelled, Some(why), true)]);
    assert_eq!(other.store.bindings(None).unwrap(), Vec::new(), "nobody is there to answer");
}

/// A small export, by lines.
const LINES: &[&str] = &[
    r#"{"header":{"format":"highwater-export","version":1,"program":"0.1.0","exported_at":"2026-11-30T10:00:00.000Z"}}"#,
    r#"{"person":{"name":"aiko","role":"member","created_at":"2026-11-30T09:00:00.000Z"}}"#,
    r#"{"channel":{"name":"plans","access":"public","created_at":"2026-11-30T09:00:00.000Z"}}"#,
    r#"{"member":{"channel":"plans","person":"aiko","rank":"manager","since":"2026-11-30T09:00:00.000Z"}}"#,
    r#"{"agent":{"channel":"plans","handle":"claude","preset":"claude","since":"2026-11-30T09:00:00.000Z"}}"#,
    r#"{"message":{"channel":"plans","seq":1,"at":"2026-11-30T09:01:00.000Z","author":{"kind":"user","name":"aiko","person":"aiko"},"text":"@claude hi"}}"#,
    r#"{"message":{"channel":"plans","seq":2,"at":"2026-11-30T09:02:00.000Z","thread":1,"author":{"kind":"agent","name":"@claude"}}}"#,
    r#"{"deletion":{"channel":"plans","seq":3,"at":"2026-11-30T09:03:00.000Z","message":2}}"#,
    r#"{"run":{"channel":"plans","n":1,"agent":"claude","message":1,"status":"succeeded","created_at":"2026-11-30T09:01:00.000Z","ended_at":"2026-11-30T09:02:00.000Z","posted":[2]}}"#,
    r#"{"end":{"records":9}}"#,
];

/// Changes of [`LINES`]: line, what is changed in it, what stands at the place that is named, what is wrong.
const MISFITS: &[(usize, &str, &str, &str, &str)] = &[
    (1, "highwater-export", "other", "{", "this is no export of Highwater, which begins with"),
    (
        1,
        "\"version\":1",
        "\"version\":2,\"more\":3",
        "\"version\":",
        "the file has version 2 of the format, and this Highwater reads 1; import it with the version of Highwater that wrote it (0.1.0), or a newer one",
    ),
    (
        2,
        "\"member\"",
        "\"king\"",
        "\",\"created_at",
        "unknown variant `king`, expected one of `owner`, `member`, `guest`",
    ),
    (2, "aiko", "Aiko", "\"name\":", "\"Aiko\" is not how a name is written here"),
    (2, "\"role\"", "\"rule\"", "\":\"member\"", "unknown field `rule`, expected one of"),
    (2, "{\"person\"", "{\"pirson\"", "\":{\"name", "unknown variant `pirson`, expected one of"),
    (
        3,
        "plans",
        "no good",
        "\"name\":",
        "a channel's name is 1 to 64 of a-z, 0-9, - and _; \"no good\" is not",
    ),
    (4, "aiko", "ben", "\"person\":", "ben does not stand before it"),
    (
        3,
        "\"access\"",
        "\"topic\":\"a\\nb\",\"access\"",
        "\"topic\":",
        "a topic is one line of at most 1024 bytes",
    ),
    (4, "plans", "board", "\"channel\":", "channel board stands amid channel plans"),
    (5, "\"claude\"", "\"system\"", "\"handle\":", "the name system is Highwater's own; choose another"),
    (6, "\"seq\":1", "\"seq\":2", "\"seq\":", "the next event of channel plans has the number 1, not 2"),
    (6, "@claude hi", "", "\"text\":", "a text has 1 to 65536 bytes"),
    (6, "\"user\"", "\"system\"", "\"author\":", "\"aiko\" is no name of such an author"),
    (6, "@claude hi", "\\u0000", "\"text\":", "a message cannot hold NUL characters"),
    (6, "\"name\":\"aiko\"", "\"name\":\"ben\"", "\"author\":", "\"ben\" is the name of somebody else"),
    (7, "\"@claude\"", "\"@aiko\"", "\"author\":", "\"@aiko\" is the name of somebody else"),
    (8, "2026-11-30", "9999-12-30", "\"at\":", "it is later than the present"),
    (
        7,
        "T09:02",
        "T09:01",
        "\"at\":",
        "it is not later than the event before it, of 2026-11-30T09:01:00.000Z",
    ),
    (7, "\"thread\":1", "\"thread\":2", "\"thread\":", "no message that can have a thread has the number 2"),
    (8, "\"message\":2", "\"message\":1", "\"message\":", "message 1 has a text, or was deleted before"),
    (9, "\"n\":1", "\"n\":2", "\"n\":", "the next run of channel plans has the number 1"),
    (9, "\"agent\":\"claude\"", "\"agent\":\"codex\"", "\"agent\":", "codex does not stand before it"),
    (9, "\"message\":1", "\"message\":3", "\"message\":", "no message before it has the number 3"),
    (9, "\"succeeded\"", "\"queued\"", "\"ended_at\":", "a run has an end if it has ended, and only then"),
    (9, "[2]", "[2],\"retry_of\":1", "\"retry_of\":", "it tries a run again that does not stand before it"),
    (10, "9", "8", "\"records\":", "9 records stand before, not 8"),
    (10, "}}", "}", "}", "EOF while parsing an object"),
];

#[test]
fn what_does_not_fit_is_named_by_its_place() {
    let whole = LINES.join("\n") + "\n";
    assert_eq!(World::new().import(&whole).map(|brought| brought.messages), Ok(2));
    for (n, from, to, at, what) in MISFITS {
        let changed = LINES[n - 1].replacen(from, to, 1);
        assert_ne!(changed, LINES[n - 1], "{from} is not in line {n}");
        let lines =
            LINES.iter().enumerate().map(|(at, line)| if at + 1 == *n { changed.as_str() } else { line });
        let error = World::new().import(&lines.collect::<Vec<_>>().join("\n")).unwrap_err();
        let (place, wrong) = error.message.split_once(": ").unwrap();
        let column: usize = place.strip_prefix(&format!("line {n}, column ")).unwrap().parse().unwrap();
        assert_eq!(error.code, Code::Invalid, "{changed}: {wrong}");
        assert!(changed[column - 1..].starts_with(at), "{changed}: {wrong}: at {:?}", &changed[column - 1..]);
        assert!(wrong.starts_with(what) && wrong.ends_with("; nothing was imported"), "{changed}: {wrong}");
    }
}

#[test]
fn files_that_are_not_whole_are_refused() {
    // (lines, where, what is wrong)
    let table: [(Vec<&str>, u64, &str); 5] = [
        (vec![], 1, "the file ends too early"),
        (LINES[..9].to_vec(), 10, "the file ends too early"),
        (vec![LINES[0], LINES[1], "", LINES[2]], 3, "EOF while parsing a value"),
        ([LINES, &[LINES[1]]].concat(), 11, "something stands behind the last record"),
        (vec![LINES[0], LINES[1], LINES[5]], 3, "channel plans does not stand before it"),
    ];
    for (lines, line, what) in table {
        let error = World::new().import(&lines.join("\n")).unwrap_err();
        assert!(error.message.starts_with(&format!("line {line}, column ")), "{error}");
        assert!(error.message.contains(what), "{error}");
    }
    // A message that is to be deleted, and is not.
    let mut lines = LINES.to_vec();
    lines.remove(7);
    let error = World::new().import(&lines.join("\n")).unwrap_err();
    assert!(error.message.contains("message 2 of channel plans has no text"), "{error}");
    let world = World::new();
    let long = format!("{}\n{}", LINES[0], "x".repeat(2 << 20));
    let error = check(&world.spool(long.as_bytes())).unwrap_err();
    assert_eq!(error.message, "line 2, column 1: the line is too long for a record; nothing was imported");
    let error = check(&world.spool(&[LINES[0].as_bytes(), b"\n{\"p\xff"].concat())).unwrap_err();
    assert_eq!(error.message, "line 2, column 4: the line is not UTF-8; nothing was imported");
}

#[test]
fn an_error_amid_an_import_undoes_all_of_it() {
    let mut world = World::new();
    let before = world.export(&[]);
    let now = world.now();
    let plans = world.store.add_channel("zoo", ChannelKind::Public, now).unwrap().id;
    world.append(&plans, None, "olive", "somebody wrote here");
    let zoo = LINES[2].replace("plans", "zoo");
    let lines = [&LINES[..9], &[&zoo, "{\"end\":{\"records\":10}}"]].concat();
    let error = world.import(&lines.join("\n")).unwrap_err();
    let message = "line 10, column 13: channel zoo exists already; rename the one that is here (highwater channel rename \
                   zoo NEW), or export without it; nothing was imported";
    assert_eq!((error.code, &*error.message), (Code::Exists, message));
    assert_eq!(world.store.channels().unwrap().len(), 2);
    assert!(world.store.person("aiko").is_err());
    assert_eq!(comparable(&world.export(&["general"])).len(), comparable(&before).len());
}
