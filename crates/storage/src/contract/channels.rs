//! Channels, people, bindings: names and ids.

use super::*;

stories![
    channels_have_one_name,
    people_and_agents_share_their_names,
    bindings_keep_their_ids,
    bindings_are_what_was_given
];

fn channels_have_one_name(store: &mut dyn Store) {
    let general = store.add_channel("general", ChannelKind::Public, at(0)).unwrap();
    let direct = store.add_channel("desk", ChannelKind::Direct("guide"), at(1)).unwrap();
    let channel = |id: &str, name: &str, direct: Option<&str>, second| Channel {
        id: id.into(),
        name: name.to_owned(),
        direct: direct.map(str::to_owned),
        created_at: at(second),
        last_seq: 0,
        access: if direct.is_some() { Access::Private } else { Access::Public },
        topic: String::new(),
        archived_at: None,
        paused_at: None,
    };
    check("add", &general, &channel("c1", "general", None, 0));
    check("add", &direct, &channel("c2", "desk", Some("guide"), 1));
    check_refused(
        "twice",
        store.add_channel("general", ChannelKind::Public, at(2)),
        "channel general exists already",
    );
    check("all", store.channels().unwrap(), vec![direct.clone(), general.clone()]);
    check("by name", store.channel("desk").unwrap(), direct);
    check("by id", store.channel_by_id(&"c1".into()).unwrap(), general);
    check_refused("by name", store.channel("desks"), "no such channel: desks");
    for id in ["c3", "c", "c01", "c+1", "c-1", "c1 ", "1", "m1", "", "c99999999999999999999", "cé"] {
        check_refused(id, store.channel_by_id(&id.into()), &format!("no such channel: {id}"));
    }
}

fn people_and_agents_share_their_names(store: &mut dyn Store) {
    let channel = store.add_channel("general", ChannelKind::Public, at(0)).unwrap().id;
    let ben = store.add_person("ben", Role::Member, at(1)).unwrap();
    let aiko = store.add_person("Aiko", Role::Owner, at(2)).unwrap();
    store.add_binding(&new_binding(&channel, "Claude"), at(3)).unwrap();
    let person = |id: &str, name: &str, role, second| Person {
        id: id.into(),
        name: name.to_owned(),
        role,
        created_at: at(second),
        deactivated_at: None,
    };
    check("add", &ben, &person("p1", "ben", Role::Member, 1));
    check("by name", store.person("Aiko").unwrap(), person("p2", "Aiko", Role::Owner, 2));
    check("all", store.people().unwrap(), vec![aiko, ben]);
    check_refused("other case", store.person("aiko"), "no such person: aiko");
    check_refused("an agent", store.person("Claude"), "no such person: Claude");
    check_refused("twice", store.add_person("BEN", Role::Member, at(4)), "person ben exists already");
    check_refused(
        "an agent's",
        store.add_person("claude", Role::Member, at(4)),
        "agent Claude exists already",
    );
    check_refused(
        "a person's",
        store.add_binding(&new_binding(&channel, "aiko"), at(4)),
        "person Aiko exists already",
    );
}

fn bindings_keep_their_ids(store: &mut dyn Store) {
    let one = store.add_channel("one", ChannelKind::Public, at(0)).unwrap().id;
    let two = store.add_channel("two", ChannelKind::Public, at(0)).unwrap().id;
    let mut bind = |channel: &ChannelId, handle: &str| {
        store.add_binding(&new_binding(channel, handle), at(1)).map(|binding| binding.id.to_string())
    };
    check("first", bind(&one, "claude").unwrap(), "b-claude".to_owned());
    check("elsewhere", bind(&two, "claude").unwrap(), "b-claude-2".to_owned());
    check("looks like the third", bind(&two, "claude-3").unwrap(), "b-claude-3".to_owned());
    check_refused("twice", bind(&one, "claude"), "handle claude exists already");
    check_refused("twice, other case", bind(&one, "CLAUDE"), "handle CLAUDE exists already");
    check_refused("nowhere", bind(&"c9".into(), "claude"), "no such channel: c9");
    store.remove_binding(&binding_id("b-claude"), at(2)).unwrap();
    check_refused(
        "removed",
        store.remove_binding(&binding_id("b-claude"), at(2)),
        "binding b-claude was removed already",
    );
    check_refused("unknown", store.remove_binding(&binding_id("b-x"), at(2)), "no such binding: b-x");
    let again = store.add_binding(&new_binding(&one, "claude"), at(3)).unwrap().id;
    check("again", again, binding_id("b-claude-4"));
    let ids = |store: &dyn Store, channel: Option<&ChannelId>| -> Vec<String> {
        store.bindings(channel).unwrap().into_iter().map(|binding| binding.id.to_string()).collect()
    };
    check("of one", ids(store, Some(&one)), vec!["b-claude-4".to_owned()]);
    check("all", ids(store, None), ["b-claude-2", "b-claude-4", "b-claude-3"].map(String::from).to_vec());
    check("removed_at", store.binding(&binding_id("b-claude")).unwrap().removed_at, Some(at(2)));
}

fn bindings_are_what_was_given(store: &mut dyn Store) {
    let channel = store.add_channel("general", ChannelKind::Public, at(0)).unwrap().id;
    let full = NewBinding {
        delivery: Policy::Window,
        session: SessionPolicy::Fresh,
        when_cold: WhenCold::Fresh,
        supervised: false,
        profile: Profile::Lean,
        model: Some("large".to_owned()),
        cwd: None,
        instructions: Some("Be brief.\n".to_owned()),
        addressed_by: AddressedBy::Owners,
        limits: OwnLimits {
            inactivity_ms: Some(1_500),
            turn_ms: Some(u64::from(u32::MAX)),
            memory_bytes: Some(2 << 30),
        },
        ..new_binding(&channel, "codex")
    };
    for (id, spec) in [("b-claude", new_binding(&channel, "claude")), ("b-codex", full)] {
        let binding = Binding { id: id.into(), spec: spec.clone(), created_at: at(5), removed_at: None };
        check("made", &store.add_binding(&spec, at(5)).unwrap(), &binding);
        check("stored", store.binding(&binding_id(id)).unwrap(), binding);
    }
}
