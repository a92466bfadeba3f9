//! Ctrl-C while something is waited for: last words, then the end.

use std::task::Poll;
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Failure, Kind};

/// The exit codes of processes that these signals ended, as shells count them.
const INTERRUPTED: (SignalKind, i32) = (SignalKind::interrupt(), 130);
const TERMINATED: (SignalKind, i32) = (SignalKind::terminate(), 143);
const HUNG_UP: (SignalKind, i32) = (SignalKind::hangup(), 129);

/// From now on the first SIGINT, SIGTERM or SIGHUP ends this process after these last words, with the code that shells have for it.
pub(crate) fn end_in_order(last_words: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    end(&[INTERRUPTED, TERMINATED, HUNG_UP], last_words)
}

/// From now on the first SIGINT ends this process with code 130, after these last words.
pub(crate) fn end_with(last_words: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    end(&[INTERRUPTED], last_words)
}

fn end(by: &[(SignalKind, i32)], last_words: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Kind::Internal, format!("signals cannot be watched for: {error}"))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let inside = runtime.enter();
    let watched = by.iter().map(|(kind, code)| Ok((signal(*kind).map_err(failed)?, *code)));
    let mut watched = watched.collect::<Result<Vec<_>, Failure>>()?;
    drop(inside);
    thread::spawn(move || {
        let code = runtime.block_on(std::future::poll_fn(|context| {
            let mut came = watched
                .iter_mut()
                .filter_map(|(signal, code)| signal.poll_recv(context).is_ready().then_some(*code));
            came.next().map_or(Poll::Pending, Poll::Ready)
        }));
        last_words();
        std::process::exit(code);
    });
    Ok(())
}
