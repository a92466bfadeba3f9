//! Every case of `cases/delivery.json` renders exactly as it says.

use delivery::channel_delivery::{Case, Rendered, render};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    title: String,
    case: Case,
    expect: Rendered,
}

#[test]
fn all_render_as_they_say() {
    let examples: Vec<Example> = serde_json::from_str(include_str!("../cases/delivery.json")).unwrap();
    assert_eq!(examples.len(), 43);
    for Example { title, case, expect } in examples {
        assert_eq!(render(&case), expect, "{title}");
    }
}
