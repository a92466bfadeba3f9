//! Saved sessions: they outlive their process, and are the same when a new one has them.

use super::*;

stories![
    a_saved_session_goes_on,
    a_session_that_must_not_be_reloaded_says_why,
    what_was_staged_before_a_reload_cannot_commit,
];

fn session(key: &Key) -> Session {
    Session {
        key: key.clone(),
        native: "s1".into(),
        epoch: Epoch(1),
        told: "{}".to_owned(),
        system: Some("framing".to_owned()),
        begun_at: at(1),
        unreloadable: None,
        saved_at: None,
        saved_why: None,
        turn_at: None,
        ended_at: None,
    }
}

fn a_saved_session_goes_on(store: &mut dyn Store) {
    let world = World::new(store);
    let (key, store) = (world.key, world.store);
    store.save_session(&key, "there is none", at(1)).unwrap();
    check_refused(
        "there is none",
        store.reload_session(&key, Epoch(1), None, at(1)),
        "no such saved session: b-claude in c1",
    );
    store.begin_session(&key, &"s1".into(), Epoch(1), Some("framing"), at(1)).unwrap();
    check_refused(
        "it has a process",
        store.reload_session(&key, Epoch(2), None, at(2)),
        "no such saved session: b-claude in c1",
    );
    store.touch_session(&key, at(2)).unwrap();
    store.set_told(&key, "{\"used\":1}").unwrap();
    store.save_session(&key, "idle", at(3)).unwrap();
    store.save_session(&key, "restarted", at(4)).unwrap();
    let began = Session { told: "{\"used\":1}".to_owned(), turn_at: Some(at(2)), ..session(&key) };
    let saved = Session { saved_at: Some(at(3)), saved_why: Some("idle".to_owned()), ..began.clone() };
    check("saved", store.session(&key).unwrap(), Some(saved));
    check("not ended", store.last_end(&key).unwrap(), None);
    let reloaded = store.reload_session(&key, Epoch(7), None, at(5)).unwrap();
    let expected = Session { epoch: Epoch(7), system: None, saved_why: Some("idle".to_owned()), ..began };
    check("reloaded", &reloaded, &expected);
    check("reloaded", store.session(&key).unwrap(), Some(expected));
    check("the lease rose", store.max_epoch().unwrap(), Epoch(7));
    store.save_session(&key, "evicted", at(6)).unwrap();
    check_refused(
        "an older epoch",
        store.reload_session(&key, Epoch(6), None, at(7)),
        "the lease of b-claude in c1 has epoch 7 already, past 6",
    );
    store.end_session(&key, "a fresh one was asked for", at(8)).unwrap();
    check("ended", store.session(&key).unwrap(), None);
    check("ended", store.last_end(&key).unwrap().as_deref(), Some("a fresh one was asked for"));
    for change in [
        store.touch_session(&key, at(9)),
        store.bar_session(&key, "too late"),
        store.save_session(&key, "too late", at(9)),
    ] {
        change.unwrap();
    }
    let last = store.last_session(&key).unwrap().unwrap();
    check("an ended one stays", (last.turn_at, last.unreloadable), (Some(at(2)), None));
}

fn a_session_that_must_not_be_reloaded_says_why(store: &mut dyn Store) {
    let world = World::new(store);
    let (key, store) = (world.key, world.store);
    store.begin_session(&key, &"s1".into(), Epoch(1), Some("framing"), at(1)).unwrap();
    store.bar_session(&key, "a fresh session was asked for").unwrap();
    store.bar_session(&key, "another reason").unwrap();
    let why = Some("a fresh session was asked for".to_owned());
    check("barred", store.session(&key).unwrap(), Some(Session { unreloadable: why, ..session(&key) }));
    store.begin_session(&key, &"s2".into(), Epoch(2), None, at(2)).unwrap();
    check("another", store.session(&key).unwrap().unwrap().unreloadable, None);
}

fn what_was_staged_before_a_reload_cannot_commit(store: &mut dyn Store) {
    let mut world = World::new(store);
    let question = world.post("aiko", "@claude one");
    world.begin("s1", 1);
    let (early, late) = (world.queue(&question), world.queue(&question));
    world.stage(&early, &staged("s1", 1, &[]));
    world.store.save_session(&world.key, "its process crashed", at(5)).unwrap();
    world.store.reload_session(&world.key, Epoch(2), None, at(6)).unwrap();
    world.stage(&late, &staged("s1", 2, &[]));
    check("newest", world.store.newest_run(&"s1".into()).unwrap(), Some(late.clone()));
    check("newest", world.store.newest_run(&"s2".into()).unwrap(), None);
    check("staged under the old epoch", world.end(&early, RunStatus::Succeeded), false);
    check("no watermark", world.store.watermarks().unwrap(), Vec::new());
    check("staged under the new one", world.end(&late, RunStatus::Succeeded), true);
}
