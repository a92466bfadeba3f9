//! Buckets in virtual time.

use super::*;

const RATE: Rate = Rate { every_us: 100_000, burst: 3 };

/// Each step: (ms, key, what is answered).
fn check(rate: Rate, steps: &[(u64, char, Result<(), u64>)]) {
    let mut buckets = Buckets::new(rate);
    for (n, (ms, key, expected)) in steps.iter().enumerate() {
        assert_eq!(buckets.take(key, Moment { ms: *ms }), *expected, "step {n} of {steps:?}");
    }
}

#[test]
fn a_burst_and_then_the_rate() {
    check(
        RATE,
        &[
            (0, 'a', Ok(())),
            (0, 'a', Ok(())),
            (0, 'a', Ok(())),
            (0, 'a', Err(100)),
            (40, 'a', Err(60)),
            (100, 'a', Ok(())),
            (100, 'a', Err(100)),
            (250, 'a', Ok(())),
            (250, 'a', Err(50)),
        ],
    );
}

#[test]
fn keys_do_not_hinder_each_other_and_a_bucket_never_holds_more_than_its_burst() {
    let full = [(9_000, 'a', Ok(())), (9_000, 'a', Ok(())), (9_000, 'a', Ok(())), (9_000, 'a', Err(100))];
    let mut steps =
        vec![(0, 'a', Ok(())), (0, 'b', Ok(())), (0, 'b', Ok(())), (0, 'b', Ok(())), (0, 'b', Err(100))];
    steps.extend(full);
    check(RATE, &steps);
}

#[test]
fn a_clock_that_stands_still_gives_nothing() {
    check(Rate::per_second(1_000, 1), &[(5, 'a', Ok(())), (5, 'a', Err(1)), (6, 'a', Ok(()))]);
}

#[test]
fn memory_is_bounded_and_a_flood_of_keys_frees_nobody() {
    let mut buckets = Buckets::new(RATE);
    for _ in 0..3 {
        buckets.take(&0, Moment { ms: 0 }).unwrap();
    }
    for key in 1..30_000 {
        buckets.take(&key, Moment { ms: 0 }).unwrap();
    }
    assert!(buckets.full_at_us.len() <= KEYS_MAX);
    assert_eq!(buckets.take(&0, Moment { ms: 0 }), Err(100));
}
