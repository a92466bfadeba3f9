//! What comes from elsewhere, out of a backup or an export, is history: nothing begins because of it.

use storage::{
    CredentialKind, NewCredential, Read as _, ReadIdentity as _, Role, RunStatus, Scopes, Store as _,
    StoreIdentity as _,
};

use super::super::{Reply, Request};
use super::world::World;
use crate::error::Code;
use crate::rights::Principal;
use crate::spool::Spool;
use crate::transfer;

#[test]
fn after_a_restore_nothing_begins_that_may_have_been_done_since() {
    // I3
    let mut world = World::new();
    world.post("@claude first");
    let epoch = world.started("claude", "s-1");
    let (first, _) = world.prompt("claude");
    let (_, waiting) = world.post("@claude second");
    let aiko = world.store.person("aiko").unwrap();
    let link = NewCredential {
        kind: CredentialKind::Link,
        hash: "aa".to_owned(),
        proof: None,
        person: aiko.id.clone(),
        label: "invite".to_owned(),
        scopes: Scopes::all(),
        expires_at: None,
    };
    let token = NewCredential { kind: CredentialKind::Token, hash: "bb".to_owned(), ..link.clone() };
    for new in [&link, &token] {
        world.store.add_credential(new, aiko.created_at).unwrap();
    }
    let restored = world.restored();
    assert!(restored.given.is_empty(), "something began: {:?}", restored.given);
    assert_eq!(
        (restored.status(&first), restored.status(&waiting[0].id)),
        (RunStatus::Failed, RunStatus::Cancelled)
    );
    let told = restored.tail(9);
    for text in [
        "@claude could not answer m1: the server stopped while",
        "run r2 of @claude was cancelled: it waited when the backup was made",
    ] {
        assert!(told.iter().any(|line| line.starts_with("Highwater: ") && line.contains(text)), "{told:?}");
    }
    let ended = |hash: &str| restored.store.credential(hash).unwrap().unwrap().ended_at.is_some();
    assert_eq!((ended("aa"), ended("bb")), (true, false), "a link is good once");
    // The server that the backup was made of goes on, over a crash as well.
    world.answered("claude", epoch, &first, "done");
    let world = world.restart();
    assert_eq!(
        (world.status(&first), world.status(&waiting[0].id)),
        (RunStatus::Succeeded, RunStatus::Failed)
    );
    // And so does the restored one: what waits from now on is picked up after a crash.
    let mut restored = restored;
    let (_, later) = restored.post("@claude third");
    let restored = restored.restart();
    assert_eq!(restored.status(&later[0].id), RunStatus::Queued);
    assert_eq!(restored.given.len(), 1, "its process is started");
}

#[test]
fn an_import_begins_nothing_and_is_for_owners() {
    let mut world = World::new();
    world.post("@claude first");
    let spool = Spool::written(world.folder(), |out| {
        let mut text = Vec::new();
        transfer::export(&world.store, &[], world.store.person("aiko")?.created_at, &mut text)?;
        let text = String::from_utf8(text).unwrap().replace("\"general\"", "\"elsewhere\"");
        Ok::<_, crate::error::ApiError>(out.write_all(text.as_bytes())?)
    })
    .unwrap();
    let given = world.given.len();
    let zoe = world.store.add_person("zoe", Role::Member, aiko_made(&world)).unwrap();
    let ask = |name: Principal| Request::As(Box::new(name), Box::new(Request::Import(spool.clone())));
    let refused = world.ask(ask(Principal::of(&zoe))).unwrap_err();
    assert_eq!(refused.code, Code::Forbidden);
    let aiko = Principal::of(&world.store.person("aiko").unwrap());
    let Reply::Brought(brought) = world.ask(ask(aiko)).unwrap() else {
        panic!("an import answers what it brought")
    };
    assert_eq!((brought.channels, brought.runs, brought.cancelled), (vec!["elsewhere".to_owned()], 1, 1));
    assert_eq!(world.given.len(), given, "something began");
    assert_eq!(world.store.open_runs().unwrap().len(), 1, "the run that was open here");
}

fn aiko_made(world: &World) -> delivery::Timestamp {
    world.store.person("aiko").unwrap().created_at
}
