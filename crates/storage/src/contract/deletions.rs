//! Deletions: the text goes everywhere, and nothing else does (8.3).

use super::*;

stories![
    deleting_leaves_an_empty_message,
    deleting_scrubs_what_was_sent,
    a_deleted_message_leaves_the_steps_of_the_run_that_it_steered,
    parts_must_be_parts,
    what_a_session_was_told_keeps_no_text,
];

fn deleting_leaves_an_empty_message(store: &mut dyn Store) {
    let mut world = World::new(store);
    let id = world.post("aiko", "secret");
    world.edit(&id, "more secret");
    let deleted = world.store.delete(&id, at(50)).unwrap();
    check("deleted", line(&deleted), "m1 #1 aiko:  (revision 2, edited 2, deleted 3)".to_owned());
    check("stored", world.store.message(&id).unwrap(), deleted.clone());
    check("twice", world.store.delete(&id, at(60)).unwrap(), deleted);
    check("no event", world.store.channel("general").unwrap().last_seq, 3);
    check("history", world.history(), Vec::new());
    check_refused("unknown", world.store.delete(&"m9".into(), at(60)), "no such message: m9");
}

/// A prompt in which `«m1:text»` marks a message's text.
fn sent(marked: &str) -> (String, Vec<(MessageId, std::ops::Range<usize>)>) {
    let (mut text, mut parts) = (String::new(), Vec::new());
    let mut rest = marked;
    while let Some((before, part)) = rest.split_once('«') {
        text.push_str(before);
        let (part, after) = part.split_once('»').unwrap();
        let (id, body) = part.split_once(':').unwrap();
        parts.push((id.into(), text.len()..text.len() + body.len()));
        text.push_str(body);
        rest = after;
    }
    text.push_str(rest);
    (text, parts)
}

fn deleting_scrubs_what_was_sent(store: &mut dyn Store) {
    let mut world = World::new(store);
    for text in ["one", "zwei ⟨x⟩", "@claude three", "@claude four"] {
        world.post("aiko", text);
    }
    let prompts = [
        (
            "m3",
            "{\"text\":\"«m3:@claude \\\"three\\\"»\"}\n---\n- [user] aiko: «m1:one»\n- [user] ben: «m2:zwei ⟨x⟩»\nend",
        ),
        (
            "m4",
            "{\"text\":\"«m4:@claude four»\"}\n- [edited] aiko: «m2:zwei…»\n- [user] aiko: «m3:@claude three»",
        ),
    ];
    let mut runs = Vec::new();
    for (message, prompt) in prompts {
        let run = world.queue(&message.into());
        let (text, parts) = sent(prompt);
        world.stage(&run, &Staged { sent: text, parts, ..staged("s1", 1, &[]) });
        runs.push(run);
    }
    // (deleted, what was sent by the first run, by the second)
    let steps = [
        (
            "m2",
            "{\"text\":\"«m3:@claude \\\"three\\\"»\"}\n---\n- [user] aiko: «m1:one»\n- [user] ben: [deleted]\nend",
            "{\"text\":\"«m4:@claude four»\"}\n- [edited] aiko: [deleted]\n- [user] aiko: «m3:@claude three»",
        ),
        (
            "m3",
            "{\"text\":\"[deleted]\"}\n---\n- [user] aiko: «m1:one»\n- [user] ben: [deleted]\nend",
            "{\"text\":\"«m4:@claude four»\"}\n- [edited] aiko: [deleted]\n- [user] aiko: [deleted]",
        ),
        (
            "m1",
            "{\"text\":\"[deleted]\"}\n---\n- [user] aiko: [deleted]\n- [user] ben: [deleted]\nend",
            "{\"text\":\"«m4:@claude four»\"}\n- [edited] aiko: [deleted]\n- [user] aiko: [deleted]",
        ),
    ];
    for (deleted, first, second) in steps {
        world.delete(&deleted.into());
        for (run, expected) in runs.iter().zip([first, second]) {
            let staged = world.store.run(run).unwrap().staged.unwrap();
            check((deleted, run), (staged.sent, staged.parts), sent(expected));
        }
    }
}

fn a_deleted_message_leaves_the_steps_of_the_run_that_it_steered(store: &mut dyn Store) {
    let mut world = World::new(store);
    let question = world.post("aiko", "@claude hello");
    let run = world.queue(&question);
    let steer = |world: &mut World<'_>, text: &str| {
        let new = NewMessage { run: Some(run.clone()), ..new_message(&world.channel.clone(), "aiko", text) };
        let message = world.append(&new).row.id;
        let body = format!(r#"{{"message_id":"{message}","author":"aiko","text":"sent: {text}"}}"#);
        world.store.add_run_event(&run, STEER, &body, at(9)).unwrap();
        message
    };
    let first = steer(&mut world, "one");
    steer(&mut world, "two");
    world.store.add_run_event(&run, "steered", &format!(r#"{{"message_id":"{first}"}}"#), at(9)).unwrap();
    world.delete(&first);
    let bodies: Vec<String> =
        world.store.run_events(&run).unwrap().into_iter().map(|event| event.body).collect();
    let expected = [
        r#"{"message_id":"m2","author":"aiko","text":"[deleted]"}"#,
        r#"{"message_id":"m3","author":"aiko","text":"sent: two"}"#,
        r#"{"message_id":"m2"}"#,
    ];
    check("scrubbed", bodies, expected.map(String::from).to_vec());
}

fn parts_must_be_parts(store: &mut dyn Store) {
    let mut world = World::new(store);
    let id = world.post("aiko", "héllo");
    let run = world.queue(&id);
    let mut stage = |sent: &str, parts: &[(&str, std::ops::Range<usize>)]| {
        let parts = parts.iter().map(|(id, range)| ((*id).into(), range.clone())).collect();
        world.store.stage(&run, &Staged { sent: sent.to_owned(), parts, ..staged("s1", 1, &[]) }, at(9))
    };
    for (parts, expected) in [
        (&[("m1", 0..7)][..], "bytes 0..7 are no part of what is sent (m1)"),
        (&[("m1", 0..2)], "bytes 0..2 are no part of what is sent (m1)"),
        (&[("m1", 3..5), ("m1", 4..6)], "bytes 4..6 are no part of what is sent (m1)"),
        (&[("m1", 3..5), ("m1", 0..1)], "bytes 0..1 are no part of what is sent (m1)"),
        (&[("m9", 0..1)], "no such message: m9"),
    ] {
        check_refused(parts, stage("héllo", parts), expected);
    }
    check(
        "side by side, an empty one left out",
        stage("héllo", &[("m1", 0..1), ("m1", 1..1), ("m1", 1..6)]).is_ok(),
        true,
    );
    let staged = world.store.run(&run).unwrap().staged.unwrap();
    check("stored", staged.parts, vec![(id.clone(), 0..1), (id, 1..6)]);
}

fn what_a_session_was_told_keeps_no_text(store: &mut dyn Store) {
    let mut world = World::new(store);
    world.begin("s1", 1);
    let told = |world: &World<'_>| world.store.session(&world.key).unwrap().unwrap().told;
    let payload = |text: &str| format!(r#"{{"brief":"f","payload":{{"message_id":"m1","text":"{text}"}}}}"#);
    for (given, stored) in [
        (payload("secret"), payload("")),
        (payload(""), payload("")),
        (r#"{"payload":null,"turn_bytes":7}"#.to_owned(), r#"{"payload":null,"turn_bytes":7}"#.to_owned()),
        ("{}".to_owned(), "{}".to_owned()),
    ] {
        world.store.set_told(&world.key, &given).unwrap();
        check(&given, told(&world), stored);
    }
    let id = world.post("aiko", "@claude secret");
    let run = world.queue(&id);
    world.stage(&run, &staged("s1", 1, &[]));
    let ending = Ending { told: Some(payload("secret")), ..ending(RunStatus::Succeeded) };
    world.store.end_run(&run, &ending, at(9)).unwrap();
    check("with the end of a run", told(&world), payload(""));
}
