//! A world of processes that start, work, crash and end as chance has it, and what must hold in it.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::*;
use super::key;

const KEYS: u8 = 7;
const IDLE_MS: u64 = 50;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn holds(processes_max in 1..4usize, steps in prop::collection::vec(step(), 1..150)) {
        let mut world = World::new(processes_max);
        for step in steps {
            world.act(&step);
            world.carry_out();
        }
        world.every_wish_comes_true();
        world.shuts_down();
    }
}

/// What happens next; `pick` chooses among the processes that it can happen to.
#[derive(Clone, Debug)]
enum Step {
    Want(u8),
    Unwant(u8),
    Start { pick: u8, restored: bool },
    Prompt { pick: u8 },
    EndTurn { pick: u8, after: After },
    Exit { pick: u8 },
    Crash { pick: u8 },
    Fresh(u8),
    Remove(u8),
    Stale { key: u8, back: u64, what: u8 },
    Pass { ms: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..KEYS;
    prop_oneof![
        6 => key.clone().prop_map(Step::Want),
        1 => key.clone().prop_map(Step::Unwant),
        5 => (any::<u8>(), any::<bool>()).prop_map(|(pick, restored)| Step::Start { pick, restored }),
        3 => any::<u8>().prop_map(|pick| Step::Prompt { pick }),
        5 => (any::<u8>(), prop_oneof![4 => Just(After::Keep), 1 => Just(After::Save), 1 => Just(After::End)])
            .prop_map(|(pick, after)| Step::EndTurn { pick, after }),
        4 => any::<u8>().prop_map(|pick| Step::Exit { pick }),
        1 => any::<u8>().prop_map(|pick| Step::Crash { pick }),
        1 => key.clone().prop_map(Step::Fresh),
        1 => key.clone().prop_map(Step::Remove),
        2 => (key, 1..9u64, 0..4u8).prop_map(|(key, back, what)| Step::Stale { key, back, what }),
        3 => (1..40u64).prop_map(|ms| Step::Pass { ms }),
    ]
}

/// How the world sees a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Starting,
    Idle { since: u64 },
    Busy,
    Ending,
}

#[derive(Clone, Debug)]
struct Alive {
    epoch: Epoch,
    seen: Seen,
    /// What a grant must say.
    lease: Lease,
    /// A busy process that must end when its turn has ended.
    condemned: bool,
}

/// The reference: plain facts, each looked up by walking through all processes.
struct World {
    residency: Residency,
    processes_max: usize,
    alive: BTreeMap<Key, Alive>,
    wanted: BTreeSet<Key>,
    newest: Epoch,
    now: u64,
}

impl World {
    fn new(processes_max: usize) -> Self {
        let pool = Pool { processes_max, idle_ms: IDLE_MS };
        Self {
            residency: Residency::new(pool, Epoch(10)),
            processes_max,
            alive: BTreeMap::new(),
            wanted: BTreeSet::new(),
            newest: Epoch(9),
            now: 0,
        }
    }

    fn tell(&mut self, event: Event) {
        self.residency.handle(event, Moment { ms: self.now });
    }

    fn act(&mut self, step: &Step) {
        match step {
            Step::Want(k) => self.want(&name(*k)),
            Step::Unwant(k) => {
                self.wanted.remove(&name(*k));
                self.tell(Event::Unwanted(name(*k)));
            }
            Step::Start { pick, restored } => {
                let starting = self.picked(*pick, |seen| seen == Seen::Starting);
                starting.into_iter().for_each(|key| self.start(&key, *restored));
            }
            Step::Prompt { pick } => {
                let busy = self.picked(*pick, |seen| seen == Seen::Busy);
                busy.into_iter().for_each(|key| self.prompt(&key));
            }
            Step::EndTurn { pick, after } => {
                let busy = self.picked(*pick, |seen| seen == Seen::Busy);
                busy.into_iter().for_each(|key| self.end_turn(&key, *after));
            }
            Step::Exit { pick } => {
                let ending = self.picked(*pick, |seen| seen == Seen::Ending);
                ending.into_iter().for_each(|key| self.exit(&key));
            }
            Step::Crash { pick } => {
                let any = self.picked(*pick, |_| true);
                any.into_iter().for_each(|key| self.exit(&key));
            }
            Step::Fresh(k) => {
                self.tell(Event::Fresh(name(*k)));
                self.condemn(&name(*k), EndReason::Fresh);
            }
            Step::Remove(k) => {
                self.wanted.remove(&name(*k));
                self.tell(Event::Removed(name(*k)));
                self.condemn(&name(*k), EndReason::Removed);
            }
            Step::Stale { key, back, what } => self.stale(&name(*key), *back, *what),
            Step::Pass { ms } => self.pass(*ms),
        }
    }

    fn want(&mut self, key: &Key) {
        self.wanted.insert(key.clone());
        self.tell(Event::Wanted(key.clone()));
    }

    fn start(&mut self, key: &Key, restored: bool) {
        let now = self.now;
        let process = self.alive.get_mut(key).unwrap();
        process.seen = Seen::Idle { since: now };
        process.lease = if restored { Lease::Restored } else { Lease::Cold };
        let epoch = process.epoch;
        self.tell(Event::Started { key: key.clone(), epoch, restored });
    }

    fn prompt(&mut self, key: &Key) {
        let process = self.alive.get_mut(key).unwrap();
        process.lease = Lease::Warm;
        let epoch = process.epoch;
        self.tell(Event::Prompted { key: key.clone(), epoch });
    }

    fn end_turn(&mut self, key: &Key, after: After) {
        let now = self.now;
        let process = self.alive.get_mut(key).unwrap();
        process.seen = Seen::Idle { since: now };
        process.condemned |= after == After::End;
        let (epoch, condemned) = (process.epoch, process.condemned);
        self.tell(Event::TurnEnded { key: key.clone(), epoch, after });
        if condemned {
            self.must_end(key, EndReason::Fresh);
        } else if after == After::Save {
            self.must_end(key, EndReason::Saved);
        }
    }

    fn exit(&mut self, key: &Key) {
        let process = self.alive.remove(key).unwrap();
        if matches!(process.seen, Seen::Starting | Seen::Busy) {
            self.wanted.remove(key);
        }
        self.tell(Event::Exited { key: key.clone(), epoch: process.epoch });
    }

    fn condemn(&mut self, key: &Key, why: EndReason) {
        let Some(process) = self.alive.get_mut(key) else { return };
        match (process.seen, why) {
            (Seen::Ending, _) => {}
            (Seen::Busy, EndReason::Fresh) => process.condemned = true,
            (Seen::Starting | Seen::Idle { .. } | Seen::Busy, _) => self.must_end(key, why),
        }
    }

    /// The next command must be this process's end.
    fn must_end(&mut self, key: &Key, why: EndReason) {
        let epoch = self.alive[key].epoch;
        assert_eq!(self.residency.next_command(), Some(Command::End { key: key.clone(), epoch, why }));
        self.alive.get_mut(key).unwrap().seen = Seen::Ending;
    }

    /// An event under an epoch that is not the key's present one.
    fn stale(&mut self, key: &Key, back: u64, what: u8) {
        let epoch = Epoch(self.newest.0.saturating_sub(back));
        if self.alive.get(key).is_some_and(|process| process.epoch == epoch) {
            return;
        }
        let key = key.clone();
        let before = self.residency.clone();
        self.tell(match what {
            0 => Event::Started { key, epoch, restored: true },
            1 => Event::Prompted { key, epoch },
            2 => Event::TurnEnded { key, epoch, after: After::End },
            _ => Event::Exited { key, epoch },
        });
        assert_eq!(self.residency, before);
    }

    fn pass(&mut self, ms: u64) {
        let due = self.alive.iter().filter_map(|(key, process)| match process.seen {
            Seen::Idle { since } if !self.wanted.contains(key) => Some((since + IDLE_MS, key.clone())),
            Seen::Starting | Seen::Idle { .. } | Seen::Busy | Seen::Ending => None,
        });
        let due: Vec<_> = due.collect();
        assert_eq!(self.residency.next_timeout().map(|at| at.ms), due.iter().map(|(at, _)| *at).min());
        self.now += ms;
        self.residency.handle_timeout(Moment { ms: self.now });
        for (at, key) in due {
            if at <= self.now {
                self.must_end(&key, EndReason::Idle);
            }
        }
    }

    /// Takes every command and checks that it may be given.
    fn carry_out(&mut self) {
        while let Some(command) = self.residency.next_command() {
            match command {
                Command::Start { key, epoch } => {
                    assert!(epoch > self.newest, "epochs rise");
                    assert!(self.wanted.contains(&key) && !self.alive.contains_key(&key));
                    self.newest = epoch;
                    let process = Alive { epoch, seen: Seen::Starting, lease: Lease::Cold, condemned: false };
                    self.alive.insert(key, process);
                    assert!(self.alive.len() <= self.processes_max, "never more than the pool holds");
                }
                Command::Grant { key, epoch, lease } => {
                    assert!(self.wanted.remove(&key), "granted but not wanted");
                    let process = self.alive.get_mut(&key).unwrap();
                    assert!(
                        matches!(process.seen, Seen::Idle { .. }),
                        "one grant at a time, of a live process"
                    );
                    assert_eq!((epoch, lease), (process.epoch, process.lease));
                    process.seen = Seen::Busy;
                }
                Command::End { key, epoch, why } => self.evicted(&key, epoch, why),
            }
        }
        for (key, process) in &self.alive {
            let granted = !(self.wanted.contains(key) && matches!(process.seen, Seen::Idle { .. }));
            assert!(granted, "an idle process whose key is wanted is granted at once");
        }
        assert!(self.waiting() <= self.ending() || self.idle().is_empty(), "who can make room does");
        let startable = self.wanted.iter().any(|key| !self.alive.contains_key(key));
        assert!(!startable || self.alive.len() == self.processes_max, "no place stays empty");
    }

    fn evicted(&mut self, key: &Key, epoch: Epoch, why: EndReason) {
        assert_eq!((why, epoch), (EndReason::Evicted, self.alive[key].epoch));
        assert!(self.waiting() > self.ending(), "no more are evicted than wait");
        let oldest = self.idle().into_iter().filter(|(_, other)| !self.wanted.contains(other)).min();
        if let (Some((oldest, _)), Seen::Idle { since }) = (oldest, self.alive[key].seen) {
            assert_eq!(since, oldest, "the least recently used makes room");
        }
        assert!(matches!(self.alive[key].seen, Seen::Idle { .. }), "only an idle one makes room");
        self.alive.get_mut(key).unwrap().seen = Seen::Ending;
    }

    /// Wished keys that no process serves or will serve.
    fn waiting(&self) -> usize {
        let served = |key: &&Key| self.alive.get(*key).is_some_and(|process| process.seen != Seen::Ending);
        self.wanted.iter().filter(|key| !served(key)).count()
    }

    fn ending(&self) -> usize {
        self.alive.values().filter(|process| process.seen == Seen::Ending).count()
    }

    fn idle(&self) -> Vec<(u64, &Key)> {
        let idle = self.alive.iter().filter_map(|(key, process)| match process.seen {
            Seen::Idle { since } => Some((since, key)),
            Seen::Starting | Seen::Busy | Seen::Ending => None,
        });
        idle.collect()
    }

    fn picked(&self, pick: u8, fits: impl Fn(Seen) -> bool) -> Option<Key> {
        let fitting: Vec<_> = self.alive.iter().filter(|(_, process)| fits(process.seen)).collect();
        let at = usize::from(pick).checked_rem(fitting.len())?;
        fitting.get(at).map(|(key, _)| (*key).clone())
    }

    /// Processes do what they are told, and those in a turn are wanted again before it ends: even so every key
    /// that wants a turn now gets one in bounded time.
    fn every_wish_comes_true(&mut self) {
        let mut open: BTreeSet<Key> = self.wanted.clone();
        let rounds = (GRANTS_WAITED_MAX + 4) * u64::from(KEYS);
        for _ in 0..rounds {
            let seen: Vec<_> = self.alive.iter().map(|(key, process)| (key.clone(), process.seen)).collect();
            for (key, seen) in seen {
                match seen {
                    Seen::Starting => self.start(&key, false),
                    Seen::Busy => {
                        open.remove(&key);
                        self.want(&key);
                        self.end_turn(&key, After::Keep);
                    }
                    Seen::Ending => self.exit(&key),
                    Seen::Idle { .. } => {}
                }
                self.carry_out();
            }
        }
        assert_eq!(open, BTreeSet::new(), "wishes that never came true");
    }

    fn shuts_down(&mut self) {
        self.tell(Event::Shutdown);
        self.wanted.clear();
        self.tell(Event::Wanted(name(0)));
        let busy: Vec<_> = self.alive.iter().filter(|(_, process)| process.seen == Seen::Busy).collect();
        let busy: Vec<_> = busy.into_iter().map(|(key, process)| (key.clone(), process.epoch)).collect();
        for (key, epoch) in busy {
            self.tell(Event::TurnEnded { key, epoch, after: After::Keep });
        }
        let ended: Vec<_> = std::iter::from_fn(|| self.residency.next_command()).collect();
        let expected = self.alive.iter().filter(|(_, process)| process.seen != Seen::Ending);
        let expected: Vec<_> = expected
            .map(|(key, process)| Command::End {
                key: key.clone(),
                epoch: process.epoch,
                why: EndReason::Shutdown,
            })
            .collect();
        assert_eq!(ended, expected);
        for (key, process) in std::mem::take(&mut self.alive) {
            self.tell(Event::Exited { key, epoch: process.epoch });
        }
        assert!(self.residency.is_empty() && self.residency.next_command().is_none());
    }
}

fn name(k: u8) -> Key {
    key(&char::from(b'a' + k).to_string())
}
