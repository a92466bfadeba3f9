//! The part of the contract that is about projects and worktrees, on SQLite.

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::reader::Connected;
use super::value::{Json, RowId, Time, not_found};
use super::{Sqlite, binding, channel};
use crate::record::*;
use crate::{Error, ReadProject, StoreProject};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT w.id, b.name, w.project, w.path, w.branch, w.name, w.created_at, w.retired_at, w.set_up_at
             FROM worktree w JOIN binding b ON b.id = w.binding ",
            $rest
        )
    };
}
impl<T: Connected> ReadProject for T {
    fn project(&self, channel: &ChannelId) -> Result<Option<Project>, Error> {
        self.at_once(|db| project(db, channel))
    }

    fn worktree(&self, id: &WorktreeId) -> Result<Worktree, Error> {
        worktree(self.connection(), id)
    }

    fn worktree_of(&self, binding: &BindingId) -> Result<Option<Worktree>, Error> {
        used(self.connection(), binding)
    }

    fn worktrees(&self) -> Result<Vec<Worktree>, Error> {
        let mut rows =
            self.connection().prepare_cached(select!("WHERE w.removed_at IS NULL ORDER BY w.id"))?;
        Ok(rows.query_map([], read_worktree)?.collect::<Result<_, _>>()?)
    }
}

impl StoreProject for Sqlite {
    fn set_project(
        &mut self,
        channel: &ChannelId,
        new: &NewProject,
        at: Timestamp,
    ) -> Result<Project, Error> {
        self.write(|db| set(db, channel, new, at))
    }

    fn remove_project(&mut self, channel: &ChannelId) -> Result<(), Error> {
        self.write(|db| {
            let row = channel::existing(db, channel)?;
            db.prepare_cached("DELETE FROM project WHERE channel = ?1")?.execute([row])?;
            Ok(())
        })
    }

    fn trust_project(
        &mut self,
        channel: &ChannelId,
        files: &[AgentFile],
        at: Timestamp,
    ) -> Result<Project, Error> {
        self.write(|db| {
            let row = known(db, channel)?;
            trust_files(db, row, files)?;
            let mut trust = db.prepare_cached(
                "UPDATE project SET trusted_at = coalesce(trusted_at, ?2), asked = NULL WHERE channel = ?1",
            )?;
            trust.execute((row, Time(at)))?;
            given(db, channel)
        })
    }

    fn trust_files(&mut self, channel: &ChannelId, files: &[AgentFile]) -> Result<(), Error> {
        self.write(|db| trust_files(db, known(db, channel)?, files))
    }

    fn distrust_project(&mut self, channel: &ChannelId) -> Result<Project, Error> {
        self.write(|db| {
            distrust(db, known(db, channel)?)?;
            given(db, channel)
        })
    }

    fn asked_trust(&mut self, channel: &ChannelId, asked: &str) -> Result<(), Error> {
        self.write(|db| {
            let row = known(db, channel)?;
            db.prepare_cached("UPDATE project SET asked = ?2 WHERE channel = ?1")?.execute((row, asked))?;
            Ok(())
        })
    }

    fn add_worktree(&mut self, binding: &BindingId, project: &str, at: Timestamp) -> Result<Worktree, Error> {
        self.write(|db| {
            if let Some(used) = used(db, binding)? {
                return Err(Error::Exists { what: "worktree", name: used.id.0 });
            }
            let row = binding::existing(db, binding)?;
            let mut add =
                db.prepare_cached("INSERT INTO worktree (binding, project, created_at) VALUES (?1, ?2, ?3)")?;
            add.execute((row, project, Time(at)))?;
            worktree(db, &WorktreeId::of(db.last_insert_rowid()))
        })
    }

    fn worktree_made(&mut self, id: &WorktreeId, made: &MadeWorktree) -> Result<(), Error> {
        self.write(|db| {
            let MadeWorktree { path, branch, name } = made;
            let mut update =
                db.prepare_cached("UPDATE worktree SET path = ?2, branch = ?3, name = ?4 WHERE id = ?1")?;
            one(update.execute((id.row()?, path, branch, name))?, id)
        })
    }

    fn worktree_set_up(&mut self, id: &WorktreeId, at: Timestamp) -> Result<(), Error> {
        self.write(|db| {
            let mut update = db.prepare_cached("UPDATE worktree SET set_up_at = ?2 WHERE id = ?1")?;
            one(update.execute((id.row()?, Time(at)))?, id)
        })
    }

    fn retire_worktree(&mut self, id: &WorktreeId, at: Timestamp) -> Result<(), Error> {
        self.write(|db| {
            let mut retire = db.prepare_cached(
                "UPDATE worktree SET retired_at = coalesce(retired_at, ?2), removed_at = iif(path IS NULL, ?2, removed_at)
                 WHERE id = ?1",
            )?;
            one(retire.execute((id.row()?, Time(at)))?, id)
        })
    }

    fn remove_worktree(&mut self, id: &WorktreeId, at: Timestamp) -> Result<(), Error> {
        self.write(|db| {
            let mut remove = db.prepare_cached(
                "UPDATE worktree SET retired_at = coalesce(retired_at, ?2), removed_at = coalesce(removed_at, ?2)
                 WHERE id = ?1",
            )?;
            one(remove.execute((id.row()?, Time(at)))?, id)
        })
    }
}

fn worktree(db: &Connection, id: &WorktreeId) -> Result<Worktree, Error> {
    let mut rows = db.prepare_cached(select!("WHERE w.id = ?1"))?;
    let found = rows.query_row([id.row()?], read_worktree).optional()?;
    found.ok_or_else(|| not_found(WorktreeId::WHAT, &id.0))
}

fn used(db: &Connection, binding: &BindingId) -> Result<Option<Worktree>, Error> {
    let row = binding::existing(db, binding)?;
    let mut rows =
        db.prepare_cached(select!("WHERE w.binding = ?1 AND w.retired_at IS NULL AND w.removed_at IS NULL"))?;
    Ok(rows.query_row([row], read_worktree).optional()?)
}

fn one(changed: usize, id: &WorktreeId) -> Result<(), Error> {
    if changed == 1 { Ok(()) } else { Err(not_found(WorktreeId::WHAT, &id.0)) }
}

fn project(db: &Connection, id: &ChannelId) -> Result<Option<Project>, Error> {
    let row = channel::existing(db, id)?;
    let mut files =
        db.prepare_cached("SELECT path, hash FROM trusted_file WHERE channel = ?1 ORDER BY path, hash")?;
    let read = |row: &Row<'_>| Ok(AgentFile { path: row.get(0)?, hash: row.get(1)? });
    let trusted = files.query_map([row], read)?.collect::<Result<_, _>>()?;
    let mut rows = db.prepare_cached(
        "SELECT folder, setup, copies, set_at, trusted_at, asked FROM project WHERE channel = ?1",
    )?;
    let found = rows.query_row([row], |row| {
        Ok(Project {
            channel: id.clone(),
            spec: NewProject { folder: row.get(0)?, setup: row.get(1)?, copies: row.get::<_, Json<_>>(2)?.0 },
            set_at: row.get::<_, Time>(3)?.0,
            trusted_at: row.get::<_, Option<Time>>(4)?.map(|at| at.0),
            trusted,
            asked: row.get(5)?,
        })
    });
    Ok(found.optional()?)
}

/// The project of a channel that has one.
fn given(db: &Connection, id: &ChannelId) -> Result<Project, Error> {
    project(db, id)?.ok_or_else(|| not_found("project", id.as_str()))
}

/// The channel's row number, if it has a project.
fn known(db: &Connection, id: &ChannelId) -> Result<i64, Error> {
    let row = channel::existing(db, id)?;
    if db.prepare_cached("SELECT 1 FROM project WHERE channel = ?1")?.exists([row])? {
        return Ok(row);
    }
    Err(not_found("project", id.as_str()))
}

fn set(db: &Connection, id: &ChannelId, new: &NewProject, at: Timestamp) -> Result<Project, Error> {
    let row = channel::existing(db, id)?;
    let NewProject { folder, setup, copies } = new;
    if project(db, id)?.is_some_and(|old| old.spec.folder != *folder) {
        distrust(db, row)?;
    }
    let mut set = db.prepare_cached(
        "INSERT INTO project (channel, folder, setup, copies, set_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (channel) DO UPDATE SET folder = ?2, setup = ?3, copies = ?4, set_at = ?5",
    )?;
    set.execute((row, folder, setup, Json(copies), Time(at)))?;
    given(db, id)
}

fn trust_files(db: &Connection, row: i64, files: &[AgentFile]) -> Result<(), Error> {
    let mut add = db.prepare_cached("INSERT OR IGNORE INTO trusted_file VALUES (?1, ?2, ?3)")?;
    for file in files {
        add.execute((row, &file.path, &file.hash))?;
    }
    Ok(())
}

fn distrust(db: &Connection, row: i64) -> Result<(), Error> {
    db.prepare_cached("DELETE FROM trusted_file WHERE channel = ?1")?.execute([row])?;
    db.prepare_cached("UPDATE project SET trusted_at = NULL, asked = NULL WHERE channel = ?1")?
        .execute([row])?;
    Ok(())
}

fn read_worktree(row: &Row<'_>) -> rusqlite::Result<Worktree> {
    let made = match (row.get(3)?, row.get(4)?, row.get(5)?) {
        (Some(path), Some(branch), Some(name)) => Some(MadeWorktree { path, branch, name }),
        (_, _, _) => None,
    };
    Ok(Worktree {
        id: WorktreeId::of(row.get(0)?),
        binding: BindingId(row.get(1)?),
        project: row.get(2)?,
        made,
        created_at: row.get::<_, Time>(6)?.0,
        retired_at: row.get::<_, Option<Time>>(7)?.map(|at| at.0),
        set_up_at: row.get::<_, Option<Time>>(8)?.map(|at| at.0),
    })
}
