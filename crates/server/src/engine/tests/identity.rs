//! What principals may ask of the engine: looked up in its transaction, not when they came in.

use storage::{AddressedBy, Rank, Role, RunStatus, Store, StoreIdentity};

use super::super::{Act, ChannelChanges, Post, Reply, Request};
use super::world::World;
use crate::rights::Principal;

fn post(author: &str, text: &str) -> Request {
    Request::Post(Box::new(Post {
        channel: "general".to_owned(),
        author: author.to_owned(),
        text: text.to_owned(),
        thread: None,
        client_id: None,
    }))
}

fn by(who: &Principal, request: Request) -> Request {
    Request::As(Box::new(who.clone()), Box::new(request))
}

/// A world with ben, a member.
fn with_ben() -> (World, Principal) {
    let mut world = World::new();
    let ben = world.store.add_person("ben", Role::Member, delivery::Timestamp { ms: 2 }).unwrap();
    (world, Principal::of(&ben))
}

/// Any time.
const AT: delivery::Timestamp = delivery::Timestamp { ms: 9 };

#[test]
fn rights_are_those_of_the_moment() {
    // I14
    let (mut world, ben) = with_ben();
    let check = |world: &mut World, request: Request, expected: Result<(), &str>| {
        let got = world.ask(by(&ben, request.clone())).map(|_| ()).map_err(|error| error.code.as_str());
        assert_eq!(got, expected, "{request:?}");
    };
    check(&mut world, post("ben", "hi"), Ok(()));
    check(&mut world, post("aiko", "hi"), Err("forbidden"));
    check(&mut world, Request::Shutdown, Err("forbidden"));
    check(&mut world, by(&ben, post("ben", "hi")), Err("forbidden"));
    world.store.set_role(&ben.person, Role::Guest, AT).unwrap();
    check(&mut world, post("ben", "still a member of the channel"), Ok(()));
    let add = Request::AddChannel {
        name: "own".to_owned(),
        direct: None,
        access: storage::Access::Public,
        maker: Some(ben.person.clone()),
    };
    check(&mut world, add, Err("forbidden"));
    let general = storage::Read::channel(&world.store, "general").unwrap();
    world.store.remove_membership(&general.id, &ben.person, AT).unwrap();
    check(&mut world, post("ben", "hi"), Err("not_found"));
    world.store.set_deactivated(&ben.person, Some(AT), AT).unwrap();
    check(&mut world, post("ben", "hi"), Err("unauthorized"));
    assert!(!world.engine.touched());
}

#[test]
fn a_deactivated_person_has_no_queued_runs() {
    // I3
    let (mut world, ben) = with_ben();
    let asked = |world: &mut World, request: Request| {
        let Reply::Posted { mut runs, .. } = world.ask(request).unwrap() else {
            unreachable!("a post is answered by what was posted")
        };
        runs.remove(0).id
    };
    let first = asked(&mut world, by(&ben, post("ben", "@claude one")));
    let second = asked(&mut world, by(&ben, post("ben", "@claude two")));
    let other = asked(&mut world, post("aiko", "@claude three"));
    let epoch = world.started("claude", "s-1");
    world.prompt("claude");
    let act = Act::SetActive { person: "ben".to_owned(), active: false };
    world.ask(Request::Act(Box::new(act))).unwrap();
    let statuses = [&first, &second, &other].map(|run| world.status(run));
    assert_eq!(statuses, [RunStatus::Running, RunStatus::Cancelled, RunStatus::Queued]);
    let told = "Highwater: run r2 of @claude was cancelled: ben was deactivated (try again with: highwater run retry r2)";
    assert_eq!(world.tail(1), [told]);
    world.answered("claude", epoch, &first, "done");
    let (third, _) = world.prompt("claude");
    assert_eq!(third, other);
}

#[test]
fn archiving_cancels_what_waits() {
    let (mut world, _) = with_ben();
    let (_, runs) = world.post("@claude one");
    let changes = ChannelChanges { archived: Some(true), ..ChannelChanges::default() };
    let act = Act::ChangeChannel { channel: "general".to_owned(), changes };
    world.ask(Request::Act(Box::new(act))).unwrap();
    assert_eq!(world.status(&runs[0].id), RunStatus::Cancelled);
    let refused = world.ask(post("aiko", "late")).unwrap_err();
    assert_eq!(refused.code.as_str(), "conflict");
    let again = world.ask(Request::Retry { run: runs[0].id.clone() }).unwrap_err();
    assert!(again.message.contains("archived"), "{again}");
}

#[test]
fn an_agent_answers_whom_it_may() {
    let (mut world, ben) = with_ben();
    let key = world.key("claude");
    let spec = storage::Read::binding(&world.store, &key.binding).unwrap().spec;
    let new = storage::NewBinding { handle: "boss".to_owned(), addressed_by: AddressedBy::Owners, ..spec };
    world.store.add_binding(&new, delivery::Timestamp { ms: 3 }).unwrap();
    let Reply::Posted { runs, .. } = world.ask(by(&ben, post("ben", "@boss hi"))).unwrap() else {
        unreachable!("a post is answered by what was posted")
    };
    assert_eq!(runs, []);
    assert_eq!(world.tail(1), ["Highwater: @boss was not asked: it answers owners alone"]);
    assert_eq!(world.post("@boss hi").1.len(), 1);
}

#[test]
fn who_posts_in_a_public_channel_is_in_it() {
    let (mut world, ben) = with_ben();
    let general = storage::Read::channel(&world.store, "general").unwrap().id;
    let rank = |world: &World| storage::ReadIdentity::rank(&world.store, &general, &ben.person).unwrap();
    assert_eq!(rank(&world), None);
    world.ask(by(&ben, post("ben", "hi"))).unwrap();
    assert_eq!(rank(&world), Some(Rank::Member));
}
