//! What reading costs, in steps of SQLite's machine: no more in a long channel than in a short one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use delivery::model::MessageId;
use delivery::{Policy, Watermark};

use super::*;
use crate::DeliveryQuery;

/// Steps of some reads in a channel with this many messages, a tenth of them in a thread.
fn steps(messages: u64) -> Vec<(&'static str, u64)> {
    let Fixture { mut store, folder } = Fixture::with_channel();
    let filled = store.atomic(&mut |store| {
        for n in 0..messages {
            let thread = (n % 10 == 9).then(|| "m1".into());
            store.append(&NewMessage { thread, ..message(&format!("word{n} in each")) }, at(1))?;
        }
        store.edit(&"m1".into(), "edited", at(2))?;
        store.delete(&"m2".into(), at(2)).map(|_| ())
    });
    filled.unwrap();
    let steps = Arc::new(AtomicU64::new(0));
    let mut reader = Sqlite::open_reader(&data(&folder)).unwrap();
    let counter = Arc::clone(&steps);
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    };
    reader.connection.progress_handler(1, Some(count)).unwrap();
    let (channel, root, newest) = ("c1".into(), "m1".into(), MessageId(format!("m{}", messages - 1)));
    let mark = Watermark {
        native: "s1".into(),
        last_at: at(1),
        last_seq: Some(messages - 50),
        ids: vec!["m1".into(), "m2".into(), "m3".into()],
        waiting: vec!["m4".into()],
    };
    let history = |thread, before| reader.history(&channel, thread, before, 50).unwrap();
    let delivery = |thread, watermark| {
        let query = DeliveryQuery {
            policy: Policy::Lean,
            channel: &channel,
            thread,
            native: &mark.native,
            watermark,
            addressed: &newest,
            pending: &[],
            newest: 12,
        };
        reader.delivery_rows(&query).unwrap()
    };
    let measured: [(&str, &dyn Fn()); 9] = [
        ("newest page", &|| drop(history(None, None))),
        ("page before", &|| drop(history(None, Some(&newest)))),
        ("newest page of a thread", &|| drop(history(Some(&root), None))),
        ("snapshot", &|| drop(delivery(None, None))),
        ("delta", &|| drop(delivery(None, Some(&mark)))),
        ("snapshot of a thread", &|| drop(delivery(Some(&root), None))),
        ("events", &|| drop(reader.channel_events(&channel, messages - 20, 20).unwrap())),
        ("word", &|| drop(reader.search("each", None, 20).unwrap())),
        ("given", &|| assert!(!reader.given(&mark.native, &newest).unwrap())),
    ];
    let counted = measured.into_iter().map(|(what, work)| {
        steps.store(0, Ordering::Relaxed);
        work();
        (what, steps.load(Ordering::Relaxed))
    });
    counted.collect()
}

#[test]
fn a_long_channel_costs_no_more_than_a_short_one() {
    let (short, long) = (steps(600), steps(6_000));
    for ((what, short), (_, long)) in short.into_iter().zip(long) {
        // Equal but for where deleted messages and threads happen to stand.
        assert!(
            short > 0 && long <= short + short / 10,
            "{what}: {short} steps in the short, {long} in the long"
        );
    }
}

#[test]
fn a_transaction_writes_one_segment_of_the_search_index() {
    let Fixture { mut store, folder: _folder } = Fixture::with_channel();
    let posted = store.atomic(&mut |store| {
        for n in 0..3 {
            store.append(&message(&format!("word{n}")), at(1))?;
        }
        Ok(())
    });
    posted.unwrap();
    let segments = "SELECT count(DISTINCT segid) FROM search_idx";
    assert_eq!(store.connection.query_row(segments, [], |row| row.get::<_, i64>(0)), Ok(1));
}
