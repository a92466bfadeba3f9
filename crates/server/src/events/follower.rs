//! One reader's way through the log and into what is live, without a gap and without a double.

use std::collections::VecDeque;
use std::sync::Arc;

use delivery::model::ChannelId;

use super::cursor::NoCursor;
use super::hub::{Ending, PAGE, Subscription, wants};
use super::sight::{Look, Sight};
use super::{Cursor, Hub, Item, Watcher};
use crate::error::ApiError;
use crate::wire::{Event, Happened, Reason};

/// What a reader wants.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    /// Who reads.
    pub(crate) watcher: Watcher,
    /// The one channel to hear of, with what happens in no channel.
    pub(crate) channel: Option<ChannelId>,
    /// After what; `None`: from now on.
    pub(crate) since: Option<Result<Cursor, NoCursor>>,
}

/// Where a reader stands.
enum Stage {
    /// Nothing was read yet.
    Begin,
    /// In the log, before it joined the hub.
    Log,
    /// It has joined, and reads the log up to where its queue begins.
    Rest(Subscription),
    /// All comes out of its queue.
    Live(Subscription),
    /// Nothing more comes.
    Over,
}

/// A reader.
pub(crate) struct Follower {
    hub: Hub,
    wish: Wish,
    stage: Stage,
    /// The newest entry that was read or given.
    after: u64,
    ready: VecDeque<Arc<Item>>,
}

impl Follower {
    pub(crate) fn new(hub: Hub, wish: Wish) -> Self {
        Self { hub, wish, stage: Stage::Begin, after: 0, ready: VecDeque::new() }
    }

    /// The next event; `None` when there will be no more. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Arc<Item>> {
        let Some(until) = self.wish.watcher.until else { return self.next_in_time().await };
        // A reader for whom there is always something must end as well.
        if until <= tokio::time::Instant::now() {
            return None;
        }
        tokio::time::timeout_at(until, self.next_in_time()).await.unwrap_or(None)
    }

    async fn next_in_time(&mut self) -> Option<Arc<Item>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if let Err(error) = self.go_on().await {
                tracing::error!(%error, "a reader of events was ended");
                self.stage = Stage::Over;
            }
            if matches!(self.stage, Stage::Over) && self.ready.is_empty() {
                return None;
            }
        }
    }

    async fn go_on(&mut self) -> Result<(), ApiError> {
        match &mut self.stage {
            Stage::Begin => self.begin().await,
            Stage::Log => {
                let read = self.read_page(u64::MAX).await?;
                if read < PAGE && matches!(self.stage, Stage::Log) {
                    self.join().await?;
                }
                Ok(())
            }
            Stage::Rest(joined) => {
                let head = joined.head;
                if self.after < head {
                    return self.read_page(head).await.map(|_| ());
                }
                if let Stage::Rest(joined) = std::mem::replace(&mut self.stage, Stage::Over) {
                    self.ready.extend(joined.live.iter().cloned());
                    self.stage = Stage::Live(joined);
                }
                Ok(())
            }
            Stage::Live(joined) => {
                match joined.queue.recv().await {
                    // What was in the log already when it was read there.
                    Some(item) if item.n().is_some_and(|n| n <= self.after) => {}
                    Some(item) => {
                        self.after = item.n().unwrap_or(self.after);
                        self.ready.push_back(item);
                    }
                    None => match joined.ending() {
                        Some(Ending::Slow) => self.resync(Reason::Slow, self.after),
                        Some(Ending::Changed) => self.resync(Reason::Rights, self.after),
                        Some(Ending::Ended) | None => self.stage = Stage::Over,
                    },
                }
                Ok(())
            }
            Stage::Over => Ok(()),
        }
    }

    async fn begin(&mut self) -> Result<(), ApiError> {
        let Some(since) = self.wish.since else {
            self.join().await?;
            if matches!(self.stage, Stage::Rest(_)) {
                // What is committed by now is past, though the hub may not have handed it out yet.
                self.after = self.hub.span().await?.head;
                self.greet();
            }
            return Ok(());
        };
        let span = self.hub.span().await?;
        match since {
            Ok(Cursor { origin, n }) if origin == span.origin && n <= span.head => {
                if n < span.floor {
                    self.resync(Reason::TooOld, span.head);
                    return Ok(());
                }
                self.after = n;
                self.greet();
                self.stage = Stage::Log;
            }
            Ok(_) | Err(NoCursor) => self.resync(Reason::Unknown, span.head),
        }
        Ok(())
    }

    /// Joins the hub, unless the watcher may not go on.
    async fn join(&mut self) -> Result<(), ApiError> {
        loop {
            let look = self.hub.look(self.wish.watcher.clone()).await?;
            let Some(sight) = self.seeing(look) else { return Ok(()) };
            // What was handed out in the meantime may have changed what they see.
            if let Some(joined) = self.hub.subscribe(&self.wish, sight) {
                self.stage = Stage::Rest(joined);
                return Ok(());
            }
        }
    }

    /// What the watcher sees; one who may not go on has come to the end.
    fn seeing(&mut self, look: Look) -> Option<Sight> {
        match look {
            Look::Sees(sight) => return Some(sight),
            Look::Changed => self.resync(Reason::Rights, self.after),
            Look::Ended => self.stage = Stage::Over,
        }
        None
    }

    /// Reads the next entries, none beyond `last`; how many there were.
    async fn read_page(&mut self, last: u64) -> Result<usize, ApiError> {
        let (items, look) = self.hub.page(self.after, self.wish.watcher.clone()).await?;
        let Some(items) = items else {
            let head = self.hub.span().await?.head;
            self.resync(Reason::TooOld, head);
            return Ok(0);
        };
        let Some(sight) = self.seeing(look) else { return Ok(0) };
        let read = items.len();
        for item in items {
            let n = item.n().unwrap_or(self.after);
            if n > last {
                break;
            }
            self.after = n;
            if wants(&item, &sight, self.wish.channel.as_ref()) {
                self.ready.push_back(item);
            }
        }
        Ok(read)
    }

    fn greet(&mut self) {
        self.ready.push_back(self.placed(Happened::Hello, self.after));
    }

    fn resync(&mut self, reason: Reason, n: u64) {
        self.ready.push_back(self.placed(Happened::Resync { reason }, n));
        self.stage = Stage::Over;
    }

    fn placed(&self, what: Happened, n: u64) -> Arc<Item> {
        let cursor = Cursor { origin: self.hub.origin(), n }.to_string();
        Item::live(None, Event { cursor: Some(cursor), at: None, channel: None, channel_id: None, what })
    }
}
