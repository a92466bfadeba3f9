//! Tables of usage, told and untold.

use super::*;

fn sum(of: &str) -> wire::UsageSum {
    wire::UsageSum {
        of: of.to_owned(),
        channel: Some("general".to_owned()),
        agent: Some("claude".to_owned()),
        first_at: "2026-11-30T10:00:01.000Z".parse().unwrap(),
        last_at: "2026-11-30T10:00:03.000Z".parse().unwrap(),
        runs: 1,
        runs_untold: 0,
        turns: 1,
        turns_unpriced: 0,
        cut: 0,
        input: Some(3),
        output: Some(1_050),
        cached_read: Some(1_023_490),
        cached_write: Some(113),
        cache_share: Some(0.967),
        costs: vec![wire::Cost { micros: 61_915, currency: "USD".to_owned(), by: wire::CostBy::Agent }],
    }
}

fn untold_sum(of: &str) -> wire::UsageSum {
    wire::UsageSum {
        runs_untold: 1,
        turns_unpriced: 1,
        cut: 2,
        input: None,
        output: None,
        cached_read: None,
        cached_write: None,
        cache_share: None,
        costs: vec![],
        ..sum(of)
    }
}

#[track_caller]
fn check(by: By, sums: Vec<wire::UsageSum>, all: Option<wire::UsageSum>, expected: &str) {
    let report = wire::UsageReport { by: wire::UsageBy::Run, sums, all };
    let lines: Vec<String> = text(by, &report).lines().map(|line| line.trim_end().to_owned()).collect();
    assert_eq!(lines.join("\n"), expected.trim_start_matches('\n').trim_end());
}

#[test]
fn tables_say_what_was_told_and_what_was_not() {
    check(By::Day, vec![], None, "no run has had a turn");
    let priced = wire::Cost { micros: 42, currency: "EUR".to_owned(), by: wire::CostBy::Price };
    let all = wire::UsageSum { runs: 2, turns: 2, runs_untold: 1, turns_unpriced: 1, cut: 2, ..sum("") };
    let mut all = wire::UsageSum { channel: None, agent: None, ..all };
    all.costs.push(priced);
    check(
        By::Run,
        vec![untold_sum("r2"), sum("r1")],
        Some(all),
        "
RUN  OF                  RUNS  TOLD  INPUT  READ       WRITTEN  OUTPUT  FROM CACHE  COST
r2   @claude in general  1     0     -      -          -        -       -           -
r1   @claude in general  1     1     3      1,023,490  113      1,050   96.7 %      0.0619 USD
all                      2     1     3      1,023,490  113      1,050   96.7 %      0.0619 USD + ~0.000042 EUR
1 of 2 runs told nothing: what they took is in none of these numbers
1 of 2 turns told no cost, and have no known price
~ is tokens at list prices: no agent told what they cost
2 requests were broken off: nobody tells what those took",
    );
    let day = wire::UsageSum { channel: None, agent: None, ..sum("2026-11-30") };
    check(
        By::Day,
        vec![day.clone()],
        Some(day),
        "
DAY         OF  RUNS  TOLD  INPUT  READ       WRITTEN  OUTPUT  FROM CACHE  COST
2026-11-30      1     1     3      1,023,490  113      1,050   96.7 %      0.0619 USD
all             1     1     3      1,023,490  113      1,050   96.7 %      0.0619 USD",
    );
    check(
        By::Session,
        vec![sum("")],
        Some(sum("")),
        "
SESSION  OF                  RUNS  TOLD  INPUT  READ       WRITTEN  OUTPUT  FROM CACHE  COST
unknown  @claude in general  1     1     3      1,023,490  113      1,050   96.7 %      0.0619 USD
all                          1     1     3      1,023,490  113      1,050   96.7 %      0.0619 USD",
    );
}
