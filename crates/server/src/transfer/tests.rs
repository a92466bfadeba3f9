//! Exports and imports, as whole files: what goes out comes back, and what does not fit is named by its place.

use delivery::model::{ChannelId, Key, MessageId, Policy, RunId, SessionPolicy};
use delivery::{Author, AuthorKind, Timestamp};
use storage::{
    Access, AddressedBy, Appended, Binding, ChannelChange, Ending, EnvVar, NewBinding, NewMessage, PersonId,
    Rank, Read, Role, RunStatus, Sqlite, Store, StoreIdentity as _, Usage,
};
use tempfile::TempDir;

use super::*;

/// A store in a folder that goes with it.
struct World {
    folder: TempDir,
    store: Sqlite,
    now: i64,
}

impl World {
    /// As after the first start of a server.
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut store = Sqlite::open(&folder.path().join("data"), Timestamp { ms: 0 }).unwrap();
        let owner = store.add_person("olive", Role::Owner, Timestamp { ms: 5 }).unwrap();
        let general = store.add_channel("general", None, Timestamp { ms: 5 }).unwrap();
        store.add_membership(&general.id, &owner.id, Rank::Manager, Timestamp { ms: 5 }).unwrap();
        Self { folder, store, now: 1_796_000_000_000 }
    }

    fn now(&mut self) -> Timestamp {
        self.now += 1_000;
        Timestamp { ms: self.now }
    }

    fn bind(&mut self, channel: &ChannelId, handle: &str) -> Binding {
        let env = EnvVar { name: "KEY".to_owned(), value: Some("canary-of-env".to_owned()) };
        let new = NewBinding {
            channel: channel.clone(),
            handle: handle.to_owned(),
            preset: "custom".to_owned(),
            command: vec!["agent".to_owned(), "--key=canary-of-command".to_owned()],
            delivery: Policy::Lean,
            session: SessionPolicy::Resident,
            supervised: true,
            env: vec![env],
            model: None,
            cwd: None,
            instructions: Some("canary-of-instructions".to_owned()),
            addressed_by: AddressedBy::Members,
        };
        let now = self.now();
        self.store.add_binding(&new, now).unwrap()
    }

    fn append(
        &mut self,
        channel: &ChannelId,
        thread: Option<&MessageId>,
        name: &str,
        text: &str,
    ) -> MessageId {
        let kind = match name {
            "Highwater" => AuthorKind::System,
            agent if agent.starts_with('@') => AuthorKind::Agent,
            _ => AuthorKind::User,
        };
        let new = NewMessage {
            channel: channel.clone(),
            thread: thread.cloned(),
            author: Author { kind, name: name.to_owned() },
            native: None,
            run: None,
            text: text.to_owned(),
            client_id: Some(format!("client-{}", self.now)),
        };
        let now = self.now();
        match self.store.append(&new, now).unwrap() {
            Appended::New(message) | Appended::Before(message) => message.row.id,
        }
    }

    fn export(&mut self, names: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let now = self.now();
        let mut out = Vec::new();
        export(&self.store, &names, now, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn spool(&self, text: &[u8]) -> Spool {
        Spool::written::<std::io::Error>(self.folder.path(), |out| out.write_all(text)).unwrap()
    }

    /// As the service does it: checked first, then in one transaction.
    fn import(&mut self, text: &str) -> Result<Brought, ApiError> {
        let spool = self.spool(text.as_bytes());
        check(&spool)?;
        let now = self.now();
        let mut result = None;
        let stored = self.store.atomic(&mut |store| {
            let brought = bring::bring(store, &spool, now);
            let kept = brought.is_ok();
            result = Some(brought);
            if kept { Ok(()) } else { Err(storage::Error::Conflict("undone".to_owned())) }
        });
        let result = result.unwrap();
        assert_eq!(stored.is_ok(), result.is_ok());
        result
    }
}

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

/// A small generator (xorshift), so that a printed seed makes the same history again.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { Some(&all[self.below(all.len())]) }
    }
}

/// A history in which anything may happen.
fn history(seed: u64) -> World {
    let mut random = Random(seed);
    let mut world = World::new();
    let people = ["aiko", "ben", "zoe"];
    for (name, role) in people.iter().zip([Role::Member, Role::Guest, Role::Member]) {
        let now = world.now();
        let person = world.store.add_person(name, role, now).unwrap();
        world.store.set_password(&person.id, "canary-of-password").unwrap();
    }
    let mut channels = vec![world.store.channel("general").unwrap().id];
    for (name, direct) in [("board", None), ("tutor", Some("guide"))] {
        let now = world.now();
        channels.push(world.store.add_channel(name, direct, now).unwrap().id);
    }
    let agents: Vec<Binding> = channels.clone().iter().map(|channel| world.bind(channel, "guide")).collect();
    let mut roots: Vec<Vec<MessageId>> = vec![Vec::new(); channels.len()];
    let mut all: Vec<Vec<MessageId>> = roots.clone();
    let mut ended: Vec<Vec<RunId>> = vec![Vec::new(); channels.len()];
    let mut renamed = 0;
    for step in 0..150 {
        let at = random.below(channels.len());
        let channel = channels[at].clone();
        match random.below(12) {
            0..=4 => {
                let names = ["olive", "aiko", "ben", "zoe", "gone", "@guide", "Highwater"];
                let name = names[random.below(names.len())];
                let id = world.append(
                    &channel,
                    None,
                    name,
                    &format!("message {step} \u{1F980} \"quoted\"\n@guide"),
                );
                roots[at].push(id.clone());
                all[at].push(id);
            }
            5 | 6 => {
                if let Some(root) = random.of(&roots[at]).cloned()
                    && world.store.message(&root).unwrap().row.deleted_seq.is_none()
                {
                    let id = world.append(&channel, Some(&root), "aiko", &format!("reply {step}"));
                    all[at].push(id);
                }
            }
            7 => {
                if let Some(id) = random.of(&all[at]).cloned() {
                    let now = world.now();
                    // One that was deleted cannot be.
                    let _ = world.store.edit(&id, &format!("edited {step}"), now);
                }
            }
            8 => {
                if let Some(id) = random.of(&all[at]).cloned() {
                    let now = world.now();
                    world.store.delete(&id, now).unwrap();
                }
            }
            9 => {
                if let Some(id) = random.of(&all[at]).cloned() {
                    let again = random.of(&ended[at]).cloned();
                    let run = world.run(&agents[at], &id, again.as_ref(), random.below(3));
                    ended[at].push(run);
                }
            }
            10 => {
                let person = world.store.people().unwrap()[random.below(4)].id.clone();
                let now = world.now();
                world.store.add_membership(&channel, &person, Rank::Member, now).unwrap();
            }
            _ => {
                renamed += 1;
                world.change(&channel, renamed);
            }
        }
    }
    world
}

impl World {
    fn run(&mut self, agent: &Binding, message: &MessageId, again: Option<&RunId>, how: usize) -> RunId {
        let key = Key { channel: agent.spec.channel.clone(), binding: agent.id.clone() };
        let now = self.now();
        let run = self.store.add_run(&key, message, again, now).unwrap().id;
        let status = [RunStatus::Failed, RunStatus::Cancelled, RunStatus::Succeeded][how];
        let usage = Some(Usage { input: Some(7), ..Usage::default() }).filter(|_| how == 2);
        let error = Some("for a reason".to_owned()).filter(|_| how < 2);
        let new = NewMessage {
            channel: agent.spec.channel.clone(),
            thread: None,
            author: Author { kind: AuthorKind::Agent, name: "@guide".to_owned() },
            native: Some("canary-of-session".into()),
            run: Some(run.clone()),
            text: format!("of {run}"),
            client_id: None,
        };
        let now = self.now();
        self.store.append(&new, now).unwrap();
        let ending = Ending { status, error, usage, told: None };
        let now = self.now();
        self.store.end_run(&run, &ending, now).unwrap();
        run
    }

    fn change(&mut self, channel: &ChannelId, n: usize) {
        let zoe: PersonId = self.store.people().unwrap().pop().unwrap().id;
        self.store.rename_person(&zoe, &format!("zoe{n}")).unwrap();
        let now = self.now();
        self.store.set_deactivated(&zoe, n.is_multiple_of(2).then_some(now)).unwrap();
        self.store.change_channel(channel, &ChannelChange::Topic(format!("topic {n}"))).unwrap();
        let archived = (!n.is_multiple_of(2)).then_some(now);
        self.store.change_channel(channel, &ChannelChange::ArchivedAt(archived)).unwrap();
        if self.store.channel_by_id(channel).unwrap().direct.is_none() {
            self.store.change_channel(channel, &ChannelChange::Access(Access::Private)).unwrap();
        }
    }
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

#[test]
fn what_does_not_fit_is_named_by_its_place() {
    let whole = LINES.join("\n") + "\n";
    assert_eq!(World::new().import(&whole).map(|brought| brought.messages), Ok(2));
    // (line, what is changed in it, what stands at the place that is named, what is wrong)
    let table: &[(usize, &str, &str, &str, &str)] = &[
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
        (4, "plans", "board", "\"channel\":", "channel board stands amid channel plans"),
        (5, "\"claude\"", "\"system\"", "\"handle\":", "the name system is Highwater's own; choose another"),
        (6, "\"seq\":1", "\"seq\":2", "\"seq\":", "the next event of channel plans has the number 1, not 2"),
        (6, "@claude hi", "", "\"text\":", "a text has 1 to 65536 bytes"),
        (6, "\"user\"", "\"system\"", "\"author\":", "\"aiko\" is no name of such an author"),
        (
            7,
            "T09:02",
            "T09:01",
            "\"at\":",
            "it is not later than the event before it, of 2026-11-30T09:01:00.000Z",
        ),
        (
            7,
            "\"thread\":1",
            "\"thread\":2",
            "\"thread\":",
            "no message that can have a thread has the number 2",
        ),
        (8, "\"message\":2", "\"message\":1", "\"message\":", "message 1 has a text, or was deleted before"),
        (9, "\"n\":1", "\"n\":2", "\"n\":", "the next run of channel plans has the number 1"),
        (9, "\"agent\":\"claude\"", "\"agent\":\"codex\"", "\"agent\":", "codex does not stand before it"),
        (9, "\"message\":1", "\"message\":3", "\"message\":", "no message before it has the number 3"),
        (
            9,
            "\"succeeded\"",
            "\"queued\"",
            "\"ended_at\":",
            "a run has an end if it has ended, and only then",
        ),
        (
            9,
            "[2]",
            "[2],\"retry_of\":1",
            "\"retry_of\":",
            "it tries a run again that does not stand before it",
        ),
        (10, "9", "8", "\"records\":", "9 records stand before, not 8"),
        (10, "}}", "}", "}", "EOF while parsing an object"),
    ];
    for (n, from, to, at, what) in table {
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
    let plans = world.store.add_channel("zoo", None, now).unwrap().id;
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
