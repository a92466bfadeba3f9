//! What a session fetches itself with its tools (7.7), and how far agents go on among themselves (2.7).

use super::*;

stories![
    rows_are_messages_without_notices,
    what_is_fetched_ends_as_its_run_does,
    fetched_once_is_enough,
    refused_fetches,
    turns_since_people,
];

fn rows_are_messages_without_notices(store: &mut dyn Store) {
    let mut world = World::new(store);
    for n in 1..=5 {
        world.post("aiko", &format!("message {n}"));
        world.post("host", "a notice");
    }
    let root = MessageId::from("m3");
    world.reply(&root, "ben", "a reply");
    world.reply(&root, "host", "a notice");
    world.delete(&"m5".into());
    let on_notice = world.reply(&"m10".into(), "aiko", "a reply to a notice");
    let rows = |thread: Option<&str>, before: Option<&str>, limit| {
        let (thread, before) = (thread.map(MessageId::from), before.map(MessageId::from));
        let rows = world.store.rows(&world.channel, thread.as_ref(), before.as_ref(), limit).unwrap();
        rows.iter().map(|message| message.row.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    check("all", rows(None, None, 9), "m1 m3 m7 m9".to_owned());
    check("newest", rows(None, None, 2), "m7 m9".to_owned());
    check("before one", rows(None, Some("m7"), 2), "m1 m3".to_owned());
    check("before a notice", rows(None, Some("m8"), 1), "m7".to_owned());
    check("before a deleted one", rows(None, Some("m5"), 9), "m1 m3".to_owned());
    check("the first", rows(None, Some("m1"), 9), String::new());
    check("a thread", rows(Some("m3"), None, 9), "m3 m11".to_owned());
    check("its newest", rows(Some("m3"), None, 1), "m11".to_owned());
    check("on a notice", rows(Some("m10"), None, 9), on_notice.to_string());
    let unknown = world.store.rows(&world.channel, None, Some(&"m99".into()), 9);
    check_refused("unknown", unknown, "no such message: m99");
}

/// Showings of a session: message, revision, run, and whether they count.
fn showings(world: &World<'_>, native: &str) -> Vec<String> {
    let showings = world.store.showings(&native.into()).unwrap();
    let line = |showing: Showing| {
        let Showing { message, revision, run, committed, .. } = showing;
        format!("{message}/{revision} {run} {}", if committed { "counts" } else { "staged" })
    };
    showings.into_iter().map(line).collect()
}

fn what_is_fetched_ends_as_its_run_does(store: &mut dyn Store) {
    let mut world = World::new(store);
    let old = world.post("aiko", "old");
    let line = world.post("aiko", "line");
    let question = world.post("aiko", "@claude three");
    world.begin("s1", 1);
    for (status, counts) in [(RunStatus::Failed, "staged"), (RunStatus::Declined, "counts")] {
        let run = world.queue(&question);
        let turn = staged("s1", 1, &[&line]);
        world.stage(&run, &turn);
        let mark = watermark("s1", 20);
        world.store.show_fetched(&run, &[(old.clone(), 1)], Some(&mark)).unwrap();
        let expected = Staged { watermark_after: Some(mark.clone()), ..turn };
        check("lines stay what they are", world.store.run(&run).unwrap().staged, Some(expected));
        check("told by none yet", world.store.given(&"s1".into(), &old).unwrap(), false);
        let is_committed = counts == "counts";
        check(status, world.end(&run, status), is_committed);
        check("given", world.store.given(&"s1".into(), &old).unwrap(), is_committed);
        let of_run: Vec<String> =
            showings(&world, "s1").into_iter().filter(|line| line.contains(run.as_str())).collect();
        let expected: Vec<String> = ["m3", "m2", "m1"].map(|id| format!("{id}/1 {run} {counts}")).to_vec();
        check(status, of_run, expected);
        let stored = world.store.watermark(&world.key.binding, &world.channel, None).unwrap();
        check(status, stored, is_committed.then_some(mark));
    }
}

fn fetched_once_is_enough(store: &mut dyn Store) {
    let mut world = World::new(store);
    let line = world.post("aiko", "line");
    let own = world.post_as("s1", "its own");
    let others = world.post_as("s0", "of a session before");
    let question = world.post("aiko", "@claude three");
    world.begin("s1", 1);
    let run = world.queue(&question);
    world.stage(&run, &staged("s1", 1, &[&line]));
    let fetched = [&line, &own, &others, &question, &others].map(|id| (id.clone(), 1));
    world.store.show_fetched(&run, &fetched, None).unwrap();
    world.store.show_fetched(&run, &fetched, None).unwrap();
    world.end(&run, RunStatus::Succeeded);
    check(
        "once",
        showings(&world, "s1"),
        ["m4/1 r1", "m1/1 r1", "m3/1 r1"].map(|at| format!("{at} counts")).to_vec(),
    );

    world.edit(&line, "line, edited");
    let run = world.queue(&question);
    world.stage(&run, &staged("s1", 1, &[]));
    world.store.show_fetched(&run, &[(line, 2), (others, 1)], None).unwrap();
    check("another revision", showings(&world, "s1").pop(), Some("m1/2 r2 staged".to_owned()));
    world.store.unstage(&run, at(30)).unwrap();
    check("forgotten", showings(&world, "s1").len(), 3);
}

fn refused_fetches(store: &mut dyn Store) {
    let mut world = World::new(store);
    let other = world.store.add_channel("other", ChannelKind::Public, at(0)).unwrap().id;
    let elsewhere = world.append(&new_message(&other, "aiko", "secret")).row.id;
    let question = world.post("aiko", "@claude one");
    let run = world.queue(&question);
    let fetch = |world: &mut World<'_>, run: &str, id: &MessageId| {
        world.store.show_fetched(&run.into(), &[(id.clone(), 1)], None)
    };
    check_refused("queued", fetch(&mut world, "r1", &question), "run r1 is not running");
    world.begin("s1", 1);
    world.stage(&run, &staged("s1", 1, &[]));
    check_refused("of another channel", fetch(&mut world, "r1", &elsewhere), "no such message: m1");
    check_refused("unknown", fetch(&mut world, "r9", &question), "no such run: r9");
    world.end(&run, RunStatus::Succeeded);
    check_refused("ended", fetch(&mut world, "r1", &question), "run r1 is not running");
}

fn turns_since_people(store: &mut dyn Store) {
    let mut world = World::new(store);
    let check_since = |world: &World<'_>, thread: Option<&MessageId>, turns, newest_seq| {
        let since = world.store.since_people(&world.channel, thread).unwrap();
        check(thread, since, SincePeople { turns, newest_seq });
    };
    check_since(&world, None, 0, 0);
    let early = world.post("aiko", "@claude one");
    world.queue(&early);
    let question = world.post("aiko", "@claude two");
    let first = world.queue(&question);
    check_since(&world, None, 1, 2);
    let answer = world.post_as("s1", "@claude three");
    let second = world.queue(&answer);
    world.post("host", "a notice");
    check_since(&world, None, 2, 2);
    world.end(&second, RunStatus::Cancelled);
    check_since(&world, None, 1, 2);
    let now = world.now();
    world.store.add_run(&world.key, &question, Some(&first), now).unwrap();
    check_since(&world, None, 1, 2);

    let thread = world.append(&NewMessage {
        thread: Some(answer.clone()),
        ..new_message(&world.channel.clone(), "@codex", "@claude four")
    });
    world.queue(&thread.row.id);
    check_since(&world, Some(&answer), 1, 2);
    check_since(&world, None, 1, 2);
    world.reply(&answer, "ben", "go on");
    check_since(&world, Some(&answer), 0, 6);
    check_since(&world, None, 1, 6);
    let unknown = world.store.since_people(&world.channel, Some(&"m9".into()));
    check_refused("unknown", unknown, "no such message: m9");
}
