//! Watermarks: one per binding, channel and thread.

use super::*;

stories![a_thread_has_its_own, imports_replace_what_they_name];

fn a_thread_has_its_own(store: &mut dyn Store) {
    let mut world = World::new(store);
    let root = world.post("aiko", "one");
    let in_thread = world.reply(&root, "aiko", "@claude two");
    world.begin("s1", 1);
    let mut deliver = |message: &MessageId, mark: Option<Watermark>| {
        let run = world.queue(message);
        world.stage(&run, &Staged { watermark_after: mark, ..staged("s1", 1, &[]) });
        check(message, world.end(&run, RunStatus::Succeeded), true);
    };
    deliver(&in_thread, Some(watermark("s1", 2)));
    deliver(
        &root,
        Some(Watermark { last_seq: None, ids: Vec::new(), waiting: Vec::new(), ..watermark("s1", 5) }),
    );
    deliver(&root, None);
    let binding = binding_id("b-claude");
    let get = |thread| world.store.watermark(&binding, &world.channel, thread).unwrap();
    check("thread", get(Some(&root)), Some(watermark("s1", 2)));
    let bare = Watermark { last_seq: None, ids: Vec::new(), waiting: Vec::new(), ..watermark("s1", 5) };
    check("channel", get(None), Some(bare));
    check("other thread", get(Some(&in_thread)), None);
    check("unknown", world.store.watermark(&"b-x".into(), &world.channel, None).unwrap(), None);
}

fn imports_replace_what_they_name(store: &mut dyn Store) {
    let mut world = World::new(store);
    let root = world.post("aiko", "one");
    let reply = world.reply(&root, "ben", "two");
    world.store.add_binding(&new_binding(&"c1".into(), "ada"), at(0)).unwrap();
    let placed = |binding: &str, thread: Option<&MessageId>, seq| PlacedWatermark {
        binding: binding.into(),
        channel: "c1".into(),
        thread: thread.cloned(),
        watermark: watermark("s1", seq),
    };
    let foreign = Watermark { ids: vec!["1700.0001".into()], last_seq: None, ..watermark("elsewhere", 3) };
    let foreign = PlacedWatermark { watermark: foreign, ..placed("b-ada", None, 3) };
    world
        .store
        .import_watermarks(&[
            placed("b-claude", Some(&root), 1),
            placed("b-claude", None, 2),
            foreign.clone(),
        ])
        .unwrap();
    let expected = [foreign.clone(), placed("b-claude", None, 2), placed("b-claude", Some(&root), 1)];
    check("imported", world.store.watermarks().unwrap(), expected.to_vec());
    world.store.import_watermarks(&[placed("b-claude", None, 9)]).unwrap();
    let expected = [foreign, placed("b-claude", None, 9), placed("b-claude", Some(&root), 1)];
    check("replaced", world.store.watermarks().unwrap(), expected.to_vec());
    let elsewhere = PlacedWatermark { channel: "c9".into(), ..placed("b-ada", None, 4) };
    for (bad, why) in [
        (placed("b-x", None, 4), "no such binding: b-x"),
        (elsewhere, "no such channel: c9"),
        (placed("b-ada", Some(&"m9".into()), 4), "no such message: m9"),
        (placed("b-ada", Some(&reply), 4), "message m2 is a reply in the thread of m1"),
    ] {
        check_refused(why, world.store.import_watermarks(&[placed("b-claude", None, 4), bad]), why);
    }
    check("nothing of a refused import", world.store.watermarks().unwrap(), expected.to_vec());
}
