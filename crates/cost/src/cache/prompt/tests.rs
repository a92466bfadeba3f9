//! Tests of prompts: what two of them have in common, and that the short ways agree with the long one.

use proptest::prelude::*;

use super::{Block, Chain, Change, Identity, Kind, Layer, Prompt};

fn block(ids: &[u32]) -> Block {
    Block::encoded(Kind::Content, ids)
}

fn prompt(head: &[&[u32]], messages: &[&[u32]]) -> Prompt {
    let mut prompt = Prompt::new(head.iter().map(|ids| block(ids)));
    messages.iter().for_each(|ids| prompt.push(block(ids)));
    prompt
}

fn check(one: &Prompt, two: &Prompt, common_tokens: u64) {
    assert_eq!((one.common_tokens(two), two.common_tokens(one)), (common_tokens, common_tokens));
}

#[test]
fn common_tokens_are_counted_into_the_first_different_block() {
    let whole = prompt(&[&[1, 2, 3], &[4, 5]], &[&[6], &[7, 8]]);
    check(&whole, &whole, 8);
    check(&whole, &prompt(&[&[1, 2, 3], &[4, 5]], &[&[6]]), 6);
    check(&whole, &prompt(&[&[1, 2, 3], &[4, 5]], &[&[6], &[7, 9]]), 7);
    check(&whole, &prompt(&[&[1, 2, 9], &[4, 5]], &[&[6], &[7, 8]]), 2);
    check(&whole, &prompt(&[&[1, 2, 3]], &[&[6], &[7, 8]]), 3);
    check(&whole, &prompt(&[&[9]], &[]), 0);
    check(&whole, &Prompt::default(), 0);
}

#[test]
fn counted_blocks_are_equal_or_not() {
    let counted = |name: &str| Block::counted(Kind::Content, Identity::of(name.as_bytes()), 10);
    let one = Prompt::new([counted("a"), counted("b")]);
    check(&one, &Prompt::new([counted("a"), counted("c")]), 10);
    check(&one, &Prompt::new([Block::counted(Kind::Thinking, Identity::of(b"a"), 10)]), 0);
}

#[test]
fn identities_are_the_same_everywhere_and_differ_with_the_bytes() {
    let texts: [&[u8]; 8] =
        [b"", b"a", b"b", b"a\0", b"aaaaaaaa", b"aaaaaaaaa", b"aaaaaaab", b"\0\0\0\0\0\0\0\0"];
    let mut identities: Vec<Identity> = texts.iter().map(|text| Identity::of(text)).collect();
    assert_eq!(Identity::of(b"a"), Identity::of(b"a"));
    identities.sort();
    identities.dedup();
    assert_eq!(identities.len(), texts.len());
    let [a, b] = [Identity::of(b"a"), Identity::of(b"b")];
    assert_ne!(a.followed_by(b), b.followed_by(a));
}

#[test]
fn changes_invalidate_their_layer_and_what_follows() {
    let table = [
        (Change::ToolDefinition, Layer::Tools),
        (Change::WebSearch, Layer::System),
        (Change::Citations, Layer::System),
        (Change::Speed, Layer::System),
        (Change::SystemText, Layer::System),
        (Change::ToolChoice, Layer::Messages),
        (Change::Images, Layer::Messages),
        (Change::Thinking, Layer::Messages),
        (Change::Effort, Layer::Messages),
    ];
    let found = table.map(|(change, _)| (change, change.invalidates_from()));
    assert_eq!(found, table);
}

/// The slow, obvious way: from the beginning, token by token.
fn common_tokens(one: &[Vec<u32>], two: &[Vec<u32>]) -> u64 {
    let mut common = 0;
    for (one, two) in one.iter().zip(two) {
        common += one.iter().zip(two).take_while(|(one, two)| one == two).count() as u64;
        if one != two {
            break;
        }
    }
    common
}

fn chain(blocks: &[Vec<u32>]) -> Chain {
    let mut chain = Chain::default();
    blocks.iter().for_each(|ids| chain.push(block(ids)));
    chain
}

proptest! {
    #[test]
    fn the_short_way_agrees_with_the_long_one(
        one in proptest::collection::vec(proptest::collection::vec(0..2_u32, 1..3), 0..12),
        two in proptest::collection::vec(proptest::collection::vec(0..2_u32, 1..3), 0..12),
    ) {
        let mut chain_one = chain(&one);
        let chain_two = chain(&two);
        prop_assert_eq!(chain_one.common_tokens(&chain_two), common_tokens(&one, &two));
        chain_one.become_like(&chain_two);
        prop_assert_eq!(chain_one.common_blocks(&chain_two), two.len());
        prop_assert_eq!(chain_one.len(), two.len());
        prop_assert_eq!(chain_one.tokens(two.len()), chain_two.tokens(two.len()));
    }
}
