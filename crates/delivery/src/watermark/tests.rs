//! Records of several shapes, which of them counts, and how they grow.

use super::{Delivered, IDS_MAX, Stood, Watermark, advance, read_back, watermark_for};
use crate::model::MessageId;
use crate::time::Timestamp;

fn record(native: &str, last: (i64, Option<u64>), ids: Vec<MessageId>) -> Watermark {
    Watermark {
        native: native.into(),
        last_at: Timestamp { ms: last.0 },
        last_seq: last.1,
        ids,
        waiting: vec![],
    }
}

fn numbered(numbers: impl Iterator<Item = usize>) -> Vec<MessageId> {
    numbers.map(|n| n.to_string().as_str().into()).collect()
}

/// The record after `told` was delivered to `s-1` at this time and number.
fn check(before: Option<&Watermark>, stood: (i64, u64), told: &[MessageId], after: &Watermark) {
    let mut seen = Stood::default();
    seen.see(Timestamp { ms: stood.0 }, stood.1);
    let delivered = Delivered { stood: seen, ids: told.iter().collect(), waiting: vec![] };
    assert_eq!(advance(before, &"s-1".into(), &delivered).as_ref(), Some(after));
}

#[test]
fn an_imported_record_needs_three_fields() {
    let json = r#"{"native":"s-1","last_at":"1970-01-01T00:00:00.007Z","ids":["a"]}"#;
    let imported: Watermark = serde_json::from_str(json).unwrap();
    assert_eq!(imported, record("s-1", (7, None), vec!["a".into()]));
}

#[test]
fn a_record_counts_for_its_session_alone() {
    let mark = record("s-1", (1, Some(1)), vec![]);
    assert_eq!(watermark_for(Some(&mark), &"s-1".into()), Some(&mark));
    assert_eq!(watermark_for(Some(&mark), &"s-2".into()), None);
    assert_eq!(watermark_for(None, &"s-1".into()), None);
}

#[test]
fn records_grow() {
    let before = record("s-1", (10, Some(20)), numbered(1..=3));
    check(None, (5, 6), &numbered(1..=2), &record("s-1", (5, Some(6)), numbered(1..=2)));
    check(Some(&before), (11, 19), &[], &record("s-1", (11, Some(20)), numbered(1..=3)));
    check(Some(&before), (9, 21), &[], &record("s-1", (10, Some(21)), numbered(1..=3)));
    let again = numbered([2, 1, 4].into_iter());
    check(
        Some(&before),
        (10, 20),
        &again,
        &record("s-1", (10, Some(20)), numbered([3, 2, 1, 4].into_iter())),
    );
    let imported = record("s-1", (10, None), vec![]);
    check(Some(&imported), (9, 4), &[], &record("s-1", (10, Some(4)), vec![]));
}

#[test]
fn only_the_newest_ids_are_kept() {
    let full = record("s-1", (1, Some(1)), numbered(1..=IDS_MAX));
    let told = numbered([5, 999].into_iter());
    let kept = numbered((2..5).chain(6..=IDS_MAX).chain([5, 999]));
    check(Some(&full), (1, 1), &told, &record("s-1", (1, Some(1)), kept));
    let many = numbered(1..=IDS_MAX + 7);
    check(None, (1, 1), &many, &record("s-1", (1, Some(1)), numbered(8..=IDS_MAX + 7)));
}

#[test]
fn what_was_read_back_is_known() {
    let check = |before: Option<&Watermark>, read: &[MessageId], after: &Watermark| {
        assert_eq!(&read_back(before, &"s-1".into(), read), after);
    };
    check(None, &numbered(4..=6), &record("s-1", (0, Some(0)), numbered(4..=6)));
    let before = record("s-1", (10, Some(20)), numbered(1..=3));
    check(Some(&before), &numbered(2..=5), &record("s-1", (10, Some(20)), numbered(1..=5)));
    check(Some(&before), &[], &before);
    check(Some(&before), &numbered(4..=203), &record("s-1", (10, Some(20)), numbered(4..=203)));
}
