//! What the product claims of its cost, measured on the whole channel with the real agent.

use serde_json::Value;
use tempfile::TempDir;

use super::programs;
use crate::server::{command, program_path};

/// Figures of one profile, by strategy.
fn measured(profile: &str, strategies: &str) -> Value {
    let home = TempDir::new().unwrap();
    let mut measure = command(&program_path("highwater"));
    measure.args(["measure", "--json", "--profile", profile, "--strategy", strategies]);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs().display());
    measure.env_clear().env("HOME", home.path()).env("PATH", path).env("TMPDIR", home.path());
    let output = measure.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && err.is_empty(), "{err}");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing of it stays");
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["strategies"].take()
}

/// Tokens in all, and new ones of a warm mention.
fn tokens(figures: &Value) -> [u64; 2] {
    assert_eq!(figures["prefix_breaks"], serde_json::json!([]));
    assert_eq!(figures["failed_requests"], 0);
    ["input_tokens", "uncached_per_warm_mention"].map(|name| figures[name].as_u64().unwrap())
}

/// How much longer the brief of the base system is as it is specified (466 tokens) than Highwater's own.
fn more_brief() -> u64 {
    let own = sim::texts::Texts::new(sim::texts::Brief::Own, &cost::tokens::Encoding::Cl100kBase);
    let whole = sim::texts::Texts::new(sim::texts::Brief::Published, &cost::tokens::Encoding::Cl100kBase);
    (whole.brief().len() - own.brief().len()) as u64 / 4
}

#[track_caller]
fn at_most(what: &str, part: u64, of: u64, thousandths: u64) {
    assert!(
        part * 1_000 <= of * thousandths,
        "{what}: {part} of {of} is more than {thousandths} thousandths"
    );
}

#[test]
fn highwater_costs_a_fraction() {
    let own = measured("own", "window");
    let tidy = measured("tidy", "watermark,highwater");
    let lean = measured("lean", "highwater");
    let (window, watermark) = (tokens(&own["window"]), tokens(&tidy["watermark"]));
    let (tidy, lean) = (tokens(&tidy["highwater"]), tokens(&lean["highwater"]));

    // As measured, against a base whose brief is as short as Highwater's own.
    at_most("tidy, of own window", tidy[0], window[0], 300);
    at_most("lean, of own window", lean[0], window[0], 170);
    at_most("tidy, of tidy watermark", tidy[0], watermark[0], 730);
    for (name, warm) in [("tidy", tidy[1]), ("lean", lean[1])] {
        at_most(&format!("{name}, new, of own window"), warm, window[1], 225);
        at_most(&format!("{name}, new, of tidy watermark"), warm, watermark[1], 415);
    }

    // The same if the brief had the length that is specified: in each of 30 turns there, here once, in front of them.
    let more = more_brief();
    let each = |[all, warm]: [u64; 2]| [all + more * (1..=30).sum::<u64>(), warm + more];
    let once = |[all, warm]: [u64; 2]| [all + more * 30, warm];
    let (window, watermark, tidy, lean) = (each(window), each(watermark), once(tidy), once(lean));
    at_most("tidy, of specified own window", tidy[0], window[0], 300);
    at_most("lean, of specified own window", lean[0], window[0], 170);
    at_most("tidy, of specified tidy watermark", tidy[0], watermark[0], 640);
    at_most("tidy, new, of specified tidy watermark", tidy[1], watermark[1], 350);
    at_most("tidy, new, of specified own window", tidy[1], window[1], 190);
    at_most("lean, new, of specified own window", lean[1], window[1], 190);
}
