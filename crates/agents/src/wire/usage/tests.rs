//! Answers and updates as agents were heard to give them, and nonsense.

use serde_json::{Value, json};

use super::*;

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

#[track_caller]
fn check_answer(usage: &Value, meta: &Value, expected: Option<&Usage>) {
    assert_eq!(of_answer(Some(&raw(usage)), Some(&raw(meta))).as_ref(), expected, "{usage} {meta}");
}

#[test]
fn answers_tell_tokens_of_the_turn_and_by_model() {
    let own = json!({"inputTokens": 0, "outputTokens": 50, "cachedReadTokens": 23490, "cachedWriteTokens": 113,
        "totalTokens": 23653});
    let count = json!({"totalTokens": 30, "inputTokens": 3, "cachedInputTokens": 20, "cachedWriteTokens": 2,
        "outputTokens": 5, "reasoningOutputTokens": 0});
    let none = json!({"totalTokens": 0, "inputTokens": 0, "cachedInputTokens": 0, "outputTokens": 0});
    let quota = json!({"quota": {"token_count": {}, "model_usage": [
        {"model": "m-1", "token_count": count}, {"model": "m-2", "token_count": none}]}});
    let told = Usage {
        input: 0,
        output: 50,
        cached_read: Some(23_490),
        cached_write: Some(113),
        total: 23_653,
        models: vec![],
    };
    let model = ModelUsage {
        model: "m-1".to_owned(),
        input: 3,
        output: 5,
        cached_read: Some(20),
        cached_write: Some(2),
    };
    check_answer(&own, &json!({}), Some(&told));
    let whole = Usage { models: vec![model.clone()], ..told };
    check_answer(&own, &quota, Some(&whole));
    check_answer(&json!(7), &quota, Some(&Usage { models: vec![model], ..Usage::default() }));
    let told = Usage { models: vec![], ..whole };
    for odd in [json!({"quota": 7}), json!({"quota": {"model_usage": [{"model": 1}]}}), json!(null)] {
        check_answer(&own, &odd, Some(&told));
    }
    // What is told of a turn whose only request was broken off.
    let zeros = json!({"inputTokens": 0, "outputTokens": 0, "cachedReadTokens": 0, "cachedWriteTokens": 0,
        "totalTokens": 0});
    check_answer(&zeros, &json!({"quota": {"model_usage": []}}), None);
    check_answer(&json!({"inputTokens": -1}), &json!({}), None);
    assert_eq!(of_answer(None, None), None);
}

#[test]
fn updates_tell_what_a_session_has_cost() {
    let update = |cost: Value| json!({"sessionId": "s", "update": {"sessionUpdate": "usage_update", "used": 1, "size": 9, "cost": cost}});
    let usd = |micros| Some(Money { micros, currency: "USD".to_owned() });
    for (cost_told, expected) in [
        (json!({"amount": 0.061915, "currency": "USD"}), usd(61_915)),
        (json!({"amount": 0, "currency": "USD"}), usd(0)),
        (json!({"amount": 1e300, "currency": "USD"}), usd(u64::MAX)),
        (json!({"amount": -1, "currency": "USD"}), None),
        (json!({"amount": "1", "currency": "USD"}), None),
        (json!({"amount": 1, "currency": "x".repeat(1_000)}), None),
        (json!(null), None),
    ] {
        assert_eq!(cost(&raw(&update(cost_told.clone()))), expected, "{cost_told}");
    }
    let other = json!({"update": {"sessionUpdate": "plan", "cost": {"amount": 1, "currency": "USD"}}});
    assert_eq!(cost(&raw(&other)), None);
}
