//! Which answer a turn gets.

use super::*;

fn turn(text: &str, step: usize) -> Turn {
    Turn { text: text.to_owned(), step, tools: vec!["Bash".to_owned()], ..Turn::default() }
}

#[test]
fn the_first_rule_that_fits_is_followed_step_by_step() {
    let script: Script = serde_json::from_str(
        r#"{"rules": [
            {"when": {"text": "no tools", "tool": ""}, "answers": [{"say": {"parts": [{"text": "none"}]}}]},
            {"when": {"text": "tests"}, "answers": [
                {"say": {"parts": [{"call": {"name": "Bash", "input": {"command": "ls"}}}]}},
                {"say": {"parts": [{"text": "done"}]}}]},
            {"when": {"model": "small"}, "answers": [{"silence": {}}]}],
            "otherwise": [{"say": {"parts": [{"text": "else"}]}}]}"#,
    )
    .unwrap();
    let player = Player::new(script);
    let check = |model: &str, turn: &Turn, expected: &Answer| {
        assert_eq!(&player.answer(model, turn), expected, "for {turn:?} of {model}");
    };
    let call = Answer::call("Bash", serde_json::json!({"command": "ls"}));
    check("large", &turn("run the tests", 0), &call);
    check("large", &turn("run the tests", 1), &Answer::text("done"));
    check("large", &turn("run the tests", 7), &Answer::text("done"));
    check("large", &turn("run the tests", 0), &call);
    check("large", &turn("no tools", 0), &Answer::text("else"));
    check("large", &Turn { tools: Vec::new(), ..turn("no tools", 0) }, &Answer::text("none"));
    check("small-1", &turn("hello", 0), &Answer::Silence {});
}

#[test]
fn a_rule_holds_for_its_number_of_requests() {
    let failing = Rule {
        when: When::default(),
        times: Some(2),
        answers: vec![Answer::failure(429, "rate_limit_error", "slow down")],
    };
    let player = Player::new(Script { rules: vec![failing], otherwise: vec![Answer::text("fine")] });
    let answers: Vec<Answer> = (0..3).map(|_| player.answer("m", &turn("x", 0))).collect();
    let failure = Answer::failure(429, "rate_limit_error", "slow down");
    assert_eq!(answers, [failure.clone(), failure, Answer::text("fine")]);
}

#[test]
fn a_mistyped_script_is_refused() {
    for wrong in [
        r#"{"rule": []}"#,
        r#"{"rules": [{"when": {"txt": "x"}, "answers": []}]}"#,
        r#"{"otherwise": ["say"]}"#,
    ] {
        assert!(serde_json::from_str::<Script>(wrong).is_err(), "{wrong}");
    }
}
