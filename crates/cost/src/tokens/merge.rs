//! A piece of text that is no token by itself, made of tokens: byte pair encoding.
//!
//! At first each byte is a part. Then, again and again, of all neighbours that are a token together those with the lowest
//! rank become one part, the first of them if there are several.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::{Rank, Vocabulary};

/// Bytes of a piece up to which looking at all parts for each step is quicker than keeping them in order.
const SHORT_MAX: usize = 100;

/// No token.
const NONE: Rank = Rank::MAX;

/// The parts of a piece, in memory that the next piece uses again.
#[derive(Default)]
pub(super) struct Parts {
    /// Where each begins.
    starts: Vec<usize>,
    /// For each, the token that it is together with the next one.
    pairs: Vec<Rank>,
}

impl Parts {
    /// Where the tokens of a piece begin.
    pub(super) fn of(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> &[usize] {
        if piece.len() <= SHORT_MAX {
            self.merge(vocabulary, piece);
        } else {
            self.starts = Chain::of(vocabulary, piece).merged(vocabulary, piece);
        }
        &self.starts
    }

    fn merge(&mut self, vocabulary: &Vocabulary, piece: &[u8]) {
        self.starts.clear();
        self.starts.extend(0..piece.len());
        self.pairs.clear();
        self.pairs.extend((0..piece.len()).map(|start| rank(vocabulary, piece, start, start + 2)));
        // The first one, if there are several.
        while let Some((at, lowest)) = self.pairs.iter().copied().enumerate().min_by_key(|(_, pair)| *pair) {
            if lowest == NONE {
                break;
            }
            self.starts.remove(at + 1);
            self.pairs.remove(at + 1);
            self.join(vocabulary, piece, at);
            if let Some(before) = at.checked_sub(1) {
                self.join(vocabulary, piece, before);
            }
        }
    }

    /// Notes what a part is together with the next one.
    fn join(&mut self, vocabulary: &Vocabulary, piece: &[u8], at: usize) {
        let end = |at: usize| self.starts.get(at).copied().unwrap_or(piece.len());
        let (start, middle, end) = (end(at), end(at + 1), end(at + 2));
        if let Some(pair) = self.pairs.get_mut(at) {
            *pair = if middle < piece.len() { rank(vocabulary, piece, start, end) } else { NONE };
        }
    }
}

/// The token from `start` to `end`.
fn rank(vocabulary: &Vocabulary, piece: &[u8], start: usize, end: usize) -> Rank {
    piece.get(start..end).and_then(|bytes| vocabulary.rank(bytes)).unwrap_or(NONE)
}

/// The parts of a long piece, each at the place where it begins, and a queue of their pairs: time grows by n log n.
struct Chain {
    links: Vec<Link>,
    /// Pairs by rank, then by place; those that are no more are still there.
    queue: BinaryHeap<Reverse<(Rank, usize)>>,
}

/// A part.
#[derive(Clone, Copy)]
struct Link {
    /// Where the part before begins.
    before: usize,
    /// Where this one ends.
    end: usize,
    /// The token that it is together with the next one.
    pair: Rank,
}

impl Chain {
    fn of(vocabulary: &Vocabulary, piece: &[u8]) -> Self {
        let link = |start: usize| Link {
            before: start.saturating_sub(1),
            end: start + 1,
            pair: rank(vocabulary, piece, start, start + 2),
        };
        let links: Vec<Link> = (0..piece.len()).map(link).collect();
        let pairs = links.iter().enumerate().filter(|(_, link)| link.pair != NONE);
        let queue = pairs.map(|(start, link)| Reverse((link.pair, start))).collect();
        Self { links, queue }
    }

    /// Where the parts begin in the end.
    fn merged(mut self, vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
        while let Some(Reverse((pair, start))) = self.queue.pop() {
            // The same token from the same place on is the same pair, however it came here.
            if let Some(link) = self.links.get(start).copied().filter(|link| link.pair == pair) {
                self.step(vocabulary, piece, start, link);
            }
        }
        let mut starts = Vec::new();
        let mut start = 0;
        while let Some(link) = self.links.get(start) {
            starts.push(start);
            start = link.end;
        }
        starts
    }

    /// Makes one of a part and the next one.
    fn step(&mut self, vocabulary: &Vocabulary, piece: &[u8], start: usize, link: Link) {
        let Some(next) = self.links.get_mut(link.end) else { return };
        next.pair = NONE;
        let end = next.end;
        if let Some(after) = self.links.get_mut(end) {
            after.before = start;
        }
        if let Some(link) = self.links.get_mut(start) {
            link.end = end;
        }
        self.join(vocabulary, piece, start);
        if start > 0 {
            self.join(vocabulary, piece, link.before);
        }
    }

    /// Notes what a part is together with the next one.
    fn join(&mut self, vocabulary: &Vocabulary, piece: &[u8], start: usize) {
        let end = |start: usize| self.links.get(start).map(|link| link.end);
        let end = end(start).and_then(end);
        let pair = end.map_or(NONE, |end| rank(vocabulary, piece, start, end));
        if let Some(link) = self.links.get_mut(start) {
            link.pair = pair;
        }
        if pair != NONE {
            self.queue.push(Reverse((pair, start)));
        }
    }
}
