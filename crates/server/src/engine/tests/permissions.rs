//! Permission cards in virtual time: who and what decides them, and that each has one outcome.

use agents::{Ask, Choice, ChoiceKind, Closed, EventKind, Touches};
use delivery::model::{Epoch, RunId};
use storage::{
    AnsweredBy, NewBinding, Outcome, Permission, PermissionRules, PersonId, Read, ReadPermission, Role, Rule,
    RunStatus, Store, StoreIdentity, ToolKind,
};

use super::super::{Activity, Answer, Command, Doing, Input, Reply, Request, RulesChange};
use super::MINUTE;
use super::world::World;
use crate::error::ApiError;
use crate::rights::Principal;

fn ask(n: u64) -> Ask {
    let choice = |name: &str, kind| Choice { name: name.to_owned(), kind };
    Ask {
        n,
        title: format!("rm {n}"),
        kind: "execute".to_owned(),
        tool: None,
        details: vec![],
        options: vec![
            choice("Allow for ever", ChoiceKind::AllowAlways),
            choice("Allow", ChoiceKind::AllowOnce),
            choice("Reject for ever", ChoiceKind::RejectAlways),
            choice("Reject", ChoiceKind::RejectOnce),
        ],
        touches: Some(Touches::default()),
    }
}

impl World {
    /// A running turn of an agent.
    fn turn(&mut self, handle: &str) -> (Epoch, RunId) {
        self.post(&format!("@{handle} do it"));
        let epoch = self.started(handle, &format!("s-{handle}-{}", self.mono));
        let (run, _) = self.prompt(handle);
        (epoch, run)
    }

    fn asks(&mut self, handle: &str, epoch: Epoch, run: &RunId, ask: Ask) {
        let kind = EventKind::PermissionAsked { run: run.clone(), ask: Box::new(ask) };
        self.event(handle, epoch, kind);
    }

    /// Adds an agent that nobody supervises.
    fn solo(&mut self, tools: &[(ToolKind, Rule)]) {
        let model = self.store.bindings(None).unwrap().remove(0).spec;
        let permissions =
            PermissionRules { tools: tools.iter().copied().collect(), ..PermissionRules::default() };
        let spec = NewBinding { handle: "solo".to_owned(), supervised: false, permissions, ..model };
        self.store.add_binding(&spec, delivery::Timestamp { ms: 5 }).unwrap();
    }

    fn person(&mut self, name: &str, role: Role) -> Principal {
        let person = self.store.add_person(name, role, delivery::Timestamp { ms: 5 }).unwrap();
        let channel = self.store.channel("general").unwrap().id;
        let rank = storage::Rank::Member;
        self.store.add_membership(&channel, &person.id, rank, delivery::Timestamp { ms: 5 }).unwrap();
        Principal::of(&person)
    }

    fn owner(&self) -> Principal {
        Principal::of(&self.store.person("aiko").unwrap())
    }

    fn decides(&mut self, who: &Principal, card: &str, option: u32) -> Result<Permission, ApiError> {
        let answer = Answer { permission: card.into(), option, person: who.person.clone() };
        self.answer_as(who, answer)
    }

    fn answer_as(&mut self, who: &Principal, answer: Answer) -> Result<Permission, ApiError> {
        let asked = Request::As(Box::new(who.clone()), Box::new(Request::Answer(answer)));
        let Reply::Permission(card) = self.ask(asked)? else {
            unreachable!("an answer is answered by its card")
        };
        Ok(*card)
    }

    fn tick(&mut self, mono: u64) {
        self.mono = mono;
        self.step(&Input::Tick).unwrap();
    }

    /// What agents were told since the last look: the number of what was asked, and the choice.
    fn told(&mut self) -> Vec<(u64, Option<usize>)> {
        let told = self.given.iter().filter_map(|command| {
            let Command::Answer { ask, choice, .. } = command else { return None };
            Some((*ask, *choice))
        });
        let told = told.collect();
        self.given.retain(|command| !matches!(command, Command::Answer { .. }));
        told
    }

    /// A card's outcome, chosen option, who decided and why, in short.
    fn outcome(&self, card: &str) -> String {
        let Some(decision) = self.store.permission(&card.into()).unwrap().decision else {
            return "waits".to_owned();
        };
        let option = decision.option.map_or_else(|| "-".to_owned(), |option| option.to_string());
        let by = decision.by.map_or_else(|| "nobody".to_owned(), |by| by.name);
        format!("{:?} {option} {by}: {}", decision.outcome, decision.why.unwrap_or_default())
    }

    /// The permissions among a run's steps: outcome, option and reason.
    fn steps(&self, run: &RunId) -> Vec<String> {
        let steps = self.store.run_events(run).unwrap().into_iter().filter(|step| step.kind == "permission");
        let words = |body: &str| {
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            format!("{} {}: {}", body["outcome"], body["option"], body["why"]).replace('"', "")
        };
        steps.map(|step| words(&step.body)).collect()
    }
}

fn code(result: Result<Permission, ApiError>) -> (&'static str, String) {
    let error = result.unwrap_err();
    (error.code.as_str(), error.message)
}

#[test]
fn a_card_is_there_at_once_and_its_answer_reaches_the_agent() {
    // Public report F60: it is the channel's, not some session's.
    let mut world = World::new();
    let (epoch, run) = world.turn("claude");
    world.asks("claude", epoch, &run, ask(7));
    assert_eq!(world.outcome("k1"), "waits");
    let card = world.store.permission(&"k1".into()).unwrap();
    assert_eq!((card.run.clone(), card.until.ms - card.asked_at.ms), (run.clone(), 30 * 60_000));
    assert_eq!(
        world.engine.board(super::world::now(world.mono)).asking,
        [(run.clone(), vec!["k1".into()])].into()
    );
    let key = world.key("claude");
    assert_eq!(
        world.engine.activities()[&key],
        Doing { activity: Activity::Asking, open_runs: 1, steerable: false }
    );
    let owner = world.owner();
    let answered = world.decides(&owner, "k1", 2).unwrap();
    assert_eq!(answered.decision.unwrap().by.unwrap().name, "aiko");
    assert_eq!(world.outcome("k1"), "Allowed 2 aiko: ");
    assert_eq!(world.told(), [(7, Some(1))]);
    assert_eq!(
        world.engine.activities()[&key],
        Doing { activity: Activity::Working, open_runs: 1, steerable: false }
    );
    world.answered("claude", epoch, &run, "done");
    assert_eq!(world.outcome("k1"), "Allowed 2 aiko: ");
    assert!(world.engine.cards.is_empty());
}

#[test]
fn several_cards_wait_at_once() {
    let mut world = World::new();
    let (epoch, run) = world.turn("claude");
    (1..=3).for_each(|n| world.asks("claude", epoch, &run, ask(n)));
    let ids = ["k1", "k2", "k3"].map(|id| id.into()).to_vec();
    assert_eq!(world.engine.board(super::world::now(world.mono)).asking, [(run, ids)].into());
    let owner = world.owner();
    world.decides(&owner, "k2", 4).unwrap();
    world.decides(&owner, "k1", 1).unwrap();
    assert_eq!(world.told(), [(2, Some(3)), (1, Some(0))]);
    assert_eq!(world.outcome("k2"), "Rejected 4 aiko: ");
    assert_eq!(world.outcome("k3"), "waits");
}

/// Fault experiment 19: answered twice, by the wrong user, after the time is over, after a restart: exactly one outcome.
#[test]
fn each_card_has_exactly_one_outcome() {
    let mut world = World::new();
    let (epoch, run) = world.turn("claude");
    (1..=3).for_each(|n| world.asks("claude", epoch, &run, ask(n)));
    let owner = world.owner();
    let (member, guest) = (world.person("ben", Role::Member), world.person("gil", Role::Guest));
    let outsider =
        Principal::of(&world.store.add_person("gus", Role::Guest, delivery::Timestamp { ms: 5 }).unwrap());
    let refused = "owners alone answer this agent's permission cards";
    assert_eq!(code(world.decides(&member, "k1", 2)), ("forbidden", refused.to_owned()));
    assert_eq!(code(world.decides(&guest, "k1", 2)), ("forbidden", "guests may not do this".to_owned()));
    assert_eq!(code(world.decides(&outsider, "k1", 2)).0, "not_found");
    assert_eq!(code(world.decides(&owner, "k9", 2)).0, "not_found");
    let forged = Answer { permission: "k1".into(), option: 2, person: member.person.clone() };
    assert_eq!(code(world.answer_as(&owner, forged)).0, "forbidden");
    for option in [0, 5, u32::MAX] {
        assert_eq!(code(world.decides(&owner, "k1", option)).0, "invalid");
    }
    assert_eq!(world.told(), []);
    world.decides(&owner, "k1", 2).unwrap();
    let twice = "permission k1 is already decided: allowed at 00:00 UTC by aiko";
    assert_eq!(code(world.decides(&owner, "k1", 4)), ("already_decided", twice.to_owned()));
    assert_eq!(code(world.decides(&member, "k1", 4)).0, "forbidden");
    // Public reports F58, F59: the time that is over selects the option that rejects once, and says so.
    world.tick(30 * MINUTE);
    let late = "permission k2 is already decided: rejected at 00:30 UTC, nobody answered in time";
    assert_eq!(code(world.decides(&owner, "k2", 2)), ("already_decided", late.to_owned()));
    assert_eq!(world.outcome("k2"), "TimedOut 4 nobody: nobody answered in time");
    assert_eq!(world.told(), [(1, Some(1)), (2, Some(3)), (3, Some(3))]);
    world.asks("claude", epoch, &run, ask(4));
    let mut world = world.restart();
    assert_eq!(world.outcome("k4"), "Lost - nobody: the server was restarted");
    assert_eq!(code(world.decides(&owner, "k4", 2)).0, "already_decided");
    assert_eq!(world.status(&run), RunStatus::Failed);
    assert!(world.engine.cards.is_empty() && world.told().is_empty());
}

#[test]
fn the_time_of_a_card_is_its_bindings() {
    let mut world = World::new();
    let change = RulesChange { limit_ms: Some(Some(2 * MINUTE)), ..RulesChange::default() };
    let change = Box::new(change);
    let (channel, handle) = ("general".to_owned(), "claude".to_owned());
    world.ask(Request::ChangeRules { channel, handle, change }).unwrap();
    let (epoch, run) = world.turn("claude");
    world.asks("claude", epoch, &run, ask(1));
    assert_eq!(world.engine.next_timeout().unwrap().ms, 2 * MINUTE);
    world.tick(2 * MINUTE - 1);
    assert_eq!(world.outcome("k1"), "waits");
    world.tick(2 * MINUTE);
    assert_eq!(world.outcome("k1"), "TimedOut 4 nobody: nobody answered in time");
    assert_eq!(world.engine.next_timeout(), None);
}

#[test]
fn who_is_late_without_an_option_to_reject_is_cancelled() {
    let check = |kinds: &[ChoiceKind], told: Option<usize>| {
        let mut world = World::new();
        let (epoch, run) = world.turn("claude");
        let options = kinds.iter().map(|kind| Choice { name: String::new(), kind: *kind });
        world.asks("claude", epoch, &run, Ask { options: options.collect(), ..ask(1) });
        world.tick(30 * MINUTE);
        assert_eq!(world.told(), [(1, told)], "{kinds:?}");
    };
    check(&[ChoiceKind::AllowOnce, ChoiceKind::RejectAlways, ChoiceKind::RejectOnce], Some(2));
    check(&[ChoiceKind::AllowOnce, ChoiceKind::RejectAlways], Some(1));
    check(&[ChoiceKind::AllowOnce, ChoiceKind::Other], None);
}

#[test]
fn a_binding_says_who_answers_and_owners_alone_allow_for_ever() {
    let mut world = World::new();
    let (member, guest) = (world.person("ben", Role::Member), world.person("gil", Role::Guest));
    let stranger =
        Principal::of(&world.store.add_person("zoe", Role::Member, delivery::Timestamp { ms: 5 }).unwrap());
    let (epoch, run) = world.turn("claude");
    let by = |world: &mut World, answered_by| {
        let change = Box::new(RulesChange { answered_by: Some(answered_by), ..RulesChange::default() });
        let (channel, handle) = ("general".to_owned(), "claude".to_owned());
        world.ask(Request::ChangeRules { channel, handle, change }).unwrap();
    };
    world.asks("claude", epoch, &run, ask(1));
    by(&mut world, AnsweredBy::Managers);
    assert_eq!(code(world.decides(&member, "k1", 2)).0, "forbidden");
    by(&mut world, AnsweredBy::Members);
    assert_eq!(code(world.decides(&guest, "k1", 2)).0, "forbidden");
    assert_eq!(code(world.decides(&stranger, "k1", 2)).0, "forbidden");
    let ever = "only an owner may allow something for more than this once";
    assert_eq!(code(world.decides(&member, "k1", 1)), ("forbidden", ever.to_owned()));
    world.decides(&member, "k1", 3).unwrap();
    assert_eq!(world.outcome("k1"), "Rejected 3 ben: ");
    let channel = world.store.channel("general").unwrap().id;
    world.store.remove_membership(&channel, &member.person, delivery::Timestamp { ms: 9 }).unwrap();
    world.asks("claude", epoch, &run, ask(2));
    assert_eq!(code(world.decides(&member, "k2", 2)).0, "forbidden");
    let owner = world.owner();
    world.decides(&owner, "k2", 1).unwrap();
    assert_eq!(world.outcome("k2"), "Allowed 1 aiko: ");
}

#[test]
fn whatever_ends_the_turn_ends_its_cards() {
    let check = |end: &dyn Fn(&mut World, Epoch, &RunId), outcome: &str| {
        let mut world = World::new();
        let (epoch, run) = world.turn("claude");
        world.asks("claude", epoch, &run, ask(1));
        end(&mut world, epoch, &run);
        assert_eq!(world.outcome("k1"), outcome);
        assert_eq!(
            (
                world.told(),
                world.engine.cards.len(),
                world.engine.board(super::world::now(world.mono)).asking.len()
            ),
            (vec![], 0, 0)
        );
        let owner = world.owner();
        assert_eq!(code(world.decides(&owner, "k1", 2)).0, "already_decided");
        assert_eq!(world.told(), []);
    };
    let closed = |why| {
        move |world: &mut World, epoch: Epoch, run: &RunId| {
            world.event("claude", epoch, EventKind::PermissionClosed { run: run.clone(), ask: 1, why });
        }
    };
    let cancelled = "Cancelled - nobody: the run was cancelled";
    check(&|world, _, run| drop(world.ask(Request::Cancel { run: run.clone() }).unwrap()), cancelled);
    check(&|world, _, _| drop(world.ask(Request::CancelTurns).unwrap()), cancelled);
    let (channel, handle) = ("general".to_owned(), "claude".to_owned());
    let removal = Request::RemoveAgent { channel, handle };
    check(&|world, _, _| drop(world.ask(removal.clone()).unwrap()), cancelled);
    check(&closed(Closed::Withdrawn), "Withdrawn - nobody: the agent took its request back");
    check(&closed(Closed::Stopped), "Cancelled - nobody: the turn came to a limit of time");
    check(&|world, epoch, run| world.failed("claude", epoch, run), "Lost - nobody: the run failed");
    let exited = |world: &mut World, epoch: Epoch, _: &RunId| {
        world.event("claude", epoch, EventKind::Exited { reason: Some("it crashed".to_owned()) });
    };
    check(&exited, "Lost - nobody: the run failed");
    let without_waiting = "Withdrawn - nobody: the turn ended without waiting for the answer";
    check(&|world, epoch, run| world.answered("claude", epoch, run, "done"), without_waiting);
}

#[test]
fn an_answer_that_comes_too_late_for_the_agent_is_told() {
    let mut world = World::new();
    let (epoch, run) = world.turn("claude");
    world.asks("claude", epoch, &run, ask(1));
    let owner = world.owner();
    world.decides(&owner, "k1", 2).unwrap();
    let closed = EventKind::PermissionClosed { run: run.clone(), ask: 1, why: Closed::Withdrawn };
    world.event("claude", epoch, closed);
    assert_eq!(world.outcome("k1"), "Allowed 2 aiko: ");
    let steps = world.store.run_events(&run).unwrap();
    assert!(steps[0].body.contains("came too late"), "{steps:?}");
}

#[test]
fn of_a_turn_that_is_cancelled_nobody_is_asked() {
    let mut world = World::new();
    let (epoch, run) = world.turn("claude");
    world.ask(Request::Cancel { run: run.clone() }).unwrap();
    world.asks("claude", epoch, &run, ask(1));
    assert_eq!(world.store.pending_permissions().unwrap(), []);
    world.event(
        "claude",
        epoch,
        EventKind::PermissionClosed { run: run.clone(), ask: 1, why: Closed::Stopped },
    );
    assert_eq!(world.store.run_events(&run).unwrap(), []);
}

/// An approval that waits longer than the idle limit is still answerable: who waits for it is neither idle nor evicted,
/// though the pool is full and others want its place (public report E53).
#[test]
fn who_waits_for_people_is_not_idle() {
    let mut world = World::new();
    world.engine.residency = delivery::residency::Residency::new(
        delivery::residency::Pool { processes_max: 1, idle_ms: 30 * MINUTE },
        Epoch(1),
    );
    let change = RulesChange { limit_ms: Some(Some(600 * MINUTE)), ..RulesChange::default() };
    let (channel, handle) = ("general".to_owned(), "claude".to_owned());
    world.ask(Request::ChangeRules { channel, handle, change: Box::new(change) }).unwrap();
    let (epoch, run) = world.turn("claude");
    world.asks("claude", epoch, &run, ask(1));
    world.post("@codex me too");
    for minutes in [31, 62, 120, 500] {
        world.tick(minutes * MINUTE);
        assert!(!world.given.iter().any(|command| matches!(command, Command::End { .. })), "{minutes}");
    }
    let owner = world.owner();
    world.decides(&owner, "k1", 2).unwrap();
    assert_eq!(world.told(), [(1, Some(1))]);
    world.answered("claude", epoch, &run, "done");
    assert_eq!(world.status(&run), RunStatus::Succeeded);
    assert!(world.given.iter().any(|command| matches!(command, Command::End { .. })), "codex gets its place");
}

#[test]
fn an_agent_that_asks_for_ever_fills_no_disk() {
    // I10
    let mut world = World::new();
    let (epoch, run) = world.turn("claude");
    for n in 1..=150 {
        world.asks("claude", epoch, &run, ask(n));
        world.tick(n * 31 * MINUTE);
    }
    assert_eq!(world.store.permissions_of_run(&run).unwrap().len(), 100);
    assert_eq!(world.told().len(), 150);
    assert_eq!(world.steps(&run).len(), 50);
    assert_eq!(world.tail(100).len(), 1 + 5);
}

/// What rules decide without supervision: fail closed on everything that is not known (public report F61).
#[test]
fn without_supervision_rules_decide() {
    let check = |tools: &[(ToolKind, Rule)], kind: &str, paths: Option<&[&str]>, expected: &str| {
        let mut world = World::new();
        world.solo(tools);
        let (epoch, run) = world.turn("solo");
        let own = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let touches = paths.map(|paths| Touches { paths: own(paths), words: vec![] });
        world.asks("solo", epoch, &run, Ask { kind: kind.to_owned(), touches, ..ask(1) });
        let told = world.told();
        let choice = match expected.split(' ').next().unwrap() {
            "allowed" => Some(1),
            _ => Some(3),
        };
        assert_eq!(
            (told, world.steps(&run)),
            (vec![(1, choice)], vec![expected.to_owned()]),
            "{tools:?} {kind}"
        );
        assert_eq!(world.store.pending_permissions().unwrap(), []);
        assert_eq!(world.tail(9).len(), if choice == Some(1) { 1 } else { 2 });
    };
    let inside = Some(&["/work/a"][..]);
    for kind in ["read", "search"] {
        let allowed = format!("allowed Allow: {kind} inside its own working folder is allowed");
        let outside = format!(
            "rejected Reject: without supervision, {kind} is allowed only for paths inside its own working folder"
        );
        check(&[], kind, inside, &allowed);
        check(&[], kind, Some(&["/work/a", "/etc/passwd"]), &outside);
        check(&[], kind, Some(&[]), &outside);
        check(&[], kind, None, &outside);
    }
    for kind in ["edit", "delete", "move", "execute", "think", "fetch", "switch_mode", "other"] {
        let rejected = format!("rejected Reject: {kind} is not allowed without supervision");
        check(&[], kind, inside, &rejected);
    }
    for kind in ["teleport", "", "Read", "read ", "allow"] {
        let rejected = "rejected Reject: nobody supervises it, and this kind of tool is not known";
        check(&[(ToolKind::Other, Rule::Allow)], kind, inside, rejected);
    }
    let allowed = "allowed Allow: execute is allowed without supervision";
    check(&[(ToolKind::Execute, Rule::Allow)], "execute", None, allowed);
    let rejected = "rejected Reject: read is not allowed without supervision";
    check(&[(ToolKind::Read, Rule::Reject)], "read", inside, rejected);
    let allowed = "allowed Allow: edit inside its own working folder is allowed";
    check(&[(ToolKind::Edit, Rule::Inside)], "edit", inside, allowed);
    // What a store should not hold is no way in.
    let rejected = "rejected Reject: execute is not allowed without supervision";
    check(&[(ToolKind::Execute, Rule::Inside)], "execute", inside, rejected);
}

#[test]
fn a_rule_never_allows_for_ever() {
    let mut world = World::new();
    world.solo(&[(ToolKind::Execute, Rule::Allow)]);
    let (epoch, run) = world.turn("solo");
    let mut options = ask(1).options;
    options.retain(|option| option.kind != ChoiceKind::AllowOnce);
    options.push(Choice { name: "Sure".to_owned(), kind: ChoiceKind::Other });
    world.asks("solo", epoch, &run, Ask { options, ..ask(1) });
    assert_eq!(world.told(), [(1, Some(2))]);
    assert_eq!(world.steps(&run), ["rejected Reject: it can only be allowed for ever"]);
}

#[test]
fn a_rule_can_be_to_ask() {
    let mut world = World::new();
    world.solo(&[(ToolKind::Execute, Rule::Ask)]);
    let (epoch, run) = world.turn("solo");
    world.asks("solo", epoch, &run, ask(1));
    assert_eq!((world.told(), world.outcome("k1")), (vec![], "waits".to_owned()));
}

#[test]
fn rules_that_cannot_hold_are_refused() {
    let mut world = World::new();
    let mut check = |change: RulesChange, expected: &str| {
        let (channel, handle) = ("general".to_owned(), "claude".to_owned());
        let refused =
            world.ask(Request::ChangeRules { channel, handle, change: Box::new(change) }).unwrap_err();
        assert_eq!((refused.code.as_str(), refused.message.as_str()), ("invalid", expected));
    };
    let tools = [(ToolKind::Execute, Some(Rule::Inside))].into();
    let by_path = "what execute does is not told by paths: allow, ask or reject it";
    check(RulesChange { tools, ..RulesChange::default() }, by_path);
    for ms in [0, 999, 7 * 24 * 3_600_000 + 1, u64::MAX] {
        let change = RulesChange { limit_ms: Some(Some(ms)), ..RulesChange::default() };
        check(change, "a permission card waits for 1 second to 7 days");
    }
}

#[test]
fn a_person_who_was_deactivated_answers_nothing() {
    let mut world = World::new();
    let (epoch, run) = world.turn("claude");
    let second = world.person("olive", Role::Owner);
    world.asks("claude", epoch, &run, ask(1));
    let off = Some(delivery::Timestamp { ms: 9 });
    world.store.set_deactivated(&second.person, off, delivery::Timestamp { ms: 9 }).unwrap();
    assert_eq!(code(world.decides(&second, "k1", 2)).0, "unauthorized");
    let nobody = PersonId::from("p9");
    let stranger = Principal { person: nobody, ..second };
    assert_eq!(code(world.decides(&stranger, "k1", 2)).0, "not_found");
    assert_eq!(world.outcome("k1"), "waits");
    assert_eq!(world.store.permission(&"k1".into()).unwrap().decision.map(|by| by.outcome), None::<Outcome>);
}
