//! Amounts of money, and the table of limits.

use super::*;

#[test]
fn amounts_are_read_exactly() {
    for (text, expected) in
        [("5", 5_000_000), ("0.50", 500_000), ("0.000001", 1), ("12.3", 12_300_000), ("1.", 1_000_000)]
    {
        assert_eq!(amount(text), Ok(expected), "{text}");
    }
    for text in ["", "0", "0.0", "-1", ".5", "1e3", "1,5", "0.0000001", "1234567", "five", "1.2.3"] {
        assert!(amount(text).is_err(), "{text}");
    }
}

fn one() -> wire::SpendingLimit {
    wire::SpendingLimit {
        channel: Some("general".to_owned()),
        agent: Some("claude".to_owned()),
        tokens: Some(1_000_000),
        micros: None,
        currency: None,
        spent_tokens: 12_345,
        spent_micros: None,
        runs_untold: 2,
        turns_unpriced: 3,
    }
}

#[test]
fn limits_stand_beside_what_was_spent() {
    let all = wire::SpendingLimit {
        channel: None,
        agent: None,
        tokens: None,
        micros: Some(5_000_000),
        currency: Some("USD".to_owned()),
        spent_micros: Some(61_915),
        ..one()
    };
    let lines: Vec<String> = list(&[all, one()])
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        lines,
        [
            "CHANNEL AGENT TOKENS TODAY MONEY TODAY RUNS UNTOLD",
            "all 12,345 5.0000 USD 0.0619 USD 2",
            "general @claude 1,000,000 12,345 2",
        ]
    );
    assert_eq!(list(&[]), "no spending limits\n");
}
