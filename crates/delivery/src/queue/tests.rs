//! The queue by tables, and against a plain list.

use proptest::prelude::*;

use super::*;

#[test]
fn runs_of_a_key_go_one_by_one_and_keys_side_by_side() {
    check(&[
        ("queue a 1", "begin a 1"),
        ("queue a 2", ""),
        ("queue a 3", ""),
        ("queue b 4", "begin b 4"),
        ("end a 1", "begin a 2"),
        ("end b 4", ""),
        ("end a 2", "begin a 3"),
        ("end a 3", ""),
    ]);
}

#[test]
fn a_run_that_ends_while_it_waits_is_never_begun() {
    check(&[
        ("queue a 1", "begin a 1"),
        ("queue a 2", ""),
        ("queue a 3", ""),
        ("end a 2", ""),
        ("end a 1", "begin a 3"),
    ]);
}

#[test]
fn what_makes_no_sense_changes_nothing() {
    check(&[
        ("end a 1", ""),
        ("queue a 1", "begin a 1"),
        ("queue a 1", ""),
        ("queue b 1", ""),
        ("end b 1", ""),
        ("queue a 2", ""),
        ("queue a 2", ""),
        ("end a 1", "begin a 2"),
        ("end a 1", ""),
        ("end a 2", ""),
        ("end a 2", ""),
    ]);
}

#[test]
fn a_barred_key_begins_nothing_until_all_its_bars_are_gone() {
    check(&[
        ("queue a 1", "begin a 1"),
        ("queue a 2", ""),
        ("hold a", ""),
        ("delay a", ""),
        ("end a 1", ""),
        ("queue b 3", "begin b 3"),
        ("release a", ""),
        ("hold a", ""),
        ("due a", ""),
        ("release a", "begin a 2"),
        ("release a", ""),
        ("end a 2", ""),
        ("hold a", ""),
        ("queue a 4", ""),
        ("release a", "begin a 4"),
    ]);
}

#[test]
fn a_pause_is_of_a_channel_or_of_everything_and_keeps_the_order() {
    check(&[
        ("pause a", ""),
        ("queue a 1", ""),
        ("queue b 2", "begin b 2"),
        ("pause", ""),
        ("queue c 3", ""),
        ("queue d 4", ""),
        ("end b 2", ""),
        ("resume a", ""),
        ("hold d", ""),
        ("resume", "begin a 1, begin c 3"),
        ("resume", ""),
        ("release d", "begin d 4"),
    ]);
}

#[test]
fn a_run_without_a_turn_returns_to_the_front() {
    check(&[
        ("queue a 1", "begin a 1"),
        ("queue a 2", ""),
        ("delay a", ""),
        ("return a 2", ""),
        ("return a 1", ""),
        ("return a 1", ""),
        ("due a", "begin a 1"),
        ("return a 1", "begin a 1"),
        ("end a 1", "begin a 2"),
    ]);
}

#[test]
fn a_run_that_ends_before_it_is_begun_leaves_nothing() {
    let mut queue = Queue::default();
    queue.handle(event("queue a 1"));
    queue.handle(event("queue b 2"));
    queue.handle(event("end a 1"));
    assert_eq!(drain(&mut queue), "begin b 2");
    assert_eq!((queue.keys(), queue.current(&key("a")), queue.waiting(&key("a"))), (1, None, vec![]));
}

#[test]
fn what_runs_and_what_waits_can_be_asked() {
    let mut queue = Queue::default();
    queue.handle(event("queue a 1"));
    queue.handle(event("queue a 2"));
    assert_eq!((queue.current(&key("a")), queue.waiting(&key("a"))), (None, vec![run("1"), run("2")]));
    assert_eq!(drain(&mut queue), "begin a 1");
    assert_eq!((queue.current(&key("a")), queue.waiting(&key("a"))), (Some(&run("1")), vec![run("2")]));
    assert_eq!(queue.keys(), 1);
}

#[test]
fn keys_without_a_run_take_no_memory() {
    let mut queue = Queue::default();
    for n in 0..10_000 {
        queue.handle(event(&format!("queue k{n} {n}")));
        queue.handle(event(&format!("queue k{n} {n}b")));
        queue.next_command();
        queue.handle(event(&format!("end k{n} {n}")));
        queue.handle(event(&format!("end k{n} {n}b")));
    }
    assert_eq!(queue, Queue { next_ticket: queue.next_ticket, ..Queue::default() });
}

proptest! {
    /// Against one list of all runs that is searched from the front.
    #[test]
    fn agrees_with_a_plain_list(steps in prop::collection::vec((0..8u8, 0..4u8, 0..9u8), 1..120)) {
        let mut queue = Queue::default();
        let mut list: Vec<(Key, RunId, Place)> = Vec::new();
        let (mut bars, mut pauses) = (Vec::new(), Vec::new());
        for (what, k, r) in steps {
            let (key, run) = (named(k), run(&r.to_string()));
            match what {
                0 => {
                    if list.iter().all(|(_, other, _)| *other != run) {
                        list.push((key.clone(), run.clone(), Place::Waits));
                    }
                    queue.handle(Event::Queued { key, run });
                }
                1 => {
                    list.retain(|(k, r, _)| (k, r) != (&key, &run));
                    queue.handle(Event::Ended { key, run });
                }
                2 => {
                    let at = list.iter().position(|(k, r, p)| (k, r, *p) == (&key, &run, Place::Runs));
                    if let Some(at) = at {
                        list.remove(at);
                        let front = list.iter().position(|(k, _, _)| *k == key).unwrap_or(at);
                        list.insert(front, (key.clone(), run.clone(), Place::Waits));
                    }
                    queue.handle(Event::Returned { key, run });
                }
                3 => {
                    let bar = [Bar::Held, Bar::Waits][usize::from(r % 2)];
                    bars.push((key.clone(), bar));
                    queue.handle(Event::Barred { key, bar });
                }
                4 => {
                    let bar = [Bar::Held, Bar::Waits][usize::from(r % 2)];
                    bars.retain(|one| *one != (key.clone(), bar));
                    queue.handle(Event::Unbarred { key, bar });
                }
                5 | 6 => {
                    let part = if r == 0 { Part::Everything } else { Part::Channel(key.channel) };
                    pauses.retain(|one| *one != part);
                    if what == 5 {
                        pauses.push(part.clone());
                        queue.handle(Event::Paused(part));
                    } else {
                        queue.handle(Event::Resumed(part));
                    }
                }
                _ => {
                    let may_begin = |key: &Key| {
                        let of_channel = Part::Channel(key.channel.clone());
                        !bars.iter().any(|(k, _)| k == key)
                            && !pauses.iter().any(|part| *part == Part::Everything || *part == of_channel)
                    };
                    let mut begun: Vec<_> = std::iter::from_fn(|| queue.next_command()).collect();
                    let mut expected = begin_all(&mut list, may_begin);
                    begun.sort_by_key(|command| format!("{command:?}"));
                    expected.sort_by_key(|command| format!("{command:?}"));
                    prop_assert_eq!(begun, expected);
                }
            }
            for n in 0..4u8 {
                let key = named(n);
                let current: Vec<_> = queue.current(&key).cloned().into_iter().collect();
                prop_assert_eq!(current, of(&list, &key, Place::Runs));
                prop_assert_eq!(queue.waiting(&key), of(&list, &key, Place::Waits));
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Waits,
    Runs,
}

fn begin_all(list: &mut [(Key, RunId, Place)], may_begin: impl Fn(&Key) -> bool) -> Vec<Command> {
    let mut begun = Vec::new();
    for n in 0..list.len() {
        let key = list[n].0.clone();
        if may_begin(&key) && list.iter().all(|(k, _, place)| *k != key || *place == Place::Waits) {
            list[n].2 = Place::Runs;
            begun.push(Command::Begin { key, run: list[n].1.clone() });
        }
    }
    begun
}

fn of(list: &[(Key, RunId, Place)], key: &Key, place: Place) -> Vec<RunId> {
    let runs = list.iter().filter(|(k, _, p)| k == key && *p == place);
    runs.map(|(_, run, _)| run.clone()).collect()
}

fn named(n: u8) -> Key {
    key(&n.to_string())
}

/// Steps of `queue KEY RUN`, `end KEY RUN`, `hold KEY` and so on, each with the commands that come of it.
fn check(steps: &[(&str, &str)]) {
    let mut queue = Queue::default();
    let expected: Vec<_> =
        steps.iter().map(|(step, begun)| ((*step).to_owned(), (*begun).to_owned())).collect();
    let told: Vec<_> = steps
        .iter()
        .map(|(step, _)| {
            queue.handle(event(step));
            ((*step).to_owned(), drain(&mut queue))
        })
        .collect();
    assert_eq!(told, expected);
}

fn drain(queue: &mut Queue) -> String {
    let begun = std::iter::from_fn(|| queue.next_command());
    begun
        .map(|Command::Begin { key, run }| format!("begin {} {run}", key.channel))
        .collect::<Vec<_>>()
        .join(", ")
}

fn event(step: &str) -> Event {
    let words: Vec<_> = step.split(' ').collect();
    let barred = |name: &str, bar| Event::Barred { key: key(name), bar };
    let unbarred = |name: &str, bar| Event::Unbarred { key: key(name), bar };
    match words[..] {
        ["queue", k, r] => Event::Queued { key: key(k), run: run(r) },
        ["end", k, r] => Event::Ended { key: key(k), run: run(r) },
        ["return", k, r] => Event::Returned { key: key(k), run: run(r) },
        ["hold", k] => barred(k, Bar::Held),
        ["release", k] => unbarred(k, Bar::Held),
        ["delay", k] => barred(k, Bar::Waits),
        ["due", k] => unbarred(k, Bar::Waits),
        ["pause"] => Event::Paused(Part::Everything),
        ["resume"] => Event::Resumed(Part::Everything),
        ["pause", channel] => Event::Paused(Part::Channel(channel.into())),
        ["resume", channel] => Event::Resumed(Part::Channel(channel.into())),
        _ => panic!("no such step: {step}"),
    }
}

fn key(name: &str) -> Key {
    Key { channel: name.into(), binding: "b-claude".into() }
}

fn run(name: &str) -> RunId {
    name.into()
}
