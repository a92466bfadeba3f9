//! One durable commit for many pieces of work.

use crate::{Error, Store};

/// Runs each job in a savepoint of one transaction, and commits once for all.
///
/// A job's error undoes that job alone; its result is that error. If the commit fails, nothing stands: every job
/// that had gone well gets the commit's error. The results stand in the order of the jobs.
pub fn group_commit<J, T>(
    store: &mut dyn Store,
    jobs: &mut [J],
    mut step: impl FnMut(&mut dyn Store, &mut J) -> Result<T, Error>,
) -> Vec<Result<T, Error>> {
    let mut results = Vec::with_capacity(jobs.len());
    let committed = store.atomic(&mut |store| {
        results.extend(jobs.iter_mut().map(|job| atomically(store, |store| step(store, job))));
        Ok(())
    });
    let Err(error) = committed else { return results };
    let mut failed: Vec<_> =
        results.into_iter().map(|result| Err(result.err().unwrap_or_else(|| error.clone()))).collect();
    // The transaction may not even have begun.
    failed.resize_with(jobs.len(), || Err(error.clone()));
    failed
}

/// [`Store::atomic`] for work that gives a value.
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
