//! What becomes of a session when its process ends, by delivery and session policy (6.5, 5.3).

use agents::Begun;
use delivery::model::{Policy, SessionPolicy};
use delivery::prose;
use delivery::turn::Lease;
use storage::{NewBinding, Read, Store};

use super::world::World;
use super::{Command, Input};

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
