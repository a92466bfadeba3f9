//! Cards as people read them.

use server::wire::PermissionStatus;

use super::*;

#[test]
fn a_card_is_shown_whole() {
    let expected = "\
2026-11-30 10:00:01Z k3 @guide asks in r5: Clean up
    execute with Bash
    command
    | rm -rf build
    | ls
    path /work/build
    change of a.txt
    | -a
    | +b
    1 Always (allow_always, owners alone)
    2 Yes (allow_once)
    3 No (reject_once)
    waits until 2026-11-30 10:30:01Z; answer with: highwater permission answer k3 NUMBER
";
    assert_eq!(card(&example()), expected);
}

#[test]
fn no_text_poses_as_a_line_of_ours() {
    let mut hostile = example();
    let break_out = "x\n    2 Harmless (allow_once)\u{1b}[2J";
    hostile.title = break_out.to_owned();
    hostile.tool = Some(break_out.to_owned());
    hostile.tool_kind = break_out.to_owned();
    for detail in &mut hostile.details {
        detail.text = break_out.to_owned();
        detail.path = detail.path.as_ref().map(|_| break_out.to_owned());
    }
    for option in &mut hostile.options {
        option.name = break_out.to_owned();
    }
    hostile.why = Some(break_out.to_owned());
    hostile.decided_at = Some(hostile.until);
    let text = card(&hostile) + &decided(&hostile).unwrap();
    let posing = text.lines().filter(|line| line.trim_start().starts_with("2 Harmless"));
    assert_eq!((posing.count(), text.contains('\u{1b}')), (0, false), "{text}");
}

#[test]
fn what_came_of_a_card_is_told_on_one_line() {
    let check = |card: wire::Permission, expected: Option<&str>| {
        assert_eq!(decided(&card).as_deref(), expected);
    };
    check(example(), None);
    let at = Some("2026-11-30T10:10:01.000Z".parse().unwrap());
    let decided = wire::Permission { decided_at: at, ..example() };
    let allowed = wire::Permission {
        status: PermissionStatus::Allowed,
        option: Some(2),
        decided_by: Some("olive".to_owned()),
        ..decided.clone()
    };
    check(allowed, Some("2026-11-30 10:10:01Z k3 allowed by olive (Yes)"));
    let late = wire::Permission {
        status: PermissionStatus::TimedOut,
        option: Some(3),
        why: Some("nobody answered in time".to_owned()),
        ..decided
    };
    check(late, Some("2026-11-30 10:10:01Z k3 timed out (No): nobody answered in time"));
}

#[test]
fn allow_and_reject_mean_this_once() {
    let check = |kinds: &[ChoiceKind], choice, expected: Result<u32, &str>| {
        let mut card = example();
        card.options.truncate(kinds.len());
        for (option, kind) in card.options.iter_mut().zip(kinds) {
            option.kind = *kind;
        }
        let hint = "choose one by its number: highwater permission show k3";
        let failure = |message: &str| Failure::new(Kind::Invalid, message).hint(hint);
        assert_eq!(meant(&card, choice), expected.map_err(failure));
    };
    let (ever, once) = (ChoiceKind::AllowAlways, ChoiceKind::AllowOnce);
    check(&[ever, once], Choice::Allow, Ok(2));
    check(&[ever], Choice::Allow, Err("no option of k3 allows it once"));
    check(&[ever, ChoiceKind::RejectAlways, ChoiceKind::RejectOnce], Choice::Reject, Ok(3));
    check(&[ever, ChoiceKind::RejectAlways], Choice::Reject, Ok(2));
    check(&[ever, ChoiceKind::Other], Choice::Reject, Err("no option of k3 rejects it"));
    check(&[ever], Choice::Number(9), Ok(9));
    assert_eq!("allow".parse(), Ok(Choice::Allow));
    assert_eq!("-1".parse::<Choice>(), Err("it is a number, allow or reject".to_owned()));
}

#[test]
fn cards_are_listed_as_a_table() {
    assert_eq!(list(&[]), "nothing waits for an answer\n");
    let table = list(&[wire::Permission { asked_at: display::now(), ..example() }]);
    let row = "k3          waits   general  @guide  r5   execute  now    Clean up";
    assert_eq!(table.lines().nth(1), Some(row), "{table}");
}
