//! Tests of prices and of the built-in table.

use super::{Long, Money, Price, Rates, Table};
use crate::cache::Outcome;
use crate::models::Catalogue;

const RATES: Rates =
    Rates { input: 5_000_000, read: 500_000, write: 6_250_000, write_1h: 10_000_000, output: 25_000_000 };

fn check(price: &Price, outcome: Outcome, output_tokens: u64, expected: &str) {
    assert_eq!(price.of(outcome, output_tokens).to_string(), expected);
}

#[test]
fn each_kind_of_token_has_its_price() {
    let price = Price { rates: RATES, long: None };
    let million = 1_000_000;
    let none = Outcome::default();
    check(&price, none, 0, "$0.000000");
    check(&price, Outcome { read_tokens: million, ..none }, 0, "$0.500000");
    check(&price, Outcome { written_tokens: million, ..none }, 0, "$6.250000");
    check(&price, Outcome { written_1h_tokens: million, ..none }, 0, "$10.000000");
    check(&price, Outcome { uncached_tokens: million, ..none }, 0, "$5.000000");
    check(&price, none, million, "$25.000000");
    check(&price, Outcome { read_tokens: 3, written_tokens: 1, ..none }, 0, "$0.000008");
}

/// One turn of 1,500 new tokens on 150,000 old ones, as the published prices of one model make it.
#[test]
fn one_turn_on_a_long_session() {
    let table = Table::built_in();
    let price = table.price("claude-opus-5-5").unwrap();
    let none = Outcome::default();
    let (old, new) = (150_000, 1_500);
    check(price, Outcome { read_tokens: old, written_tokens: new, ..none }, 0, "$0.037500");
    check(price, Outcome { read_tokens: old, written_1h_tokens: new, ..none }, 0, "$0.042000");
    check(price, Outcome { written_tokens: old + new, ..none }, 0, "$0.757500");
    check(price, Outcome { written_1h_tokens: old + new, ..none }, 0, "$1.212000");
    check(price, Outcome { uncached_tokens: old + new, ..none }, 0, "$0.606000");
}

/// Cache break T14.
#[test]
fn a_long_prompt_is_dearer_as_a_whole() {
    let long = Rates { input: 10_000_000, read: 1_000_000, output: 50_000_000, ..RATES };
    let price = Price { rates: RATES, long: Some(Long { above_tokens: 100, rates: long }) };
    let outcome = |read_tokens| Outcome { read_tokens, uncached_tokens: 50, ..Outcome::default() };
    let parts = [price.of(outcome(50), 1), price.of(outcome(51), 1)];
    assert_eq!(
        parts,
        [Money(50 * 500_000 + 50 * 5_000_000 + 25_000_000), Money(51_000_000 + 500_000_000 + 50_000_000)]
    );
}

#[test]
fn money_is_shown_as_precisely_as_asked_for() {
    let shown = |amount, decimals| format!("{:.decimals$}", Money(amount));
    assert_eq!(shown(1_234_567_890_123, 2), "$1.23");
    assert_eq!(shown(1_995_000_000_000, 2), "$2.00");
    assert_eq!(shown(1_234_567_890_123, 0), "$1");
    assert_eq!(shown(1, 12), "$0.000000000001");
    assert_eq!(Money(499_999).to_string(), "$0.000000");
    assert_eq!(Money(1_500_000_000_000).dollars().to_string(), "1.5");
}

#[test]
fn the_built_in_table_agrees_with_published_prices() {
    let table = Table::built_in();
    let rates = |model: &str| table.price(model).map(|price| price.rates);
    let claude =
        |input, read, output| Some(Rates { input, read, write: input * 5 / 4, write_1h: input * 2, output });
    // In microdollars for a million tokens, from the providers' pages as of November 2026.
    assert_eq!(rates("claude-opus-4-6-20260205"), claude(5_000_000, 500_000, 25_000_000));
    assert_eq!(rates("claude-opus-5-5"), claude(4_000_000, 200_000, 20_000_000));
    assert_eq!(rates("claude-sonnet-5-5"), claude(2_000_000, 100_000, 10_000_000));
    assert_eq!(rates("claude-fable-5-1"), claude(10_000_000, 250_000, 50_000_000));
    assert_eq!(rates("claude-haiku-4-5@20251001"), claude(1_000_000, 100_000, 5_000_000));
    let long = Rates { input: 500_000, read: 50_000, write: 625_000, write_1h: 1_000_000, output: 2_500_000 };
    let haiku = Price {
        rates: claude(100_000, 10_000, 500_000).unwrap(),
        long: Some(Long { above_tokens: 100_000, rates: long }),
    };
    assert_eq!(table.price("claude-haiku-5-5"), Some(&haiku));
    let sol =
        Rates { input: 2_000_000, read: 100_000, write: 2_500_000, write_1h: 2_500_000, output: 10_000_000 };
    assert_eq!(rates("gpt-6.1-sol"), Some(sol));
    assert_eq!(rates("claude-opus-9"), None);
}

#[test]
fn every_model_of_the_catalogue_has_a_price() {
    let table = Table::built_in();
    let catalogue = Catalogue::built_in();
    let without: Vec<&str> = catalogue.names().filter(|name| table.price(name).is_none()).collect();
    assert_eq!(without, [""; 0]);
}

#[test]
fn another_table_is_read_strictly() {
    let table = Table::built_in();
    assert_eq!(Table::parse(&serde_json::to_string(&table).unwrap()).unwrap(), table);
    assert!(Table::parse("{\"date\": \"2026-11-30\"}").is_err());
}
