//! Cursors, readers of all kinds, and the promise that state plus events equals fresh state.

mod model;
pub(crate) mod world;

use std::sync::Arc;

use self::world::World;
use super::cursor::NoCursor;
use super::*;
use crate::engine::{Activity, Doing, Piece};
use crate::wire::{Happened, Reason};
use storage::Role;

#[test]
fn a_cursor_reads_back_and_nothing_else_is_one() {
    for n in [0, 1, 255, 256, u64::MAX] {
        let cursor = Cursor { origin: [7, 0, 255, 1, 2, 3, 4, 5], n };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
    }
    let cursor = Cursor { origin: [0; 8], n: 1 }.to_string();
    assert_eq!(cursor, "AQAAAAAAAAAAAAAAAAAAAAE");
    let other_form = cursor.replacen("AQ", "Ag", 1);
    let longer = format!("{cursor}A");
    for text in
        ["", "1", "garbage", "AQAAAAAAAAAAAAAAAAAAAA!", "../../../etc/passwd....", &other_form, &longer]
    {
        assert_eq!(text.parse::<Cursor>(), Err(NoCursor), "{text:?}");
    }
}

#[tokio::test]
async fn a_reader_resumes_where_it_was() {
    let world = World::new();
    world.post_many(250);
    let mut reader = world.reader(Some(world.cursor(0)));
    let all = world.numbers(&mut reader, world.head()).await;
    assert_eq!(all, (1..=world.head()).collect::<Vec<_>>());
    world.post_many(3);
    let more = world.numbers(&mut reader, world.head()).await;
    assert_eq!(more, (world.head() - 2..=world.head()).collect::<Vec<_>>());
    let mut again = world.reader(Some(world.cursor(world.head() - 1)));
    assert_eq!(world.numbers(&mut again, world.head()).await, [world.head()]);
    let mut new = world.reader(None);
    assert_eq!(
        world.next(&mut new).await.unwrap().event().cursor,
        Some(world.cursor(world.head()).to_string())
    );
    world.post_many(1);
    assert_eq!(world.numbers(&mut new, world.head()).await, [world.head()]);
}

#[tokio::test]
async fn cursors_that_cannot_be_resumed_ask_for_a_fresh_look() {
    let world = World::new();
    world.post_many(30);
    world.prune(10);
    let head = world.head();
    let check = async |since: Result<Cursor, NoCursor>, expected: Option<Reason>| {
        let mut reader =
            world.reader_with(Wish { watcher: world.watcher("aiko"), channel: None, since: Some(since) });
        let first = world.next(&mut reader).await.unwrap();
        let Some(reason) = expected else {
            assert_eq!(first.event().what, Happened::Hello, "{since:?}");
            return;
        };
        assert_eq!(first.event().what, Happened::Resync { reason }, "{since:?}");
        assert_eq!(first.event().cursor, Some(world.cursor(head).to_string()));
        assert!(world.next(&mut reader).await.is_none(), "nothing comes after it");
    };
    check(Ok(world.cursor(head)), None).await;
    check(Ok(world.cursor(head - 10)), None).await;
    check(Ok(world.cursor(head - 11)), Some(Reason::TooOld)).await;
    check(Ok(world.cursor(0)), Some(Reason::TooOld)).await;
    check(Ok(world.cursor(head + 1)), Some(Reason::Unknown)).await;
    check(Ok(world.cursor(u64::MAX)), Some(Reason::Unknown)).await;
    check(Ok(Cursor { origin: [9; 8], n: head }), Some(Reason::Unknown)).await;
    check(Err(NoCursor), Some(Reason::Unknown)).await;
}

#[tokio::test]
async fn a_reader_that_stops_is_dropped_and_holds_up_nobody() {
    let world = World::new();
    let (mut stuck, mut other) = (world.reader(None), world.reader(None));
    world.next(&mut stuck).await.unwrap();
    world.next(&mut other).await.unwrap();
    // One event makes the stuck one join; then it stops.
    world.post_many(1);
    let mut last = world.numbers(&mut stuck, world.head()).await.pop().unwrap();
    let before = world.head();
    for _ in 0..30 {
        world.post_many(50);
        world.numbers(&mut other, world.head()).await;
    }
    // It gets what was in its queue, without a gap, then the word that it was too slow.
    let resync = loop {
        let item = world.next(&mut stuck).await.expect("the word comes");
        match item.n() {
            Some(n) => {
                assert_eq!(n, last + 1);
                last = n;
            }
            None => break item,
        }
    };
    assert_eq!(resync.event().what, Happened::Resync { reason: Reason::Slow });
    assert!(world.next(&mut stuck).await.is_none());
    assert!(last > before && last < world.head(), "{before} < {last} < {}", world.head());
    // From there it may go on.
    let mut again = world.reader(Some(world.cursor(last)));
    assert_eq!(world.numbers(&mut again, world.head()).await, (last + 1..=world.head()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_storm_of_readers_loses_nothing_and_doubles_nothing() {
    let world = Arc::new(World::new());
    world.post_many(20);
    let goal = world.head() + 200;
    let readers: Vec<_> = (0..50).map(|seed| tokio::spawn(come_and_go(world.clone(), seed, goal))).collect();
    for _ in 0..200 {
        world.post_many(1);
        tokio::task::yield_now().await;
    }
    for reader in readers {
        reader.await.unwrap();
    }
}

/// Follows to the goal over many connections, each of which breaks after some events.
async fn come_and_go(world: Arc<World>, seed: u64, goal: u64) {
    let mut at = seed % 20;
    while at < goal {
        let mut reader = world.reader(Some(world.cursor(at)));
        let until = (at + 1 + (seed * 7 + at) % 13).min(goal);
        for n in world.numbers(&mut reader, until).await {
            assert_eq!(n, at + 1);
            at = n;
        }
    }
}

#[tokio::test]
async fn readers_of_one_channel_hear_of_it_and_of_the_workspace() {
    let world = World::new();
    let other = world.add_channel("other");
    let (channel, since) = (Some(other.clone()), Some(Ok(world.cursor(world.head()))));
    let mut reader = world.reader_with(Wish { watcher: world.watcher("aiko"), channel, since });
    world.next(&mut reader).await.unwrap();
    world.post_many(2);
    world.add_person("ben");
    world.post_to(&other, "here");
    let kinds = [world.next(&mut reader).await.unwrap(), world.next(&mut reader).await.unwrap()];
    assert_eq!(kinds.map(|item| item.event().what.kind()), ["person_added", "message_added"]);
}

const WORKING: Doing = Doing { activity: Activity::Working, open_runs: 1, steerable: true };

#[tokio::test]
async fn answers_come_in_pieces_and_end_with_their_message() {
    let world = World::new();
    let (key, run) = world.running("@claude hi").await;
    let mut reader = world.reader(None);
    world.next(&mut reader).await.unwrap();
    let working = [(key.clone(), WORKING)];
    world.hub.stream(key.clone(), run.clone(), &Piece::Text("thinking".to_owned()));
    world.hub.committed(working.clone().into());
    #[expect(clippy::wildcard_enum_match_arm, reason = "of all other events the kind is enough")]
    let told = async |reader: &mut Follower| match world.next(reader).await.unwrap().event().what.clone() {
        Happened::Answer { run_id, agent, from, text } => format!("{run_id} {agent} {from} {text}"),
        Happened::AgentState { agent, state, open_runs, steerable, .. } => {
            format!("{agent} {state:?} {open_runs}{}", if steerable { " steerable" } else { "" })
        }
        other => other.kind().to_owned(),
    };
    assert_eq!(told(&mut reader).await, "r1 claude 0 thinking");
    assert_eq!(told(&mut reader).await, "claude Working 1 steerable");
    world.hub.stream(key.clone(), run.clone(), &Piece::Anew);
    world.hub.stream(key.clone(), run.clone(), &Piece::Text("né".to_owned()));
    world.hub.committed(working.clone().into());
    assert_eq!(told(&mut reader).await, "r1 claude 0 né");
    world.hub.stream(key.clone(), run.clone(), &Piece::Text("e".to_owned()));
    world.hub.committed(working.into());
    assert_eq!(told(&mut reader).await, "r1 claude 2 e");
    // One who comes in the middle hears how things stand.
    let mut late = world.reader(None);
    assert_eq!(told(&mut late).await, "hello");
    assert_eq!(told(&mut late).await, "claude Working 1 steerable");
    assert_eq!(told(&mut late).await, "r1 claude 0 née");
    world.hub.stream(key, run.clone(), &Piece::Text("!".to_owned()));
    world.end(&run);
    for reader in [&mut reader, &mut late] {
        assert_eq!(told(reader).await, "r1 claude 3 !");
        assert_eq!(told(reader).await, "run_ended");
        assert_eq!(told(reader).await, "claude Idle 0");
    }
    let mut new = world.reader(None);
    assert_eq!(told(&mut new).await, "hello");
    world.post_many(1);
    assert_eq!(told(&mut new).await, "message_added", "nothing is left of the answer");
}

#[tokio::test]
async fn an_answer_that_begins_before_its_run_was_told_of_is_whole() {
    let world = World::new();
    let mut reader = world.reader(None);
    world.next(&mut reader).await.unwrap();
    let (key, run) = world.begin_run("@claude hi");
    world.hub.stream(key.clone(), run.clone(), &Piece::Text("at once".to_owned()));
    world.hub.committed([(key, WORKING)].into());
    let kinds = kinds_until(&world, &mut reader, "answer").await;
    assert_eq!(kinds, ["message_added", "run_queued", "run_started", "answer"]);
    world.end(&run);
}

#[tokio::test]
async fn a_deleted_text_is_in_no_event() {
    // I12
    let world = World::new();
    let before = world.head();
    let id = world.post_to(&world.channel, "a quince for @claude");
    world.edit(&id, "two quinces");
    world.delete(&id);
    let mut reader = world.reader(Some(world.cursor(before)));
    let mut kinds = Vec::new();
    world.next(&mut reader).await.unwrap();
    for _ in 0..3 {
        let item = world.next(&mut reader).await.unwrap();
        kinds.push(item.event().what.kind());
        for form in [Form::Text, Form::Html] {
            assert!(!item.json(form).contains("quince"), "{}", item.json(form));
        }
    }
    assert_eq!(kinds, ["message_added", "message_edited", "message_deleted"]);
}

#[tokio::test]
async fn messages_come_with_html_for_those_who_want_it() {
    let world = World::new();
    let mut reader = world.reader(None);
    world.next(&mut reader).await.unwrap();
    world.post_to(&world.channel, "*hi* @claude<script>");
    let item = world.next(&mut reader).await.unwrap();
    assert!(!item.json(Form::Text).contains("html"), "{}", item.json(Form::Text));
    let event: crate::wire::Event = serde_json::from_str(&item.json(Form::Html)).unwrap();
    let html = "<p><em>hi</em> <span class=\"mention\">@claude</span>&lt;script&gt;</p>\n";
    assert_eq!(event.what.message().unwrap().html.as_deref(), Some(html));
}

#[tokio::test]
async fn closing_gives_the_last_events_and_ends_all_readers() {
    let world = World::new();
    let mut reader = world.reader(None);
    world.next(&mut reader).await.unwrap();
    world.post_unseen(3);
    world.hub.close();
    for _ in 0..3 {
        assert_eq!(world.next(&mut reader).await.unwrap().event().what.kind(), "message_added");
    }
    assert!(world.next(&mut reader).await.is_none());
    let mut late = world.reader(None);
    assert_eq!(world.next(&mut late).await.unwrap().event().what.kind(), "hello");
    assert!(world.next(&mut late).await.is_none());
}

/// Kinds of what a reader gets up to the first event of this kind, or `end`.
async fn kinds_until(world: &World, reader: &mut Follower, last: &str) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    loop {
        let Some(item) = world.next(reader).await else {
            kinds.push("end");
            return kinds;
        };
        kinds.push(item.event().what.kind());
        if kinds.last() == Some(&last) {
            return kinds;
        }
    }
}

#[tokio::test]
async fn a_private_channel_exists_for_its_members_alone() {
    // I14
    let world = World::new();
    let (ben, gus) = (world.add_person("ben"), world.add_guest("gus"));
    let follow = |name: &str| {
        let since = Some(Ok(world.cursor(world.head())));
        world.reader_with(Wish { watcher: world.watcher(name), channel: None, since })
    };
    let mut readers = [follow("aiko"), follow("ben"), follow("gus")];
    let (key, run) = world.running("@claude hi").await;
    let secret = world.add_private_channel("secret");
    world.post_to(&secret, "hush");
    world.hub.stream(key, run, &Piece::Text("told".to_owned()));
    world.join(&secret, &ben);
    world.post_to(&secret, "welcome");
    world.leave(&secret, &ben);
    world.post_to(&secret, "gone");
    world.join(&world.channel, &gus);
    world.post_to(&world.channel, "the end");
    let mut told = Vec::new();
    for reader in &mut readers {
        let mut mine = Vec::new();
        loop {
            let item = world.next(reader).await.unwrap();
            let text = item.event().what.message().map(|message| message.text.clone());
            let kind = item.event().what.kind();
            let last = text.as_deref() == Some("the end");
            let in_secret = item.event().channel_id.as_deref() == Some(secret.as_str());
            mine.push(format!(
                "{}{}",
                if in_secret { "secret " } else { "" },
                text.as_deref().unwrap_or(kind)
            ));
            if last {
                break;
            }
        }
        mine.retain(|one| {
            !["answer", "agent_state", "run_queued", "run_started", "@claude hi"].contains(&one.as_str())
        });
        told.push(mine);
    }
    let all = ["hello", "secret channel_added", "secret hush", "secret welcome"];
    let owner = [&all[..], &["secret member_removed", "secret gone", "member_added", "the end"]].concat();
    assert_eq!(told[0], owner, "the owner");
    assert_eq!(told[1], ["hello", "secret member_removed", "member_added", "the end"], "a member");
    assert_eq!(told[2], ["hello", "member_added", "the end"], "a guest");
}

#[tokio::test]
async fn who_loses_their_rights_hears_no_more() {
    let world = World::new();
    let ben = world.add_person("ben");
    let link = world.link(&ben);
    let of = |credential, until| Watcher { credential, until, ..world.watcher("ben") };
    let reader = |watcher| world.reader_with(Wish { watcher, channel: None, since: None });
    let mut readers = [reader(of(None, None)), reader(of(Some(link.clone()), None))];
    for reader in &mut readers {
        world.next(reader).await.unwrap();
    }
    let past = tokio::time::Instant::now();
    let mut over = reader(of(None, Some(past)));
    assert_eq!(kinds_until(&world, &mut over, "end").await, ["end"], "its time is over");
    world.post_many(1);
    for reader in &mut readers {
        assert_eq!(kinds_until(&world, reader, "message_added").await, ["message_added"]);
    }
    world.end_link(&link);
    world.post_many(1);
    assert_eq!(kinds_until(&world, &mut readers[1], "message_added").await, ["end"], "its credential ended");
    assert_eq!(kinds_until(&world, &mut readers[0], "message_added").await, ["message_added"]);
    world.set_role(&ben, Role::Guest);
    let resync = world.next(&mut readers[0]).await.unwrap();
    assert_eq!(resync.event().what, Happened::Resync { reason: Reason::Rights });
    assert!(world.next(&mut readers[0]).await.is_none());
    let mut guest = reader(of(None, None));
    world.next(&mut guest).await.unwrap();
    world.deactivate(&ben);
    world.post_many(1);
    assert_eq!(kinds_until(&world, &mut guest, "message_added").await, ["end"], "deactivated");
    let mut late = reader(of(None, None));
    assert_eq!(kinds_until(&world, &mut late, "message_added").await, ["end"], "and stays so");
}
