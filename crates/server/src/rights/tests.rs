//! Each right for each principal: the table is the rule.

use storage::{Access, AddressedBy, PersonId, Rank, Role, Scope, Scopes};

use super::*;

fn principal(role: Role, scopes: Scopes) -> Principal {
    Principal { person: "p1".into(), name: "zoe".to_owned(), role, scopes }
}

fn at(access: Access, shape: Shape, rank: Option<Rank>) -> Standing {
    Standing { access, shape, rank }
}

/// `+` allowed, `-` refused in words, `.` as if it did not exist, `s` for want of a scope.
fn sign(verdict: Verdict) -> char {
    match verdict {
        Ok(()) => '+',
        Err(Denial::Refused(_)) => '-',
        Err(Denial::Hidden) => '.',
        Err(Denial::Scope(_)) => 's',
    }
}

/// The signs of owner, member and guest, each as manager, as member and outside.
fn signs(access: Access, shape: Shape, right: impl Fn(&Principal, Standing) -> Verdict) -> String {
    let ranks = [Some(Rank::Manager), Some(Rank::Member), None];
    let roles = [Role::Owner, Role::Member, Role::Guest].map(|role| {
        let who = principal(role, Scopes::all());
        ranks.iter().map(|rank| sign(right(&who, at(access, shape, *rank)))).collect::<String>()
    });
    roles.join(" ")
}

#[test]
fn rights_in_channels() {
    // I14
    type Right = fn(&Principal, Standing) -> Verdict;
    let own: PersonId = "p1".into();
    let other: PersonId = "p2".into();
    // (right, in a public channel, in a private one, in a direct conversation)
    let table: [(&str, Right, &str, &str, &str); 15] = [
        ("read", may_read_channel, "+++ +++ ++.", "+++ ++. ++.", "+++ ++. ++."),
        ("join", may_join_channel, "+++ +++ ++.", "+++ ++. ++.", "--- --. --."),
        ("leave", may_leave_channel, "+++ +++ ++.", "+++ ++. ++.", "--- --. --."),
        ("invite", may_invite, "+++ ++- --.", "+++ ++. --.", "--- --. --."),
        ("remove a member", may_remove_member, "+++ +-- --.", "+++ +-. --.", "--- --. --."),
        ("manage", may_manage_channel, "+++ +-- --.", "+++ +-. --.", "+++ +-. --."),
        ("pause", may_pause_channel, "+++ +-- --.", "+++ +-. --.", "+++ +-. --."),
        ("limit", may_limit_channel, "+++ +-- --.", "+++ +-. --.", "+++ +-. --."),
        ("topic", may_set_topic, "+++ ++- --.", "+++ ++. --.", "+++ ++. --."),
        ("post", may_post, "+++ +++ ++.", "++- ++. ++.", "++- ++. ++."),
        ("add agent", may_add_agent, "+++ --- --.", "+++ --. --.", "+++ --. --."),
        ("remove agent", may_remove_agent, "+++ --- --.", "+++ --. --.", "+++ --. --."),
        ("change limits", may_change_limits, "+++ --- --.", "+++ --. --.", "+++ --. --."),
        ("change rules", may_change_rules, "+++ --- --.", "+++ --. --.", "+++ --. --."),
        ("fresh", may_start_fresh, "+++ ++- --.", "+++ ++. --.", "+++ ++. --."),
    ];
    for (name, right, public, private, direct) in table {
        let got = [
            signs(Access::Public, Shape::Open, right),
            signs(Access::Private, Shape::Open, right),
            signs(Access::Private, Shape::Direct, right),
        ];
        assert_eq!(got, [public, private, direct], "{name}");
    }
    type Whose = fn(&Principal, Standing, Option<&PersonId>) -> Verdict;
    // (right, of one's own in a public channel, of another's, of an agent's, of another's in a private one)
    let table: [(&str, Whose, [&str; 4]); 5] = [
        ("edit", may_edit_message, ["+++ +++ ++.", "+++ --- --.", "+++ --- --.", "+++ --. --."]),
        ("delete", may_delete_message, ["+++ +++ ++.", "+++ --- --.", "+++ --- --.", "+++ --. --."]),
        ("cancel", may_cancel_run, ["+++ +++ ++.", "+++ ++- --.", "+++ ++- --.", "+++ ++. --."]),
        ("retry", may_retry_run, ["+++ +++ ++.", "+++ ++- --.", "+++ ++- --.", "+++ ++. --."]),
        ("resume", may_resume_run, ["+++ +++ ++.", "+++ ++- --.", "+++ ++- --.", "+++ ++. --."]),
    ];
    for (name, right, expected) in table {
        let got = [
            (Access::Public, Some(&own)),
            (Access::Public, Some(&other)),
            (Access::Public, None),
            (Access::Private, Some(&other)),
        ];
        let got = got.map(|(access, author)| signs(access, Shape::Open, |who, at| right(who, at, author)));
        assert_eq!(got, expected, "{name}");
    }
    assert_eq!(signs(Access::Private, Shape::Open, may_see_run), "+++ ++. ++.");
}

#[test]
fn rights_in_the_workspace() {
    // I14
    let (own, other): (PersonId, PersonId) = ("p1".into(), "p2".into());
    let check = |name: &str, right: &dyn Fn(&Principal) -> Verdict, expected: &str| {
        let signs =
            [Role::Owner, Role::Member, Role::Guest].map(|role| sign(right(&principal(role, Scopes::all()))));
        assert_eq!(signs.iter().collect::<String>(), expected, "{name}");
    };
    check("add channel", &may_add_channel, "++-");
    check("post as", &may_post_as, "+--");
    check("import", &may_import, "+--");
    check("export", &may_export, "+--");
    check("back up", &may_back_up, "+--");
    check("manage people", &may_manage_people, "+--");
    check("see all people", &may_see_all_people, "++-");
    check("see agent setup", &may_see_agent_setup, "+--");
    check("rename oneself", &|who| may_rename_person(who, &own), "+++");
    check("rename another", &|who| may_rename_person(who, &other), "+--");
    check("own password", &|who| may_set_password(who, &own), "+++");
    check("another's password", &|who| may_set_password(who, &other), "+--");
    check("own token", &|who| may_add_token(who, &own, &Scopes::all()), "+++");
    check("another's token", &|who| may_add_token(who, &other, &Scopes::all()), "+--");
    check("see own tokens", &|who| may_see_tokens(who, &own), "+++");
    check("see another's tokens", &|who| may_see_tokens(who, &other), "+--");
    check("end own token", &|who| may_end_token(who, &own), "+++");
    check("end another's token", &|who| may_end_token(who, &other), "+..");
}

#[test]
fn who_may_address_an_agent() {
    let signs = |by| {
        let roles = [Role::Owner, Role::Member, Role::Guest];
        roles.map(|role| sign(may_address(role, by))).iter().collect::<String>()
    };
    assert_eq!(signs(AddressedBy::Everyone), "+++");
    assert_eq!(signs(AddressedBy::Members), "++-");
    assert_eq!(signs(AddressedBy::Owners), "+--");
}

#[test]
fn who_may_answer_a_permission_card() {
    let check = |by, kind: ChoiceKind, public: &str, private: &str| {
        let right = |who: &Principal, at| may_answer_permission(who, at, by, Some(kind));
        let got = [signs(Access::Public, Shape::Open, right), signs(Access::Private, Shape::Open, right)];
        assert_eq!(got, [public, private], "{by:?} {kind:?}");
    };
    for kind in [ChoiceKind::AllowOnce, ChoiceKind::RejectOnce, ChoiceKind::RejectAlways] {
        check(AnsweredBy::Owners, kind, "+++ --- --.", "+++ --. --.");
        check(AnsweredBy::Managers, kind, "+++ +-- --.", "+++ +-. --.");
        check(AnsweredBy::Members, kind, "+++ ++- --.", "+++ ++. --.");
    }
    for kind in [ChoiceKind::AllowAlways, ChoiceKind::Other] {
        for by in [AnsweredBy::Owners, AnsweredBy::Managers, AnsweredBy::Members] {
            check(by, kind, "+++ --- --.", "+++ --. --.");
        }
    }
}

#[test]
fn scopes_narrow_what_an_owner_may() {
    let inside = at(Access::Public, Shape::Open, Some(Rank::Manager));
    let own: PersonId = "p1".into();
    let check = |scopes: &[Scope], expected: &str| {
        let who = principal(Role::Owner, Scopes(scopes.iter().copied().collect()));
        let verdicts = [
            may_read_channel(&who, inside),
            may_see_run(&who, inside),
            may_see_all_people(&who),
            may_post(&who, inside),
            may_edit_message(&who, inside, None),
            may_cancel_run(&who, inside, None),
            may_manage_channel(&who, inside),
            may_add_channel(&who),
            may_post_as(&who),
            may_add_agent(&who, inside),
            may_manage_people(&who),
            may_import(&who),
            may_answer_permission(&who, inside, AnsweredBy::Members, Some(ChoiceKind::AllowOnce)),
            may_answer_permission(&who, inside, AnsweredBy::Members, Some(ChoiceKind::AllowAlways)),
            may_change_rules(&who, inside),
            may_set_password(&who, &own),
            may_add_token(&who, &own, &Scopes([Scope::Read].into())),
        ];
        assert_eq!(verdicts.map(sign).iter().collect::<String>(), expected, "{scopes:?}");
    };
    check(&[], "sssssssssssssssss");
    check(&[Scope::Read], "+++ssssssssssssss");
    check(&[Scope::Write], "sss+++++ssss+ssss");
    check(&[Scope::Read, Scope::Write], "++++++++ssss+ssss");
    check(&[Scope::Read, Scope::Write, Scope::Admin], "+++++++++++++++++");
    // Admin alone makes no token that reads.
    check(&[Scope::Admin], "sssssssss++sss++s");
}
