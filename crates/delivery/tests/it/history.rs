//! Random histories under lean: nothing twice, nothing in silence, and the same as a slow model says.

mod model;
mod world;

use proptest::prelude::*;

use world::{Act, Place, World};

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![2 => Just(Place::Channel), 1 => Just(Place::Thread)]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => (place(), 0usize..3).prop_map(|(place, author)| Act::Post(place, author)),
        1 => place().prop_map(Act::Notice),
        3 => any::<prop::sample::Index>().prop_map(Act::Edit),
        2 => any::<prop::sample::Index>().prop_map(Act::Delete),
        6 => place().prop_map(Act::Mention),
        9 => Just(Act::Begin),
        7 => any::<bool>().prop_map(Act::Succeed),
        2 => Just(Act::Fail),
        2 => any::<prop::sample::Index>().prop_map(Act::Cancel),
        2 => any::<prop::sample::Index>().prop_map(Act::Retry),
        1 => Just(Act::Fresh),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    /// [`World`] checks each delivery and each commit as it plays.
    #[test]
    fn a_session_is_told_everything_once(
        lines in 0usize..6,
        root_mentions in any::<bool>(),
        acts in prop::collection::vec(act(), 1..120),
    ) {
        let mut world = World::new(lines);
        if root_mentions {
            world.mention_in_root();
        }
        for act in acts {
            world.play(act);
        }
    }
}
