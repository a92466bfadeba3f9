//! What is said of an agent's permissions, and how it is shown.

use super::*;
use crate::commands::agent::example;

fn rules() -> Rules {
    let none = Vec::new;
    Rules {
        answered_by: None,
        answer_within: None,
        allow: none(),
        allow_inside: none(),
        ask: none(),
        reject: none(),
    }
}

#[test]
fn each_kind_has_one_rule() {
    let change = |rules: Rules, default: &[ToolWord]| {
        rules.change(default).map(|change| change.tools.into_iter().collect::<Vec<_>>())
    };
    assert_eq!(change(rules(), &[]), Ok(vec![]));
    let said =
        || Rules { allow: vec![ToolWord::Execute, ToolWord::Execute], ask: vec![ToolWord::Edit], ..rules() };
    let expected = vec![(ToolKind::Edit, NewRule::Ask), (ToolKind::Execute, NewRule::Allow)];
    assert_eq!(change(said(), &[]), Ok(expected));
    assert_eq!(
        change(said(), &[ToolWord::Edit]),
        Err(Failure::new(Kind::Invalid, "edit has two rules; give it one"))
    );
}

#[test]
fn what_holds_is_shown() {
    let mut agent = example();
    agent.supervised = false;
    agent.permissions.limit_ms = Some(600_000);
    agent.permissions.tools =
        [(ToolKind::Read, wire::Rule::Inside), (ToolKind::Execute, wire::Rule::Reject)].into();
    let expected = "\
@guide of general
cards are answered by owners, and wait 600 s
it is unsupervised: this is done with its requests
KIND     RULE
read     allowed in its own working folder
execute  rejected
";
    assert_eq!(shown(&agent), expected);
}
