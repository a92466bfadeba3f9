//! People under changing names, their channels, and their credentials.

use super::*;

stories![
    a_person_stays_who_they_are_under_another_name,
    roles_passwords_and_deactivation,
    memberships_have_a_rank,
    channels_change,
    credentials_are_found_by_hash_and_end,
    search_and_runs_within_some_channels,
];

fn names(people: &[Person]) -> Vec<&str> {
    people.iter().map(|person| person.name.as_str()).collect()
}

fn a_person_stays_who_they_are_under_another_name(store: &mut dyn Store) {
    let mut world = World::new(store);
    let aiko = world.store.person("aiko").unwrap();
    let channel = world.channel.clone();
    let once =
        |name: &str| NewMessage { client_id: Some("x".to_owned()), ..new_message(&channel, name, "hi") };
    let first = world.append(&once("aiko"));
    check("whose", first.person.clone(), Some(aiko.id.clone()));
    check("of nobody", world.append(&new_message(&channel, "stranger", "hi")).person, None);
    check("an agent's", world.append(&new_message(&channel, "@claude", "hi")).person, None);

    let kobo = world.store.rename_person(&aiko.id, "kobo", at(6)).unwrap();
    check("renamed", &kobo, &Person { name: "kobo".to_owned(), ..aiko.clone() });
    check("by id", &world.store.person_by_id(&aiko.id).unwrap(), &kobo);
    check_refused("by the old name", world.store.person("aiko"), "no such person: aiko");
    check("all", names(&world.store.people().unwrap()), vec!["ben", "kobo"]);
    check("old messages keep the name", &world.store.message(&first.row.id).unwrap(), &first);
    check("the same client id", world.append(&once("kobo")).row.id, first.row.id);
    let ben = world.store.person("ben").unwrap().id;
    for taken in ["aiko", "AIKO", "kobo"] {
        let held = taken.to_lowercase();
        let why = format!("person {held} exists already");
        check_refused(taken, world.store.rename_person(&ben, taken, at(6)), &why);
        check_refused(taken, world.store.add_person(taken, Role::Member, at(9)), &why);
    }
    check_refused(
        "an agent's",
        world.store.rename_person(&ben, "claude", at(6)),
        "agent claude exists already",
    );
    check("back", world.store.rename_person(&aiko.id, "aiko", at(6)).unwrap(), aiko.clone());
    check_refused(
        "the other one is theirs too",
        world.store.add_person("kobo", Role::Member, at(9)),
        "person kobo exists already",
    );
    check("other case", world.store.rename_person(&aiko.id, "Aiko", at(6)).unwrap().name, "Aiko".to_owned());
    check_refused("unknown", world.store.person_by_id(&"p9".into()), "no such person: p9");
}

fn roles_passwords_and_deactivation(store: &mut dyn Store) {
    let gus = store.add_person("gus", Role::Guest, at(1)).unwrap();
    check("made", (gus.role, gus.deactivated_at), (Role::Guest, None));
    let renamed = store.rename_person(&gus.id, "august", at(6)).unwrap();
    check("the role goes along", renamed, Person { name: "august".to_owned(), ..gus.clone() });
    check("promoted", store.set_role(&gus.id, Role::Member, at(6)).unwrap().role, Role::Member);
    check("no password", store.password(&gus.id).unwrap(), None);
    store.set_password(&gus.id, "$argon2id$…").unwrap();
    check("a password", store.password(&gus.id).unwrap().as_deref(), Some("$argon2id$…"));
    check("off", store.set_deactivated(&gus.id, Some(at(5)), at(6)).unwrap().deactivated_at, Some(at(5)));
    check("stored", store.person("august").unwrap().deactivated_at, Some(at(5)));
    check("on", store.set_deactivated(&gus.id, None, at(6)).unwrap().deactivated_at, None);
}

fn memberships_have_a_rank(store: &mut dyn Store) {
    let one = store.add_channel("one", ChannelKind::Public, at(0)).unwrap().id;
    let two = store.add_channel("two", ChannelKind::Public, at(0)).unwrap().id;
    let ben = store.add_person("ben", Role::Member, at(0)).unwrap();
    let aiko = store.add_person("aiko", Role::Guest, at(0)).unwrap();
    check("nobody yet", store.members(&one).unwrap(), vec![]);
    store.add_membership(&one, &ben.id, Rank::Manager, at(1)).unwrap();
    store.add_membership(&one, &aiko.id, Rank::Member, at(2)).unwrap();
    store.add_membership(&two, &ben.id, Rank::Member, at(3)).unwrap();
    store.add_membership(&one, &ben.id, Rank::Member, at(4)).unwrap();
    let member =
        |person: &Person, rank, second| ChannelMember { person: person.clone(), rank, since: at(second) };
    let all = vec![member(&aiko, Rank::Member, 2), member(&ben, Rank::Manager, 1)];
    check("of the channel", store.members(&one).unwrap(), all);
    let mine = [(&one, Rank::Manager), (&two, Rank::Member)];
    let mine = mine.map(|(channel, rank)| Membership { channel: channel.clone(), rank });
    check("of the person", store.memberships(&ben.id).unwrap(), mine.to_vec());
    check("inside", store.rank(&one, &aiko.id).unwrap(), Some(Rank::Member));
    check("outside", store.rank(&two, &aiko.id).unwrap(), None);
    store.remove_membership(&one, &aiko.id, at(6)).unwrap();
    store.remove_membership(&one, &aiko.id, at(6)).unwrap();
    check("left", store.rank(&one, &aiko.id).unwrap(), None);
    check_refused(
        "nobody",
        store.add_membership(&one, &"p9".into(), Rank::Member, at(5)),
        "no such person: p9",
    );
    check_refused(
        "nowhere",
        store.add_membership(&"c9".into(), &ben.id, Rank::Member, at(5)),
        "no such channel: c9",
    );
}

fn channels_change(store: &mut dyn Store) {
    let made = store.add_channel("general", ChannelKind::Public, at(0)).unwrap();
    store.add_channel("taken", ChannelKind::Public, at(0)).unwrap();
    let mut change = |change: ChannelChange| store.change_channel(&made.id, &change, at(6));
    change(ChannelChange::Name("plenum".to_owned())).unwrap();
    change(ChannelChange::Topic("deploys".to_owned())).unwrap();
    change(ChannelChange::Access(Access::Private)).unwrap();
    let changed = change(ChannelChange::ArchivedAt(Some(at(9)))).unwrap();
    let expected = Channel {
        name: "plenum".to_owned(),
        topic: "deploys".to_owned(),
        access: Access::Private,
        archived_at: Some(at(9)),
        ..made.clone()
    };
    check("all", &changed, &expected);
    check_refused("taken", change(ChannelChange::Name("taken".to_owned())), "channel taken exists already");
    check("its own", change(ChannelChange::Name("plenum".to_owned())).unwrap(), expected.clone());
    let open = change(ChannelChange::ArchivedAt(None)).unwrap();
    check("open again", open, Channel { archived_at: None, ..expected });
}

fn credentials_are_found_by_hash_and_end(store: &mut dyn Store) {
    let ben = store.add_person("ben", Role::Member, at(0)).unwrap().id;
    let new = |kind, hash: &str, proof: Option<&str>| NewCredential {
        kind,
        hash: hash.to_owned(),
        proof: proof.map(str::to_owned),
        person: ben.clone(),
        label: "ci".to_owned(),
        scopes: Scopes([Scope::Read].into()),
        expires_at: Some(at(10)),
    };
    let token = store.add_credential(&new(CredentialKind::Token, "aa", None), at(1)).unwrap();
    let expected = Credential {
        id: "t1".into(),
        kind: CredentialKind::Token,
        proof: None,
        person: ben.clone(),
        label: "ci".to_owned(),
        scopes: Scopes([Scope::Read].into()),
        created_at: at(1),
        expires_at: Some(at(10)),
        ended_at: None,
    };
    check("made", &token, &expected);
    check("found", store.credential("aa").unwrap(), Some(expected.clone()));
    check("another", store.credential("ab").unwrap(), None);
    let holds = [0, 9, 10, 11].map(|second| expected.holds_at(at(second)));
    check("until it expires", holds, [true, true, false, false]);
    let ended = store.end_credential(&token.id, at(5)).unwrap();
    check("ended", ended.ended_at, Some(at(5)));
    check("once", store.end_credential(&token.id, at(6)).unwrap(), ended.clone());
    check("holds no more", ended.holds_at(at(6)), false);
    check_refused(
        "the same secret",
        store.add_credential(&new(CredentialKind::Token, "aa", None), at(1)),
        "token ci exists already",
    );
    for (kind, proof) in [(CredentialKind::SignIn, None), (CredentialKind::Link, Some("p"))] {
        let why = "a sign-in, and it alone, has a second secret";
        check_refused(kind, store.add_credential(&new(kind, "zz", proof), at(1)), why);
    }
    store.add_credential(&new(CredentialKind::SignIn, "bb", Some("pp")), at(2)).unwrap();
    store.add_credential(&new(CredentialKind::Link, "cc", None), at(2)).unwrap();
    store.end_credentials(&ben, &[CredentialKind::SignIn, CredentialKind::Token], at(7)).unwrap();
    let ends: Vec<_> = store.credentials(Some(&ben)).unwrap().into_iter().map(|one| one.ended_at).collect();
    check("of these kinds", ends, vec![Some(at(5)), Some(at(7)), None]);
    let other = store.add_person("aiko", Role::Member, at(0)).unwrap().id;
    check("of nobody else", store.credentials(Some(&other)).unwrap(), vec![]);
    check("all", store.credentials(None).unwrap().len(), 3);
    check_refused("unknown", store.end_credential(&"t9".into(), at(7)), "no such token: t9");
}

fn search_and_runs_within_some_channels(store: &mut dyn Store) {
    let mut world = World::new(store);
    let seen = world.post("aiko", "a quince");
    let other = world.store.add_channel("other", ChannelKind::Public, at(0)).unwrap().id;
    let hidden = world.append(&new_message(&other, "aiko", "another quince")).row.id;
    let run = world.queue(&seen);
    let own = [world.channel.clone()];
    let found = |channels: &[ChannelId]| -> Vec<String> {
        let found = world.store.search_in("quince", channels, 10).unwrap();
        found.into_iter().map(|message| message.row.id.0).collect()
    };
    check("one", found(&own), vec![seen.0.clone()]);
    check("both", found(&[own[0].clone(), other.clone()]), vec![hidden.0, seen.0]);
    check("none", found(&[]), vec![]);
    check("no words", world.store.search_in("…", &own, 10).unwrap(), vec![]);
    let runs = |channels: &[ChannelId]| -> Vec<RunId> {
        world.store.runs_in(channels, 10).unwrap().into_iter().map(|run| run.id).collect()
    };
    check("runs", (runs(&own), runs(&[other])), (vec![run], vec![]));
}
