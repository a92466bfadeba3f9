//! The frame of a made channel: which of its messages mention an agent, and which are pasted logs.

use thiserror::Error;

use crate::channel::MESSAGES_MAX;

/// How large a made channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Messages in all.
    pub messages: usize,
    /// Those that mention an agent.
    pub mentions: usize,
    /// Agents that are mentioned, in turn.
    pub residents: usize,
}

/// The scenario of the published table (9.1, 9.2).
pub const BUILT_IN: Size = Size { messages: 200, mentions: 30, residents: 1 };

/// Why no channel has this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// Nothing would be played.
    #[error("there must be at least one mention")]
    NoMention,
    /// Mentions are messages.
    #[error("{mentions} mentions do not fit into {messages} messages")]
    TooManyMentions {
        /// Mentions asked for.
        mentions: usize,
        /// Messages asked for.
        messages: usize,
    },
    /// Nobody could be mentioned, or some never were.
    #[error(
        "there must be at least one resident, and at most one for each mention ({mentions}), not {residents}"
    )]
    Residents {
        /// Residents asked for.
        residents: usize,
        /// Mentions asked for.
        mentions: usize,
    },
    /// Places are counted with 32 bits.
    #[error("a channel has at most {MESSAGES_MAX} messages, not {messages}")]
    TooLarge {
        /// Messages asked for.
        messages: usize,
    },
}

/// What stands in a place of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A message to whoever reads.
    Said,
    /// One of a known length: the line that the eviction of 9.2 sends again.
    Known,
    /// A pasted log.
    Log,
    /// A message that mentions an agent.
    Mention,
}

/// Messages before the first mention of the built-in scenario.
const OPENING: usize = 23;

/// Messages between its mentions, in their order. The long ones (13, 16, 19, 21) leave 25 messages out of 12 lines.
const GAPS: [usize; 29] =
    [1, 1, 3, 1, 4, 4, 1, 2, 4, 2, 1, 21, 2, 10, 1, 2, 2, 4, 3, 3, 4, 4, 5, 4, 4, 13, 5, 16, 19];

/// The places of its pasted logs, counted from 1.
const LOGS: [usize; 8] = [4, 8, 25, 27, 55, 67, 82, 175];

/// The place before mention 14: the one line that a cold turn at mention 15 sends again, since ten messages and a
/// mention stand behind it.
fn known() -> usize {
    OPENING + GAPS.iter().take(13).sum::<usize>() + 13
}

/// In made channels of other sizes, one message of so many is a pasted log: as many as in the built-in scenario.
const LOG_EVERY: usize = BUILT_IN.messages / LOGS.len();

/// The places of a channel, oldest first.
///
/// In the built-in scenario as given above. Elsewhere the gaps are those of the built-in one, repeated and stretched
/// until they fill the channel.
pub(super) fn frame(size: Size) -> Result<Box<dyn Iterator<Item = Place>>, SizeError> {
    let Size { messages, mentions, residents } = size;
    if mentions == 0 {
        return Err(SizeError::NoMention);
    }
    if mentions > messages {
        return Err(SizeError::TooManyMentions { mentions, messages });
    }
    if residents == 0 || residents > mentions {
        return Err(SizeError::Residents { residents, mentions });
    }
    if messages >= MESSAGES_MAX {
        return Err(SizeError::TooLarge { messages });
    }
    if (Size { residents: 1, ..size }) == BUILT_IN {
        return Ok(Box::new(built_in().into_iter()));
    }
    Ok(Box::new(stretched(messages, mentions)))
}

fn built_in() -> Vec<Place> {
    let mut places = vec![Place::Said; BUILT_IN.messages];
    let mut mention = OPENING + 1;
    let mut put = |at: usize, place| {
        if let Some(there) = places.get_mut(at - 1) {
            *there = place;
        }
    };
    LOGS.iter().for_each(|at| put(*at, Place::Log));
    put(known(), Place::Known);
    put(mention, Place::Mention);
    for gap in GAPS {
        mention += gap + 1;
        put(mention, Place::Mention);
    }
    places
}

/// Mentions with gaps in the proportions of [`GAPS`], the first after a gap too; the rest of the division spread evenly.
fn stretched(messages: usize, mentions: usize) -> impl Iterator<Item = Place> {
    let around: u128 = GAPS.iter().map(|gap| *gap as u128).sum();
    let upto = move |mention: usize| {
        let (rounds, rest) = (mention / GAPS.len(), mention % GAPS.len());
        rounds as u128 * around + GAPS.iter().take(rest).map(|gap| *gap as u128).sum::<u128>()
    };
    let (all, between) = (upto(mentions), (messages - mentions) as u128);
    // The place, from 0, of a mention: all gaps up to it, and the mentions before it.
    let place = move |mention: usize| {
        mention + usize::try_from(upto(mention + 1) * between / all.max(1)).unwrap_or(usize::MAX)
    };
    let mut next = 0;
    (0..messages).map(move |at| {
        if next < mentions && at == place(next) {
            next += 1;
            Place::Mention
        } else if at % LOG_EVERY == LOG_EVERY / 2 {
            Place::Log
        } else {
            Place::Said
        }
    })
}
