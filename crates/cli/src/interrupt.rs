//! Ctrl-C while something is waited for: last words, then the end.

use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Failure, Kind};

/// The exit code of a process that SIGINT ended, as shells count it.
const CODE: i32 = 130;
/// The same for SIGTERM.
const CODE_TERMINATED: i32 = 143;
/// The same for SIGHUP.
const CODE_HUNG_UP: i32 = 129;

/// From now on the first SIGINT, SIGTERM or SIGHUP ends this process after these last words, with the code that shells have for it.
pub(crate) fn end_in_order(last_words: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Kind::Internal, format!("signals cannot be watched for: {error}"))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let (mut interrupt, mut terminate, mut hang_up) = {
        let _inside = runtime.enter();
        let watch = |kind| signal(kind).map_err(failed);
        (watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?, watch(SignalKind::hangup())?)
    };
    thread::spawn(move || {
        let code = runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => CODE,
                _ = terminate.recv() => CODE_TERMINATED,
                _ = hang_up.recv() => CODE_HUNG_UP,
            }
        });
        last_words();
        std::process::exit(code);
    });
    Ok(())
}

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
