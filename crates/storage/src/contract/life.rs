//! How runs wait: to be tried again, for a person to let them go on, for the end of a pause.

use super::*;

stories![
    a_run_waits_to_be_tried_again,
    a_binding_is_held,
    agents_are_paused,
    limits_of_a_binding_change,
    what_a_binding_was_given_changes
];

fn a_run_waits_to_be_tried_again(store: &mut dyn Store) {
    let mut world = World::new(store);
    let line = world.post("ben", "a line");
    let question = world.post("aiko", "@claude one");
    let run = world.queue(&question);
    let made = world.store.run(&run).unwrap();
    world.begin("s1", 1);
    for tries in 1..=2 {
        world.stage(&run, &staged("s1", 1, &[&line]));
        let again = Again { at: at(60), why: "rate limit".to_owned() };
        let before = world.store.log_span().unwrap().head;
        world.store.wait_run(&run, &again, at(20)).unwrap();
        let expected = Run { tries, again: Some(again), ..made.clone() };
        check(("waits", tries), world.store.run(&run).unwrap(), expected.clone());
        check(("open", tries), world.store.open_runs().unwrap(), vec![expected]);
        check(("nothing shown", tries), world.store.showings(&"s1".into()).unwrap(), vec![]);
        let log = world.store.log(before, 9).unwrap();
        let changes: Vec<Change> = log.into_iter().map(|entry| entry.change).collect();
        check(("told", tries), changes, vec![Change::RunQueued(run.clone())]);
    }
    world.stage(&run, &staged("s1", 1, &[&line]));
    let running = world.store.run(&run).unwrap();
    check("runs", (running.status, running.tries, running.again), (RunStatus::Running, 2, None));
    check("counts", world.end(&run, RunStatus::Succeeded), true);
    let again = Again { at: at(60), why: "rate limit".to_owned() };
    check_refused("ended", world.store.wait_run(&run, &again, at(20)), "run r1 has ended");
    check_refused("unknown", world.store.wait_run(&"r9".into(), &again, at(20)), "no such run: r9");

    let cancelled = world.queue(&question);
    world.store.wait_run(&cancelled, &again, at(20)).unwrap();
    world.end(&cancelled, RunStatus::Cancelled);
    check("waits no more", world.store.run(&cancelled).unwrap().again, None);
}

fn a_binding_is_held(store: &mut dyn Store) {
    let mut world = World::new(store);
    let (key, question) = (world.key.clone(), world.post("aiko", "@claude one"));
    let (first, second) = (world.queue(&question), world.queue(&question));
    let before = world.store.log_span().unwrap().head;
    let hold = |why, run: &RunId| Hold { why, run: run.clone(), since: at(7) };
    let stopped = hold(HoldReason::Stopped, &first);
    let crashed = hold(HoldReason::Crashed, &second);
    check("not yet", world.store.hold(&key.binding).unwrap(), None);
    for (what, set, held) in [
        ("held", Some(&stopped), vec![(key.clone(), stopped.clone())]),
        ("again", Some(&stopped), vec![(key.clone(), stopped.clone())]),
        ("otherwise", Some(&crashed), vec![(key.clone(), crashed.clone())]),
        ("goes on", None, vec![]),
        ("still", None, vec![]),
    ] {
        world.store.set_hold(&key, set, at(9)).unwrap();
        check(what, world.store.hold(&key.binding).unwrap().as_ref(), set);
        check(what, world.store.holds().unwrap(), held);
    }
    let log = world.store.log(before, 9).unwrap();
    let changes: Vec<_> = log.into_iter().map(|entry| (entry.channel, entry.change)).collect();
    let changed = (Some(world.channel.clone()), Change::AgentChanged(key.binding.clone()));
    check("told once each", changes, vec![changed; 3]);
    check_refused("unknown", world.store.hold(&binding_id("b-x")), "no such binding: b-x");
    let unknown = hold(HoldReason::Stopped, &"r9".into());
    check_refused("run", world.store.set_hold(&key, Some(&unknown), at(9)), "no such run: r9");

    world.store.set_hold(&key, Some(&stopped), at(9)).unwrap();
    world.store.remove_binding(&key.binding, at(10)).unwrap();
    check("removed", world.store.holds().unwrap(), vec![]);
}

fn agents_are_paused(store: &mut dyn Store) {
    let world = World::new(store);
    let (store, channel) = (world.store, world.channel);
    let before = store.log_span().unwrap().head;
    check("not yet", store.paused_at().unwrap(), None);
    for since in [Some(at(5)), Some(at(5)), None, None] {
        store.set_paused(since, at(9)).unwrap();
        check("everywhere", store.paused_at().unwrap(), since);
        let changed = store.change_channel(&channel, &ChannelChange::PausedAt(since), at(9)).unwrap();
        check("a channel", changed.paused_at, since);
        check("stored", store.channel_by_id(&channel).unwrap(), changed);
    }
    let log = store.log(before, 9).unwrap();
    let changes: Vec<Change> = log.into_iter().map(|entry| entry.change).collect();
    let both = [Change::PauseChanged, Change::ChannelChanged];
    check("told once each", changes, [both.clone(), both].concat());
}

fn limits_of_a_binding_change(store: &mut dyn Store) {
    let world = World::new(store);
    let binding = world.key.binding.clone();
    let before = world.store.binding(&binding).unwrap();
    let limits = OwnLimits { inactivity_ms: Some(2_000), turn_ms: None, memory_bytes: Some(1 << 30) };
    let head = world.store.log_span().unwrap().head;
    let after = world.store.set_limits(&binding, &limits, at(5)).unwrap();
    let spec = NewBinding { limits, ..before.spec.clone() };
    check("changed", after, Binding { spec, ..before.clone() });
    world.store.set_limits(&binding, &limits, at(6)).unwrap();
    let told: Vec<Change> = world.store.log(head, 9).unwrap().into_iter().map(|entry| entry.change).collect();
    check("told once", told, vec![Change::AgentChanged(binding.clone())]);
    check("taken back", world.store.set_limits(&binding, &OwnLimits::default(), at(6)).unwrap(), before);
    world.store.remove_binding(&binding, at(7)).unwrap();
    check_refused(
        "removed",
        world.store.set_limits(&binding, &limits, at(8)),
        "binding b-claude was removed",
    );
}

fn what_a_binding_was_given_changes(store: &mut dyn Store) {
    let world = World::new(store);
    let binding = world.key.binding.clone();
    let before = world.store.binding(&binding).unwrap();
    let spec = NewBinding {
        profile: Profile::Lean,
        delivery: Policy::Window,
        session: SessionPolicy::Saved,
        when_cold: WhenCold::Fresh,
        env: vec![EnvVar { name: "KEY".to_owned(), value: Some("new".to_owned()) }],
        model: Some("m".to_owned()),
        instructions: Some("Be brief.".to_owned()),
        addressed_by: AddressedBy::Owners,
        ..before.spec.clone()
    };
    let head = world.store.log_span().unwrap().head;
    // What cannot be changed stays.
    let more = NewBinding { handle: "other".to_owned(), command: Vec::new(), ..spec.clone() };
    let after = world.store.set_spec(&binding, &more, at(5)).unwrap();
    check("changed", after, Binding { spec: spec.clone(), ..before });
    world.store.set_spec(&binding, &spec, at(6)).unwrap();
    let told: Vec<Change> = world.store.log(head, 9).unwrap().into_iter().map(|entry| entry.change).collect();
    check("told once", told, vec![Change::AgentChanged(binding.clone())]);
    world.store.remove_binding(&binding, at(7)).unwrap();
    check_refused("removed", world.store.set_spec(&binding, &spec, at(8)), "binding b-claude was removed");
}
