//! `highwater guide`: an ACP agent without a model that tells newcomers what Highwater hands to an agent.

mod answer;
mod protocol;
mod session;
mod shelf;
mod turn;

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// Speaks ACP on standard input and output until the input ends.
pub(crate) fn run() -> ExitCode {
    let here = std::env::current_dir().unwrap_or_default();
    let shelf = shelf::Shelf::at(&here);
    match protocol::serve(io::stdin().lock(), io::stdout().lock(), &shelf, session_id) {
        Ok(()) => ExitCode::SUCCESS,
        // The client left in the middle of an answer: the same as the end of its input.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("highwater guide: {error}");
            ExitCode::FAILURE
        }
    }
}

/// An id that no other session has and that nobody guesses: process, time, and a number from the system's
/// randomness.
fn session_id() -> String {
    let ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let pid = std::process::id();
    format!("guide-{pid:x}-{ns:x}-{:016x}", RandomState::new().hash_one((pid, ns)))
}

#[cfg(test)]
mod tests;
