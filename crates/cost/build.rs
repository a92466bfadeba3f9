//! Makes the tables by which tokens are found from the vocabularies in `data`, so that the program need not make them each time
//! that it starts.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

#[path = "src/tokens/vocabulary/place.rs"]
mod place;

use place::{BYTES_MAX, Place};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/vocabulary/place.rs");
    let out = env::var_os("OUT_DIR").ok_or("cargo names no folder for the tables")?;
    for name in ["cl100k_base", "o200k_base"] {
        let file = format!("data/{name}.bin");
        println!("cargo::rerun-if-changed={file}");
        let tokens = tokens(&fs::read(&file)?).ok_or_else(|| format!("{file} is broken"))?;
        let out = Path::new(&out);
        fs::write(out.join(format!("{name}.ends")), ends(&tokens)?)?;
        fs::write(out.join(format!("{name}.slots")), slots(&tokens)?)?;
    }
    Ok(())
}

/// The tokens of a vocabulary, by rank: their number in four bytes, the length of each in one, then all of them.
fn tokens(data: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (count, rest) = data.split_first_chunk::<4>()?;
    let (lengths, mut bytes) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*count)).ok()?)?;
    let mut tokens = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (token, after) = bytes.split_at_checked(usize::from(*length))?;
        (1..=BYTES_MAX).contains(&token.len()).then(|| tokens.push(token.to_vec()))?;
        bytes = after;
    }
    bytes.is_empty().then_some(tokens)
}

/// Where each token ends among the bytes of all.
fn ends(tokens: &[Vec<u8>]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut end = 0;
    let mut out = Vec::new();
    for token in tokens {
        end += token.len();
        out.extend(u32::try_from(end)?.to_le_bytes());
    }
    Ok(out)
}

/// A table with open addressing, half full, so that most searches end at the first slot or the second.
fn slots(tokens: &[Vec<u8>]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut slots = vec![0_u32; tokens.len() * 2];
    for (rank, token) in tokens.iter().enumerate() {
        let place = Place::of(token);
        let (before, from) = slots.split_at_mut(place.start(tokens.len() * 2));
        let slot = from.iter_mut().chain(before).find(|slot| **slot == 0).ok_or("the table is full")?;
        let rank = u32::try_from(rank)?;
        *slot = place.mark() | (rank + 1);
        if place.rank(*slot) != Some(rank) {
            return Err("a rank does not fit into a slot".into());
        }
    }
    Ok(slots.iter().flat_map(|slot| slot.to_le_bytes()).collect())
}
