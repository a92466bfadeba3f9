//! What is brought along from another server stands as it stood there, and starts nothing.

use delivery::Timestamp;

use super::*;

stories![
    people_are_made_or_found,
    a_channel_is_made_or_fills_an_empty_one,
    events_keep_their_numbers_times_and_authors,
    agents_come_as_former_members,
    runs_have_ended,
    a_store_is_no_restored_one,
];

fn person(name: &str, former: &[&str]) -> BroughtPerson {
    BroughtPerson {
        name: name.to_owned(),
        former_names: former.iter().map(|name| (*name).to_owned()).collect(),
        role: Role::Member,
        created_at: at(-9),
        deactivated_at: None,
    }
}

fn channel(name: &str) -> BroughtChannel {
    BroughtChannel {
        name: name.to_owned(),
        direct: None,
        access: Access::Private,
        topic: "plans".to_owned(),
        created_at: at(-8),
        archived_at: Some(at(-1)),
    }
}

fn event(channel: &ChannelId, seq: u64, at: Timestamp, what: BroughtEventKind) -> BroughtEvent {
    BroughtEvent { channel: channel.clone(), seq, at, what }
}

fn written(name: &str, thread: Option<u64>, text: &str) -> BroughtEventKind {
    BroughtEventKind::Message { thread, author: author(name), person: None, text: text.to_owned() }
}

fn people_are_made_or_found(store: &mut dyn Store) {
    let there = store.add_person("aiko", Role::Owner, at(0)).unwrap();
    store.add_person("ben", Role::Guest, at(0)).unwrap();
    let deactivated = BroughtPerson { deactivated_at: Some(at(-2)), ..person("zoe", &["zo", "ben"]) };
    for (new, brought) in [(person("aiko", &[]), Brought::There), (deactivated, Brought::Made)] {
        let (id, got) = store.bring_person(&new, at(9)).unwrap();
        check(&new, got, brought);
        let expected = match brought {
            Brought::There => there.clone(),
            Brought::Made => Person {
                id: id.clone(),
                name: new.name.clone(),
                role: new.role,
                created_at: new.created_at,
                deactivated_at: new.deactivated_at,
            },
        };
        check(&new, store.person_by_id(&id).unwrap(), expected);
        check(&new, store.password(&id).unwrap(), None);
        check(&new, store.credentials(Some(&id)).unwrap(), vec![]);
    }
    let zoe = store.person("zoe").unwrap().id;
    check("a former name that was free", store.former_names(&zoe).unwrap(), vec!["zo".to_owned()]);
    check_refused("taken by it", store.add_person("zo", Role::Member, at(1)), "person zo exists already");
    let general = store.add_channel("general", ChannelKind::Public, at(0)).unwrap().id;
    store.add_binding(&new_binding(&general, "claude"), at(0)).unwrap();
    check_refused(
        "an agent",
        store.bring_person(&person("claude", &[]), at(9)),
        "agent claude exists already",
    );
}

fn a_channel_is_made_or_fills_an_empty_one(store: &mut dyn Store) {
    let empty = store.add_channel("empty", ChannelKind::Public, at(0)).unwrap().id;
    let aiko = store.add_person("aiko", Role::Owner, at(0)).unwrap().id;
    store.add_membership(&empty, &aiko, Rank::Manager, at(0)).unwrap();
    let full = store.add_channel("full", ChannelKind::Public, at(0)).unwrap().id;
    store.append(&new_message(&full, "aiko", "hello"), at(1)).unwrap();
    store.add_channel("direct", ChannelKind::Direct("claude"), at(0)).unwrap();
    for name in ["new", "empty"] {
        let new = channel(name);
        let id = store.bring_channel(&new, at(9)).unwrap();
        let expected = Channel {
            id: id.clone(),
            name: new.name,
            direct: None,
            created_at: new.created_at,
            last_seq: 0,
            access: new.access,
            topic: new.topic,
            archived_at: new.archived_at,
            paused_at: None,
        };
        check(name, store.channel_by_id(&id).unwrap(), expected);
        check(name, id == empty, name == "empty");
    }
    check_refused("full", store.bring_channel(&channel("full"), at(9)), "channel full exists already");
    check_refused(
        "of another kind",
        store.bring_channel(&channel("direct"), at(9)),
        "channel direct exists already",
    );
    let member = |rank| BroughtMember { channel: empty.clone(), person: aiko.clone(), rank, since: at(-7) };
    store.bring_member(&member(Rank::Member), at(9)).unwrap();
    let members = store.members(&empty).unwrap();
    let members: Vec<_> = members.into_iter().map(|one| (one.person.name, one.rank, one.since)).collect();
    check("as it was there", members, vec![("aiko".to_owned(), Rank::Member, at(-7))]);
}

fn events_keep_their_numbers_times_and_authors(store: &mut dyn Store) {
    let (aiko, _) = store.bring_person(&person("aiko", &["ai"]), at(9)).unwrap();
    let id = store.bring_channel(&channel("general"), at(9)).unwrap();
    let own = BroughtEventKind::Message {
        thread: None,
        author: author("ai"),
        person: Some(aiko.clone()),
        text: "a quince".to_owned(),
    };
    let events = [
        event(&id, 1, at(-7), own),
        event(&id, 2, at(-6), written("gone", Some(1), "a reply")),
        event(&id, 3, at(-5), written("@codex", None, "")),
        event(&id, 4, at(-4), BroughtEventKind::Edit(1)),
        event(&id, 5, at(-3), BroughtEventKind::Deletion(3)),
        event(&id, 6, at(-2), BroughtEventKind::Edit(1)),
        event(&id, 7, at(-1), written("host", None, "a notice")),
    ];
    for new in &events {
        store.bring_event(new).unwrap();
    }
    let there = store.channel_events(&id, 0, 99).unwrap();
    let there: Vec<_> = there.into_iter().map(|event| (event.seq, event.at, event.kind)).collect();
    use ChannelEventKind::{Deletion, Edit, Message, Notice};
    let kinds = [Message, Message, Message, Edit, Deletion, Edit, Notice];
    let expected: Vec<_> = events.iter().zip(kinds).map(|(new, kind)| (new.seq, new.at, kind)).collect();
    check("events", there, expected);
    let root = store.search("quince", None, 9).unwrap().remove(0);
    check("root", line(&root), format!("{} #1 ai: a quince (revision 3, edited 6)", root.row.id));
    check("its person", (&root.person, root.row.created_at), (&Some(aiko.clone()), at(-7)));
    let thread = lines(&store.history(&id, Some(&root.row.id), None, 9).unwrap());
    check("thread", thread[1].contains("#2 gone: a reply (in m"), true);
    check("authors", store.authors(&id).unwrap(), vec![aiko]);
    for (what, new, why) in [
        (
            "gap",
            event(&id, 9, at(0), written("ai", None, "x")),
            "event 9 at 2026-11-30T00:53:20.000Z does not follow event 7 of channel c1",
        ),
        (
            "not later",
            event(&id, 8, at(-1), written("ai", None, "x")),
            "event 8 at 2026-11-30T00:53:19.000Z does not follow event 7 of channel c1",
        ),
        ("of an edit", event(&id, 8, at(0), BroughtEventKind::Edit(4)), "no such message: number 4"),
        (
            "with a text",
            event(&id, 8, at(0), BroughtEventKind::Deletion(1)),
            "message 1 is not one that was deleted here",
        ),
        (
            "twice",
            event(&id, 8, at(0), BroughtEventKind::Deletion(3)),
            "message 3 is not one that was deleted here",
        ),
    ] {
        check_refused(what, store.bring_event(&new), why);
    }
    // The channel goes on where it was.
    let next = message_of(store.append(&new_message(&id, "aiko", "next"), at(-50)).unwrap());
    check("next", (next.row.seq, next.row.created_at.ms), (8, at(-1).ms + 1));
}

fn agents_come_as_former_members(store: &mut dyn Store) {
    let general = store.add_channel("general", ChannelKind::Public, at(0)).unwrap().id;
    let there = store.add_binding(&new_binding(&general, "claude"), at(0)).unwrap().id;
    let agent = |handle: &str| BroughtAgent {
        channel: general.clone(),
        handle: handle.to_owned(),
        preset: "codex".to_owned(),
        since: at(-8),
        brought_at: at(1),
    };
    check("a member", store.bring_agent(&agent("claude")).unwrap(), there.clone());
    let codex = store.bring_agent(&agent("codex")).unwrap();
    let bindings: Vec<_> = store.bindings(None).unwrap().into_iter().map(|binding| binding.id).collect();
    check("members", bindings, vec![there.clone()]);
    let ever = store.bindings_ever(&general).unwrap();
    let ever: Vec<_> = ever.iter().map(|one| (&one.id, one.created_at, one.removed_at)).collect();
    check("ever", ever, vec![(&there, at(0), None), (&codex, at(-8), Some(at(1)))]);
    let stored = store.binding(&codex).unwrap().spec;
    check("how it starts", (stored.command, stored.env, stored.cwd), (vec![], vec![], None));
    check("added again", store.add_binding(&new_binding(&general, "codex"), at(2)).is_ok(), true);
}

fn runs_have_ended(store: &mut dyn Store) {
    let id = store.bring_channel(&channel("general"), at(9)).unwrap();
    let agent = BroughtAgent {
        channel: id.clone(),
        handle: "claude".to_owned(),
        preset: "claude".to_owned(),
        since: at(-8),
        brought_at: at(1),
    };
    let binding = store.bring_agent(&agent).unwrap();
    for (seq, name) in [(1, "aiko"), (2, "@claude"), (3, "@claude")] {
        store.bring_event(&event(&id, seq, at(seq as i64), written(name, None, "@claude hm"))).unwrap();
    }
    let new = |status, retry_of: Option<&RunId>, posted: &[u64]| BroughtRun {
        channel: id.clone(),
        binding: binding.clone(),
        message: 1,
        status,
        error: Some("why".to_owned()),
        created_at: at(1),
        started_at: Some(at(2)),
        ended_at: at(3),
        usage: None,
        retry_of: retry_of.cloned(),
        posted: posted.to_vec(),
    };
    let first = store.bring_run(&new(RunStatus::Failed, None, &[])).unwrap();
    let second = store.bring_run(&new(RunStatus::Succeeded, Some(&first), &[2, 3])).unwrap();
    check("open", store.open_runs().unwrap(), vec![]);
    let pages = [(None, 1), (Some(&first), 9), (Some(&second), 9)];
    let pages = pages.map(|(after, limit)| {
        let page = store.runs_after(&id, after, limit).unwrap();
        page.into_iter().map(|run| (run.id, run.status, run.retry_of)).collect::<Vec<_>>()
    });
    let one = vec![(first.clone(), RunStatus::Failed, None)];
    let two = vec![(second.clone(), RunStatus::Succeeded, Some(first.clone()))];
    check("pages", pages, [one, two, vec![]]);
    let posted = store.messages_of_run(&second).unwrap();
    check("posted", posted.iter().map(|message| message.row.seq).collect(), vec![2, 3]);
    let open = store.bring_run(&new(RunStatus::Queued, None, &[]));
    check_refused("queued", open, "only runs that have ended are brought along");
    let nowhere = store.bring_run(&new(RunStatus::Failed, None, &[9]));
    check_refused("posted nothing", nowhere, "no such message: number 9");
}

fn a_store_is_no_restored_one(store: &mut dyn Store) {
    check("new", store.take_restored().unwrap(), false);
}
