//! The example of the help.

use delivery::channel_delivery::{Case, render};

use super::EXAMPLE;

#[test]
fn the_example_is_a_case() {
    let start = EXAMPLE.find('{').unwrap();
    let end = EXAMPLE.find("  END").unwrap();
    let case: Case = serde_json::from_str(&EXAMPLE[start..end]).unwrap();
    let rendered = render(&case);
    assert_eq!(rendered.shown, ["m1".into()]);
    let block = rendered.block.unwrap();
    assert!(block.ends_with("\n- [user] aiko: the deploy is red"), "{block}");
}
