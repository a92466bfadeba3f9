//! Files that are torn, cut or changed: a start refuses them with what to do, or goes on with whole commits.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::{PlacedWatermark, Store};

/// A small generator (xorshift), so that a seed makes the same damage again.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    /// Cuts a file, fills a part of it, or changes some of its bits.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        match self.below(3) {
            0 => bytes.truncate(self.below(bytes.len())),
            1 => {
                let (from, length) = (self.below(bytes.len()), self.below(5_000));
                let end = (from + length).min(bytes.len());
                let fill = u8::try_from(self.below(256)).unwrap();
                bytes[from..end].fill(fill);
            }
            _ => {
                for _ in 0..=self.below(20) {
                    let at = self.below(bytes.len());
                    bytes[at] ^= 1 << self.below(8);
                }
            }
        }
    }
}

/// What a killed server left: posts, of which the last ones stand in the log alone.
fn left() -> (TempDir, Vec<String>) {
    let Fixture { mut store, folder } = Fixture::with_channel();
    for n in 0..30 {
        post(&mut store, &format!("post {n} {}", "x".repeat(300))).unwrap();
        if n == 15 {
            store.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        }
    }
    let posted = texts(&store);
    (as_if_killed(&data(&folder)), posted)
}

/// Everything that can be read of a store; what cannot is an error, never an end of the program.
fn read_all(folder: &Path) -> Result<Vec<String>, Error> {
    let mut store = Sqlite::open(folder, at(9))?;
    let history = store.history(&"c1".into(), None, None, usize::MAX)?;
    store.search("post", None, 100)?;
    store.bindings(None)?;
    store.runs(None, 100)?;
    post(&mut store, "after")?;
    Ok(history.into_iter().map(|message| message.row.text).collect())
}

fn check_damage(file: &str, seed: u64, posted: &[String], folder: &Path) {
    let read = catch_unwind(AssertUnwindSafe(|| read_all(folder)));
    let read = read.unwrap_or_else(|_| panic!("{file}, seed {seed}: a damaged file ended the program"));
    match (file, read) {
        // Each commit in the log has a checksum: what is left of it is the first part of what was posted.
        ("highwater.db-wal", Ok(kept)) => {
            assert!(posted.starts_with(&kept), "seed {seed}: {} of {}", kept.len(), posted.len());
            assert!(kept.len() >= 16, "seed {seed}: what is in the database itself stays");
        }
        // A page has none: a changed letter is a changed letter, but rows are rows.
        (_, Ok(kept)) => assert!(kept.len() <= posted.len(), "seed {seed}: {} rows", kept.len()),
        (_, Err(error)) => {
            let told = error.to_string();
            assert!(!told.is_empty() && !told.contains("panicked"), "{file}, seed {seed}: {told}");
        }
    }
}

/// Fault experiment 5: of a torn log whole commits are left, in order; a damaged database is refused, or read as rows. I1
#[test]
fn damaged_files_are_refused_or_read_in_part() {
    let (whole, posted) = left();
    for file in ["highwater.db-wal", "highwater.db"] {
        for seed in 1..=150 {
            let mut random = Random(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
            let copy = as_if_killed(&data(&whole));
            let path = data(&copy).join(file);
            let mut bytes = fs::read(&path).unwrap();
            random.damage(&mut bytes);
            fs::write(&path, bytes).unwrap();
            check_damage(file, seed, &posted, &data(&copy));
        }
    }
}

/// Fault experiment 5: a damaged watermark: the session is given lines again rather than none. I4
#[test]
fn a_watermark_that_cannot_be_read_is_none_and_harms_no_other() {
    let Fixture { mut store, folder: _folder } = Fixture::with_channel();
    for handle in ["claude", "codex"] {
        store.add_binding(&contract::new_binding(&"c1".into(), handle), at(0)).unwrap();
    }
    let placed = |binding: &str| PlacedWatermark {
        binding: binding.into(),
        channel: "c1".into(),
        thread: None,
        watermark: contract::watermark("s1", 2),
    };
    for (column, damaged) in [
        ("ids", "'[\"m1\"'"),
        ("ids", "x'ff00'"),
        ("waiting", "'{}'"),
        ("last_at", "'never'"),
        ("last_seq", "-7"),
        ("native", "x'c3'"),
    ] {
        store.import_watermarks(&[placed("b-claude"), placed("b-codex")]).unwrap();
        let damage = format!(
            "UPDATE watermark SET {column} = {damaged} WHERE binding = (SELECT id FROM binding WHERE name = 'b-claude')"
        );
        // Where the table does not let itself be damaged so, nothing is to be shown.
        if store.connection.execute(&damage, []).is_err() {
            continue;
        }
        let of = |binding: &str| store.watermark(&binding.into(), &"c1".into(), None);
        check((column, damaged), of("b-claude").unwrap(), None);
        check("the other", of("b-codex").unwrap(), Some(contract::watermark("s1", 2)));
    }
}
