//! The log of the workspace: each change adds its entry, in order, and nothing else does.

use super::*;

stories![
    each_change_adds_its_entry,
    people_and_channels_that_change_add_entries,
    what_changes_nothing_adds_nothing,
    what_is_undone_leaves_no_number,
    pages_and_old_entries,
];

/// `3 c1 message_added m1`, as short as the stories can have it.
fn told(entry: &LogEntry) -> String {
    let channel = entry.channel.as_ref().map_or("-", ChannelId::as_str);
    let change = match &entry.change {
        Change::ChannelAdded => "channel added".to_owned(),
        Change::ChannelChanged => "channel changed".to_owned(),
        Change::ChannelClosed => "channel closed".to_owned(),
        Change::PersonAdded(id) => format!("{id} added"),
        Change::PersonChanged(id) => format!("{id} changed"),
        Change::AccessEnded(id) => format!("access of {id} ended"),
        Change::MemberAdded(id) => format!("{id} joined"),
        Change::MemberRemoved(id) => format!("{id} left"),
        Change::AgentAdded(id) => format!("{id} added"),
        Change::AgentChanged(id) => format!("{id} changed"),
        Change::AgentRemoved(id) => format!("{id} removed"),
        Change::MessageAdded(id) => format!("{id} added"),
        Change::MessageEdited(id) => format!("{id} edited"),
        Change::MessageDeleted(id) => format!("{id} deleted"),
        Change::RunQueued(id) => format!("{id} queued"),
        Change::RunStarted(id) => format!("{id} started"),
        Change::RunEnded(id) => format!("{id} ended"),
        Change::RunUsage(id) => format!("{id} took something else"),
        Change::RunStep(id, n) => format!("{id} step {n}"),
        Change::Permission(id, n) => format!("{id} permission {n}"),
        Change::PermissionAsked(id) => format!("{id} asked"),
        Change::PermissionDecided(id) => format!("{id} decided"),
        Change::PauseChanged => "pause changed".to_owned(),
    };
    format!("{} {channel} {change}", entry.n)
}

/// What the log says after a number.
fn after(store: &dyn Store, n: u64) -> Vec<String> {
    store.log(n, 1_000).unwrap().iter().map(told).collect()
}

fn head(store: &dyn Store) -> u64 {
    store.log_span().unwrap().head
}

fn each_change_adds_its_entry(store: &mut dyn Store) {
    check("empty", (store.log_span().unwrap().floor, head(store), after(store, 0)), (0, 0, vec![]));
    let mut world = World::new(store);
    let began = ["1 c1 channel added", "2 - p1 added", "3 - p2 added", "4 c1 b-claude added"];
    check("the world", after(world.store, 0), began.map(String::from).to_vec());
    check("its time", world.store.log(0, 1).unwrap()[0].at, at(0));

    let first = world.post("aiko", "@claude one");
    world.post("host", "a notice");
    world.edit(&first, "@claude two");
    world.begin("s1", 1);
    let (run, second) = (world.queue(&first), world.queue(&first));
    world.stage(&run, &staged("s1", 1, &[]));
    for kind in ["tool_call", "permission"] {
        world.store.add_run_event(&run, kind, "{}", at(30)).unwrap();
    }
    world.store.unstage(&run, at(31)).unwrap();
    world.stage(&run, &staged("s1", 1, &[]));
    world.end(&run, RunStatus::Succeeded);
    world.end(&second, RunStatus::Cancelled);
    world.delete(&first);
    let binding = world.key.binding.clone();
    world.store.remove_binding(&binding, at(40)).unwrap();
    world.store.add_channel("other", ChannelKind::Public, at(41)).unwrap();
    let expected = [
        "5 c1 m1 added",
        "6 c1 m2 added",
        "7 c1 m1 edited",
        "8 c1 r1 queued",
        "9 c1 r2 queued",
        "10 c1 r1 started",
        "11 c1 r1 step 1",
        "12 c1 r1 permission 2",
        "13 c1 r1 queued",
        "14 c1 r1 started",
        "15 c1 r1 ended",
        "16 c1 r2 ended",
        "17 c1 m1 deleted",
        "18 c1 b-claude removed",
        "19 c2 channel added",
    ];
    check("all", after(world.store, 4), expected.map(String::from).to_vec());
}

fn people_and_channels_that_change_add_entries(store: &mut dyn Store) {
    let world = World::new(store);
    let (store, channel) = (world.store, world.channel);
    let before = head(store);
    let aiko = store.person("aiko").unwrap().id;
    for _ in 0..2 {
        // The second time nothing changes, and nothing is told.
        store.rename_person(&aiko, "kobo", at(9)).unwrap();
        store.set_role(&aiko, Role::Guest, at(9)).unwrap();
        store.add_membership(&channel, &aiko, Rank::Member, at(9)).unwrap();
        store.change_channel(&channel, &ChannelChange::Topic("deploys".to_owned()), at(9)).unwrap();
        store.change_channel(&channel, &ChannelChange::Access(Access::Private), at(9)).unwrap();
    }
    let link = NewCredential {
        kind: CredentialKind::Link,
        hash: "aa".to_owned(),
        proof: None,
        person: aiko.clone(),
        label: "link".to_owned(),
        scopes: Scopes::all(),
        expires_at: None,
    };
    let link = store.add_credential(&link, at(9)).unwrap().id;
    for _ in 0..2 {
        store.end_credential(&link, at(9)).unwrap();
        store.end_credentials(&aiko, &[CredentialKind::Link], at(9)).unwrap();
        store.remove_membership(&channel, &aiko, at(9)).unwrap();
        store.change_channel(&channel, &ChannelChange::Access(Access::Public), at(9)).unwrap();
        store.set_deactivated(&aiko, Some(at(9)), at(9)).unwrap();
    }
    store.add_channel("hidden", ChannelKind::Private, at(9)).unwrap();
    let expected = [
        "5 - p1 changed",
        "6 - p1 changed",
        "7 c1 p1 joined",
        "8 c1 channel changed",
        "9 c1 channel closed",
        "10 - access of p1 ended",
        "11 c1 p1 left",
        "12 c1 channel changed",
        "13 - p1 changed",
        "14 c2 channel added",
    ];
    check("all", after(store, before), expected.map(String::from).to_vec());
}

fn what_changes_nothing_adds_nothing(store: &mut dyn Store) {
    let mut world = World::new(store);
    let channel = world.channel.clone();
    let once = NewMessage { client_id: Some("x".to_owned()), ..new_message(&channel, "aiko", "hello") };
    let id = world.append(&once).row.id;
    let run = world.queue(&id);
    world.end(&run, RunStatus::Failed);
    world.delete(&id);
    let before = head(world.store);
    world.append(&once);
    world.delete(&id);
    world.end(&run, RunStatus::Succeeded);
    check_refused(
        "taken",
        world.store.add_channel("general", ChannelKind::Public, at(9)),
        "channel general exists already",
    );
    check("edit", world.store.edit(&id, "again", at(9)).is_err(), true);
    check("bound", world.store.add_binding(&new_binding(&channel, "claude"), at(9)).is_err(), true);
    check("no person twice", world.store.add_person("aiko", Role::Member, at(9)).is_err(), true);
    check("nothing", after(world.store, before), vec![]);
}

fn what_is_undone_leaves_no_number(store: &mut dyn Store) {
    let mut world = World::new(store);
    let before = head(world.store);
    let channel = world.channel.clone();
    let undone = world.store.atomic(&mut |store| {
        store.append(&new_message(&channel, "aiko", "lost"), at(9))?;
        Err(Error::Conflict("undone".to_owned()))
    });
    check("undone", undone.is_err(), true);
    check("as before", head(world.store), before);
    world.post("aiko", "kept");
    check("dense", after(world.store, before), vec![format!("{} c1 m1 added", before + 1)]);
}

fn pages_and_old_entries(store: &mut dyn Store) {
    let mut world = World::new(store);
    for n in 0..96 {
        world.post("aiko", &format!("message {n}"));
    }
    let numbers = |store: &dyn Store, after, limit| -> Vec<u64> {
        store.log(after, limit).unwrap().iter().map(|entry| entry.n).collect()
    };
    let span = |store: &dyn Store| {
        let span = store.log_span().unwrap();
        (span.floor, span.head)
    };
    check("page", numbers(world.store, 10, 3), vec![11, 12, 13]);
    check("end", numbers(world.store, 98, 3), vec![99, 100]);
    check("beyond", numbers(world.store, u64::MAX, 3), vec![]);
    world.store.prune_log(100).unwrap();
    check("all are kept", span(world.store), (0, 100));
    world.store.prune_log(10).unwrap();
    check("ten are kept", (span(world.store), numbers(world.store, 0, 2)), ((90, 100), vec![91, 92]));
    world.store.prune_log(0).unwrap();
    check("one stays", span(world.store), (99, 100));
    world.post("aiko", "next");
    check("the numbers go on", numbers(world.store, 99, 9), vec![100, 101]);
}
