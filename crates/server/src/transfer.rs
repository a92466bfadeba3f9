//! Export and import: whole channels as lines of JSON, with their people, agents, messages and runs, and no secrets.
//!
//! Lines name things by what they are called in the file (a channel by its name, a message by its number in the
//! channel), never by the ids of one server: so an export of what was imported equals what was exported.

pub(crate) mod bring;
mod export;
mod format;
mod order;

use std::io;

pub use bring::Brought;
pub(crate) use export::export;
use format::Record;
use order::Order;

use crate::error::{ApiError, Code};
use crate::spool::Spool;

/// Something that is wrong with a record: at which key, and what.
#[derive(Debug)]
struct Fault {
    key: &'static str,
    error: ApiError,
}

impl Fault {
    fn new(key: &'static str, what: impl Into<String>) -> Self {
        Self { key, error: ApiError::invalid(what) }
    }
}

/// Reads a whole file for what is wrong with it, whatever a server has: how many records it has.
pub(crate) fn check(spool: &Spool) -> Result<u64, ApiError> {
    read(spool, |_| Ok(()))
}

/// Reads the records of a file in order; those that do not fit what stands before them are errors.
fn read(spool: &Spool, mut take: impl FnMut(Record) -> Result<(), Fault>) -> Result<u64, ApiError> {
    let mut order = Order::default();
    let mut n = 0;
    for line in spool.lines() {
        n += 1;
        let line = line.map_err(|error| match error.kind() == io::ErrorKind::FileTooLarge {
            true => at(n, 1, ApiError::invalid("the line is too long for a record")),
            false => ApiError::new(Code::Internal, format!("the file cannot be read back: {error}")),
        })?;
        let record = format::parse(&line, n == 1).map_err(|(column, error)| at(n, column, error))?;
        let placed = |fault: Fault| at(n, format::column_of(&line, fault.key), fault.error);
        order.next(&record).map_err(placed)?;
        take(record).map_err(placed)?;
    }
    order.end().map_err(|error| at(n + 1, 1, error))?;
    Ok(n)
}

/// The error with its place in the file, and what became of the import.
fn at(line: u64, column: usize, error: ApiError) -> ApiError {
    if error.is_storage_failure() {
        return error;
    }
    let message = format!("line {line}, column {column}: {}; nothing was imported", error.message);
    ApiError { message, ..error }
}

#[cfg(test)]
mod tests;
