//! Sessions and the epochs of leases.

use super::*;

stories![a_key_has_one_session_at_a_time, what_was_told_stays_with_its_session, epochs_never_fall];

fn a_key_has_one_session_at_a_time(store: &mut dyn Store) {
    let world = World::new(store);
    let (key, store) = (world.key, world.store);
    check("none", (store.session(&key).unwrap(), store.last_session(&key).unwrap()), (None, None));
    check("none", store.last_end(&key).unwrap(), None);
    store.end_session(&key, "nothing", at(1)).unwrap();
    let session = |native: &str, epoch, second, system: Option<&str>| Session {
        key: key.clone(),
        native: native.into(),
        epoch: Epoch(epoch),
        told: "{}".to_owned(),
        system: system.map(str::to_owned),
        begun_at: at(second),
        unreloadable: None,
        saved_at: None,
        saved_why: None,
        turn_at: None,
        ended_at: None,
    };
    let first = session("s1", 1, 1, Some("framing"));
    let begun = store.begin_session(&key, &"s1".into(), Epoch(1), Some("framing"), at(1)).unwrap();
    check("first", (&begun, store.session(&key).unwrap().as_ref()), (&first, Some(&first)));
    check("first", store.last_end(&key).unwrap(), None);
    let second = session("s2", 2, 2, None);
    store.begin_session(&key, &"s2".into(), Epoch(2), None, at(2)).unwrap();
    check("second", store.session(&key).unwrap(), Some(second.clone()));
    check("second", store.last_end(&key).unwrap().as_deref(), Some("another session began"));
    let taken = store.begin_session(&key, &"s1".into(), Epoch(3), None, at(3));
    check_refused("an id that was used", taken, "session s1 exists already");
    check("still", store.session(&key).unwrap(), Some(second.clone()));
    store.end_session(&key, "idle", at(4)).unwrap();
    store.end_session(&key, "too late", at(5)).unwrap();
    check("ended", store.session(&key).unwrap(), None);
    check("ended", store.last_end(&key).unwrap().as_deref(), Some("idle"));
    check("last", store.last_session(&key).unwrap(), Some(Session { ended_at: Some(at(4)), ..second }));
    let other = Key { channel: "c9".into(), ..key };
    check_refused("unknown", store.session(&other), "no such binding: b-claude in c9");
}

fn what_was_told_stays_with_its_session(store: &mut dyn Store) {
    let mut world = World::new(store);
    let question = world.post("aiko", "@claude one");
    let told = |world: &World<'_>| world.store.last_session(&world.key).unwrap().unwrap().told;
    check_refused(
        "no session",
        world.store.set_told(&world.key, "{\"used\":1}"),
        "no such session: b-claude in c1",
    );
    world.begin("s1", 1);
    world.store.set_told(&world.key, "{\"used\":1}").unwrap();
    check("set", told(&world), "{\"used\":1}".to_owned());
    let end_with = |world: &mut World<'_>, status, meanwhile: Option<u64>, text: &str| {
        let run = world.queue(&question);
        let session = world.store.session(&world.key).unwrap().unwrap();
        world.stage(&run, &staged(session.native.as_str(), session.epoch.0, &[]));
        if let Some(epoch) = meanwhile {
            world.begin(&format!("s{epoch}"), epoch);
        }
        let ending = Ending { told: Some(text.to_owned()), ..ending(status) };
        world.store.end_run(&run, &ending, at(9)).unwrap();
    };
    end_with(&mut world, RunStatus::Succeeded, None, "{\"used\":2}");
    check("success", told(&world), "{\"used\":2}".to_owned());
    end_with(&mut world, RunStatus::Failed, None, "{\"used\":3}");
    check("failure", told(&world), "{\"used\":3}".to_owned());
    end_with(&mut world, RunStatus::Succeeded, Some(2), "{\"used\":4}");
    check("another session", told(&world), "{}".to_owned());
    world.store.end_session(&world.key, "gone", at(10)).unwrap();
    check_refused("ended", world.store.set_told(&world.key, "{}"), "no such session: b-claude in c1");
}

fn epochs_never_fall(store: &mut dyn Store) {
    let world = World::new(store);
    let (key, store) = (world.key, world.store);
    let binding = store.add_binding(&new_binding(&key.channel, "codex"), at(0)).unwrap().id;
    let other = Key { binding, ..key.clone() };
    check("none", store.max_epoch().unwrap(), Epoch(0));
    store.raise_epoch(&key, Epoch(5), at(1)).unwrap();
    store.raise_epoch(&key, Epoch(5), at(2)).unwrap();
    store.raise_epoch(&other, Epoch(3), at(2)).unwrap();
    check("two", store.max_epoch().unwrap(), Epoch(5));
    let lower = "the lease of b-claude in c1 has epoch 5 already, past 4";
    check_refused("lower", store.raise_epoch(&key, Epoch(4), at(3)), lower);
    check_refused("lower", store.begin_session(&key, &"s1".into(), Epoch(4), None, at(3)), lower);
    check("no session", store.last_session(&key).unwrap(), None);
    store.begin_session(&key, &"s1".into(), Epoch(8), None, at(3)).unwrap();
    check("begun", store.max_epoch().unwrap(), Epoch(8));
}
