//! All that the published description says of the built-in scenario, and that other sizes are what was asked for.

use std::collections::BTreeSet;

use delivery::{AuthorKind, mention};
use proptest::prelude::*;

use super::{AGENT, BUILT_IN, SEED, Size, SizeError, make};
use crate::channel::Channel;

fn built_in(seed: u64) -> Channel {
    make(BUILT_IN, seed).unwrap()
}

/// Places of mentions, counted from 1.
fn mentions(channel: &Channel) -> Vec<u32> {
    channel.mentions().iter().map(|mention| mention.message + 1).collect()
}

fn gaps(channel: &Channel) -> Vec<u32> {
    mentions(channel).windows(2).map(|pair| pair[1] - pair[0] - 1).collect()
}

#[test]
fn the_frame_is_the_published_one() {
    for seed in [SEED, 2, 3, u64::MAX] {
        let channel = built_in(seed);
        assert_eq!(
            (channel.len(), channel.name(), channel.agents()),
            (200, "general", &[AGENT.to_owned()][..])
        );
        let mentions = mentions(&channel);
        assert_eq!((mentions.len(), mentions[0], mentions[1], mentions[29]), (30, 24, 26, 199));
        let gaps = gaps(&channel);
        let mut sorted = gaps.clone();
        sorted.sort_unstable();
        assert_eq!((sorted[0], sorted[14], sorted[28], sorted.len()), (1, 4, 21, 29));
        assert_eq!(sorted[25..], [13, 16, 19, 21]);
        assert_eq!(gaps.iter().map(|gap| 12.min(gap + 1)).sum::<u32>(), 150);
        assert_eq!(gaps.iter().map(|gap| gap.saturating_sub(11)).sum::<u32>(), 25);
        assert_eq!(gaps[13], 10, "messages before mention 15");
        let logs = (0..200).filter(|index| channel.text(*index).chars().count() > 600).count();
        assert_eq!(logs, 8);
    }
}

#[test]
fn five_people_and_an_agent_that_is_not_played_write() {
    for seed in [SEED, 2, 3] {
        let channel = built_in(seed);
        let names = |kind| {
            let of = channel.authors().iter().filter(|author| author.kind == kind);
            of.map(|author| author.name.as_str()).collect::<BTreeSet<_>>()
        };
        assert_eq!(names(AuthorKind::User).len(), 5);
        assert_eq!(names(AuthorKind::Agent), BTreeSet::from(["@codex"]));
    }
}

/// What the simulator takes as a mention is one to the server, and nothing else in the channel is.
#[test]
fn mentions_are_mentions() {
    let channel = built_in(SEED);
    let handles = [AGENT, "codex"];
    let found = (0..200_u32).filter(|index| !mention::mentions(channel.text(*index), &handles).is_empty());
    assert_eq!(found.map(|index| index + 1).collect::<Vec<_>>(), mentions(&channel));
}

#[test]
fn texts_are_told_apart() {
    let channel = built_in(SEED);
    let texts: BTreeSet<&str> = (0..200).map(|index| channel.text(index)).collect();
    assert!(texts.len() >= 180, "{} different texts of 200", texts.len());
    assert!(
        (0..200).all(|index| !channel.text(index).contains(['{', '}']) && !channel.text(index).is_empty())
    );
    let replies: BTreeSet<&str> =
        channel.mentions().iter().map(|mention| channel.reply(mention.reply)).collect();
    assert!(replies.len() >= 28, "{} different answers of 30", replies.len());
}

/// Where the other agent speaks many times in a row, all its sentences were said lately.
#[test]
fn a_long_channel_is_made() {
    let channel = make(Size { messages: 60_000, mentions: 600, residents: 10 }, SEED).unwrap();
    assert_eq!((channel.len(), channel.mentions().len()), (60_000, 600));
}

#[test]
fn sizes_that_make_no_sense() {
    let check = |messages, mentions, residents, expect| {
        assert_eq!(make(Size { messages, mentions, residents }, 1).err(), Some(expect));
    };
    check(10, 0, 1, SizeError::NoMention);
    check(10, 11, 1, SizeError::TooManyMentions { mentions: 11, messages: 10 });
    check(10, 3, 0, SizeError::Residents { residents: 0, mentions: 3 });
    check(10, 3, 4, SizeError::Residents { residents: 4, mentions: 3 });
    check(usize::MAX, 3, 1, SizeError::TooLarge { messages: usize::MAX });
}

proptest! {
    #[test]
    fn any_size((messages, mentions, residents) in (1_usize..400).prop_flat_map(|messages| {
        (Just(messages), 1..=messages).prop_flat_map(|(messages, mentions)| (Just(messages), Just(mentions), 1..=mentions))
    }), seed: u64) {
        let size = Size { messages, mentions, residents };
        let channel = make(size, seed).unwrap();
        prop_assert_eq!((channel.len(), channel.mentions().len()), (messages, mentions));
        for (number, mention) in channel.mentions().iter().enumerate() {
            prop_assert_eq!(mention.agent, number % residents);
            let handle = channel.agents()[mention.agent].as_str();
            let handles: Vec<&str> = channel.agents().iter().map(String::as_str).collect();
            prop_assert_eq!(mention::mentions(channel.text(mention.message), &handles), [handle]);
        }
        // The same seed gives the same bytes.
        prop_assert_eq!(format!("{channel:?}"), format!("{:?}", make(size, seed).unwrap()));
    }
}
