//! The published table, and what holds for every channel.

use std::convert::Infallible;

use cost::tokens::{Counter as _, Encoding};
use delivery::{Author, AuthorKind, Limits, Timestamp, prose};
use proptest::prelude::*;

use super::{Block, Kind, Played, Player, Rules};
use crate::channel::{Channel, Mention};
use crate::figures::Figures;
use crate::scenario::{self, BUILT_IN, SEED, Size};
use crate::strategy::Strategy;
use crate::texts::{Brief, Texts};

const COUNTER: Encoding = Encoding::Cl100kBase;

/// A turn as a test keeps it.
struct Seen {
    number: usize,
    blocks: Vec<Block>,
    request: Vec<Block>,
    tokens: u64,
    cacheable: u64,
}

fn play(channel: &Channel, strategy: Strategy, rules: &Rules) -> (Figures, Vec<Seen>) {
    let mut player = Player::new(&COUNTER, Texts::new(Brief::Published, &COUNTER), rules.clone());
    let mut history: Vec<Vec<Block>> = vec![Vec::new(); channel.agents().len()];
    let mut turns = Vec::new();
    let played = player.play(channel, strategy, |turn| {
        let agent = channel.agents().iter().position(|handle| handle == turn.agent).unwrap();
        let history = &mut history[agent];
        if turn.lease != delivery::turn::Lease::Warm {
            history.clear();
        }
        history.extend(turn.blocks.iter().cloned());
        let request = turn.front.iter().chain(history.iter()).cloned().collect();
        let (blocks, tokens, cacheable) = (turn.blocks.clone(), turn.tokens, turn.cacheable);
        turns.push(Seen { number: turn.number, blocks, request, tokens, cacheable });
        history.push(turn.reply.clone());
        Ok::<(), Infallible>(())
    });
    let Ok(Played { figures, .. }) = played;
    (figures, turns)
}

fn evict_at(mention: usize) -> Rules {
    Rules { evict: Some(mention), ..Rules::default() }
}

/// Within so many thousandths.
#[track_caller]
fn near(value: f64, published: f64, thousandths: f64, what: &str) {
    let off = (value - published).abs() / published * 1_000.0;
    assert!(off <= thousandths, "{what}: {value} is {off:.1} ‰ off {published}");
}

fn float(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// A column of the published table.
struct Published {
    input: f64,
    cacheable: f64,
    ratio: f64,
    uncached: f64,
    context: f64,
    seen: f64,
    lines: u64,
}

fn check_published(seed: u64, strategy: Strategy, published: &Published) {
    let channel = scenario::make(BUILT_IN, seed).unwrap();
    let (figures, _) = play(&channel, strategy, &Rules::default());
    let what = |figure| format!("{figure} of {} with seed {seed}", strategy.name());
    near(float(figures.input_tokens), published.input, 30.0, &what("input"));
    if strategy == Strategy::Unstable {
        assert_eq!(figures.cacheable_tokens, 145);
    } else {
        near(float(figures.cacheable_tokens), published.cacheable, 30.0, &what("cacheable"));
    }
    assert!((figures.ratio() - published.ratio).abs() <= 0.003, "{}: {}", what("ratio"), figures.ratio());
    near(figures.uncached_per_warm_turn().unwrap(), published.uncached, 30.0, &what("uncached"));
    near(float(figures.context_tokens), published.context, 30.0, &what("context"));
    if published.seen > 0.0 {
        near(float(figures.already_seen_tokens), published.seen, 30.0, &what("already seen"));
    } else {
        assert_eq!(figures.already_seen_tokens, 0, "{}", what("already seen"));
    }
    assert_eq!((figures.lines, figures.unshown), (published.lines, 25), "{}", what("lines and unshown"));
}

#[test]
fn the_published_table() {
    let window = Published {
        input: 515_784.0,
        cacheable: 485_477.0,
        ratio: 0.941,
        uncached: 943.0,
        context: 9_132.0,
        seen: 5_057.0,
        lines: 360,
    };
    let watermark = Published {
        input: 417_419.0,
        cacheable: 392_256.0,
        ratio: 0.940,
        uncached: 766.0,
        context: 4_075.0,
        seen: 0.0,
        lines: 162,
    };
    let unstable =
        Published { input: 418_259.0, cacheable: 145.0, ratio: 0.0, uncached: 14_315.0, ..watermark };
    for seed in [SEED, 2, 7, 99] {
        check_published(seed, Strategy::Window, &window);
        check_published(seed, Strategy::Watermark, &watermark);
        check_published(seed, Strategy::Unstable, &unstable);
    }
}

#[test]
fn eviction_at_mention_15_sends_one_line_again() {
    for seed in [SEED, 2, 7, 99] {
        let channel = scenario::make(BUILT_IN, seed).unwrap();
        let (watermark, _) = play(&channel, Strategy::Watermark, &evict_at(15));
        let (window, _) = play(&channel, Strategy::Window, &evict_at(15));
        near(float(watermark.input_tokens), 245_000.0, 30.0, "watermark");
        near(float(window.input_tokens), 290_000.0, 30.0, "window");
        assert_eq!((watermark.lines, watermark.cold_turns), (163, 2));
        assert!((20..=26).contains(&watermark.already_seen_tokens), "{}", watermark.already_seen_tokens);
    }
}

#[test]
fn highwater_sends_nothing_twice_and_hides_nothing() {
    for seed in [SEED, 2, 7, 99] {
        let channel = scenario::make(BUILT_IN, seed).unwrap();
        let (figures, turns) = play(&channel, Strategy::Highwater, &Rules::default());
        assert!(figures.uncached_per_warm_turn().unwrap() <= 255.0, "{figures:?}");
        assert!(figures.input_tokens <= 205_000, "{figures:?}");
        assert_eq!((figures.lines, figures.unshown, figures.turns, figures.cold_turns), (137, 21, 30, 1));
        let nothing = (figures.already_seen_tokens, figures.repeated_triggers, figures.silent_gaps);
        assert_eq!(nothing, (0, 0, 0));
        let notices = turns.iter().flat_map(|turn| &turn.blocks).filter(|block| block.kind == Kind::Notice);
        assert_eq!(
            notices.map(|block| block.text.as_str()).collect::<Vec<_>>(),
            [9, 1, 4, 7]
                .map(|n| format!("\n- ({n} earlier new messages not shown; channel_history has them)"))
        );
        let (watermark, _) = play(&channel, Strategy::Watermark, &Rules::default());
        assert_eq!((watermark.repeated_triggers, watermark.silent_gaps), (25, 4));
    }
}

/// Requests are the texts of their blocks, and no turn changes what an earlier one sent.
#[test]
fn requests_are_their_blocks() {
    let channel = scenario::make(BUILT_IN, SEED).unwrap();
    for strategy in Strategy::ALL {
        let (figures, turns) = play(&channel, strategy, &Rules::default());
        for turn in &turns {
            assert_eq!(turn.tokens, turn.request.iter().map(|block| block.tokens).sum::<u64>());
            for block in &turn.request {
                assert_eq!(block.tokens, COUNTER.count(&block.text), "{block:?}");
            }
        }
        assert_eq!(figures.input_tokens, turns.iter().map(|turn| turn.tokens).sum::<u64>());
        assert_eq!(figures.cacheable_tokens, turns.iter().map(|turn| turn.cacheable).sum::<u64>());
    }
    let (_, turns) = play(&channel, Strategy::Watermark, &Rules::default());
    let text: String = turns[0].request.iter().map(|block| block.text.as_str()).collect();
    assert!(
        text.contains(&format!("{}\n\n{}\n\n{{\"channel_id\"", prose::FRAMING, prose::MENTIONED)),
        "{text}"
    );
    assert!(text.contains("\n\nRecent messages in this channel, oldest first"), "{text}");
    let (_, turns) = play(&channel, Strategy::Highwater, &Rules::default());
    let second: String = turns[1].blocks.iter().map(|block| block.text.as_str()).collect();
    assert!(second.starts_with(&format!("{}\n\n{{\"message_id\":\"m26\"", prose::MENTIONED)), "{second}");
    assert!(
        second.contains(&format!("\n\n---\n{}\n\nNew messages in this channel", prose::REMINDER)),
        "{second}"
    );
}

#[test]
fn limits_are_rules() {
    let channel = scenario::make(BUILT_IN, SEED).unwrap();
    let limits = Limits { lines: 3, body_chars: 40, ..Limits::default() };
    let (window, _) = play(&channel, Strategy::Window, &Rules { limits, ..Rules::default() });
    assert_eq!(window.lines, 90);
    let (highwater, _) = play(&channel, Strategy::Highwater, &Rules { limits, ..Rules::default() });
    // All that is new is a line or counted.
    assert_eq!(highwater.lines + highwater.unshown, 3 + 146);
    let none = Limits { lines: 0, ..Limits::default() };
    let (highwater, _) = play(&channel, Strategy::Highwater, &Rules { limits: none, ..Rules::default() });
    assert_eq!((highwater.lines, highwater.unshown), (0, 146));
}

/// A channel of plain text in which an agent is mentioned at least twice, and so often that the limit of lines leaves
/// nothing out; `tail` messages follow.
fn plain_channel(gaps: &[usize], tail: usize, words: &[String]) -> Channel {
    let mut channel = Channel::new("general", vec!["claude".to_owned()]);
    let people =
        ["aiko", "ben", "olive"].map(|name| Author { kind: AuthorKind::User, name: name.to_owned() });
    let mut at = 0;
    let mut words = words.iter().cycle();
    let mut say = |channel: &mut Channel, to: &str| {
        at += 1;
        let text = format!("{to}{}", words.next().map_or("", String::as_str));
        let author = &people[usize::try_from(at).unwrap() % people.len()];
        channel.push(author, Timestamp { ms: at * 1_000 }, &text, None).unwrap()
    };
    for gap in gaps {
        for _ in 0..*gap {
            say(&mut channel, "");
        }
        let message = say(&mut channel, "@claude ");
        let reply = channel.push_reply("done");
        channel.push_mention(Mention { message, agent: 0, reply });
    }
    for _ in 0..tail {
        say(&mut channel, "");
    }
    channel
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn highwater_sends_no_more_than_watermark_and_watermark_no_more_than_window(
        gaps in prop::collection::vec(0_usize..=10, 2..12),
        tail in 0_usize..4,
        words in prop::collection::vec("[a-z]{1,9}( [a-z]{1,9}){0,12}", 1..30),
    ) {
        /// What highwater's first turn has beyond watermark's, and each request repeats: author and reminder.
        const HEADER_SLACK: u64 = 32;
        let channel = plain_channel(&gaps, tail, &words);
        let of = |strategy| play(&channel, strategy, &Rules::default()).0;
        let (window, watermark, highwater) =
            (of(Strategy::Window), of(Strategy::Watermark), of(Strategy::Highwater));
        prop_assert_eq!(highwater.unshown, 0);
        let turns = gaps.len() as u64;
        prop_assert!(highwater.input_tokens <= watermark.input_tokens + HEADER_SLACK * turns);
        prop_assert!(watermark.input_tokens <= window.input_tokens);
        prop_assert_eq!(highwater.repeated_triggers + highwater.already_seen_tokens + highwater.silent_gaps, 0);
    }

    /// In channels of any size, with several agents and evictions.
    #[test]
    fn totals_are_the_sum_of_turns_and_a_seed_gives_the_same_bytes(
        messages in 20_usize..200, mentions in 3_usize..20, residents in 1_usize..=3, evict in 1_usize..20, seed: u64,
    ) {
        let channel = scenario::make(Size { messages, mentions, residents }, seed).unwrap();
        for strategy in Strategy::ALL {
            let (figures, turns) = play(&channel, strategy, &evict_at(evict));
            prop_assert_eq!(figures.input_tokens, turns.iter().map(|turn| turn.tokens).sum::<u64>());
            prop_assert_eq!(figures.turns, turns.len() as u64);
            let lines = turns.iter().flat_map(|turn| &turn.blocks).filter(|block| block.kind == Kind::Line);
            prop_assert_eq!(figures.context_tokens, lines.map(|line| line.tokens).sum::<u64>());
            prop_assert_eq!(
                turns.iter().map(|turn| turn.number).collect::<Vec<_>>(),
                (1..=mentions).collect::<Vec<_>>()
            );
            let sum = |turn: &Seen| turn.request.iter().map(|block| block.tokens).sum::<u64>();
            prop_assert!(turns.iter().all(|turn| turn.tokens == sum(turn)));
            let again = play(&channel, strategy, &evict_at(evict));
            prop_assert_eq!(figures, again.0);
            let told = |turns: &[Seen]| turns.iter().map(|turn| turn.blocks.clone()).collect::<Vec<_>>();
            prop_assert_eq!(told(&turns), told(&again.1));
        }
    }
}
