//! A request, read: what it tells the model, and how its answer is wanted.

use serde_json::Value;

use crate::prompt::Told;
use crate::script::Turn;

/// What an API's request comes to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) model: String,
    pub(crate) session: Option<String>,
    pub(crate) streamed: bool,
    /// The cache is to be written and nothing to be said.
    pub(crate) warms_only: bool,
    pub(crate) told: Told,
    pub(crate) turn: Turn,
    /// Tools that take free text instead of arguments.
    pub(crate) free_text_tools: Vec<String>,
}

/// Why a request is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    /// The provider's word for it.
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) retry_after_s: Option<u64>,
}

impl Refused {
    /// The request is wrong: status 400.
    pub(crate) fn invalid(message: impl Into<String>) -> Refused {
        Refused {
            status: 400,
            kind: "invalid_request_error".to_owned(),
            message: message.into(),
            retry_after_s: None,
        }
    }
}

/// An answer, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// At once, as one value.
    Whole(Value),
    /// As server-sent events, each after the pause before it.
    Streamed(Vec<String>),
}
