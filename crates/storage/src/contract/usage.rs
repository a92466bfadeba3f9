//! What turns took, and what may be spent.

use super::*;

stories![turns_are_added_up, what_a_turn_took_is_known_later, marks_go_with_sessions, limits_are_set];

fn took(input: u64, read: u64, cost: Option<(u64, &str)>) -> TurnUsage {
    let cost = cost.map(|(micros, currency)| Cost {
        micros,
        currency: Currency::parse(currency).unwrap(),
        by: CostBy::Agent,
    });
    let usage =
        Usage { input: Some(input), cached_read: Some(read), output: Some(1), cost, ..Usage::default() };
    TurnUsage { usage, source: Some(UsageSource::Agent), model: Some("m-1".to_owned()), cut: 0 }
}

/// A run of `key` whose turn by `native` ended in this second of a day so many days later.
fn turn(world: &mut World<'_>, key: &Key, native: &str, day: i64, took: &TurnUsage) -> RunId {
    let message = world.append(&new_message(&key.channel, "aiko", "hm")).row.id;
    let now = world.now();
    let run = world.store.add_run(key, &message, None, now).unwrap().id;
    world.store.stage(&run, &staged(native, 1, &[]), now).unwrap();
    let end = Timestamp { ms: now.ms + day * 86_400_000 };
    world.store.add_turn(&run, took, end).unwrap();
    world.store.end_run(&run, &ending(RunStatus::Succeeded), end).unwrap();
    run
}

/// A sum on one line.
fn sum(sum: &UsageSum) -> String {
    let Usage { input, cached_read, cached_write, output, .. } = sum.usage;
    let costs: Vec<String> =
        sum.costs.iter().map(|cost| format!("{} {}", cost.micros, cost.currency)).collect();
    format!(
        "{}: {} runs ({} untold), {} turns ({} unpriced), {input:?} {cached_read:?} {cached_write:?} {output:?} {costs:?}",
        sum.of, sum.runs, sum.runs_untold, sum.turns, sum.turns_unpriced
    )
}

fn turns_are_added_up(store: &mut dyn Store) {
    let mut world = World::new(store);
    let other = world.store.add_channel("other", ChannelKind::Public, at(0)).unwrap().id;
    let second = world.store.add_binding(&new_binding(&other, "claude"), at(0)).unwrap().id;
    let (here, there) = (world.key.clone(), Key { channel: other, binding: second });
    turn(&mut world, &here, "s1", 0, &took(10, 90, Some((500, "USD"))));
    turn(&mut world, &here, "s1", 1, &took(20, 80, Some((250, "EUR"))));
    turn(&mut world, &here, "s2", 1, &TurnUsage::default());
    turn(&mut world, &there, "s3", 1, &took(1, 2, None));
    let both = [here.channel.clone(), there.channel.clone()];
    let query = |by| UsageQuery { channels: &both, binding: None, since: None, by: Some(by), limit: 9 };
    let first = "r1: 1 runs (0 untold), 1 turns (0 unpriced), Some(10) Some(90) None Some(1) [\"500 USD\"]";
    let all_here =
        "3 runs (1 untold), 3 turns (1 unpriced), Some(30) Some(170) None Some(2) [\"250 EUR\", \"500 USD\"]";
    let there_all = "1 runs (0 untold), 1 turns (1 unpriced), Some(1) Some(2) None Some(1) []";
    let (binding, channel) = (&here.binding, &here.channel);
    for (by, expected) in [
        (
            UsageBy::Run,
            vec![
                format!("r4: {there_all}"),
                "r3: 1 runs (1 untold), 1 turns (1 unpriced), None None None None []".to_owned(),
                "r2: 1 runs (0 untold), 1 turns (0 unpriced), Some(20) Some(80) None Some(1) [\"250 EUR\"]".to_owned(),
                first.to_owned(),
            ],
        ),
        (UsageBy::Binding, vec![format!("b-claude-2: {there_all}"), format!("{binding}: {all_here}")]),
        (UsageBy::Channel, vec![format!("c2: {there_all}"), format!("{channel}: {all_here}")]),
        (
            UsageBy::Session,
            vec![
                format!("s3: {there_all}"),
                "s2: 1 runs (1 untold), 1 turns (1 unpriced), None None None None []".to_owned(),
                "s1: 2 runs (0 untold), 2 turns (0 unpriced), Some(30) Some(170) None Some(2) [\"250 EUR\", \"500 USD\"]"
                    .to_owned(),
            ],
        ),
        (
            UsageBy::Day,
            vec![
                "1796083200000: 3 runs (1 untold), 3 turns (2 unpriced), Some(21) Some(82) None Some(2) [\"250 EUR\"]"
                    .to_owned(),
                first.replacen("r1", "1795996800000", 1),
            ],
        ),
    ] {
        let sums = world.store.usage(&query(by)).unwrap();
        check(by, sums.iter().map(sum).collect::<Vec<_>>(), expected);
    }
    let rows = |query: UsageQuery<'_>| world.store.usage(&query).unwrap().iter().map(sum).collect::<Vec<_>>();
    let all = UsageQuery { by: None, ..query(UsageBy::Run) };
    let whole =
        "4 runs (1 untold), 4 turns (2 unpriced), Some(31) Some(172) None Some(3) [\"250 EUR\", \"500 USD\"]";
    check("all together", rows(all), vec![format!(": {whole}")]);
    let late = Timestamp { ms: 1_796_083_200_000 };
    check("since", rows(UsageQuery { since: Some(late), ..query(UsageBy::Channel) }).len(), 2);
    check("one", rows(UsageQuery { binding: Some(&here.binding), ..all }), vec![format!(": {all_here}")]);
    check("nowhere", rows(UsageQuery { channels: &[], ..all }), vec![]);
    check("the newest", rows(UsageQuery { limit: 1, ..query(UsageBy::Run) }).len(), 1);
}

fn what_a_turn_took_is_known_later(store: &mut dyn Store) {
    let mut world = World::new(store);
    let question = world.post("aiko", "@claude one");
    let run = world.queue(&question);
    check_refused("no turn", world.store.set_turn(&run, &took(1, 1, None), at(9)), "run r1 has had no turn");
    world.begin("s1", 1);
    world.stage(&run, &staged("s1", 1, &[]));
    world.store.add_turn(&run, &took(3, 4, Some((5, "usd"))), at(10)).unwrap();
    let again = Again { at: at(60), why: "rate limit".to_owned() };
    world.store.wait_run(&run, &again, at(10)).unwrap();
    check("of the first try", world.store.run(&run).unwrap().usage, Some(took(3, 4, Some((5, "USD"))).usage));
    world.stage(&run, &staged("s1", 1, &[]));
    world.store.add_turn(&run, &TurnUsage::default(), at(11)).unwrap();
    world.end(&run, RunStatus::Cancelled);
    let before = world.store.log_span().unwrap().head;
    let more = TurnUsage { source: Some(UsageSource::Transcript), cut: 1, ..took(10, 20, None) };
    for _ in 0..2 {
        world.store.set_turn(&run, &more, at(12)).unwrap();
    }
    let log = world.store.log(before, 9).unwrap();
    let told: Vec<Change> = log.into_iter().map(|entry| entry.change).collect();
    check("told once", told, vec![Change::RunUsage(run.clone())]);
    let sum = took(3, 4, Some((5, "USD"))).usage.and(&more.usage);
    check("sum", world.store.run(&run).unwrap().usage, Some(sum));
    let lease = Some(Lease::Cold);
    let of = |n, second, took| Turned {
        run: run.clone(),
        n,
        at: at(second),
        native: Some("s1".into()),
        lease,
        took,
    };
    let turns = vec![of(1, 10, took(3, 4, Some((5, "USD")))), of(2, 11, more)];
    check("turns", world.store.turns(&run).unwrap(), turns.clone());
    check("before itself", world.store.turns_before(&"s1".into(), &run, 9).unwrap(), vec![]);
    let next = world.queue(&question);
    let newest = vec![turns[1].clone()];
    check("before the next", world.store.turns_before(&"s1".into(), &next, 1).unwrap(), newest);
    check_refused("unknown", world.store.turns(&"r9".into()), "no such run: r9");
    let huge = took(u64::MAX, u64::MAX, Some((u64::MAX, "USD")));
    world.store.set_turn(&run, &huge, at(13)).unwrap();
    let kept = world.store.turns(&run).unwrap().pop().unwrap().took.usage;
    check(
        "no nonsense",
        (kept.input, kept.cost.map(|cost| cost.micros)),
        (Some(1_000_000_000_000), Some(1_000_000_000_000)),
    );
}

fn marks_go_with_sessions(store: &mut dyn Store) {
    let mut world = World::new(store);
    world.begin("s1", 1);
    let transcript = TranscriptMark { bytes: 77, request: Some("q".to_owned()) };
    let marks = SessionMarks { cost_seen: Some(12), transcript };
    check("new", world.store.session_marks(&"s1".into()).unwrap(), SessionMarks::default());
    world.store.set_session_marks(&"s1".into(), &marks).unwrap();
    world.store.set_session_marks(&"s9".into(), &marks).unwrap();
    check("kept", world.store.session_marks(&"s1".into()).unwrap(), marks);
    check("unknown", world.store.session_marks(&"s9".into()).unwrap(), SessionMarks::default());
}

fn limits_are_set(store: &mut dyn Store) {
    let world = World::new(store);
    let (store, key) = (world.store, world.key);
    let usd = Spending { tokens: None, money: Some((5_000_000, Currency::USD)) };
    let tokens = Spending { tokens: Some(9), money: None };
    let here = LimitOf::Channel(key.channel.clone());
    let one = LimitOf::Binding(key.channel.clone(), key.binding.clone());
    let limit = |of: &LimitOf, most| SpendingLimit { of: of.clone(), most };
    check("none", store.spending_limits().unwrap(), vec![]);
    for (of, most) in [(&one, &tokens), (&here, &tokens), (&here, &usd), (&LimitOf::All, &usd)] {
        store.set_spending_limit(of, most).unwrap();
    }
    let all = vec![limit(&LimitOf::All, usd), limit(&here, usd), limit(&one, tokens)];
    check("each once", store.spending_limits().unwrap(), all);
    store.set_spending_limit(&here, &Spending::default()).unwrap();
    check(
        "taken away",
        store.spending_limits().unwrap(),
        vec![limit(&LimitOf::All, usd), limit(&one, tokens)],
    );
    store.remove_binding(&key.binding, at(3)).unwrap();
    check("gone with it", store.spending_limits().unwrap(), vec![limit(&LimitOf::All, usd)]);
    let nowhere = LimitOf::Channel("c9".into());
    check_refused("unknown", store.set_spending_limit(&nowhere, &usd), "no such channel: c9");
}
