//! Search: every word, newest first; nothing that a person types is an error.

use super::*;

stories![words_are_found, nothing_typed_is_an_error, search_follows_edits_and_deletions];

fn words_are_found(store: &mut dyn Store) {
    let mut world = World::new(store);
    let other = world.store.add_channel("other", ChannelKind::Public, at(0)).unwrap().id;
    world.post("aiko", "The deploy of foo-bar failed: see build.log");
    world.post("ben", "deploying again, CAFÉ first");
    world.post("aiko", "部署失败了，请看日志");
    world.append(&new_message(&other, "ben", "deploy elsewhere: 部署"));
    world.post("host", "deploy noticed");
    let find = |query: &str, channel: Option<&ChannelId>, limit| -> String {
        let found = world.store.search(query, channel, limit).unwrap();
        found.iter().map(|message| message.row.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    let here = &world.channel;
    for (query, channel, limit, expected) in [
        ("deploy", None, 9, "m5 m4 m2 m1"),
        ("deploy", None, 2, "m5 m4"),
        ("deploy", Some(here), 9, "m5 m2 m1"),
        ("deploy", Some(&other), 9, "m4"),
        ("DEPLOY failed", None, 9, "m1"),
        ("failed deploy", None, 9, "m1"),
        ("deploy missing", Some(here), 9, ""),
        ("cafe", None, 9, "m2"),
        ("cafe\u{301}", None, 9, "m2"),
        ("foo-bar", None, 9, "m1"),
        ("build.log", None, 9, "m1"),
        ("uild", Some(here), 9, "m1"),
        ("uild", None, 9, ""),
        ("失败", Some(here), 9, "m3"),
        ("日志 部署", Some(here), 9, "m3"),
        ("部署", Some(&other), 9, "m4"),
        ("失败", None, 9, ""),
        ("失败 again", Some(here), 9, ""),
        ("", None, 9, ""),
        ("  ", Some(here), 9, ""),
        ("--", None, 9, ""),
        ("deploy", None, 0, ""),
    ] {
        check((query, channel, limit), find(query, channel, limit), expected.to_owned());
    }
    check_refused("nowhere", world.store.search("deploy", Some(&"c9".into()), 1), "no such channel: c9");
}

fn nothing_typed_is_an_error(store: &mut dyn Store) {
    let mut world = World::new(store);
    world.post("aiko", "alpha and beta or gamma not near text");
    let many = "alpha ".repeat(20_000);
    let long = "a".repeat(200_000);
    for (query, expected) in [
        ("\"", 0),
        ("alpha\"", 1),
        ("\"alpha", 1),
        ("alpha*", 1),
        ("*", 0),
        ("^alpha", 1),
        ("alpha AND", 1),
        ("OR", 1),
        ("NOT alpha", 1),
        ("NEAR(alpha beta)", 1),
        ("NEAR", 1),
        ("text:alpha", 1),
        ("-alpha", 1),
        ("{alpha", 1),
        ("(alpha", 1),
        ("alpha + beta", 1),
        ("al%", 1),
        ("al_", 1),
        ("'; DROP TABLE message; --", 0),
        ("\0", 0),
        ("alpha\0beta", 1),
        ("\u{301}", 0),
        ("\u{1E900}\u{1E901}", 0),
        ("\u{1F600}", 0),
        (&many, 1),
        (&long, 0),
    ] {
        for channel in [None, Some(&world.channel)] {
            let short: String = query.chars().take(40).collect();
            check((short, channel), world.store.search(query, channel, 9).unwrap().len(), expected);
        }
    }
}

fn search_follows_edits_and_deletions(store: &mut dyn Store) {
    let mut world = World::new(store);
    let kept = world.post("aiko", "kumquat one");
    let gone = world.post("aiko", "kumquat two");
    let found = |world: &World<'_>, query: &str| {
        let found = world.store.search(query, Some(&world.channel), 9).unwrap();
        lines(&found)
    };
    world.edit(&kept, "persimmon one");
    check("old text", found(&world, "kumquat"), vec!["m2 #2 aiko: kumquat two".to_owned()]);
    check(
        "new text",
        found(&world, "persimmon"),
        vec!["m1 #1 aiko: persimmon one (revision 2, edited 3)".to_owned()],
    );
    world.delete(&gone);
    check("deleted", found(&world, "kumquat"), Vec::new());
    check("deleted, by substring", found(&world, "umqua"), Vec::new());
    world.post("aiko", "kumquat three");
    check("again", found(&world, "kumquat"), vec!["m3 #5 aiko: kumquat three".to_owned()]);
}
