//! Messages: append, edit, threads, pages, events.

use super::*;

stories![
    the_sequence_is_dense_and_time_grows,
    the_same_client_id_is_one_message,
    threads_hang_on_top_level_messages,
    threads_are_told_by_their_replies,
    pages_go_backwards,
    edits_change_the_text,
    texts_have_limits,
    events_come_after_a_number,
    a_message_tells_of_its_run,
];

/// Fault experiment 12: equal times, and clocks that go back.
fn the_sequence_is_dense_and_time_grows(store: &mut dyn Store) {
    let one = store.add_channel("one", ChannelKind::Public, at(0)).unwrap().id;
    let two = store.add_channel("two", ChannelKind::Public, at(0)).unwrap().id;
    let ms = |ms: i64| Timestamp { ms };
    // (channel, the clock says, the number, the time)
    let appends = [
        (&one, at(10), 1, at(10)),
        (&one, at(10), 2, ms(at(10).ms + 1)),
        (&one, at(3), 3, ms(at(10).ms + 2)),
        (&two, at(3), 1, at(3)),
        (&one, at(11), 4, at(11)),
        (&two, ms(-5), 2, ms(at(3).ms + 1)),
    ];
    for (channel, clock, seq, time) in appends {
        let appended = store.append(&new_message(channel, "aiko", "hello"), clock).unwrap();
        let row = message_of(appended).row;
        check((channel, clock), (row.seq, row.created_at), (seq, time));
    }
    let first = store.history(&one, None, None, 1_000).unwrap()[0].row.id.clone();
    store.edit(&first, "hello?", at(0)).unwrap();
    store.delete(&first, at(0)).unwrap();
    let events = store.channel_events(&one, 4, 10).unwrap();
    let times: Vec<_> = events.iter().map(|event| (event.seq, event.at)).collect();
    check("events", times, vec![(5, ms(at(11).ms + 1)), (6, ms(at(11).ms + 2))]);
    check("last_seq", store.channel("one").unwrap().last_seq, 6);
}

fn the_same_client_id_is_one_message(store: &mut dyn Store) {
    let mut world = World::new(store);
    let channel = world.channel.clone();
    let with = |name: &str, text: &str, id: &str| NewMessage {
        client_id: Some(id.to_owned()),
        ..new_message(&channel, name, text)
    };
    let first = world.append(&with("aiko", "hello", "x"));
    let again = world.store.append(&with("aiko", "other text", "x"), at(99)).unwrap();
    check("again", again, Appended::Before(first.clone()));
    world.append(&with("ben", "same id, other author", "x"));
    world.append(&with("@aiko", "same id and name, other kind", "x"));
    world.append(&with("aiko", "other id", "y"));
    world.post("aiko", "no id");
    world.post("aiko", "no id");
    world.delete(&first.row.id);
    let deleted = world.store.message(&first.row.id).unwrap();
    let again = world.store.append(&with("aiko", "hello", "x"), at(99)).unwrap();
    check("after its deletion", again, Appended::Before(deleted));
    let expected = [
        "m2 #2 ben: same id, other author",
        "m3 #3 @aiko: same id and name, other kind",
        "m4 #4 aiko: other id",
        "m5 #5 aiko: no id",
        "m6 #6 aiko: no id",
    ];
    check("history", world.history(), expected.map(String::from).to_vec());
}

fn threads_hang_on_top_level_messages(store: &mut dyn Store) {
    let mut world = World::new(store);
    let root = world.post("aiko", "shall we?");
    let reply = world.reply(&root, "ben", "yes");
    world.post("host", "a notice");
    world.reply(&root, "aiko", "good");
    let thread = |world: &World<'_>, root: &MessageId, before: Option<&MessageId>, limit| {
        world.store.history(&world.channel, Some(root), before, limit).map(|messages| lines(&messages))
    };
    let whole =
        ["m1 #1 aiko: shall we?", "m2 #2 ben: yes (in m1)", "m4 #4 aiko: good (in m1)"].map(String::from);
    check("top level", world.history(), vec![whole[0].clone(), "m3 #3 host: a notice".to_owned()]);
    check("thread", thread(&world, &root, None, 9).unwrap(), whole.to_vec());
    check("exactly", thread(&world, &root, None, 3).unwrap(), whole.to_vec());
    check("page", thread(&world, &root, None, 2).unwrap(), whole[1..].to_vec());
    check("earlier", thread(&world, &root, Some(&"m4".into()), 9).unwrap(), whole[..2].to_vec());
    check("before the root", thread(&world, &root, Some(&root), 9).unwrap(), Vec::new());
    check_refused("of a reply", thread(&world, &reply, None, 9), "message m2 is a reply in the thread of m1");
    check_refused("unknown", thread(&world, &"m9".into(), None, 9), "no such message: m9");

    let other = world.store.add_channel("other", ChannelKind::Public, at(0)).unwrap().id;
    let deleted = world.post("aiko", "no");
    world.delete(&deleted);
    let mut reply_to = |channel: &ChannelId, root: &str| {
        let new = NewMessage { thread: Some(root.into()), ..new_message(channel, "ben", "so?") };
        world.store.append(&new, at(99))
    };
    let channel = ChannelId::from("c1");
    check_refused("reply to a reply", reply_to(&channel, "m2"), "message m2 is a reply in the thread of m1");
    check_refused("reply to nothing", reply_to(&channel, "m9"), "no such message: m9");
    check_refused("reply from elsewhere", reply_to(&other, "m1"), "no such message: m1");
    check_refused(
        "reply to a deleted",
        reply_to(&channel, "m5"),
        "message m5 was deleted: its thread takes no more replies",
    );
    check("no number is lost", world.store.channel("general").unwrap().last_seq, 6);
    world.delete(&root);
    let rest = world.store.history(&world.channel, Some(&root), None, 9).unwrap();
    check("deleted root", lines(&rest), whole[1..].to_vec());
}

fn threads_are_told_by_their_replies(store: &mut dyn Store) {
    let mut world = World::new(store);
    let one = world.post("aiko", "one");
    let two = world.post("aiko", "two");
    world.post("aiko", "no reply");
    world.reply(&one, "ben", "a");
    let last = world.reply(&two, "ben", "b");
    world.reply(&one, "aiko", "c");
    let gone = world.post("aiko", "its only reply goes");
    let reply = world.reply(&gone, "ben", "d");
    let list = |world: &World<'_>, limit| -> Vec<String> {
        let threads = world.store.threads(&world.channel, limit).unwrap();
        let told = |thread: &Thread| {
            let Thread { root, replies, last_seq, .. } = thread;
            let deleted = if root.row.deleted_seq.is_some() { " (deleted)" } else { "" };
            format!("{}{deleted}: {replies} to #{last_seq}", root.row.id)
        };
        threads.iter().map(told).collect()
    };
    let expect = |what: &str, got: Vec<String>, expected: &[&str]| {
        check(what, got, expected.iter().map(|line| (*line).to_owned()).collect());
    };
    expect("newest first", list(&world, 9), &["m7: 1 to #8", "m1: 2 to #6", "m2: 1 to #5"]);
    expect("a page", list(&world, 2), &["m7: 1 to #8", "m1: 2 to #6"]);
    world.delete(&reply);
    world.delete(&one);
    expect("deleted", list(&world, 9), &["m1 (deleted): 2 to #6", "m2: 1 to #5"]);
    let newest = world.store.message(&last).unwrap().row.created_at;
    check("time", world.store.threads(&world.channel, 9).unwrap()[1].last_at, newest);
    check_refused("unknown", world.store.threads(&"c9".into(), 9), "no such channel: c9");
}

fn pages_go_backwards(store: &mut dyn Store) {
    let mut world = World::new(store);
    let ids: Vec<_> = (1..=7).map(|n| world.post("aiko", &format!("message {n}"))).collect();
    world.reply(&ids[6], "ben", "a reply is not on a page of the channel");
    world.delete(&ids[4]);
    let page = |before: Option<&MessageId>, limit| -> Vec<String> {
        let page = world.store.history(&world.channel, None, before, limit).unwrap();
        page.iter().map(|message| message.row.id.to_string()).collect()
    };
    for (before, limit, expected) in [
        (None, 3, vec!["m4", "m6", "m7"]),
        (Some("m4"), 2, vec!["m2", "m3"]),
        (Some("m2"), 2, vec!["m1"]),
        (Some("m1"), 2, vec![]),
        (Some("m5"), 1, vec!["m4"]),
        (None, 0, vec![]),
        (None, usize::MAX, vec!["m1", "m2", "m3", "m4", "m6", "m7"]),
    ] {
        let id = before.map(MessageId::from);
        check((before, limit), page(id.as_ref(), limit), expected.into_iter().map(String::from).collect());
    }
    let unknown = MessageId::from("m99");
    check_refused(
        "before",
        world.store.history(&world.channel, None, Some(&unknown), 1),
        "no such message: m99",
    );
    check_refused("channel", world.store.history(&"c9".into(), None, None, 1), "no such channel: c9");
}

fn edits_change_the_text(store: &mut dyn Store) {
    let mut world = World::new(store);
    let id = world.post("aiko", "helo");
    let edited = world.store.edit(&id, "hello", at(50)).unwrap();
    check("edited", line(&edited), "m1 #1 aiko: hello (revision 2, edited 2)".to_owned());
    check("creation stays", edited.row.created_at, at(1));
    world.edit(&id, "hello!");
    check("again", world.history(), vec!["m1 #1 aiko: hello! (revision 3, edited 3)".to_owned()]);
    check_refused("unknown", world.store.edit(&"m9".into(), "x", at(51)), "no such message: m9");
    world.delete(&id);
    check_refused("deleted", world.store.edit(&id, "x", at(51)), "message m1 was deleted");
    check("no number is lost", world.store.channel("general").unwrap().last_seq, 4);
}

fn texts_have_limits(store: &mut dyn Store) {
    let mut world = World::new(store);
    let id = world.post("aiko", "hello");
    let long = "é".repeat(TEXT_BYTES_MAX / 2);
    let too_long = format!("{long}.");
    for (text, expected) in [("", "a message needs a text"), (&too_long, "a message has at most 65536 bytes")]
    {
        let new = new_message(&world.channel, "aiko", text);
        check_refused("append", world.store.append(&new, at(9)), expected);
        check_refused("edit", world.store.edit(&id, text, at(9)), expected);
    }
    let stored = world.post("aiko", &long);
    check("whole", world.store.message(&stored).unwrap().row.text, long);
    let new = new_message(&"c9".into(), "aiko", "hello");
    check_refused("nowhere", world.store.append(&new, at(9)), "no such channel: c9");
    check("no number is lost", world.store.channel("general").unwrap().last_seq, 2);
}

fn events_come_after_a_number(store: &mut dyn Store) {
    let mut world = World::new(store);
    let root = world.post("aiko", "one");
    world.post("host", "two");
    world.reply(&root, "ben", "three");
    world.edit(&root, "four");
    world.delete(&root);
    let event = |seq, second, kind, message: &str| ChannelEvent {
        channel: "c1".into(),
        seq,
        at: at(second),
        kind,
        message: message.into(),
    };
    let events = [
        event(1, 1, ChannelEventKind::Message, "m1"),
        event(2, 2, ChannelEventKind::Notice, "m2"),
        event(3, 3, ChannelEventKind::Message, "m3"),
        event(4, 4, ChannelEventKind::Edit, "m1"),
        event(5, 5, ChannelEventKind::Deletion, "m1"),
    ];
    for (after, limit, expected) in
        [(0, 9, &events[..]), (0, 2, &events[..2]), (3, 9, &events[3..]), (5, 9, &[]), (u64::MAX, 9, &[])]
    {
        let got = world.store.channel_events(&world.channel, after, limit).unwrap();
        check((after, limit), got, expected.to_vec());
    }
    check_refused("nowhere", world.store.channel_events(&"c9".into(), 0, 1), "no such channel: c9");
}

fn a_message_tells_of_its_run(store: &mut dyn Store) {
    let mut world = World::new(store);
    let question = world.post("aiko", "@claude hello");
    let run = world.queue(&question);
    let of_run = |name: &str, text: &str, native: Option<&str>| NewMessage {
        run: Some("r1".into()),
        native: native.map(NativeId::from),
        ..new_message(&"c1".into(), name, text)
    };
    world.append(&of_run("@claude", "hello", Some("s1")));
    world.append(&of_run("host", "a notice", None));
    world.append(&of_run("aiko", "a steer", None));
    let messages = world.store.messages_of_run(&run).unwrap();
    let expected = ["m2 #2 @claude: hello (of r1, by s1)", "m3 #3 host: a notice (of r1)"];
    check("of the run", lines(&messages), expected.map(String::from).to_vec());
    check_refused("unknown", world.store.messages_of_run(&"r9".into()), "no such run: r9");
    let new = NewMessage { run: Some("r9".into()), ..new_message(&"c1".into(), "@claude", "hello") };
    check_refused("unknown", world.store.append(&new, at(9)), "no such run: r9");
    check_refused("unknown", world.store.message(&"r1".into()), "no such message: r1");
}
