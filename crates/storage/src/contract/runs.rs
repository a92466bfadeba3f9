//! Runs: queued, staged, ended once; what counts is what succeeded under the epoch of its staging.

use super::*;

stories![
    a_run_from_mention_to_answer,
    lists_of_runs,
    staging_again_replaces,
    refused_stages_and_endings,
    success_alone_commits,
    a_run_ends_once,
    steps_are_numbered,
];

fn queued(id: &str, message: &str, second: i64) -> Run {
    Run {
        id: id.into(),
        key: Key { channel: "c1".into(), binding: "b-claude".into() },
        message: message.into(),
        thread: None,
        status: RunStatus::Queued,
        error: None,
        created_at: at(second),
        started_at: None,
        ended_at: None,
        staged: None,
        usage: None,
        retry_of: None,
        tries: 0,
        again: None,
    }
}

fn a_run_from_mention_to_answer(store: &mut dyn Store) {
    let mut world = World::new(store);
    let root = world.post("aiko", "one");
    let question = world.reply(&root, "aiko", "@claude two");
    let run = world.queue(&question);
    let mut expected = Run { thread: Some(root.clone()), ..queued("r1", "m2", 3) };
    check("queued", world.store.run(&run).unwrap(), expected.clone());

    let turn = Staged {
        sent: "the text: one".to_owned(),
        parts: vec![(root.clone(), 10..13)],
        omitted: 5,
        lease: Lease::Warm,
        watermark_before: Some(watermark("s1", 1)),
        ..staged("s1", 7, &[&root])
    };
    world.begin("s1", 7);
    world.stage(&run, &turn);
    expected.status = RunStatus::Running;
    expected.started_at = Some(at(5));
    expected.staged = Some(turn);
    check("running", world.store.run(&run).unwrap(), expected.clone());

    let usage = Usage {
        input: Some(5),
        output: Some(6),
        cached_read: Some(7),
        cached_write: None,
        total: Some(18),
        cost: None,
    };
    let took = TurnUsage { usage, source: Some(UsageSource::Agent), ..TurnUsage::default() };
    world.store.add_turn(&run, &took, at(6)).unwrap();
    let ending = Ending { error: Some("no reason".to_owned()), ..ending(RunStatus::Declined) };
    check("counts", world.store.end_run(&run, &ending, at(6)).unwrap(), true);
    expected.status = RunStatus::Declined;
    expected.error = Some("no reason".to_owned());
    expected.usage = Some(usage);
    expected.ended_at = Some(at(6));
    check("ended", world.store.run(&run).unwrap(), expected);

    let again = world.store.add_run(&world.key, &question, Some(&run), at(7)).unwrap();
    let retry = Run { thread: Some(root), retry_of: Some(run), ..queued("r2", "m2", 7) };
    check("tried again", again, retry);
}

fn lists_of_runs(store: &mut dyn Store) {
    let mut world = World::new(store);
    let other = world.store.add_channel("other", ChannelKind::Public, at(0)).unwrap().id;
    let binding = world.store.add_binding(&new_binding(&other, "claude"), at(0)).unwrap().id;
    let elsewhere = Key { channel: other.clone(), binding };
    let question = world.post("aiko", "@claude one");
    let there = world.append(&new_message(&other, "aiko", "@claude two")).row.id;
    let first = world.queue(&question);
    let second = world.store.add_run(&elsewhere, &there, None, at(9)).unwrap().id;
    let third = world.queue(&question);
    world.stage(&first, &Staged { parts: vec![(question.clone(), 0..4)], ..staged("s1", 1, &[&question]) });
    let ids = |runs: Vec<Run>| -> String {
        runs.iter().map(|run| run.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    check("open", ids(world.store.open_runs().unwrap()), "r1 r2 r3".to_owned());
    world.end(&second, RunStatus::Failed);
    check("open", ids(world.store.open_runs().unwrap()), "r1 r3".to_owned());
    check(
        "open with all",
        world.store.open_runs().unwrap(),
        vec![world.store.run(&first).unwrap(), world.store.run(&third).unwrap()],
    );
    check("newest", ids(world.store.runs(None, 2).unwrap()), "r3 r2".to_owned());
    check("of a channel", ids(world.store.runs(Some(&world.channel), 9).unwrap()), "r3 r1".to_owned());
    check("of a message", ids(world.store.runs_of_message(&question).unwrap()), "r1 r3".to_owned());
    check(
        "without what was sent",
        world.store.runs(None, 9).unwrap()[2].staged.clone(),
        Some(Staged {
            sent: String::new(),
            system: None,
            parts: Vec::new(),
            ..staged("s1", 1, &[&question])
        }),
    );
    check_refused("unknown", world.store.run(&"r9".into()), "no such run: r9");
    check_refused("unknown", world.store.runs_of_message(&"m9".into()), "no such message: m9");
    check_refused("unknown", world.store.runs(Some(&"c9".into()), 1), "no such channel: c9");
    let mut add = |key: &Key, message: &str, retry: Option<&str>| {
        world.store.add_run(key, &message.into(), retry.map(RunId::from).as_ref(), at(9))
    };
    check_refused("message of another channel", add(&elsewhere, "m1", None), "no such message: m1");
    check_refused("retry of nothing", add(&elsewhere, "m2", Some("r9")), "no such run: r9");
    let mixed = Key { channel: "c1".into(), ..elsewhere.clone() };
    check_refused("binding of another channel", add(&mixed, "m1", None), "no such binding: b-claude-2 in c1");
}

fn staging_again_replaces(store: &mut dyn Store) {
    let mut world = World::new(store);
    let old = world.post("aiko", "one");
    let new = world.post("aiko", "two");
    let question = world.post("aiko", "@claude three");
    let run = world.queue(&question);
    world.begin("s1", 1);
    world.stage(&run, &Staged { parts: vec![(old.clone(), 0..4)], ..staged("s1", 1, &[&old, &new]) });
    let second = Staged { parts: vec![(new.clone(), 5..8)], ..staged("s2", 2, &[&new]) };
    world.stage(&run, &second);
    check("staged", world.store.run(&run).unwrap().staged, Some(second));
    check("showings of the first", world.store.showings(&"s1".into()).unwrap(), Vec::new());

    world.store.unstage(&run, at(20)).unwrap();
    check("queued again", world.store.run(&run).unwrap(), queued("r1", "m3", 4));
    check("no showings", world.store.showings(&"s2".into()).unwrap(), Vec::new());
    world.store.unstage(&run, at(21)).unwrap();
    world.end(&run, RunStatus::Cancelled);
    check_refused("ended", world.store.unstage(&run, at(22)), "run r1 has ended");
    check_refused("unknown", world.store.unstage(&"r9".into(), at(22)), "no such run: r9");
}

fn refused_stages_and_endings(store: &mut dyn Store) {
    let mut world = World::new(store);
    let question = world.post("aiko", "@claude one");
    let run = world.queue(&question);
    let unknown = MessageId::from("m9");
    check_refused(
        "shown",
        world.store.stage(&run, &staged("s1", 1, &[&unknown]), at(9)),
        "no such message: m9",
    );
    check_refused("run", world.store.stage(&"r9".into(), &staged("s1", 1, &[]), at(9)), "no such run: r9");
    check("nothing happened", world.store.run(&run).unwrap(), queued("r1", "m1", 2));
    for (status, expected) in [
        (RunStatus::Queued, "run r1 cannot end as Queued"),
        (RunStatus::Running, "run r1 cannot end as Running"),
    ] {
        check_refused(status, world.store.end_run(&run, &ending(status), at(9)), expected);
    }
    let ended = world.store.end_run(&"r9".into(), &ending(RunStatus::Failed), at(9));
    check_refused("run", ended, "no such run: r9");
    world.end(&run, RunStatus::Cancelled);
    check_refused("ended", world.store.stage(&run, &staged("s1", 1, &[]), at(9)), "run r1 has ended");
}

/// What happens to the lease between stage and end.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    SessionEnds,
    EpochRises,
    OtherSession,
}

fn success_alone_commits(store: &mut dyn Store) {
    let mut world = World::new(store);
    let mut epoch = 0;
    for (status, meanwhile, counts) in [
        (RunStatus::Succeeded, Meanwhile::Nothing, true),
        (RunStatus::Declined, Meanwhile::Nothing, true),
        (RunStatus::Failed, Meanwhile::Nothing, false),
        (RunStatus::Cancelled, Meanwhile::Nothing, false),
        (RunStatus::Succeeded, Meanwhile::SessionEnds, true),
        (RunStatus::Succeeded, Meanwhile::EpochRises, false),
        (RunStatus::Declined, Meanwhile::OtherSession, false),
        (RunStatus::Failed, Meanwhile::EpochRises, false),
    ] {
        epoch += 10;
        let native = format!("s{epoch}");
        let before = world.store.watermark(&"b-claude".into(), &world.channel, None).unwrap();
        let line = world.post("ben", "a line");
        let question = world.post("aiko", "@claude a question");
        let run = world.queue(&question);
        world.begin(&native, epoch);
        let after = watermark(&native, epoch);
        let turn = Staged { watermark_after: Some(after.clone()), ..staged(&native, epoch, &[&line]) };
        world.stage(&run, &turn);
        let case = (status, meanwhile);
        check((case, "not yet"), world.store.given(&native.as_str().into(), &line).unwrap(), false);
        match meanwhile {
            Meanwhile::Nothing => {}
            Meanwhile::SessionEnds => world.store.end_session(&world.key, "gone", at(9)).unwrap(),
            Meanwhile::EpochRises => world.store.raise_epoch(&world.key, Epoch(epoch + 1), at(9)).unwrap(),
            Meanwhile::OtherSession => world.begin(&format!("{native}'"), epoch + 1),
        }
        check((case, "end_run"), world.end(&run, status), counts);
        let showing = |message: &MessageId| Showing {
            native: native.as_str().into(),
            message: message.clone(),
            revision: 1,
            run: run.clone(),
            committed: counts,
        };
        let showings = world.store.showings(&native.as_str().into()).unwrap();
        check((case, "showings"), showings, vec![showing(&question), showing(&line)]);
        for message in [&question, &line] {
            let given = world.store.given(&native.as_str().into(), message).unwrap();
            check((case, "given"), given, counts);
        }
        let now = world.store.watermark(&"b-claude".into(), &world.channel, None).unwrap();
        check((case, "watermark"), now, if counts { Some(after) } else { before });
        check((case, "status"), world.store.run(&run).unwrap().status, status);
    }
}

fn a_run_ends_once(store: &mut dyn Store) {
    let mut world = World::new(store);
    let question = world.post("aiko", "@claude one");
    let run = world.queue(&question);
    world.begin("s1", 1);
    world.stage(&run, &staged("s1", 1, &[]));
    world.end(&run, RunStatus::Failed);
    let failed = world.store.run(&run).unwrap();
    check("late success", world.end(&run, RunStatus::Succeeded), false);
    check("as it was", world.store.run(&run).unwrap(), failed);
    check("nothing counts", world.store.given(&"s1".into(), &question).unwrap(), false);
    let never_staged = world.queue(&question);
    check("never staged", world.end(&never_staged, RunStatus::Succeeded), false);
    check("no watermark", world.store.watermarks().unwrap(), Vec::new());
}

fn steps_are_numbered(store: &mut dyn Store) {
    let mut world = World::new(store);
    let question = world.post("aiko", "@claude one");
    let (first, second) = (world.queue(&question), world.queue(&question));
    let event = |run: &RunId, n, kind: &str, body: &str| RunEvent {
        run: run.clone(),
        n,
        at: at(5),
        kind: kind.to_owned(),
        body: body.to_owned(),
    };
    let events = [
        event(&first, 1, "plan", "{}"),
        event(&second, 1, "notice", "[1]"),
        event(&first, 2, "tool_call", "{\"x\":1}"),
    ];
    for event in &events {
        let added = world.store.add_run_event(&event.run, &event.kind, &event.body, at(5)).unwrap();
        check("added", &added, event);
    }
    let [one, two, three] = events;
    check("alone", &world.store.run_event(&first, 2).unwrap(), &three);
    check_refused("no step", world.store.run_event(&first, 9), "no such step: 9 of r1");
    check("first", world.store.run_events(&first).unwrap(), vec![one, three]);
    check("second", world.store.run_events(&second).unwrap(), vec![two]);
    check_refused("unknown", world.store.run_events(&"r9".into()), "no such run: r9");
    check_refused("unknown", world.store.add_run_event(&"r9".into(), "plan", "{}", at(5)), "no such run: r9");
}
