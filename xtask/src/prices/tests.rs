//! Tests of how the public table's entries are read.

use serde_json::{Value, json};

use super::{MODELS, price, table};

fn check(entry: &Value, expected: Result<Value, &str>) {
    let found =
        price(entry).map(|price| serde_json::to_value(price).unwrap()).map_err(|error| error.to_string());
    assert_eq!(found, expected.map_err(str::to_owned), "{entry}");
}

fn rates(input: u64, read: u64, write: u64, write_1h: u64, output: u64) -> Value {
    json!({ "input": input, "read": read, "write": write, "write_1h": write_1h, "output": output })
}

#[test]
fn dollars_become_picodollars() {
    let entry = json!({
        "input_cost_per_token": 3e-6, "output_cost_per_token": 1.5e-5, "cache_read_input_token_cost": 2.5e-9,
        "cache_creation_input_token_cost": 3.75e-6, "cache_creation_input_token_cost_above_1hr": 6e-6,
    });
    check(&entry, Ok(json!({ "rates": rates(3_000_000, 2500, 3_750_000, 6_000_000, 15_000_000) })));
}

#[test]
fn what_has_no_price_of_its_own_costs_what_input_costs() {
    let entry = json!({ "input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6 });
    check(&entry, Ok(json!({ "rates": rates(1_000_000, 1_000_000, 1_000_000, 1_000_000, 4_000_000) })));
}

#[test]
fn long_prompts_have_rates_of_their_own() {
    let entry = json!({
        "input_cost_per_token": 1e-7, "output_cost_per_token": 5e-7, "cache_read_input_token_cost": 1e-8,
        "cache_creation_input_token_cost": 1.25e-7, "cache_creation_input_token_cost_above_1hr": 2e-7,
        "input_cost_per_token_above_100k_tokens": 5e-7, "output_cost_per_token_above_100k_tokens": 2.5e-6,
        "cache_read_input_token_cost_above_100k_tokens": 5e-8,
        "cache_creation_input_token_cost_above_100k_tokens": 6.25e-7,
    });
    let long =
        json!({ "above_tokens": 100_000, "rates": rates(500_000, 50_000, 625_000, 1_000_000, 2_500_000) });
    check(&entry, Ok(json!({ "rates": rates(100_000, 10_000, 125_000, 200_000, 500_000), "long": long })));
}

#[test]
fn nonsense_is_refused() {
    check(&json!({ "output_cost_per_token": 1e-6 }), Err("no price of input"));
    check(&json!({ "input_cost_per_token": 1e-6 }), Err("no price of output"));
    let entry = json!({ "input_cost_per_token": 1.23e-13, "output_cost_per_token": 1e-6 });
    check(&entry, Err("0.000000000000123 dollars are no whole number of picodollars"));
    let entry = json!({ "input_cost_per_token": -1e-6, "output_cost_per_token": 1e-6 });
    check(&entry, Err("-0.000001 dollars are no whole number of picodollars"));
}

#[test]
fn the_table_names_its_day_and_its_source_and_leaves_the_provider_out() {
    let entry = json!({ "input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6, "mode": "chat" });
    let mut public: serde_json::Map<String, Value> =
        MODELS.iter().map(|name| ((*name).to_owned(), entry.clone())).collect();
    let made = |public: &serde_json::Map<String, Value>| {
        table(&serde_json::to_string(public).unwrap(), "2026-11-30", "a test")
            .map_err(|error| error.to_string())
    };
    let written: Value = serde_json::from_str(&made(&public).unwrap()).unwrap();
    assert_eq!((&written["date"], &written["source"]), (&json!("2026-11-30"), &json!("a test")));
    let names: Vec<&str> = written["models"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected: Vec<&str> = MODELS.iter().map(|name| name.trim_start_matches("gemini/")).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
    public.remove("o3");
    assert_eq!(made(&public), Err("the public table no longer has `o3`".to_owned()));
}
