//! The pool by tables of events and the commands that come of them.

use super::*;

mod world;

const IDLE_MS: u64 = 1_000;

#[test]
fn a_process_that_ends_by_itself_is_not_told_to_and_gets_no_turn() {
    check(
        1,
        &[
            ("0 want a", "start a1"),
            ("0 started a1", "grant a1 cold"),
            ("0 prompted a1", ""),
            ("1 gone a1", ""),
            ("1 want a", ""),
            ("1 want b", ""),
            ("1 fresh a", ""),
            ("2 exited a1", "start a2"),
            ("3 started a2", "grant a2 cold"),
            ("3 shutdown", ""),
            ("4 gone a2", ""),
            ("5 exited a2", ""),
        ],
    );
}

#[test]
fn cold_then_warm() {
    check(
        4,
        &[
            ("0 want a", "start a1"),
            ("0 want a", ""),
            ("5 started a1", "grant a1 cold"),
            ("6 prompted a1", ""),
            ("7 keep a1", ""),
            ("8 want a", "grant a1 warm"),
            ("9 keep a1", ""),
        ],
    );
}

#[test]
fn a_session_without_a_prompted_turn_stays_as_it_was() {
    check(
        4,
        &[
            ("0 want a", "start a1"),
            ("1 started a1", "grant a1 cold"),
            ("2 keep a1", ""),
            ("3 want a", "grant a1 cold"),
            ("4 keep a1", ""),
            ("5 want b", "start b2"),
            ("6 restored b2", "grant b2 restored"),
            ("7 keep b2", ""),
            ("8 want b", "grant b2 restored"),
            ("9 prompted b2", ""),
            ("9 keep b2", ""),
            ("9 want b", "grant b2 warm"),
        ],
    );
}

#[test]
fn the_least_recently_used_idle_process_makes_room() {
    check(
        2,
        &[
            ("0 want a", "start a1"),
            ("0 want b", "start b2"),
            ("1 started a1", "grant a1 cold"),
            ("1 started b2", "grant b2 cold"),
            ("2 keep b2", ""),
            ("3 keep a1", ""),
            ("4 want c", "end b2 Evicted"),
            ("5 want d", "end a1 Evicted"),
            ("6 exited a1", "start c3"),
            ("7 exited b2", "start d4"),
        ],
    );
}

#[test]
fn no_more_are_evicted_than_wait() {
    check(
        3,
        &[
            ("0 want a", "start a1"),
            ("0 want b", "start b2"),
            ("0 want c", "start c3"),
            ("0 want d", ""),
            ("0 want e", ""),
            ("1 unwant a", ""),
            ("1 unwant b", ""),
            ("1 unwant c", ""),
            ("2 started a1", "end a1 Evicted"),
            ("3 unwant e", ""),
            ("3 started b2", ""),
            ("3 started c3", ""),
            ("4 exited a1", "start d4"),
            ("5 want a", "end b2 Evicted"),
            ("6 unwant a", ""),
            ("7 want c", "grant c3 cold"),
            ("8 exited b2", ""),
        ],
    );
}

#[test]
fn waiting_keys_get_places_in_the_order_of_their_wishes() {
    check(
        1,
        &[
            ("0 want a", "start a1"),
            ("0 want b", ""),
            ("0 want c", ""),
            ("0 want d", ""),
            ("0 unwant c", ""),
            ("0 want c", ""),
            ("1 started a1", "grant a1 cold"),
            ("2 keep a1", "end a1 Evicted"),
            ("3 exited a1", "start b2"),
            ("4 exited b2", "start d3"),
            ("5 exited d3", "start c4"),
        ],
    );
}

#[test]
fn a_wanted_process_is_not_idle() {
    check(
        1,
        &[
            ("0 want a", "start a1"),
            ("1 started a1", "grant a1 cold"),
            ("1 prompted a1", ""),
            ("2 want b", ""),
            ("2 want a", ""),
            ("3 keep a1", "grant a1 warm"),
            ("4 keep a1", "end a1 Evicted"),
            ("5 exited a1", "start b2"),
        ],
    );
}

#[test]
fn a_pool_of_busy_keys_lets_others_in_at_last() {
    let mut steps = vec![("0 want a", "start a1"), ("0 started a1", "grant a1 cold"), ("0 prompted a1", "")];
    steps.push(("1 want b", ""));
    for _ in 0..GRANTS_WAITED_MAX {
        steps.extend([("2 want a", ""), ("2 keep a1", "grant a1 warm")]);
    }
    steps.extend([
        ("3 want a", ""),
        ("3 keep a1", "end a1 Evicted"),
        ("4 exited a1", "start b2"),
        ("5 started b2", "grant b2 cold"),
        ("6 keep b2", "end b2 Evicted"),
        ("7 exited b2", "start a3"),
    ]);
    check(1, &steps);
}

#[test]
fn idle_processes_end() {
    check(
        4,
        &[
            ("0 want a", "start a1"),
            ("1 started a1", "grant a1 cold"),
            ("5000 timeout", ""),
            ("6000 keep a1", ""),
            ("6999 timeout", ""),
            ("7000 timeout", "end a1 Idle"),
            ("7000 timeout", ""),
            ("7001 want a", ""),
            ("7002 exited a1", "start a2"),
        ],
    );
}

#[test]
fn the_next_timeout_is_that_of_the_longest_idle() {
    let mut residency = Residency::new(Pool { processes_max: 4, idle_ms: IDLE_MS }, Epoch(1));
    let due = |residency: &mut Residency, step: &str| {
        tell(residency, step);
        residency.next_timeout().map(|at| at.ms)
    };
    let steps =
        ["0 want a", "1 want b", "2 started a1", "3 started b2", "4 keep b2", "5 keep a1", "6 want b"];
    let told: Vec<_> = steps.iter().map(|step| due(&mut residency, step)).collect();
    assert_eq!(told, [None, None, None, None, Some(1_004), Some(1_004), Some(1_005)]);
}

#[test]
fn a_start_that_is_not_wanted_any_more_becomes_idle() {
    check(
        4,
        &[
            ("0 want a", "start a1"),
            ("1 unwant a", ""),
            ("2 started a1", ""),
            ("3 want a", "grant a1 cold"),
            ("4 keep a1", ""),
            ("1003 timeout", ""),
            ("1004 timeout", "end a1 Idle"),
        ],
    );
}

#[test]
fn an_exit_takes_the_wish_of_its_key_along() {
    check(
        1,
        &[
            ("0 want a", "start a1"),
            ("1 exited a1", ""),
            ("2 want a", "start a2"),
            ("3 started a2", "grant a2 cold"),
            ("4 want a", ""),
            ("5 exited a2", ""),
            ("6 want b", "start b3"),
            ("6 want a", ""),
            ("7 exited b3", "start a4"),
        ],
    );
}

#[test]
fn stale_epochs_change_nothing() {
    check(
        4,
        &[
            ("0 want a", "start a1"),
            ("1 exited a1", ""),
            ("2 want a", "start a2"),
            ("3 started a1", ""),
            ("3 exited a1", ""),
            ("4 started a2", "grant a2 cold"),
            ("4 started a2", ""),
            ("5 prompted a1", ""),
            ("5 end a1", ""),
            ("5 exited a1", ""),
            ("6 keep a2", ""),
            ("6 keep a2", ""),
            ("7 exited b2", ""),
            ("8 want a", "grant a2 cold"),
        ],
    );
}

#[test]
fn a_fresh_start_ends_the_session() {
    check(
        4,
        &[
            ("0 fresh a", ""),
            ("0 want a", "start a1"),
            ("1 started a1", "grant a1 cold"),
            ("1 prompted a1", ""),
            ("2 fresh a", ""),
            ("2 want a", ""),
            ("3 keep a1", "end a1 Fresh"),
            ("4 exited a1", "start a2"),
            ("5 fresh a", "end a2 Fresh"),
            ("6 started a2", ""),
            ("7 exited a2", "start a3"),
            ("8 restored a3", "grant a3 restored"),
            ("9 end a3", "end a3 Fresh"),
            ("9 exited a3", ""),
            ("9 want a", "start a4"),
            ("9 unwant a", ""),
            ("9 started a4", ""),
            ("9 fresh a", "end a4 Fresh"),
        ],
    );
}

#[test]
fn a_saved_session_needs_no_process_between_turns() {
    check(
        4,
        &[
            ("0 want a", "start a1"),
            ("1 started a1", "grant a1 cold"),
            ("1 prompted a1", ""),
            ("2 want a", ""),
            ("3 save a1", "end a1 Saved"),
            ("3 save a1", ""),
            ("4 exited a1", "start a2"),
            ("5 restored a2", "grant a2 restored"),
            ("6 fresh a", ""),
            ("7 save a2", "end a2 Fresh"),
            ("8 exited a2", ""),
            ("9 want a", "start a3"),
            ("9 started a3", "grant a3 cold"),
            ("9 shutdown", ""),
            ("9 save a3", "end a3 Shutdown"),
        ],
    );
}

#[test]
fn a_removed_binding_loses_its_process_at_once() {
    check(
        4,
        &[
            ("0 removed a", ""),
            ("0 want a", "start a1"),
            ("1 removed a", "end a1 Removed"),
            ("2 exited a1", ""),
            ("3 want a", "start a2"),
            ("4 started a2", "grant a2 cold"),
            ("5 want a", ""),
            ("5 removed a", "end a2 Removed"),
            ("5 removed a", ""),
            ("6 prompted a2", ""),
            ("6 keep a2", ""),
            ("7 exited a2", ""),
        ],
    );
}

#[test]
fn a_shutdown_lets_turns_end_and_begins_nothing() {
    check(
        3,
        &[
            ("0 want a", "start a1"),
            ("0 want b", "start b2"),
            ("0 want c", "start c3"),
            ("0 want d", ""),
            ("1 started a1", "grant a1 cold"),
            ("1 started b2", "grant b2 cold"),
            ("2 want a", ""),
            ("2 keep b2", "end b2 Evicted"),
            ("3 shutdown", "end c3 Shutdown"),
            ("3 shutdown", ""),
            ("4 started c3", ""),
            ("4 want e", ""),
            ("5 exited b2", ""),
            ("5 exited c3", ""),
            ("6 keep a1", "end a1 Shutdown"),
            ("7 exited a1", ""),
            ("8 want a", ""),
        ],
    );
}

#[test]
fn how_a_key_stands() {
    let mut residency = Residency::new(Pool { processes_max: 1, idle_ms: IDLE_MS }, Epoch(1));
    let steps = ["0 want b", "0 want a", "1 started b1", "2 keep b1", "3 exited b1", "4 started a2"];
    let stood: Vec<_> = steps
        .iter()
        .map(|step| {
            tell(&mut residency, step);
            (residency.state(&key("a")), residency.state(&key("b")))
        })
        .collect();
    assert_eq!(
        stood,
        [
            (State::Absent, State::Starting),
            (State::WaitingForPlace, State::Starting),
            (State::WaitingForPlace, State::Busy),
            (State::WaitingForPlace, State::Ending),
            (State::Starting, State::Absent),
            (State::Busy, State::Absent),
        ]
    );
    tell(&mut residency, "5 keep a2");
    assert_eq!((residency.state(&key("a")), residency.is_empty()), (State::Idle, false));
    tell(&mut residency, "6 exited a2");
    assert_eq!((residency.state(&key("a")), residency.is_empty()), (State::Absent, true));
}

#[test]
fn events_between_two_commands_count_at_once() {
    let mut residency = Residency::new(Pool { processes_max: 1, idle_ms: IDLE_MS }, Epoch(1));
    tell(&mut residency, "0 want a");
    tell(&mut residency, "1 started a1");
    // The wish of the next run is told after the end of the turn, yet before a command is taken.
    residency.handle(event("2 want b").0, Moment { ms: 2 });
    residency.handle(event("2 keep a1").0, Moment { ms: 2 });
    residency.handle(event("2 want a").0, Moment { ms: 2 });
    assert_eq!(drain(&mut residency), "grant a1 cold");
    // A process that dies before its turn was handed out is not handed out.
    residency.handle(event("3 want a").0, Moment { ms: 3 });
    residency.handle(event("3 keep a1").0, Moment { ms: 3 });
    residency.handle(event("3 exited a1").0, Moment { ms: 3 });
    assert_eq!(drain(&mut residency), "start b2");
}

#[test]
fn keys_without_a_process_and_a_wish_take_no_memory() {
    let mut residency = Residency::new(Pool { processes_max: 4, idle_ms: IDLE_MS }, Epoch(1));
    for n in 0..10_000 {
        let key = key(&n.to_string());
        residency.handle(Event::Wanted(key.clone()), Moment { ms: n });
        if let Some(Command::Start { epoch, .. }) = residency.next_command() {
            residency.handle(Event::Started { key: key.clone(), epoch, restored: false }, Moment { ms: n });
            residency.next_command();
            residency.handle(Event::Fresh(key.clone()), Moment { ms: n });
            residency
                .handle(Event::TurnEnded { key: key.clone(), epoch, after: After::Keep }, Moment { ms: n });
            residency.next_command();
            residency.handle(Event::Exited { key: key.clone(), epoch }, Moment { ms: n });
        }
        residency.handle(Event::Unwanted(key), Moment { ms: n });
    }
    assert_eq!((residency.processes.len(), residency.line.len(), residency.grants), (0, 0, 10_000));
}

/// Steps of `MS EVENT`, each with the commands that come of it; a process is written as key and epoch.
fn check(processes_max: usize, steps: &[(&str, &str)]) {
    let mut residency = Residency::new(Pool { processes_max, idle_ms: IDLE_MS }, Epoch(1));
    let told: Vec<_> = steps.iter().map(|(step, _)| (*step, tell(&mut residency, step))).collect();
    let expected: Vec<_> = steps.iter().map(|(step, commands)| (*step, (*commands).to_owned())).collect();
    assert_eq!(told, expected);
}

fn tell(residency: &mut Residency, step: &str) -> String {
    if let Some(ms) = step.strip_suffix(" timeout") {
        residency.handle_timeout(Moment { ms: ms.parse().unwrap() });
    } else {
        let (event, now) = event(step);
        residency.handle(event, now);
    }
    drain(residency)
}

fn drain(residency: &mut Residency) -> String {
    let commands = std::iter::from_fn(|| residency.next_command());
    commands.map(|command| written(&command)).collect::<Vec<_>>().join(", ")
}

fn written(command: &Command) -> String {
    match command {
        Command::Start { key, epoch } => format!("start {}{}", key.channel, epoch.0),
        Command::Grant { key, epoch, lease } => {
            format!("grant {}{} {}", key.channel, epoch.0, format!("{lease:?}").to_lowercase())
        }
        Command::End { key, epoch, why } => format!("end {}{} {why:?}", key.channel, epoch.0),
    }
}

fn event(step: &str) -> (Event, Moment) {
    let mut words = step.split(' ');
    let now = Moment { ms: words.next().unwrap().parse().unwrap() };
    let what = words.next().unwrap();
    let (name, epoch) = words.next().unwrap_or_default().split_at_checked(1).unwrap_or_default();
    let (key, epoch) = (key(name), Epoch(epoch.parse().unwrap_or_default()));
    let event = match what {
        "want" => Event::Wanted(key),
        "unwant" => Event::Unwanted(key),
        "started" => Event::Started { key, epoch, restored: false },
        "restored" => Event::Started { key, epoch, restored: true },
        "prompted" => Event::Prompted { key, epoch },
        "keep" => Event::TurnEnded { key, epoch, after: After::Keep },
        "save" => Event::TurnEnded { key, epoch, after: After::Save },
        "end" => Event::TurnEnded { key, epoch, after: After::End },
        "gone" => Event::TurnEnded { key, epoch, after: After::Gone },
        "exited" => Event::Exited { key, epoch },
        "fresh" => Event::Fresh(key),
        "removed" => Event::Removed(key),
        "shutdown" => Event::Shutdown,
        other => panic!("no such event: {other}"),
    };
    (event, now)
}

fn key(name: &str) -> Key {
    Key { channel: name.into(), binding: "b-claude".into() }
}
