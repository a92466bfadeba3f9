//! A handful of worlds; `cargo xtask world` plays more.

use delivery::faults::Rule;

use super::*;

/// Holds I1 to I6 and I8: what `model` says of them, and what `world` looks at beside it.
#[test]
fn the_first_worlds_hold() {
    for seed in 1..=12 {
        let played = play(seed, &folder());
        assert_eq!(played.failed.map(|failed| failed.breach), None, "seed {seed}");
    }
}

#[test]
fn a_seed_gives_the_same_world_each_time() {
    let digests: Vec<u64> = [3, 4, 3, 4].iter().map(|seed| play(*seed, &folder()).digest).collect();
    assert_eq!(digests[..2], digests[2..]);
    assert_ne!(digests[0], digests[1]);
}

#[test]
fn a_world_without_acts_is_calm() {
    let drawn = Drawn::of(1);
    assert!(play_these(&drawn, &[], &folder()).failed.is_none());
}

/// The page on worlds has each rule that can be broken, in its words.
#[test]
fn the_page_lists_the_rules() {
    let page = include_str!("../../../docs/world.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    let mut due: Vec<String> = Rule::ALL
        .iter()
        .map(|rule| format!("| {} | `{rule:?}` | {} |", rule.number(), rule.sentence()))
        .collect();
    let mut is: Vec<String> = rows.into_iter().map(str::to_owned).collect();
    due.sort();
    is.sort();
    assert_eq!(is, due);
}
