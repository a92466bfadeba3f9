//! One reader's way through the log and into what is live, without a gap and without a double.

use std::collections::VecDeque;
use std::sync::Arc;

use delivery::model::ChannelId;

use super::cursor::NoCursor;
use super::hub::{PAGE, Subscription, wants};
use super::{Cursor, Hub, Item, Principal};
use crate::error::ApiError;
use crate::wire::{Event, Happened, Reason};

/// What a reader wants.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    /// Who reads.
    pub(crate) principal: Principal,
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
                    self.stage = Stage::Rest(self.join());
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
                    None if joined.is_slow() => {
                        let after = self.after;
                        self.resync(Reason::Slow, after);
                    }
                    None => self.stage = Stage::Over,
                }
                Ok(())
            }
            Stage::Over => Ok(()),
        }
    }

    async fn begin(&mut self) -> Result<(), ApiError> {
        let Some(since) = self.wish.since else {
            let joined = self.join();
            // What is committed by now is past, though the hub may not have handed it out yet.
            self.after = self.hub.span().await?.head;
            self.greet();
            self.stage = Stage::Rest(joined);
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

    fn join(&self) -> Subscription {
        self.hub.subscribe(&self.wish.principal, self.wish.channel.as_ref())
    }

    /// Reads the next entries, none beyond `last`; how many there were.
    async fn read_page(&mut self, last: u64) -> Result<usize, ApiError> {
        let Some(items) = self.hub.page(self.after).await? else {
            let head = self.hub.span().await?.head;
            self.resync(Reason::TooOld, head);
            return Ok(0);
        };
        let read = items.len();
        for item in items {
            let n = item.n().unwrap_or(self.after);
            if n > last {
                break;
            }
            self.after = n;
            if wants(&item, &self.wish.principal, self.wish.channel.as_ref()) {
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
        Item::live(None, Event { cursor: Some(cursor), at: None, channel: None, what })
    }
}
