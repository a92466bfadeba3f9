//! The ideal cache: all that a request shares with its session's previous one, from the beginning, token by token.

use std::collections::BTreeMap;

use super::{Outcome, Prompt, Request, Session};

/// The last prompt of each session.
#[derive(Debug, Default)]
pub(super) struct State {
    previous: BTreeMap<Session, Prompt>,
}

impl State {
    pub(super) fn begin(&mut self, request: &Request<'_>) -> Outcome {
        let previous = self.previous.entry(request.session).or_default();
        let read_tokens = previous.common_tokens(request.prompt);
        previous.become_like(request.prompt);
        let uncached_tokens = request.prompt.tokens() - read_tokens;
        Outcome { read_tokens, uncached_tokens, ..Outcome::default() }
    }

    pub(super) fn forget(&mut self, session: Session) {
        self.previous.remove(&session);
    }

    pub(super) fn remembered(&self) -> usize {
        self.previous.len()
    }
}
