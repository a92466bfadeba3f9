//! What comes out of a step.

use delivery::Timestamp;
use delivery::model::{Epoch, Key, MessageId, NativeId, RunId};
use storage::{Binding, Worktree};

use super::{Piece, Workplace};

/// What comes out, to be carried out once the step has been committed.
#[derive(Clone, Debug)]
pub enum Command {
    /// Start a process for a binding.
    Start {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// What to start.
        binding: Box<Binding>,
        /// Text for a true system prompt; `None` where the policy keeps it in the turn.
        system_prompt: Option<String>,
        /// The session to reload, if it is not to begin a new one.
        reload: Option<agents::Reload>,
        /// Where it works, if that has to be got ready first.
        workplace: Option<Box<Workplace>>,
    },
    /// Send a prompt.
    Prompt {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// The run.
        run: RunId,
        /// The exact text.
        text: String,
    },
    /// Cancel the turn of a run.
    Cancel {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// The run.
        run: RunId,
    },
    /// Put a message into the turn of a run.
    Steer {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// The run.
        run: RunId,
        /// The message.
        message: MessageId,
        /// The exact text.
        text: String,
    },
    /// Have an idle process prove that it is alive, before its next prompt.
    Prove {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
    },
    /// Answer a permission that an agent asked for.
    Answer {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// The run.
        run: RunId,
        /// The agent's number for what it asked.
        ask: u64,
        /// Which option, from 0; `None`: cancelled.
        choice: Option<usize>,
    },
    /// End a process.
    End {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
    },
    /// Show a piece of a run's answer to whoever looks on. It is not durable.
    Stream {
        /// Key.
        key: Key,
        /// The run.
        run: RunId,
        /// The piece.
        piece: Piece,
    },
    /// Read what a turn took out of the transcript that its agent keeps.
    ReadTranscript {
        /// The run.
        run: RunId,
        /// Its agent.
        binding: Box<Binding>,
        /// The session.
        native: NativeId,
        /// From where on.
        from: storage::TranscriptMark,
        /// When the turn was over.
        until: Timestamp,
    },
    /// Remove the worktree of a binding that is gone, if nothing is lost with it.
    Tidy(Box<Worktree>),
    /// Runs ended: whoever waits for them looks again.
    RunsEnded,
}
