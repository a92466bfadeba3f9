//! What becomes of a session when its process ends, by delivery and session policy (6.5, 5.3).

use agents::{Begun, EventKind, Update};
use delivery::model::{Policy, SessionPolicy, WhenCold};
use delivery::prose;
use delivery::turn::Lease;
use storage::{NewBinding, Read, Store};

use super::world::World;
use super::{Command, Input, MINUTE};

/// What became of the process after a turn, and of the session for the next one.
#[derive(Debug, PartialEq)]
struct Became {
    /// Whether the process ended with the turn.
    ended: bool,
    /// How the next turn's session began.
    lease: Lease,
    /// Whether the next turn had framing, and lines that the session had been given.
    framing: bool,
    again: bool,
}

fn play(delivery: Policy, session: SessionPolicy, supervised: bool) -> Became {
    let mut world = World::new();
    let binding = world.store.bindings(None).unwrap().remove(0);
    let spec = NewBinding { handle: "bot".to_owned(), delivery, session, supervised, ..binding.spec };
    world.store.add_binding(&spec, delivery::Timestamp { ms: 5 }).unwrap();
    world.post("before");
    world.post("@bot first");
    let epoch = world.started("bot", "s-1");
    world.answers("bot", epoch, "ok");
    let ended = world.given.iter().any(|command| matches!(command, Command::End { .. }));
    if ended {
        world.exited("bot", epoch, None);
    } else {
        world.idles("bot", epoch);
    }
    world.step(&Input::Tick).unwrap();
    world.post("@bot second");
    let (epoch, reload, _) = world.start("bot");
    let begun = if reload.is_some() { Begun::Restored } else { Begun::New };
    let native = reload.map_or("s-2".into(), |reload| reload.native);
    world.began("bot", epoch, &native, begun, false);
    let (run, text) = world.prompt("bot");
    let lease = world.store.run(&run).unwrap().staged.unwrap().lease;
    Became { ended, lease, framing: text.contains(prose::FRAMING), again: text.contains("aiko: before") }
}

#[test]
fn a_session_ends_as_its_policies_say() {
    let anew = |ended| Became { ended, lease: Lease::Cold, framing: true, again: true };
    let restored = |ended, framing, again| Became { ended, lease: Lease::Restored, framing, again };
    for (delivery, session, expected) in [
        (Policy::Lean, SessionPolicy::Resident, restored(false, false, false)),
        (Policy::Lean, SessionPolicy::Saved, restored(true, false, false)),
        (Policy::Lean, SessionPolicy::Fresh, anew(true)),
        (Policy::Base, SessionPolicy::Resident, anew(false)),
        // Restored: framing and newest turn, by the letter of 3.1.
        (Policy::Base, SessionPolicy::Saved, restored(true, true, false)),
        (Policy::Base, SessionPolicy::Fresh, anew(true)),
        (Policy::Window, SessionPolicy::Resident, anew(false)),
        (Policy::Window, SessionPolicy::Saved, restored(true, true, true)),
        (Policy::Window, SessionPolicy::Fresh, anew(true)),
    ] {
        for supervised in [true, false] {
            assert_eq!(
                play(delivery, session, supervised),
                expected,
                "{delivery:?} {session:?} {supervised}"
            );
        }
    }
}

/// public reports G66, G68: a reload is not taken to be cheap once the cache must have expired.
#[test]
fn what_a_reload_costs_is_said() {
    let cold = |when_cold: WhenCold, used: u64, idle: u64| {
        let mut world = World::new();
        let binding = world.store.bindings(None).unwrap().remove(0);
        let spec = NewBinding { handle: "large".to_owned(), when_cold, ..binding.spec };
        world.store.add_binding(&spec, delivery::Timestamp { ms: 5 }).unwrap();
        world.post("@large first");
        let epoch = world.started("large", "s-1");
        let (run, _) = world.prompt("large");
        world.event("large", epoch, EventKind::Update { run: run.clone(), update: Update::Used(used) });
        world.answered("large", epoch, &run, "ok");
        world.idles("large", epoch);
        world.mono += (idle - 31) * MINUTE;
        world.post("@large second");
        let (epoch, reload, _) = world.start("large");
        let (native, begun) = match &reload {
            Some(reload) => {
                assert_eq!(reload.used, Some(used));
                (reload.native.clone(), Begun::Restored)
            }
            None => ("s-2".into(), Begun::New),
        };
        world.began("large", epoch, &native, begun, false);
        let run = world.answers("large", epoch, "ok");
        let staged = world.store.run(&run).unwrap().staged.unwrap();
        (staged.lease, staged.why)
    };
    let idle = "its last process was idle for longer than the limit";
    let reloaded = format!("a new process reloaded the session: {idle}");
    let cost = "60000 tokens had surely left the provider's cache after 61 min without a turn";
    for (when, used, idle, expected) in [
        (
            WhenCold::Reload,
            60_000,
            61,
            (Lease::Restored, format!("{reloaded}; its {cost}, and are read anew")),
        ),
        (WhenCold::Reload, 60_000, 60, (Lease::Restored, reloaded.clone())),
        (WhenCold::Fresh, 60_000, 60, (Lease::Restored, reloaded.clone())),
        (WhenCold::Fresh, 50_000, 600, (Lease::Restored, reloaded)),
        (
            WhenCold::Fresh,
            60_000,
            61,
            (Lease::Cold, format!("its last session's {cost} (its setting when_cold is fresh)")),
        ),
    ] {
        assert_eq!(cold(when, used, idle), expected, "{when:?} {used} {idle}");
    }
}
