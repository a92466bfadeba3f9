//! A transaction that gives a value.

use crate::{Error, Store};

/// [`Store::atomic`] for work that gives a value: all of it and the value, or nothing and the error.
pub fn atomically<T>(
    store: &mut dyn Store,
    mut work: impl FnMut(&mut dyn Store) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut value = None;
    store.atomic(&mut |store| {
        value = Some(work(store)?);
        Ok(())
    })?;
    value.ok_or_else(|| Error::Conflict("the work was never run".to_owned()))
}
