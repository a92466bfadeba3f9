//! Exports that are cut or changed anywhere: refused by their place, or brought whole; nothing in between.

use super::world::{World, history};
use super::*;

/// A small generator (xorshift), so that a seed makes the same damage again.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }
}

/// Cuts the bytes, changes some, takes a line away or gives one twice.
fn damaged(whole: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = whole.as_bytes().to_vec();
    match random.below(4) {
        0 => bytes.truncate(random.below(whole.len())),
        1 => {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        n => {
            let mut lines: Vec<&str> = whole.lines().collect();
            let at = random.below(lines.len());
            if n == 2 {
                lines.remove(at);
            } else {
                lines.insert(at, lines[at])
            }
            bytes = lines.join("\n").into_bytes();
        }
    }
    bytes
}

/// Fault experiment 5: an import is all of a file or nothing, whatever happened to it.
#[test]
fn a_damaged_export_is_refused_by_its_place_or_brought_whole() {
    let whole = history(5).export(&[]);
    let channels = |world: &World| world.store.channels().unwrap().len();
    let (mut refused, mut brought) = (0, 0);
    for seed in 1..=120 {
        let bytes = damaged(&whole, &mut Random(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed)));
        let mut world = World::new();
        let before = channels(&world);
        let checked = check(&world.spool(&bytes));
        // What is not UTF-8 is refused before anything is read.
        let answer = match std::str::from_utf8(&bytes) {
            Ok(text) => world.import(text).map(|_| ()),
            Err(_) => checked.map(|_| ()),
        };
        match answer {
            Ok(()) => brought += 1,
            Err(error) => {
                refused += 1;
                assert!(error.message.starts_with("line "), "seed {seed}: {error}");
                assert!(error.message.ends_with("; nothing was imported"), "seed {seed}: {error}");
                assert_eq!(channels(&world), before, "seed {seed}: {error}");
            }
        }
    }
    assert!(World::new().import(&whole).is_ok());
    assert!(refused > 50, "{refused} {brought}");
}
