//! Permission cards: each waits, and has exactly one outcome.

use super::*;

stories![
    a_card_waits_and_is_decided_once,
    only_a_running_run_asks,
    cards_are_listed_by_channel_and_run,
    a_deciders_name_is_that_of_then,
    rules_of_a_binding_change,
];

fn asked(title: &str) -> Asked {
    let choice = |name: &str, kind| Choice { name: name.to_owned(), kind };
    Asked {
        title: title.to_owned(),
        kind: "execute".to_owned(),
        tool: Some("Bash".to_owned()),
        details: vec![
            Detail::Command { text: "rm -rf\nbuild".to_owned() },
            Detail::Diff { path: "a.txt".to_owned(), old: None, new: "new".to_owned() },
        ],
        options: vec![choice("Yes", ChoiceKind::AllowOnce), choice("No", ChoiceKind::RejectOnce)],
    }
}

fn decision(outcome: Outcome, option: Option<u32>) -> Decision {
    Decision { outcome, option, by: None, why: Some("because".to_owned()), at: at(60) }
}

fn ids(permissions: &[Permission]) -> Vec<String> {
    permissions.iter().map(|permission| permission.id.0.clone()).collect()
}

impl World<'_> {
    /// A run that has a turn.
    fn running(&mut self) -> RunId {
        let message = self.post("aiko", "@claude do it");
        let run = self.queue(&message);
        self.stage(&run, &staged("s1", 1, &[]));
        run
    }
}

fn a_card_waits_and_is_decided_once(store: &mut dyn Store) {
    let mut world = World::new(store);
    world.begin("s1", 1);
    let run = world.running();
    let card = world.store.ask_permission(&run, &asked("rm"), at(90), at(30)).unwrap();
    let expected = Permission {
        id: "k1".into(),
        run,
        key: world.key.clone(),
        message: "m1".into(),
        thread: None,
        asked: asked("rm"),
        asked_at: at(30),
        until: at(90),
        decision: None,
    };
    check("it waits", &card, &expected);
    check("read back", world.store.permission(&card.id).unwrap(), expected.clone());
    let person = world.store.person("ben").unwrap().id;
    let by = Some(Decider { person, name: "ben".to_owned() });
    let first = Decision { by, why: None, ..decision(Outcome::Allowed, Some(1)) };
    check("decided", world.store.decide_permission(&card.id, &first).unwrap(), true);
    let again = decision(Outcome::Rejected, Some(2));
    check("decided again", world.store.decide_permission(&card.id, &again).unwrap(), false);
    let decided = Permission { decision: Some(first), ..expected };
    check("as it was", world.store.permission(&card.id).unwrap(), decided);
    let told: Vec<Change> =
        world.store.log(0, 1_000).unwrap().into_iter().map(|entry| entry.change).collect();
    let expected = [Change::PermissionAsked(card.id.clone()), Change::PermissionDecided(card.id)];
    check("the log", told[told.len() - 2..].to_vec(), expected.to_vec());
    let missing = world.store.decide_permission(&"k9".into(), &again);
    check_refused("missing", missing, "no such permission: k9");
}

fn only_a_running_run_asks(store: &mut dyn Store) {
    let mut world = World::new(store);
    world.begin("s1", 1);
    let message = world.post("aiko", "@claude do it");
    let run = world.queue(&message);
    let ask = |store: &mut dyn Store, run: &RunId| store.ask_permission(run, &asked("rm"), at(90), at(30));
    check_refused("queued", ask(world.store, &run), "run r1 is not running");
    world.stage(&run, &staged("s1", 1, &[]));
    check("running", ask(world.store, &run).unwrap().id, "k1".into());
    world.end(&run, RunStatus::Failed);
    check_refused("ended", ask(world.store, &run), "run r1 is not running");
    check_refused("missing", ask(world.store, &"r9".into()), "no such run: r9");
}

fn cards_are_listed_by_channel_and_run(store: &mut dyn Store) {
    let mut world = World::new(store);
    world.begin("s1", 1);
    let (first, second) = (world.running(), world.running());
    for run in [&first, &second, &first] {
        world.store.ask_permission(run, &asked("rm"), at(90), at(30)).unwrap();
    }
    world.store.decide_permission(&"k2".into(), &decision(Outcome::TimedOut, Some(2))).unwrap();
    let here = [world.channel.clone(), "c9".into()];
    let listed = |which, limit| ids(&world.store.permissions_in(&here, which, limit).unwrap());
    check("all", listed(Which::All, 9), ["k3", "k2", "k1"].map(str::to_owned).to_vec());
    check("the newest", listed(Which::All, 1), vec!["k3".to_owned()]);
    check("waiting", listed(Which::Pending, 9), ["k3", "k1"].map(str::to_owned).to_vec());
    check("elsewhere", ids(&world.store.permissions_in(&["c9".into()], Which::All, 9).unwrap()), vec![]);
    let pending = ids(&world.store.pending_permissions().unwrap());
    check("everywhere", pending, ["k1", "k3"].map(str::to_owned).to_vec());
    let of_run = ids(&world.store.permissions_of_run(&first).unwrap());
    check("of a run", of_run, ["k1", "k3"].map(str::to_owned).to_vec());
}

fn a_deciders_name_is_that_of_then(store: &mut dyn Store) {
    let mut world = World::new(store);
    world.begin("s1", 1);
    let run = world.running();
    let card = world.store.ask_permission(&run, &asked("rm"), at(90), at(30)).unwrap().id;
    let person = world.store.person("ben").unwrap().id;
    let by = Some(Decider { person: person.clone(), name: "ben".to_owned() });
    let allowed = Decision { by, ..decision(Outcome::Allowed, Some(1)) };
    world.store.decide_permission(&card, &allowed).unwrap();
    world.store.rename_person(&person, "benedict", at(99)).unwrap();
    check("the name", world.store.permission(&card).unwrap().decision, Some(allowed));
}

fn rules_of_a_binding_change(store: &mut dyn Store) {
    let world = World::new(store);
    let binding = world.key.binding.clone();
    let before = world.store.binding(&binding).unwrap();
    check("at first", before.spec.permissions.clone(), PermissionRules::default());
    let rules = PermissionRules {
        answered_by: AnsweredBy::Members,
        limit_ms: Some(60_000),
        tools: [(ToolKind::Execute, Rule::Ask), (ToolKind::SwitchMode, Rule::Allow)].into(),
    };
    let head = world.store.log_span().unwrap().head;
    let after = world.store.set_permission_rules(&binding, &rules, at(5)).unwrap();
    let spec = NewBinding { permissions: rules.clone(), ..before.spec.clone() };
    check("changed", after, Binding { spec, ..before });
    world.store.set_permission_rules(&binding, &rules, at(6)).unwrap();
    let told: Vec<Change> = world.store.log(head, 9).unwrap().into_iter().map(|entry| entry.change).collect();
    check("told once", told, vec![Change::AgentChanged(binding.clone())]);
    world.store.remove_binding(&binding, at(7)).unwrap();
    let removed = world.store.set_permission_rules(&binding, &PermissionRules::default(), at(8));
    check_refused("removed", removed, "binding b-claude was removed");
}
