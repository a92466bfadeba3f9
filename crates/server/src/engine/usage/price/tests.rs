//! Prices of answers, by the built-in table.

use agents::{ModelUsage, Usage};
use storage::{NewBinding, Profile};

use super::*;
use crate::preset;

fn binding(model: Option<&str>, preset: &str, profile: Profile) -> Binding {
    let channel = storage::Channel {
        id: "c1".into(),
        name: "general".to_owned(),
        direct: None,
        created_at: delivery::Timestamp { ms: 0 },
        last_seq: 0,
        access: storage::Access::Public,
        topic: String::new(),
        archived_at: None,
        paused_at: None,
    };
    let spec = preset::guide_binding(&channel, &[]);
    let spec = NewBinding { model: model.map(str::to_owned), preset: preset.to_owned(), profile, ..spec };
    Binding { id: "b".into(), spec, created_at: channel.created_at, removed_at: None }
}

#[track_caller]
fn check(told: &Usage, binding: &Binding, micros: Option<u64>) {
    let expected = micros.map(|micros| Cost { micros, currency: Currency::USD, by: CostBy::Price });
    assert_eq!(of(told, binding), expected, "{told:?} of {:?}", binding.spec.model);
}

#[test]
fn known_models_are_priced_and_nothing_else_is() {
    let of_model = |model: &str| ModelUsage {
        model: model.to_owned(),
        input: 1_000,
        output: 100,
        cached_read: Some(10_000),
        cached_write: Some(2_000),
    };
    let by_model = |models: &[&str]| Usage {
        models: models.iter().map(|model| of_model(model)).collect(),
        ..Usage::default()
    };
    let alone = Usage {
        input: 1_000,
        output: 100,
        cached_read: Some(10_000),
        cached_write: Some(2_000),
        ..Usage::default()
    };
    let custom = binding(None, "custom", Profile::Own);
    let tidy = binding(None, "claude", Profile::Tidy);
    // 1,000 at 4, 100 at 20, 10,000 at 0.2 and 2,000 at 5 millionths of a dollar; 8 where it is kept for an hour.
    check(&by_model(&["claude-opus-5-5"]), &custom, Some(18_000));
    check(&by_model(&["claude-opus-5-5[1m]"]), &tidy, Some(24_000));
    check(&by_model(&["claude-opus-5-5", "claude-opus-5-5"]), &custom, Some(36_000));
    check(&by_model(&["claude-opus-5-5", "our-local-model"]), &custom, None);
    check(&alone, &binding(Some("claude-opus-5-5"), "custom", Profile::Own), Some(18_000));
    check(&alone, &custom, None);
    let blind = Usage { cached_read: None, ..alone.clone() };
    check(&blind, &binding(Some("claude-opus-5-5"), "custom", Profile::Own), None);
    let nonsense = Usage { input: u64::MAX, ..alone };
    check(&nonsense, &binding(Some("claude-opus-5-5"), "custom", Profile::Own), None);
}
