//! What all benchmarks share: the programs, the sizes, a folder for data, databases that are filled once.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use delivery::model::ChannelId;
use delivery::{Author, AuthorKind, Timestamp};
use storage::{NewMessage, Role, Sqlite, Store};
use tempfile::TempDir;

use crate::words::Words;

/// Bytes of a message's text: about what people write.
pub(crate) const TEXT_BYTES: usize = 240;

/// The person who writes.
pub(crate) const PERSON: &str = "olive";

/// Messages that are put into a database with one commit.
const FILL_GROUP: u64 = 1_000;

/// How often things are measured, and how large they are.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// What to think of the figures.
    pub(crate) label: &'static str,
    /// Mentions over HTTP.
    pub(crate) prompts: u64,
    /// Mentions by a whole process.
    pub(crate) commands: u64,
    /// Rounds of blocks of posts.
    pub(crate) post_rounds: u64,
    /// Posts of a block that are committed one by one.
    pub(crate) posts: u64,
    /// Groups of a block, and posts of each connection of many.
    pub(crate) groups: u64,
    /// Pages of each kind.
    pub(crate) pages: u64,
    /// Messages of the small database.
    pub(crate) few: u64,
    /// Messages of the large one.
    pub(crate) many: u64,
    /// Channels that are touched once, and runs of one agent.
    pub(crate) touched: u64,
    pub(crate) runs: u64,
    /// Live readers.
    pub(crate) readers: usize,
    /// Posts while they read.
    pub(crate) live_posts: u64,
    /// Simulations of each channel, on each side.
    pub(crate) simulations: u64,
    /// Starts of the server, and of a command that does little.
    pub(crate) starts: u64,
}

impl Sizes {
    /// What the published figures are made with.
    pub(crate) const FULL: Self = Self {
        label: "full sizes",
        prompts: 300,
        commands: 30,
        post_rounds: 12,
        posts: 100,
        groups: 20,
        pages: 400,
        few: 1_000,
        many: 1_000_000,
        touched: 10_000,
        runs: 100_000,
        readers: 500,
        live_posts: 1_000,
        simulations: 10,
        starts: 20,
    };

    /// Enough to see that every benchmark works.
    pub(crate) const QUICK: Self = Self {
        label: "tiny sizes, whose figures mean nothing",
        prompts: 3,
        commands: 2,
        post_rounds: 1,
        posts: 3,
        groups: 1,
        pages: 3,
        few: 100,
        many: 2_000,
        touched: 20,
        runs: 100,
        readers: 5,
        live_posts: 20,
        simulations: 1,
        starts: 1,
    };
}

/// One run.
pub(crate) struct Bench {
    pub(crate) sizes: Sizes,
    /// The program that is measured.
    pub(crate) highwater: PathBuf,
    /// This program, which also plays the agent and the echo.
    pub(crate) program: PathBuf,
    folder: TempDir,
}

impl Bench {
    /// Data goes below `folder`, else below the system's folder for temporary files, and is gone afterwards.
    pub(crate) fn new(folder: Option<&str>, sizes: Sizes) -> Result<Self> {
        let program = std::env::current_exe()?;
        let highwater = program.with_file_name("highwater");
        ensure!(
            highwater.is_file(),
            "highwater is not built beside this program; `cargo xtask bench` builds both"
        );
        let above = folder.map_or_else(std::env::temp_dir, PathBuf::from);
        // The programs work in folders of their own, where a relative path leads elsewhere.
        let above = above.canonicalize().with_context(|| format!("the folder {}", above.display()))?;
        let folder = tempfile::tempdir_in(above).context("making a folder for data")?;
        Ok(Self { sizes, highwater, program, folder })
    }

    /// A new empty folder.
    pub(crate) fn home(&self, name: &str) -> Result<PathBuf> {
        let home = self.folder.path().join(name);
        std::fs::create_dir(&home)?;
        Ok(home)
    }

    /// A data folder with so many messages in the channel `general`; filled the first time it is asked for.
    pub(crate) fn filled(&self, messages: u64) -> Result<PathBuf> {
        let data = self.folder.path().join(format!("data-{messages}"));
        if data.exists() {
            return Ok(data);
        }
        let (mut store, channel) = open(&data)?;
        let mut words = Words::new(1);
        for first in (0..messages).step_by(usize::try_from(FILL_GROUP)?) {
            let texts: Vec<String> =
                (first..messages.min(first + FILL_GROUP)).map(|_| words.text(TEXT_BYTES)).collect();
            let at = now();
            store.atomic(&mut |store| {
                for text in &texts {
                    store.append(&message(&channel, text.clone(), None), at)?;
                }
                Ok(())
            })?;
            if first % 100_000 == 0 && first > 0 {
                eprintln!("  {first} messages written");
            }
        }
        Ok(data)
    }

    /// The machine, as far as it matters.
    pub(crate) fn machine(&self) -> Result<String> {
        let cores = std::thread::available_parallelism()?;
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("unknown").to_owned();
        let kind = file_system(self.folder.path()).unwrap_or_else(|| "unknown".to_owned());
        let label = self.sizes.label;
        Ok(format!("{cores} cores, {kind} file system, load {load} at the start; {label}"))
    }
}

/// A store on a new data folder, with one person and the channel `general`.
pub(crate) fn open(data: &Path) -> Result<(Sqlite, ChannelId)> {
    let mut store = Sqlite::open(data, now())?;
    store.add_person(PERSON, Role::Owner, now())?;
    let channel = store.add_channel("general", storage::ChannelKind::Public, now())?;
    Ok((store, channel.id))
}

/// A message of the person.
pub(crate) fn message(channel: &ChannelId, text: String, client_id: Option<String>) -> NewMessage {
    NewMessage {
        channel: channel.clone(),
        thread: None,
        author: Author { kind: AuthorKind::User, name: PERSON.to_owned() },
        native: None,
        run: None,
        text,
        client_id,
    }
}

/// The time of day.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
}

/// The kind of the file system that holds a folder: that of the longest mount point above it.
fn file_system(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mounted = mounts.lines().filter_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        Some((mount.split(' ').nth(4)?, kind.split(' ').next()?))
    });
    let above = mounted.filter(|(point, _)| folder.starts_with(point));
    above.max_by_key(|(point, _)| point.len()).map(|(_, kind)| kind.to_owned())
}
