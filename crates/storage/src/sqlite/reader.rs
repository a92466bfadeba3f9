//! What can be read, by a reader's connection or by the writer's own.

use std::path::Path;

use delivery::Watermark;
use delivery::model::{BindingId, ChannelId, Epoch, Key, MessageId, NativeId, RunId};
use rusqlite::{Connection, OpenFlags};

use super::{
    Sqlite, at_open, binding, channel, configure, delivery_rows, folder, log, member, message, run, schema,
    search, session, showing, thread, watermark,
};
use crate::{
    Binding, Channel, ChannelEvent, DeliveryQuery, DeliveryRows, Error, LogEntry, LogSpan, Message, Person,
    PlacedWatermark, Read, Run, RunEvent, Session, Showing, SincePeople, Thread,
};

/// A connection that sees what is committed and changes nothing. One thread uses it at a time; several readers
/// neither hold up each other nor the writer.
pub struct Reader {
    pub(super) connection: Connection,
}

impl Reader {
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        Self::connect(folder).map_err(|error| at_open(folder, error))
    }

    /// Reads all that `work` reads from one state of the database, whatever is written meanwhile.
    ///
    /// # Errors
    ///
    /// Those of `work`, and of the store as `E`.
    pub fn at_one_moment<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&dyn Read) -> Result<T, E>,
    ) -> Result<T, E> {
        let snapshot = self.connection.unchecked_transaction().map_err(Error::from)?;
        let result = work(self);
        snapshot.finish().map_err(Error::from)?;
        result
    }

    fn connect(folder: &Path) -> Result<Self, Error> {
        if !folder::database(folder).exists() {
            return Err(Error::Unusable("no server has made a database in it yet".to_owned()));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(folder::database(folder), flags)?;
        configure(&connection)?;
        schema::require_newest(&connection, schema::MIGRATIONS)?;
        Ok(Self { connection })
    }
}

/// What has a connection to read from.
pub(super) trait Connected: Send {
    fn connection(&self) -> &Connection;

    /// Runs several statements over one state of the database.
    fn at_once<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let connection = self.connection();
        if !connection.is_autocommit() {
            return work(connection);
        }
        let snapshot = connection.unchecked_transaction()?;
        let result = work(&snapshot);
        snapshot.finish()?;
        result
    }
}

impl Connected for Reader {
    fn connection(&self) -> &Connection {
        &self.connection
    }
}

impl Connected for Sqlite {
    fn connection(&self) -> &Connection {
        &self.connection
    }
}

impl<T: Connected> Read for T {
    fn channel(&self, name: &str) -> Result<Channel, Error> {
        channel::by_name(self.connection(), name)
    }

    fn channel_by_id(&self, id: &ChannelId) -> Result<Channel, Error> {
        channel::by_id(self.connection(), id)
    }

    fn channels(&self) -> Result<Vec<Channel>, Error> {
        channel::all(self.connection())
    }

    fn person(&self, name: &str) -> Result<Person, Error> {
        member::person(self.connection(), name)
    }

    fn people(&self) -> Result<Vec<Person>, Error> {
        member::people(self.connection())
    }

    fn binding(&self, id: &BindingId) -> Result<Binding, Error> {
        binding::by_id(self.connection(), id)
    }

    fn bindings(&self, channel: Option<&ChannelId>) -> Result<Vec<Binding>, Error> {
        binding::bound(self.connection(), channel)
    }

    fn message(&self, id: &MessageId) -> Result<Message, Error> {
        message::by_id(self.connection(), id)
    }

    fn history(
        &self,
        channel: &ChannelId,
        thread: Option<&MessageId>,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Vec<Message>, Error> {
        self.at_once(|db| message::history(db, channel, thread, before, limit))
    }

    fn threads(&self, channel: &ChannelId, limit: usize) -> Result<Vec<Thread>, Error> {
        self.at_once(|db| thread::list(db, channel, limit))
    }

    fn rows(
        &self,
        channel: &ChannelId,
        thread: Option<&MessageId>,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Vec<Message>, Error> {
        self.at_once(|db| message::rows(db, channel, thread, before, limit))
    }

    fn messages_of_run(&self, run: &RunId) -> Result<Vec<Message>, Error> {
        message::of_run(self.connection(), run)
    }

    fn channel_events(
        &self,
        channel: &ChannelId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ChannelEvent>, Error> {
        channel::events(self.connection(), channel, after, limit)
    }

    fn search(&self, query: &str, channel: Option<&ChannelId>, limit: usize) -> Result<Vec<Message>, Error> {
        self.at_once(|db| search::find(db, query, channel, limit))
    }

    fn run(&self, id: &RunId) -> Result<Run, Error> {
        self.at_once(|db| run::by_id(db, id))
    }

    fn runs_of_message(&self, message: &MessageId) -> Result<Vec<Run>, Error> {
        self.at_once(|db| run::of_message(db, message))
    }

    fn runs(&self, channel: Option<&ChannelId>, limit: usize) -> Result<Vec<Run>, Error> {
        self.at_once(|db| run::newest(db, channel, limit))
    }

    fn open_runs(&self) -> Result<Vec<Run>, Error> {
        self.at_once(run::open)
    }

    fn since_people(&self, channel: &ChannelId, thread: Option<&MessageId>) -> Result<SincePeople, Error> {
        self.at_once(|db| run::since_people(db, channel, thread))
    }

    fn run_events(&self, run: &RunId) -> Result<Vec<RunEvent>, Error> {
        run::events(self.connection(), run)
    }

    fn run_event(&self, run: &RunId, n: u64) -> Result<RunEvent, Error> {
        run::event(self.connection(), run, n)
    }

    fn session(&self, key: &Key) -> Result<Option<Session>, Error> {
        session::present(self.connection(), key)
    }

    fn last_session(&self, key: &Key) -> Result<Option<Session>, Error> {
        session::newest(self.connection(), key)
    }

    fn last_end(&self, key: &Key) -> Result<Option<String>, Error> {
        session::last_end(self.connection(), key)
    }

    fn newest_run(&self, native: &NativeId) -> Result<Option<RunId>, Error> {
        showing::newest_run(self.connection(), native)
    }

    fn max_epoch(&self) -> Result<Epoch, Error> {
        session::max_epoch(self.connection())
    }

    fn watermark(
        &self,
        binding: &BindingId,
        channel: &ChannelId,
        thread: Option<&MessageId>,
    ) -> Result<Option<Watermark>, Error> {
        watermark::of_place(self.connection(), binding, channel, thread)
    }

    fn watermarks(&self) -> Result<Vec<PlacedWatermark>, Error> {
        watermark::all(self.connection())
    }

    fn given(&self, native: &NativeId, message: &MessageId) -> Result<bool, Error> {
        showing::given(self.connection(), native, message)
    }

    fn showings(&self, native: &NativeId) -> Result<Vec<Showing>, Error> {
        showing::of_session(self.connection(), native)
    }

    fn delivery_rows(&self, query: &DeliveryQuery<'_>) -> Result<DeliveryRows, Error> {
        self.at_once(|db| delivery_rows::load(db, query))
    }

    fn log_span(&self) -> Result<LogSpan, Error> {
        log::span(self.connection())
    }

    fn log(&self, after: u64, limit: usize) -> Result<Vec<LogEntry>, Error> {
        log::after(self.connection(), after, limit)
    }
}
