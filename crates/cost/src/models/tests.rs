//! Tests of the built-in catalogue and of how names are found in it.

use std::collections::BTreeMap;

use super::{Catalogue, Model, closest};
use crate::cache::{self, anthropic, openai};
use crate::tokens::{Encoding, Estimate};

fn check(name: &str, day: &str, expected: Option<(u64, cache::Model)>) {
    let found = Catalogue::built_in().model(name, day).map(|model| (model.counter, model.cache));
    let expected = expected.map(|(factor_thousandths, cache)| {
        (Estimate { encoding: Encoding::O200kBase, factor_thousandths }, cache)
    });
    assert_eq!(found, expected, "{name} on {day}");
}

#[test]
fn every_number_has_a_source() {
    let catalogue = Catalogue::built_in();
    let models = catalogue.names().map(|name| catalogue.model(name, &catalogue.date).unwrap());
    let unsourced = |model: &Model| model.counter_source.is_empty() || model.cache_source.is_empty();
    assert_eq!(models.filter(unsourced).collect::<Vec<_>>(), []);
    assert!(catalogue.names().count() > 30);
}

#[test]
fn models_have_their_rules_of_the_day() {
    let claude = |minimum_tokens, tool_runs| {
        cache::Model::Anthropic(anthropic::Rules { minimum_tokens, look_back_positions: 20, tool_runs })
    };
    let once = anthropic::ToolRuns::OnePosition;
    check("claude-opus-4-6-20260205", "2026-11-30", Some((1200, claude(4096, once))));
    check("claude-opus-5-5", "2026-10-01", Some((1550, claude(512, once))));
    check("claude-opus-4-7", "2026-09-30", Some((1550, claude(2048, anthropic::ToolRuns::PositionEach))));
    let boundary = openai::Boundary::Steps { tokens: 128 };
    let old = cache::Model::OpenAi(openai::Rules { minimum_tokens: 1024, boundary, idle_ms: 300_000 });
    check("gpt-5.2-codex", "2026-11-30", Some((1000, old)));
    let boundary = openai::Boundary::Requests { latest: 80 };
    let new = cache::Model::OpenAi(openai::Rules { minimum_tokens: 1024, boundary, idle_ms: 1_800_000 });
    check("gpt-6-sol", "2026-11-30", Some((1000, new)));
    check("nobody-knows-1", "2026-11-30", None);
}

#[test]
fn dated_names_are_versions_and_others_are_not() {
    let known = BTreeMap::from([("m-5".to_owned(), 5), ("m-5-1".to_owned(), 51)]);
    let names =
        ["m-5", "m-5-1", "m-5-20260101", "m-5-1-20260101", "m-5@20260101", "m-5-2026-01-01", "m-5-latest"];
    assert_eq!(names.map(|name| closest(&known, name).copied()), [5, 51, 5, 51, 5, 5, 5].map(Some));
    assert_eq!(["m-5-2", "m-5-mini", "m", "m-55"].map(|name| closest(&known, name)), [None; 4]);
}
