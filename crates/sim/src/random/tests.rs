//! The published stream of SplitMix64, and the range of what is drawn.

use super::Random;

#[test]
fn the_published_stream() {
    let mut random = Random::new(1_234_567);
    let drawn: Vec<u64> = (0..3).map(|_| random.next()).collect();
    assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
}

#[test]
fn all_that_is_below_a_limit_is_drawn_and_nothing_else() {
    let mut random = Random::new(1);
    let mut drawn = [0_u32; 5];
    for _ in 0..5_000 {
        drawn[random.below(5)] += 1;
    }
    assert!(drawn.iter().all(|times| (900..1_100).contains(times)), "{drawn:?}");
    assert_eq!((random.below(1), random.below(0)), (0, 0));
    assert_eq!(random.pick::<str>(&[]), None);
}
