//! Ctrl-C while something is waited for: last words, then the end.

use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Failure, Kind};

/// The exit code of a process that SIGINT ended, as shells count it.
const CODE: i32 = 130;

/// From now on the first SIGINT ends this process with code 130, after these last words.
pub(crate) fn end_with(last_words: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Kind::Internal, format!("Ctrl-C cannot be watched for: {error}"))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let mut interrupt = {
        let _inside = runtime.enter();
        signal(SignalKind::interrupt()).map_err(failed)?
    };
    thread::spawn(move || {
        if runtime.block_on(interrupt.recv()).is_some() {
            last_words();
            std::process::exit(CODE);
        }
    });
    Ok(())
}
