//! What can be changed: each call is one transaction, or a part of the open one.

use delivery::model::{BindingId, Epoch, Key, MessageId, NativeId, RunId};
use delivery::{Timestamp, Watermark};

use super::{Sqlite, backup, binding, channel, log, member, message, run, session, watermark};
use crate::{
    Appended, Binding, Channel, ChannelKind, Ending, Error, Message, NewBinding, NewMessage, Person,
    PlacedWatermark, Role, Run, RunEvent, Session, Staged, Store,
};

impl Store for Sqlite {
    fn atomic(&mut self, work: &mut dyn FnMut(&mut dyn Store) -> Result<(), Error>) -> Result<(), Error> {
        self.atomic_work(work)
    }

    fn is_scrub_due(&self) -> bool {
        self.scrub_due
    }

    fn try_write(&mut self) -> Result<(), Error> {
        self.write(|db| {
            // SQLite writes the page anew, whether the number changes or not.
            let id: i32 = db.query_row("PRAGMA application_id", [], |row| row.get(0))?;
            Ok(db.pragma_update(None, "application_id", id)?)
        })
    }

    fn add_channel(&mut self, name: &str, kind: ChannelKind<'_>, at: Timestamp) -> Result<Channel, Error> {
        self.write(|db| channel::add(db, name, kind, at))
    }

    fn add_person(&mut self, name: &str, role: Role, at: Timestamp) -> Result<Person, Error> {
        self.write(|db| member::add_person(db, name, role, at))
    }

    fn add_binding(&mut self, new: &NewBinding, at: Timestamp) -> Result<Binding, Error> {
        self.write(|db| binding::add(db, new, at))
    }

    fn remove_binding(&mut self, id: &BindingId, at: Timestamp) -> Result<(), Error> {
        self.write(|db| binding::remove(db, id, at))
    }

    fn append(&mut self, new: &NewMessage, at: Timestamp) -> Result<Appended, Error> {
        self.write(|db| message::append(db, new, at))
    }

    fn edit(&mut self, id: &MessageId, text: &str, at: Timestamp) -> Result<Message, Error> {
        self.write(|db| message::edit(db, id, text, at))
    }

    fn delete(&mut self, id: &MessageId, at: Timestamp) -> Result<Message, Error> {
        self.scrub_due = true;
        self.write(|db| message::delete(db, id, at))
    }

    fn add_run(
        &mut self,
        key: &Key,
        message: &MessageId,
        retry_of: Option<&RunId>,
        at: Timestamp,
    ) -> Result<Run, Error> {
        self.write(|db| run::add(db, key, message, retry_of, at))
    }

    fn stage(&mut self, run: &RunId, staged: &Staged, at: Timestamp) -> Result<(), Error> {
        self.write(|db| run::stage(db, run, staged, at))
    }

    fn show_fetched(
        &mut self,
        run: &RunId,
        fetched: &[(MessageId, u32)],
        watermark_after: Option<&Watermark>,
    ) -> Result<(), Error> {
        self.write(|db| run::show_fetched(db, run, fetched, watermark_after))
    }

    fn unstage(&mut self, run: &RunId, at: Timestamp) -> Result<(), Error> {
        self.write(|db| run::unstage(db, run, at))
    }

    fn end_run(&mut self, run: &RunId, ending: &Ending, at: Timestamp) -> Result<bool, Error> {
        self.write(|db| run::end(db, run, ending, at))
    }

    fn add_run_event(
        &mut self,
        run: &RunId,
        kind: &str,
        body: &str,
        at: Timestamp,
    ) -> Result<RunEvent, Error> {
        self.write(|db| run::add_event(db, run, kind, body, at))
    }

    fn raise_epoch(&mut self, key: &Key, epoch: Epoch, at: Timestamp) -> Result<(), Error> {
        self.write(|db| session::raise(db, key, epoch, at))
    }

    fn begin_session(
        &mut self,
        key: &Key,
        native: &NativeId,
        epoch: Epoch,
        system: Option<&str>,
        at: Timestamp,
    ) -> Result<Session, Error> {
        self.write(|db| session::begin(db, key, native, epoch, system, at))
    }

    fn set_told(&mut self, key: &Key, told: &str) -> Result<(), Error> {
        self.write(|db| session::set_told(db, key, told))
    }

    fn touch_session(&mut self, key: &Key, at: Timestamp) -> Result<(), Error> {
        self.write(|db| session::touch(db, key, at))
    }

    fn bar_session(&mut self, key: &Key, why: &str) -> Result<(), Error> {
        self.write(|db| session::bar(db, key, why))
    }

    fn save_session(&mut self, key: &Key, why: &str, at: Timestamp) -> Result<(), Error> {
        self.write(|db| session::save(db, key, why, at))
    }

    fn reload_session(
        &mut self,
        key: &Key,
        epoch: Epoch,
        system: Option<&str>,
        at: Timestamp,
    ) -> Result<Session, Error> {
        self.write(|db| session::reload(db, key, epoch, system, at))
    }

    fn end_session(&mut self, key: &Key, why: &str, at: Timestamp) -> Result<(), Error> {
        self.write(|db| session::end(db, key, why, at))
    }

    fn take_restored(&mut self) -> Result<bool, Error> {
        self.write(backup::take_mark)
    }

    fn import_watermarks(&mut self, watermarks: &[PlacedWatermark]) -> Result<(), Error> {
        self.write(|db| watermark::import(db, watermarks))
    }

    fn prune_log(&mut self, keep: u64) -> Result<(), Error> {
        self.write(|db| log::prune(db, keep))
    }
}
